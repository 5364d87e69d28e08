#include "repl/session/options.h"

#include "base/text.h"
#include "repl/session/data_files.h"

#include "base/diag.h"
#include "base/heap.h"
#include "parser/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct option_row option_table[] = {
    {"command", 'c', "QUERY", OPTION_QUERY, NULL, NULL, "run QUERY and exit; may be repeated"},
    {"arg", 0, "NAME=VALUE", OPTION_ARGUMENT, NULL, NULL, "define $NAME, as ARGs may; other ARGs are $arg1 ..."},
    {"device", 0, "", OPTION_SET, "device", NULL, NULL},
    {"format", 0, "", OPTION_SET, "format", NULL, NULL},
    {"header", 0, NULL, OPTION_SET, "header", "on", "print column names first"},
    {"timing", 0, NULL, OPTION_SET, "timing", "on", "report times on standard error"},
    {"fusion", 0, "", OPTION_SET, "fusion", NULL, NULL},
    {"stats", 0, "", OPTION_SET, "stats", NULL, NULL},
    {"defer", 0, "", OPTION_SET, "defer", NULL, NULL},
    {"memory", 0, "SIZE", OPTION_SET, "memory", NULL, NULL},
    {"stop", 'e', NULL, OPTION_SET, "errors", "stop", "stop at the first failed query (default)"},
    {"keep-going", 'k', NULL, OPTION_SET, "errors", "continue", "continue after a failed query; exit status 1"},
    {"no-init", 0, NULL, OPTION_NO_INIT, NULL, NULL, "do not run rqlrc before the prompt"},
    {"safe", 0, NULL, OPTION_SAFE, NULL, NULL, "only read, files below this directory; no programs"},
    {"quiet", 0, NULL, OPTION_SET, "messages", "quiet", "no notes, no greeting"},
    {"verbose", 0, NULL, OPTION_SET, "messages", "verbose", "every note, every time"},
    {"help", 'h', NULL, OPTION_HELP, NULL, NULL, "print this help"},
    {"version", 0, NULL, OPTION_VERSION, NULL, NULL, "print name and version"},
};
const size_t option_count = sizeof option_table / sizeof *option_table;

struct reader {
    int argc;
    char *const *argv;
    int next;
    struct options *options;
    struct strbuf *message;
};

static enum options_result bad(struct strbuf *message)
{
    strbuf_puts(message, "\ntry 'rql --help'\n");
    return OPTIONS_BAD;
}

/* One line of at most 79 cells: the summary or, for an option that takes a setting's value, the choices. */
static void print_option(struct strbuf *out, const struct option_row *row)
{
    struct strbuf left = {0};
    if (row->letter)
        strbuf_printf(&left, "-%c, ", row->letter);
    strbuf_printf(&left, "--%s", row->name);
    if (row->argument)
        strbuf_printf(&left, " %s", *row->argument ? row->argument : "WHICH");
    strbuf_printf(out, "  %-22s  %s", left.text, row->summary ? row->summary : "");
    if (!row->summary && row->argument && !*row->argument)
        setting_print_choices(out, setting_find(row->setting));
    else if (!row->summary)
        strbuf_puts(out, setting_find(row->setting)->summary);
    strbuf_putc(out, '\n');
    strbuf_free(&left);
}

/* Fits 24 lines of 80 cells. */
static void print_help(struct strbuf *out)
{
    strbuf_puts(out, "rql: an interactive shell for columnar data; .help describes the language\n"
                     "  rql [OPTIONS] [FILE...]        prompt with data files, or read standard input\n"
                     "  rql [OPTIONS] SCRIPT [ARG...]  run a script; - is standard input\n"
                     "  rql [OPTIONS] [-c] QUERY       run the query; FILEs may follow, and -c QUERY\n");
    for (size_t i = 0; i < option_count; i++)
        print_option(out, &option_table[i]);
    strbuf_puts(out, "Exit status: 0 success, 1 a query failed, 2 usage error, 130 interrupted\n");
}

static const struct option_row *find_long(const char *name, size_t length)
{
    return row_of_text(option_table, option_count, sizeof *option_table, (struct text){name, length});
}

static const struct option_row *find_short(char letter)
{
    for (size_t i = 0; i < option_count; i++) {
        if (option_table[i].letter == letter)
            return &option_table[i];
    }
    return NULL;
}

static enum options_result unknown(struct strbuf *message, const char *argument)
{
    strbuf_puts(message, "rql: unknown option '");
    strbuf_add_visible(message, argument, strlen(argument));
    strbuf_putc(message, '\'');
    const size_t dashes = strspn(argument, "-");
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(argument + dashes, "="), argument + dashes);
    const char *candidates[sizeof option_table / sizeof *option_table];
    for (size_t i = 0; i < option_count; i++)
        candidates[i] = option_table[i].name;
    const char *nearest[3];
    const size_t count = nearest_names(name, candidates, option_count, nearest, 3);
    for (size_t i = 0; i < count; i++)
        strbuf_printf(message, "%s--%s%s", i == 0 ? "; did you mean " : " or ", nearest[i], i + 1 == count ? "?" : "");
    return bad(message);
}

static enum options_result bad_value(struct strbuf *message, const struct option_row *row, const char *value)
{
    strbuf_printf(message, "rql: invalid value for --%s: '", row->name);
    strbuf_add_visible(message, value, strlen(value));
    strbuf_puts(message, "'; choose one of ");
    setting_print_values(message, setting_find(row->setting));
    return bad(message);
}

static enum options_result bad_argument(struct strbuf *message, const char *value)
{
    strbuf_puts(message, "rql: --arg takes NAME=VALUE, not '");
    strbuf_add_visible(message, value, strlen(value));
    strbuf_putc(message, '\'');
    return bad(message);
}

