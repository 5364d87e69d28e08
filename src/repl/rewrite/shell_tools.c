/* Programs for files of values between commas: xsv and qsv, csvkit, Miller, and those that have no form here. */
#include "repl/rewrite/shell.h"

#include <string.h>

/* A command's word and the stage that it is: `1` stands for its first argument, `c` and the like for the value of that
 * option, `[R: desc]` for what is there with the option alone. `=` before it: no rows are left; `!`: what there is
 * instead. */
static const struct tool {
    const char *programs, *word;
    const char *with_value; /* options */
    const char *stage;
} tools[] = {
    {"xsv qsv", "count", "d", "=count"},
    {"xsv qsv", "headers", "d", "=describe"},
    {"xsv qsv", "stats", "sd", "=describe"},
    {"xsv qsv", "select", "d", "pick $1"},
    {"xsv qsv", "sort", "sd", "sort $s[R: desc]"},
    {"xsv qsv", "search", "sd", "select $s ~ '$1'"},
    {"xsv qsv", "slice", "l", "take $l"},
    {"xsv qsv", "frequency", "sd", "group $s: count() as n | sort n desc"},
    {"xsv qsv", "join", "d", "!`load FILE | join OTHER on KEY` joins two files"},
    {"csvcut", "", "c", "pick $c"},
    {"csvgrep", "", "cmr", "select contains($c, '$m')"},
    {"csvsort", "", "c", "sort $c[r: desc]"},
    {"csvstat", "", "c", "=describe"},
    {"csvlook", "", "d", ""},
    {"mlr", "cat", "", ""},
    {"mlr", "head", "n", "take $n"},
    {"mlr", "tail", "n", "tail $n"},
    {"mlr", "cut", "f", "pick $f"},
    {"mlr", "filter", "", "select $1"},
    {"mlr", "count", "", "=count"},
    {"mlr", "count-distinct", "f", "group $f: count()"},
    {"mlr", "sort", "f", "sort $f[r: desc]"},
    {"mlr", "stats1 stats2 merge-fields top step", "",
     "!`group K: mean(x), sum(x)` aggregates, `top N by x` keeps rows"},
    {"mlr", "put", "", "!`derive NAME = E` computes a column"},
    {"datamash", "", "", "!`group K: sum(x), mean(x)` aggregates by the values of K"},
    {"jq", "", "", "!`load FILE jsonl | select x > 1 | map x, y` reads JSON: keys are columns, called by their paths"},
    {"csvsql sqlite3 duckdb psql", "", "", "!`load \"|COMMAND\" csv` loads what a program prints"},
};

static const char *value_of(const struct tool_words *args, char letter)
{
    return letter == '1' ? args->first : args->option[(unsigned char)letter & 127];
}

/* The stage with what its letters stand for; NULL: one of them is not there. */
static const char *filled(struct translator *t, const char *stage, const struct tool_words *args)
{
    const char *text = "";
    for (const char *at = stage; *at; at++) {
        if (*at == '[') {
            const char *end = strchr(at, ']');
            text = arena_printf(t->arena, "%s%.*s", text, value_of(args, at[1]) ? (int)(end - at - 3) : 0, at + 3);
            at = end;
        } else if (*at == '$') {
            const char *value = value_of(args, *++at);
            if (!value || !*value)
                return NULL;
            text = arena_printf(t->arena, "%s%s", text, value);
        } else {
            text = arena_printf(t->arena, "%s%c", text, *at);
        }
    }
    return text;
}

static const struct tool *find(const struct command *command, size_t *at)
{
    const char *name = command->words[0];
    *at = 1;
    while (strcmp(name, "mlr") == 0 && *at < command->count && command->words[*at][0] == '-')
        ++*at; /* --icsv and the like */
    const char *word = *at < command->count ? command->words[*at] : "";
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (!is_one_of(name, tools[i].programs) || (*tools[i].word && !is_one_of(word, tools[i].word)))
            continue;
        *at += *tools[i].word != '\0';
        return &tools[i];
    }
    return NULL;
}

/* `-nr x` of Miller is `-f x -r`. */
static bool read_option(const struct tool *tool, const struct command *command, size_t *i, struct tool_words *args)
{
    const char *word = command->words[*i] + 1;
    const bool sorts = strcmp(tool->programs, "mlr") == 0 && strcmp(tool->word, "sort") == 0;
    if (sorts && is_one_of(word, "nr nf r f") && *i + 1 < command->count) {
        args->option['r'] = strchr(word, 'r') ? "" : NULL;
        args->option['f'] = command->words[++*i];
        return true;
    }
    for (; *word; word++) {
        const char **option = &args->option[(unsigned char)*word & 127];
        *option = "";
        if (!strchr(tool->with_value, *word))
            continue;
        *option = word[1] ? word + 1 : *i + 1 < command->count ? command->words[++*i] : "";
        break;
    }
    return command->words[*i][1] != '-';
}

bool is_shell_tool(const char *name)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (is_one_of(name, tools[i].programs))
            return true;
    }
    return false;
}

const char *shell_tool(struct translator *t, const struct command *command, const char **file)
{
    static const char programs[] =
        "`load \"|COMMAND\" csv` loads what a program prints; `.help stages` lists what there is";
    size_t at;
    struct tool_words args = {0};
    const struct tool *tool = find(command, &at);
    *file = NULL;
    if (!tool || *tool->stage == '!')
        return translate_fail(t, "%s", tool ? tool->stage + 1 : programs).text;
    for (; at < command->count; at++) {
        const char *word = command->words[at];
        if (*word == '-' && word[1] && !read_option(tool, command, &at, &args))
            return translate_fail(t, "%s", programs).text;
        if (*word == '-')
            continue;
        if (*file && args.first)
            return translate_fail(t, "%s", programs).text;
        args.first = *file ? *file : args.first;
        *file = word;
    }
    if (args.first && strcmp(tool->programs, "mlr") == 0) { /* $price is price */
        char *text = arena_text(t->arena, args.first, strlen(args.first)), *to = text;
        for (const char *from = text; *from; from++) {
            if (*from != '$')
                *to++ = *from;
        }
        *to = '\0';
        args.first = text;
    }
    const char *stage = filled(t, tool->stage, &args);
    return *file && stage ? stage : translate_fail(t, "%s", programs).text;
}
