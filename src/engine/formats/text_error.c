#include "engine/formats/text_table.h"

#include <string.h>

enum { SHOWN = 40 };

static int64_t line_of(const struct table *table, const char *at)
{
    int64_t line = 1;
    for (const char *c = table->text; (c = memchr(c, '\n', (size_t)(at - c))); c++)
        line++;
    return line;
}

/* "`trades.csv`, line 7" and, where there are several, the column. */
static const char *place_of(const struct table *table, const struct problem *problem, const char *path,
                            struct arena *arena)
{
    long long line = line_of(table, problem->at);
    if (table->dialect->delimiter == '\n' || problem->kind == PROBLEM_COUNT || problem->kind == PROBLEM_QUOTE)
        return arena_printf(arena, "`%s`, line %lld", path, line);
    return arena_printf(arena, "`%s`, line %lld, column `%s`", path, line, table->columns[problem->column].name);
}

/* The value at the problem, of which the beginning will do. */
static struct piece piece_at(const struct table *table, const char *at)
{
    struct piece piece;
    /* What stood in quotes ends before the closing one. */
    if (at > table->begin && at[-1] == '"' && (table->dialect->quotes || table->dialect->json))
        at--;
    if (!table_value(table->dialect, at, table->end, &piece))
        piece = (struct piece){at, at, false};
    return piece;
}

static const char *text_of(struct piece piece, struct arena *arena)
{
    size_t length = (size_t)(piece.end - piece.at);
    return arena_text(arena, piece.at, length < SHOWN ? length : SHOWN);
}

static bool is_blank_line(const struct table *table, const char *at)
{
    struct piece piece;
    const char *next = table_value(&(struct dialect){.delimiter = '\n'}, at, table->end, &piece);
    return next && piece.at == piece.end && (at == table->begin || at[-1] == '\n');
}

static size_t values_in(const struct table *table, const char *at)
{
    size_t count = 1;
    struct piece piece;
    while ((at = table_value(table->dialect, at, table->end, &piece)) && at < table->end && *at != '\n') {
        count++;
        at++;
    }
    return count;
}

static enum status blank_error(const struct table *table, const char *place, const struct format_job *job)
{
    diag_error(job->diags, job->span, "%s is blank", place);
    diag_hint(job->diags, "a %s file has one %s a line; only its end may be blank", job->format->ending,
              table->dialect->delimiter == '\n' ? "number" : "row");
    return STATUS_FAILED;
}

static enum status value_error(const struct table *table, const struct problem *problem, const char *place,
                               const struct format_job *job, const char *path)
{
    struct diags *diags = job->diags;
    enum value_kind kind = table->columns[problem->column].kind;
    diag_error(diags, job->span, "%s: `%s` is %s", place, text_of(piece_at(table, problem->at), diags->arena),
               kind == VALUE_BOOL ? "neither true nor false" : "not a number");
    if (table->dialect->delimiter == '\n')
        diag_hint(diags, "a %s file has one number a line; raw data needs its type, as in load %s i32",
                  job->format->ending, path);
    else
        diag_hint(diags, "only a column that begins with text is left out; this one begins with %s",
                  kind == VALUE_BOOL ? "true or false" : "numbers");
    return STATUS_FAILED;
}

static enum status object_error(const char *place, const struct format_job *job)
{
    diag_error(job->diags, job->span, "%s is no JSON object with the keys of the first line, in their order", place);
    diag_hint(job->diags, "each line is one, all alike: {\"id\": 42, \"amt\": 0.5}");
    return STATUS_FAILED;
}

const char *table_delimiter_advice(const struct table *table)
{
    static const struct {
        char delimiter;
        const char *advice;
    } others[] = {
        {'\t', "its values seem to stand between tabs: such a file is called .tsv, or loaded by `load PATH tsv`"},
        {';', "its values seem to stand between `;`: a .csv file has commas there, and points in its numbers"},
        {'|', "its values seem to stand between `|`: a .csv file has commas there"},
        {',', "its values seem to stand between commas: such a file is called .csv, or loaded by `load PATH csv`"},
    };
    const char *newline = memchr(table->text, '\n', (size_t)(table->end - table->text));
    size_t length = (size_t)((newline ? newline : table->end) - table->text);
    if (table->count != 1 || table->dialect->json || !table->dialect->header)
        return NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].delimiter != table->dialect->delimiter && memchr(table->text, others[i].delimiter, length))
            return others[i].advice;
    }
    return NULL;
}

static enum status count_error(const struct table *table, const struct problem *problem, const char *place,
                               const struct format_job *job)
{
    size_t values = values_in(table, problem->at);
    diag_error(job->diags, job->span, "%s has %zu value%s, but the first line has %zu", place, values,
               values == 1 ? "" : "s", table->count);
    const char *advice = table_delimiter_advice(table);
    diag_hint(job->diags, "%s",
              advice ? advice : "all lines must have as many; a value with the delimiter in it is written in quotes");
    return STATUS_FAILED;
}

/* An integer beyond 64 bits, or what is written with a point or an exponent and is beyond all floats. */
static void big_error(const char *place, const char *number, const struct format_job *job)
{
    diag_error(job->diags, job->span, "%s: %s is too large", place, number);
    if (strpbrk(number, ".eE"))
        diag_hint(job->diags, "floats go up to 1.8e308; `inf` is infinity");
    else
        diag_hint(job->diags, "integers have 64 bits; with a decimal point anywhere the column is one of floats");
}

enum status table_error(const struct table *table, const struct problem *problem, const struct format_job *job,
                        const char *path)
{
    struct diags *diags = job->diags;
    const char *place = place_of(table, problem, path, diags->arena);
    if ((problem->kind == PROBLEM_MISSING || problem->kind == PROBLEM_COUNT) && is_blank_line(table, problem->at))
        return blank_error(
            table, arena_printf(diags->arena, "`%s`, line %lld", path, (long long)line_of(table, problem->at)), job);
    if (table->dialect->json && (problem->kind == PROBLEM_COUNT || problem->kind == PROBLEM_QUOTE))
        return object_error(place, job);
    switch (problem->kind) {
    case PROBLEM_MISSING:
        diag_error(diags, job->span, "%s: a value is missing", place);
        diag_hint(diags, "every row needs one: fill it in or take the line out");
        break;
    case PROBLEM_OVERFLOW:
        big_error(place, text_of(piece_at(table, problem->at), diags->arena), job);
        break;
    case PROBLEM_QUOTE:
        diag_error(diags, job->span, "%s: the quotes are wrong", place);
        diag_hint(diags,
                  "a value in quotes begins and ends with one, and those within are doubled: \"so \"\"called\"\"\"");
        break;
    case PROBLEM_COUNT:
        return count_error(table, problem, place, job);
    case PROBLEM_VALUE:
    case PROBLEM_NONE:
        return value_error(table, problem, place, job, path);
    }
    return STATUS_FAILED;
}