/* `value`: the text after `=`, or NULL. */
static enum options_result apply(struct reader *reader, const struct option_row *row, const char *value)
{
    if (!row->argument && value) {
        strbuf_printf(reader->message, "rql: --%s takes no value", row->name);
        return bad(reader->message);
    }
    if (row->argument && !value) {
        if (reader->next == reader->argc) {
            strbuf_printf(reader->message, "rql: --%s needs a value", row->name);
            return bad(reader->message);
        }
        value = reader->argv[reader->next++];
    }
    switch (row->action) {
    case OPTION_SET:
        if (!row->argument)
            value = row->value;
        if (!setting_set(&reader->options->settings, setting_find(row->setting), value))
            return bad_value(reader->message, row, value);
        return OPTIONS_RUN;
    case OPTION_QUERY:
        reader->options->queries[reader->options->query_count++] = value;
        return OPTIONS_RUN;
    case OPTION_ARGUMENT:
        reader->options->named[reader->options->named_count++] = value;
        return strchr(value, '=') ? OPTIONS_RUN : bad_argument(reader->message, value);
    case OPTION_NO_INIT:
        reader->options->no_init = true;
        return OPTIONS_RUN;
    case OPTION_SAFE:
        reader->options->safe = reader->options->no_init = true;
        (void)setting_set(&reader->options->settings, setting_find("device"), "host");
        return OPTIONS_RUN;
    case OPTION_HELP:
        print_help(reader->message);
        return OPTIONS_PRINT;
    case OPTION_VERSION:
        strbuf_puts(reader->message, "rql " RQL_VERSION "\n");
        return OPTIONS_PRINT;
    }
    return OPTIONS_RUN;
}

static enum options_result read_option(struct reader *reader, const char *argument)
{
    if (argument[1] != '-') { /* -c QUERY or -cQUERY */
        const struct option_row *row = find_short(argument[1]);
        if (!row || (argument[2] && !row->argument))
            return unknown(reader->message, argument);
        return apply(reader, row, argument[2] ? argument + 2 : NULL);
    }
    const char *name = argument + 2;
    const size_t length = strcspn(name, "=");
    const struct option_row *row = find_long(name, length);
    return row ? apply(reader, row, name[length] ? name + length + 1 : NULL) : unknown(reader->message, argument);
}

/* An option of rql misplaced after the script? Negative numbers are arguments. */
static bool looks_like_option(const char *argument)
{
    if (argument[0] != '-')
        return false;
    const char second = argument[1];
    return second == '-' || (second >= 'a' && second <= 'z') || (second >= 'A' && second <= 'Z');
}

/* Whether an operand is a query: no file has that name, and it has a `|` or begins with a word of the language. */
static bool is_query(const char *argument)
{
    const size_t length = strcspn(argument, " |");
    if (!argument[length] || access(argument, F_OK) == 0)
        return false;
    return strchr(argument, '|') || word_find(argument, length);
}

/* All operands are data files, or the first is the script and the others are its arguments. */
static enum options_result read_operand(struct reader *reader, const char *argument, bool only_operands)
{
    struct strbuf *message = reader->message;
    struct options *options = reader->options;
    if (!options->script && is_query(argument)) {
        options->queries[options->query_count++] = argument;
        return OPTIONS_RUN;
    }
    if (!options->script && is_data_file(argument)) {
        options->files[options->file_count++] = argument;
        return OPTIONS_RUN;
    }
    if (options->file_count > 0) {
        strbuf_puts(message, "rql: '");
        strbuf_add_visible(message, argument, strlen(argument));
        strbuf_puts(message, "' is not a data file: its extension is not one that can be loaded");
        return bad(message);
    }
    if (!options->script) {
        options->script = argument;
        if (*argument == '\0') {
            strbuf_puts(message, "rql: the script name is empty");
            return bad(message);
        }
        return OPTIONS_RUN;
    }
    if (!only_operands && looks_like_option(argument)) {
        strbuf_puts(message, "rql: unexpected '");
        strbuf_add_visible(message, argument, strlen(argument));
        strbuf_puts(message, "' after the script; options go before it, and NAME=VALUE needs no option");
        return bad(message);
    }
    options->arguments[options->argument_count++] = argument;
    return OPTIONS_RUN;
}

enum options_result options_parse(struct options *options, int argc, char *const *argv, struct strbuf *message)
{
    *options = (struct options){.settings = settings_default()};
    options->queries = heap_array((size_t)argc + 1, sizeof *options->queries);
    options->arguments = heap_array((size_t)argc + 1, sizeof *options->arguments);
    options->files = heap_array((size_t)argc + 1, sizeof *options->files);
    options->named = heap_array((size_t)argc + 1, sizeof *options->named);
    struct reader reader = {argc, argv, 1, options, message};
    bool only_operands = false;
    while (reader.next < argc) {
        const char *argument = argv[reader.next++];
        enum options_result result = OPTIONS_RUN;
        if (!only_operands && strcmp(argument, "--") == 0)
            only_operands = true;
        else if (!only_operands && !options->script && argument[0] == '-' && argument[1])
            result = read_option(&reader, argument);
        else
            result = read_operand(&reader, argument, only_operands);
        if (result != OPTIONS_RUN)
            return result;
    }
    if (options->script && options->query_count) {
        strbuf_puts(message, "rql: a script and -c are mutually exclusive");
        return bad(message);
    }
    return OPTIONS_RUN;
}

void options_free(struct options *options)
{
    free(options->queries);
    free(options->arguments);
    free(options->files);
    free(options->named);
}
