#include "engine/formats/text_table.h"

#include <string.h>

enum { MAX_SHOWN = 40 };

static int64_t line_of(const struct table *table, const char *at)
{
    int64_t line = 1;
    for (const char *c = table->text; (c = memchr(c, '\n', (size_t)(at - c))); c++)
        line++;
    return line;
}

/* "`trades.csv`, line 7", and the column if there are several. */
static const char *location_of(const struct table *table, const struct problem *problem, const char *path,
                               struct arena *arena)
{
    long long line = line_of(table, problem->at);
    if (table->dialect->delimiter == '\n' || problem->kind == PROBLEM_COUNT || problem->kind == PROBLEM_QUOTE)
        return arena_printf(arena, "`%s`, line %lld", path, line);
    return arena_printf(arena, "`%s`, line %lld, column `%s`", path, line, table->columns[problem->column].name);
}

/* The value at the error, or its beginning. */
static struct piece piece_at(const struct table *table, const char *at)
{
    struct piece piece;
    /* A quoted value begins after its opening quote. */
    if (at > table->begin && at[-1] == '"' && (table->dialect->quotes || table->dialect->json))
        at--;
    if (!table_value(table->dialect, at, table->end, &piece))
        piece = (struct piece){at, at, false};
    return piece;
}

static const char *text_of(struct piece piece, struct arena *arena)
{
    size_t length = (size_t)(piece.end - piece.at);
    return arena_text(arena, piece.at, length < MAX_SHOWN ? length : MAX_SHOWN);
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

static enum status blank_error(const struct table *table, const char *location, const struct format_job *job)
{
    diag_error(job->diags, job->span, "%s is blank", location);
    diag_hint(job->diags, "a %s file has one %s per line; only its end may be blank", job->format->extension,
              table->dialect->delimiter == '\n' ? "number" : "row");
    return STATUS_FAILED;
}

static enum status value_error(const struct table *table, const struct problem *problem, const char *location,
                               const struct format_job *job, const char *path)
{
    struct diags *diags = job->diags;
    enum value_kind kind = table->columns[problem->column].kind;
    diag_error(diags, job->span, "%s: `%s` is %s", location, text_of(piece_at(table, problem->at), diags->arena),
               kind == VALUE_BOOL ? "neither true nor false" : "not a number");
    if (table->dialect->delimiter == '\n')
        diag_hint(diags, "a %s file has one number per line; raw data needs its type, as in `load %s i32`",
                  job->format->extension, path);
    else
        diag_hint(diags, "only columns that begin with text are skipped; this one begins with %s",
                  kind == VALUE_BOOL ? "true or false" : "numbers");
    return STATUS_FAILED;
}

static enum status object_error(const char *location, const struct format_job *job)
{
    diag_error(job->diags, job->span, "%s is not a JSON object with the keys of the first line in the same order",
               location);
    diag_hint(job->diags, "each line is an object such as {\"id\": 42, \"amt\": 0.5}");
    return STATUS_FAILED;
}

const char *table_delimiter_advice(const struct table *table)
{
    static const struct {
        char delimiter;
        const char *advice;
    } others[] = {
        {'\t', "its values seem to be separated by tabs: name it .tsv, or use `load PATH tsv`"},
        {';', "its values seem to be separated by `;`: a .csv file needs commas, and decimal points"},
        {'|', "its values seem to be separated by `|`: a .csv file needs commas"},
        {',', "its values seem to be separated by commas: name it .csv, or use `load PATH csv`"},
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

static enum status count_error(const struct table *table, const struct problem *problem, const char *location,
                               const struct format_job *job)
{
    size_t values = values_in(table, problem->at);
    diag_error(job->diags, job->span, "%s has %zu value%s, but the first line has %zu", location, values,
               values == 1 ? "" : "s", table->count);
    const char *advice = table_delimiter_advice(table);
    diag_hint(job->diags, "%s",
              advice ? advice : "all lines need the same number; quote values that contain the delimiter");
    return STATUS_FAILED;
}

/* An integer beyond 64 bits, or a number with a point or exponent beyond all floats. */
static void overflow_error(const char *location, const char *number, const struct format_job *job)
{
    diag_error(job->diags, job->span, "%s: %s is too large", location, number);
    if (strpbrk(number, ".eE"))
        diag_hint(job->diags, "floats go up to 1.8e308; `inf` is infinity");
    else
        diag_hint(job->diags, "integers have 64 bits; a decimal point in any value makes the column float");
}

enum status table_error(const struct table *table, const struct problem *problem, const struct format_job *job,
                        const char *path)
{
    struct diags *diags = job->diags;
    const char *location = location_of(table, problem, path, diags->arena);
    if ((problem->kind == PROBLEM_MISSING || problem->kind == PROBLEM_COUNT) && is_blank_line(table, problem->at))
        return blank_error(
            table, arena_printf(diags->arena, "`%s`, line %lld", path, (long long)line_of(table, problem->at)), job);
    if (table->dialect->json && (problem->kind == PROBLEM_COUNT || problem->kind == PROBLEM_QUOTE))
        return object_error(location, job);
    switch (problem->kind) {
    case PROBLEM_MISSING:
        diag_error(diags, job->span, "%s: missing value", location);
        diag_hint(diags, "fill it in or remove the line");
        break;
    case PROBLEM_OVERFLOW:
        overflow_error(location, text_of(piece_at(table, problem->at), diags->arena), job);
        break;
    case PROBLEM_QUOTE:
        diag_error(diags, job->span, "%s: malformed quotes", location);
        diag_hint(diags,
                  "a quoted value begins and ends with a quote; quotes within are doubled: \"so \"\"called\"\"\"");
        break;
    case PROBLEM_COUNT:
        return count_error(table, problem, location, job);
    case PROBLEM_VALUE:
    case PROBLEM_NONE:
        return value_error(table, problem, location, job, path);
    }
    return STATUS_FAILED;
}
