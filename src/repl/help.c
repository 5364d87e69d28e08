#include "help.h"

#include "commands.h"
#include "settings.h"

#include "../diag.h"
#include "../engine/functions.h"
#include "../parser/words.h"

#include <stdlib.h>
#include <string.h>

/* A list of names that is wrapped under its title. */
struct list {
    struct strbuf *out;
    size_t width, column;
};

enum { TITLE_CELLS = 11 };

static struct list begin_list(struct strbuf *out, const char *title, size_t width)
{
    strbuf_printf(out, "%-*s", TITLE_CELLS, title);
    return (struct list){out, width, TITLE_CELLS};
}

static void list_name(struct list *list, const char *name)
{
    size_t length = strlen(name);
    if (list->column + length + 1 > list->width && list->column > TITLE_CELLS) {
        strbuf_printf(list->out, "\n%*s", TITLE_CELLS, "");
        list->column = TITLE_CELLS;
    }
    strbuf_printf(list->out, " %s", name);
    list->column += length + 1;
}

static void end_list(struct list *list)
{
    strbuf_putc(list->out, '\n');
}

static bool is_alias(const struct word *word)
{
    return strcmp(word->text, word->canonical) != 0;
}

static void list_words(struct strbuf *out, const char *title, bool stages, size_t width)
{
    struct list list = begin_list(out, title, width);
    for (size_t i = 0; i < word_count; i++) {
        bool listed = (words[i].stage != STAGE_NONE) == stages && !words[i].reserved && !is_alias(&words[i]);
        if (listed) {
            list_name(&list, words[i].text);
        }
    }
    end_list(&list);
}

void help_overview(struct strbuf *out, size_t width)
{
    strbuf_puts(out, "A query is a source and stages, each working on what comes from the one before:\n"
                     "  load ids.bin | zip amounts.bin | select id==42 && amt>0 | snds | sum\n\n");
    list_words(out, "statements", false, width);
    list_words(out, "stages", true, width);
    struct list list = begin_list(out, "functions", width);
    for (size_t i = 0; i < function_count; i++) {
        list_name(&list, functions[i].name);
    }
    end_list(&list);
    list = begin_list(out, "operators", width);
    list_name(&list, "?:  or and not  || &&  == != < <= > >= in  & ^ << >>  + - * / %  ! ~ -");
    end_list(&list);
    list = begin_list(out, "commands", width);
    for (size_t i = 0; i < command_count; i++) {
        list_name(&list, command_table[i].name);
    }
    end_list(&list);
    list = begin_list(out, "settings", width);
    for (size_t i = 0; i < setting_count; i++) {
        list_name(&list, setting_table[i].name);
    }
    end_list(&list);
    strbuf_puts(out, "\nAt the prompt a line that begins with | goes on from the last relation, and one that\n"
                     "ends in an operator, | or an open bracket goes on below. Ctrl-C stops a query,\n"
                     "Ctrl-D leaves. .help WORD explains a word.\n");
}

static void help_stage(struct strbuf *out, const struct word *word)
{
    if (is_alias(word)) {
        strbuf_printf(out, "%s is another word for %s\n", word->text, word->canonical);
        word = word_find(word->canonical, strlen(word->canonical));
    }
    if (word->usage) {
        strbuf_printf(out, "%s\n", word->usage);
    }
    if (word->summary) {
        strbuf_printf(out, "  %s\n", word->summary);
    }
    if (word->example) {
        strbuf_printf(out, "  example: %s\n", word->example);
    }
    const char *title = "  also:";
    for (size_t i = 0; i < word_count; i++) {
        if (is_alias(&words[i]) && strcmp(words[i].canonical, word->text) == 0) {
            strbuf_printf(out, "%s %s", title, words[i].text);
            title = "";
        }
    }
    strbuf_puts(out, *title ? "" : "\n");
}

static void help_function(struct strbuf *out, const struct function *function)
{
    strbuf_printf(out, "%s\n  %s\n", function->usage, function->summary);
    if (function->example) {
        strbuf_printf(out, "  example: %s is %s\n", function->example, function->value);
    }
}

static void help_command(struct strbuf *out, const struct command *command)
{
    strbuf_printf(out, "%s%s%s\n  %s\n", command->name, *command->usage ? " " : "", command->usage, command->summary);
}

static void help_setting(struct strbuf *out, const struct setting *setting)
{
    strbuf_printf(out, ".set %s ", setting->name);
    setting_print_choices(out, setting);
    strbuf_printf(out, "\n  %s\n", setting->summary);
}

/* A command is found with and without its dot. */
static bool names_command(const struct command *command, const char *word)
{
    return strcmp(command->name, word) == 0 || strcmp(command->name + 1, word) == 0;
}

/* All that one word means: min is a stage and a function, format a command and a setting. */
bool help_word(struct strbuf *out, const char *text)
{
    size_t before = out->length;
    const struct word *word = word_find(text, strlen(text));
    if (word) {
        help_stage(out, word);
    }
    const struct function *function = function_find(text);
    if (function) {
        help_function(out, function);
    }
    for (size_t i = 0; i < command_count; i++) {
        if (names_command(&command_table[i], text)) {
            help_command(out, &command_table[i]);
        }
    }
    const struct setting *setting = setting_find(text);
    if (setting) {
        help_setting(out, setting);
    }
    return out->length > before;
}

size_t help_nearest(const char *word, const char **nearest, size_t max)
{
    struct arena *arena = arena_new();
    const char **all =
        arena_array(arena, word_count + function_count + command_count + setting_count, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < word_count; i++) {
        all[count++] = words[i].text;
    }
    for (size_t i = 0; i < function_count; i++) {
        /* min and its like are words too: no name twice */
        if (!word_find(functions[i].name, strlen(functions[i].name))) {
            all[count++] = functions[i].name;
        }
    }
    for (size_t i = 0; i < command_count; i++) {
        all[count++] = command_table[i].name;
    }
    for (size_t i = 0; i < setting_count; i++) {
        all[count++] = setting_table[i].name;
    }
    size_t found = nearest_names(word, all, count, nearest, max);
    arena_free(arena);
    return found;
}
