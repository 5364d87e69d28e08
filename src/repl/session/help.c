#include "repl/session/help.h"

#include "base/text.h"
#include "repl/print/fit_text.h"
#include "repl/session/commands.h"
#include "repl/session/help_text.h"
#include "repl/session/settings.h"

#include "base/diag.h"
#include "engine/compression/compression.h"
#include "engine/formats/formats.h"
#include "engine/plan/aggregates.h"
#include "engine/plan/functions.h"
#include "parser/words.h"

#include <stdio.h>
#include <string.h>

/* A list of names, wrapped under its title. */
struct list {
    struct strbuf *out;
    size_t width, column;
};

enum { TITLE_CELLS = 11, USAGE_GAP = 2 };

static struct list begin_list(struct strbuf *out, const char *title, size_t width)
{
    strbuf_printf(out, "%-*s", TITLE_CELLS, title);
    return (struct list){out, width, TITLE_CELLS};
}

static void list_name(struct list *list, const char *name)
{
    const size_t length = strlen(name);
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

/* A row without a name is not listed. */
struct row {
    const char *name, *usage, *summary;
};
struct topic {
    const char *title;
    const size_t *counts[2]; /* rows of one table, or of two; NULL: there is no second */
    struct row (*row)(size_t k);
    const char *more;     /* printed below the rows, or NULL */
    const char *overview; /* in the overview instead of the names, which are too many; "": not in it; or NULL */
};

/* Aliases and words that only continue the phrase of another word appear with that word. */
static bool is_listed(const struct word *word)
{
    return !word->reserved && !is_alias(word) && word->usage &&
           strncmp(word->usage, word->text, strlen(word->text)) == 0;
}

static struct row word_row(size_t k, bool stages)
{
    const bool listed = is_listed(&words[k]) && (words[k].stage != STAGE_NONE) == stages;
    return listed ? (struct row){words[k].text, words[k].usage, words[k].summary} : (struct row){0};
}

static struct row statement_row(size_t k)
{
    return word_row(k, false);
}

static struct row stage_row(size_t k)
{
    return word_row(k, true);
}

static struct row aggregate_row(size_t k)
{
    const struct aggregate_function *function = &aggregate_functions[k];
    return function->usage ? (struct row){function->name, function->usage, function->summary} : (struct row){0};
}

/* Compression formats follow the file formats: they are extensions too. */
static struct row format_row(size_t k)
{
    if (k < format_count)
        return (struct row){format_table[k].extension, format_table[k].extension, format_table[k].summary};
    const struct compression *compression = compression_table[k - format_count];
    return (struct row){compression->extension, compression->extension, compression->summary};
}

#define ROWS_OF(function, table, name, usage)                                                                          \
    static struct row function(size_t k)                                                                               \
    {                                                                                                                  \
        return (struct row){table[k].name, table[k].usage, table[k].summary};                                          \
    }
ROWS_OF(function_row, functions, name, usage)
ROWS_OF(command_row, command_table, name, name)
ROWS_OF(setting_row, setting_table, name, name)
ROWS_OF(clause_row, clause_table, word, usage)
ROWS_OF(operator_row, operator_table, name, usage)
ROWS_OF(text_row, help_texts, title, title)
#undef ROWS_OF

static const char format_note[] = "\nload PATH FORMAT reads a file with any extension: load old.dat csv\n";

static const char clauses_note[] =
    "\nThey follow the path of a text file: load export.csv skip 2 decimal \",\" price decimal(2) missing \"-\"\n"
    "What of them a file needs is found by looking at it, and told, unless there are two ways to read it.\n";

static const char aggregates_note[] =
    "\nIn a group, they and what is computed of them: group sym: sum(price * qty) / float(sum(qty))\n"
    "group : sum(qty), max(price) is one row of all. In an expression of rows, a value of all rows at hand:\n"
    "select price > 2 * mean(price). Missing values are passed over; of nothing the result is missing, except of\n"
    "sum and count 0, product 1, any false and all true. Most are stages, too: | median price\n"
    "Of an expression of an index: sum(k in 0..9: x * k); .help loops\n";

static const struct topic topics[] = {
    {"topics", {&help_text_count}, text_row, NULL, NULL},
    {"statements", {&word_count}, statement_row, NULL, NULL},
    {"stages", {&word_count}, stage_row, NULL, NULL},
    {"functions", {&function_count}, function_row, NULL, "of values: .help functions; of many rows: .help aggregates"},
    {"aggregates", {&aggregate_function_count}, aggregate_row, aggregates_note, ""},
    {"commands", {&command_count}, command_row, NULL, NULL},
    {"settings", {&setting_count}, setting_row, NULL, NULL},
    {"formats",
     {&format_count, &compression_count},
     format_row,
     format_note,
     "by extension, as .csv .parquet .npy: .help formats, .help clauses"},
    {"clauses", {&clause_count}, clause_row, clauses_note, ""},
    {"operators", {&operator_count}, operator_row, NULL, NULL},
};
enum { TOPIC_COUNT = sizeof topics / sizeof *topics };

static size_t topic_rows(const struct topic *topic)
{
    return *topic->counts[0] + (topic->counts[1] ? *topic->counts[1] : 0);
}

static void list_topic(struct strbuf *out, const struct topic *topic, size_t width)
{
    if (topic->overview && !*topic->overview)
        return;
    struct list list = begin_list(out, topic->title, width);
    for (const char *word = topic->overview; word && *word;) {
        const size_t length = strcspn(word, " ");
        char name[40];
        (void)snprintf(name, sizeof name, "%.*s", (int)length, word);
        list_name(&list, name);
        word += length + strspn(word + length, " ");
    }
    for (size_t k = 0; k < topic_rows(topic) && !topic->overview; k++) {
        const char *name = topic->row(k).name;
        if (name)
            list_name(&list, name);
    }
    end_list(&list);
}

/* Whether the summary fits beside the usage; width 0: always. */
static bool leaves_room(size_t usage, size_t width)
{
    return width == 0 || usage <= width * 2 / 5;
}

static void widen(size_t *column, const struct row *row, size_t width)
{
    const size_t length = row->name ? strlen(row->usage) : 0;
    *column = length > *column && leaves_room(length, width) ? length : *column;
}

/* The usage and, beside or below it, the summary in a column of its own. */
static void list_row(struct strbuf *out, const struct row *row, size_t column, size_t width)
{
    size_t begin = column + USAGE_GAP, at = strlen(row->usage);
    strbuf_puts(out, row->usage);
    if (!leaves_room(at, width)) {
        strbuf_putc(out, '\n');
        at = 0;
    }
    strbuf_printf(out, "%*s", (int)(begin - at), "");
    word_wrap(out, row->summary, begin, width);
    strbuf_putc(out, '\n');
}

static void list_usages(struct strbuf *out, const struct topic *topic, size_t width)
{
    size_t column = 0;
    for (size_t k = 0; k < topic_rows(topic); k++) {
        struct row row = topic->row(k);
        widen(&column, &row, width);
    }
    for (size_t k = 0; k < topic_rows(topic); k++) {
        struct row row = topic->row(k);
        if (row.name)
            list_row(out, &row, column, width);
    }
}

static bool print_text(struct strbuf *out, const char *title)
{
    const struct help_text *text = ROW_NAMED(help_texts, help_text_count, title);
    if (text)
        strbuf_puts(out, text->text);
    return text;
}

bool help_topic(struct strbuf *out, const char *title, size_t width)
{
    const struct topic *topic = TABLE_ROW(topics, title);
    if (!topic)
        return print_text(out, title);
    list_usages(out, topic, width);
    strbuf_puts(out, topic->more ? topic->more : "");
    return true;
}

const char *help_title(size_t number)
{
    if (number < help_text_count)
        return help_texts[number].title;
    number -= help_text_count;
    return number < TOPIC_COUNT ? topics[number].title : NULL;
}

static bool mentions(const struct row *row, const char *text)
{
    return row->name && (strcasestr(row->summary, text) || strcasestr(row->usage, text));
}

bool help_search(struct strbuf *out, const char *text, size_t width)
{
    size_t before = out->length, column = 0;
    for (size_t pass = 0; pass < 2; pass++) { /* the first pass measures */
        for (size_t i = 0; i < TOPIC_COUNT; i++) {
            for (size_t k = 0; k < topic_rows(&topics[i]); k++) {
                struct row row = topics[i].row(k);
                if (!mentions(&row, text))
                    continue;
                if (pass == 0)
                    widen(&column, &row, width);
                else
                    list_row(out, &row, column, width);
            }
        }
    }
    return out->length > before;
}

void help_overview(struct strbuf *out, size_t width)
{
    word_wrap(out, "A query is a source followed by stages, each applied to the previous result:", 0, width);
    strbuf_puts(out, "\n  ");
    word_wrap(out, "load ids.bin | zip amounts.bin | select ids==42 && amounts>0 | snds | sum", 2, width);
    strbuf_puts(out, "\n\n");
    for (size_t i = 0; i < TOPIC_COUNT; i++)
        list_topic(out, &topics[i], width);
    strbuf_putc(out, '\n');
    word_wrap(out, ".help start shows examples step by step, .help stages what each stage does.", 0, width);
    strbuf_putc(out, '\n');
    word_wrap(out, ".help WORD explains a word; examples run in data/sample, or share/rql/sample.", 0, width);
    strbuf_putc(out, '\n');
}

static void help_stage(struct strbuf *out, const struct word *word)
{
    if (is_alias(word)) {
        strbuf_printf(out, "%s is an alias of %s\n", word->text, word->canonical);
        word = word_find(word->canonical, strlen(word->canonical));
    }
    if (word->usage)
        strbuf_printf(out, "%s\n", word->usage);
    if (word->summary)
        strbuf_printf(out, "  %s\n", word->summary);
    if (word->example)
        strbuf_printf(out, "  example: %s\n", word->example);
    const char *title = "  aliases:";
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
    if (function->example)
        strbuf_printf(out, "  example: %s is %s\n", function->example, function->value);
}

static void help_aggregate(struct strbuf *out, const struct aggregate_function *function)
{
    if (!function->usage)
        function = aggregate_find(function->canonical);
    strbuf_printf(out, "%s\n  %s\n  example: %s\n", function->usage, function->summary, function->example);
}

static void help_command(struct strbuf *out, const struct command *command)
{
    strbuf_printf(out, "%s%s%s\n  %s\n", command->name, *command->usage ? " " : "", command->usage, command->summary);
    if (command->example)
        strbuf_printf(out, "  example: %s\n", command->example);
}

static void help_setting(struct strbuf *out, const struct setting *setting)
{
    strbuf_printf(out, ".set %s ", setting->name);
    setting_print_choices(out, setting);
    strbuf_printf(out, "\n  %s\n", setting->summary);
}

static void help_operator(struct strbuf *out, const struct operator_help *row)
{
    strbuf_printf(out, "%s\n  %s\n  example: %s is %s\n", row->usage, row->summary, row->example, row->value);
}

static void help_name(struct strbuf *out, const struct name_help *row)
{
    strbuf_printf(out, "%s\n  %s\n  example: %s\n", row->usage, row->summary, row->example);
}

static void help_format(struct strbuf *out, const struct format *format)
{
    const char *use =
        format_loads(format) && format->write ? "; loaded and saved" : ""; /* otherwise the summary says it */
    strbuf_printf(out, "%s\n  %s%s\n", format->extension, format->summary, use);
    if (format_loads(format))
        strbuf_printf(out, "  `load PATH %s` reads it from a file with any extension\n", format_word(format));
    if (format->write && !format->shaped)
        strbuf_printf(out, "  example: range 1..3 | save some%s\n", format->extension);
}

/* With or without the dot. */
static bool names_command(const struct command *command, const char *word)
{
    return strcmp(command->name, word) == 0 || strcmp(command->name + 1, word) == 0;
}

/* A word may mean several things: min is a stage and a function, format a command and a setting. */
bool help_word(struct strbuf *out, const char *text)
{
    const size_t before = out->length;
    const struct word *word = word_find(text, strlen(text));
    if (word)
        help_stage(out, word);
    const struct function *function = function_find(text);
    if (function)
        help_function(out, function);
    const struct aggregate_function *aggregate = aggregate_find(text);
    if (aggregate)
        help_aggregate(out, aggregate);
    for (size_t i = 0; i < command_count; i++) {
        if (names_command(&command_table[i], text))
            help_command(out, &command_table[i]);
    }
    const struct setting *setting = setting_find(text);
    if (setting)
        help_setting(out, setting);
    const struct operator_help *operator= word ? NULL : ROW_NAMED(operator_table, operator_count, text);
    if (operator)
        help_operator(out, operator);
    for (size_t i = 0; i < name_count; i++) {
        if (strcmp(name_table[i].name, text) == 0)
            help_name(out, &name_table[i]);
    }
    const enum clause_kind clause = clause_find(text, strlen(text));
    if (clause < CLAUSE_KINDS)
        strbuf_printf(out, "load PATH %s\n  %s\n  example: %s\n", clause_table[clause].usage,
                      clause_table[clause].summary, clause_table[clause].example);
    for (size_t i = 0; i < format_count; i++) {
        const char *extension = format_table[i].extension;
        if (strcmp(extension, text) == 0 || strcmp(extension + 1, text) == 0)
            help_format(out, &format_table[i]);
    }
    for (size_t i = 0; i < compression_count; i++) {
        const char *extension = compression_table[i]->extension;
        if (strcmp(extension, text) == 0 || strcmp(extension + 1, text) == 0)
            strbuf_printf(out, "%s\n  %s\n  example: range 1..3 | save some.csv%s\n", extension,
                          compression_table[i]->summary, extension);
    }
    return out->length > before;
}

size_t help_nearest(const char *word, const char **nearest, size_t max)
{
    struct arena *arena = arena_new();
    const size_t most = word_count + function_count + aggregate_function_count + command_count + setting_count +
                        help_text_count + TOPIC_COUNT + clause_count;
    const char **all = arena_array(arena, most, sizeof *all);
    size_t count = 0;
    for (size_t i = 0; i < word_count; i++)
        all[count++] = words[i].text;
    for (size_t i = 0; i < function_count; i++) {
        /* some, like min, are words too */
        if (!word_find(functions[i].name, strlen(functions[i].name)))
            all[count++] = functions[i].name;
    }
    for (size_t i = 0; i < aggregate_function_count; i++) {
        const char *name = aggregate_functions[i].name;
        if (!word_find(name, strlen(name)) && !function_find(name))
            all[count++] = name;
    }
    for (size_t i = 0; i < command_count; i++)
        all[count++] = command_table[i].name;
    for (size_t i = 0; i < setting_count; i++)
        all[count++] = setting_table[i].name;
    for (size_t i = 0; help_title(i); i++)
        all[count++] = help_title(i);
    for (size_t i = 0; i < clause_count; i++) {
        if (!word_find(clause_table[i].word, strlen(clause_table[i].word)))
            all[count++] = clause_table[i].word;
    }
    const size_t found = nearest_names(word, all, count, nearest, max);
    arena_free(arena);
    return found;
}
