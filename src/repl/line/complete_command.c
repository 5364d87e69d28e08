#include "repl/line/complete.h"

#include "repl/session/commands.h"
#include "repl/session/help.h"
#include "repl/session/settings.h"

#include "engine/plan/aggregates.h"
#include "engine/plan/functions.h"
#include "parser/words.h"

#include <string.h>

/* A command line up to the cursor. */
struct typed {
    const struct command *command; /* NULL: unknown, or the cursor is in its name */
    size_t place;                  /* 0: the command's name; 1: the first word after it */
    const char *previous;          /* the word before the cursor */
    size_t previous_length;
};

struct list {
    struct arena *arena;
    const char **words;
    size_t count, capacity;
};

static void add(struct list *list, const char *word)
{
    *ARENA_PUSH(list->arena, list->words, list->count, list->capacity) = word;
}

static bool is_text(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool complete_is_command(const char *line)
{
    return line[strspn(line, " \t")] == '.';
}

static struct typed read_typed(const char *line, size_t start)
{
    struct typed typed = {0};
    size_t at = strspn(line, " \t");
    while (at < start) {
        const size_t length = strcspn(line + at, " \t");
        if (at + length > start || length == 0)
            break;
        for (size_t i = 0; i < command_count && typed.place == 0; i++) {
            if (is_text(line + at, length, command_table[i].name))
                typed.command = &command_table[i];
        }
        typed.previous = line + at;
        typed.previous_length = length;
        typed.place++;
        at += length + strspn(line + at + length, " \t");
    }
    return typed;
}

/* The word at this place of a usage such as "[NAME [VALUE]]", without brackets; `...` repeats the one before. Returns
 * its length, 0 if there is none. */
static size_t usage_word(const char *usage, size_t place, const char **word)
{
    static const char marks[] = " []";
    size_t length = 0;
    for (size_t i = 0; i < place; i++) {
        usage += strspn(usage, marks);
        const size_t next = strcspn(usage, marks);
        if (next == 0 || is_text(usage, next, "..."))
            return is_text(usage, next, "...") ? length : 0;
        *word = usage;
        length = next;
        usage += next;
    }
    return length;
}

static void add_choices(struct list *list, const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && text[end] != '|')
            end++;
        const char *word = arena_text(list->arena, text + at, end - at);
        if (strcmp(word, "N") != 0)
            add(list, word);
        at = end + 1;
    }
}

static void add_values(struct list *list, const struct typed *typed)
{
    const struct setting *setting = setting_find(arena_text(list->arena, typed->previous, typed->previous_length));
    for (size_t i = 0; setting && setting->choices[i]; i++)
        add(list, setting->choices[i]);
}

static void add_names(struct list *list, const struct typed *typed, const struct env *env)
{
    if (strcmp(typed->command->name, ".set") == 0) {
        for (size_t i = 0; i < setting_count; i++)
            add(list, setting_table[i].name);
        return;
    }
    for (size_t i = 0; i < env->count; i++)
        add(list, env->bindings[i].name);
}

static void add_help_words(struct list *list)
{
    for (size_t i = 0; i < word_count; i++)
        add(list, words[i].text);
    for (size_t i = 0; i < function_count; i++)
        add(list, functions[i].name);
    for (size_t i = 0; i < aggregate_function_count; i++)
        add(list, aggregate_functions[i].name);
    for (size_t i = 0; i < command_count; i++)
        add(list, command_table[i].name);
    for (size_t i = 0; i < setting_count; i++)
        add(list, setting_table[i].name);
    for (size_t i = 0; help_title(i); i++)
        add(list, help_title(i));
}

static bool is_path(const char *word, size_t length)
{
    return is_text(word, length, "FILE") || is_text(word, length, "PATH") || is_text(word, length, "DIR") ||
           is_text(word, length, "DIRECTORY") || is_text(word, length, "SRC");
}

bool complete_command_takes_path(const char *line, size_t start)
{
    struct typed typed = read_typed(line, start);
    const char *word = NULL;
    const size_t length = typed.command ? usage_word(typed.command->usage, typed.place, &word) : 0;
    return is_path(word, length);
}

struct command_words complete_command(const char *line, size_t start, const struct env *env, struct arena *arena)
{
    struct typed typed = read_typed(line, start);
    struct list list = {.arena = arena};
    const char *word = NULL;
    const size_t length = typed.command ? usage_word(typed.command->usage, typed.place, &word) : 0;
    if (typed.place == 0) {
        for (size_t i = 0; i < command_count; i++)
            add(&list, command_table[i].name);
    } else if (length && memchr(word, '|', length)) {
        add_choices(&list, word, length);
    } else if (is_text(word, length, "WORD")) {
        add_help_words(&list);
    } else if (is_text(word, length, "NAME") || is_text(word, length, "SRC")) {
        add_names(&list, &typed, env);
    } else if (is_text(word, length, "VALUE")) {
        add_values(&list, &typed);
    }
    add(&list, NULL); /* the end */
    return (struct command_words){list.words, is_path(word, length)};
}
