#include "base/path.h"
#include "engine/json/json.h"
#include "engine/json/json_keys.h"
#include "engine/text/cells.h"
#include "engine/text/encoding.h"
#include "engine/text/records.h"
#include "engine/text/scan.h"
#include "engine/text/table.h"
#include "engine/text/ways.h"

#include <string.h>

enum { MAX_SHOWN = 40 };

int64_t table_line(const struct table *table, const char *at)
{
    int64_t line = 1;
    for (const char *c = table->text; (c = memchr(c, '\n', (size_t)(at - c))); c++)
        line++;
    return line;
}

const char *table_load_advice(const struct table *table, const struct format_job *job, const char *path,
                              struct text_options options)
{
    struct arena *arena = job->diags->arena;
    const char *extension = table->dialect->extension, *found = strstr(path_base(path), extension);
    const char *behind = found ? found + strlen(extension) : "x";
    const bool json = table->dialect->json && strstr(path_base(path), ".json"); /* .jsonl, or an array */
    const bool told = (json || *behind == '\0' || *behind == '.') && path[0] != '|';
    return arena_printf(arena, "load %s%s%s%s", path_written(path, arena), told ? "" : " ", told ? "" : extension + 1,
                        text_options_written(&options, arena));
}

/* "`trades.csv`, line 7", and the column if there are several and it matters. */
static const char *location_of(const struct table *table, const struct problem *problem, const char *path,
                               struct arena *arena)
{
    long long line = table_line(table, problem->at);
    if (table->dialect->delimiter == '\n' || problem->kind == PROBLEM_COUNT || problem->kind == PROBLEM_QUOTE ||
        problem->kind == PROBLEM_KEY)
        return arena_printf(arena, "`%s`, line %lld", path, line);
    return arena_printf(arena, "`%s`, line %lld, column `%s`", path, line,
                        table_column_shown(table, problem->column, arena));
}

const char *table_column_shown(const struct table *table, size_t k, struct arena *arena)
{
    const struct table_column *column = &table->columns[k];
    if (column->list == NO_COLUMN)
        return column->name;
    return arena_printf(arena, "%s[]%s%s", table_column_shown(table, column->list, arena), *column->name ? "." : "",
                        column->name);
}

const char *table_shown_cell(const struct table *table, const char *at, struct arena *arena)
{
    struct cell cell;
    /* A quoted value begins after its opening quote. */
    if (at > table->begin && at[-1] == '"' && (table->dialect->quotes || table->dialect->json))
        at--;
    if (!cell_scan(table->dialect, at, table->end, &cell))
        cell = (struct cell){at, at, false};
    const size_t length = (size_t)(cell.end - cell.at);
    return arena_text(arena, cell.at, length < MAX_SHOWN ? length : MAX_SHOWN);
}

static bool is_blank_line(const struct table *table, const char *at)
{
    struct cell cell;
    const char *next = cell_scan(&(struct dialect){.delimiter = '\n'}, at, table->end, &cell);
    return next && cell.at == cell.end && (at == table->begin || at[-1] == '\n');
}

static size_t values_in(const struct table *table, const char *at)
{
    size_t count = 1;
    struct cell cell;
    while ((at = cell_scan(table->dialect, at, table->end, &cell)) && at < table->end && *at != '\n') {
        count++;
        at++;
    }
    return count;
}

/* The name of a stated type, with its article. */
static const char *type_of(const struct table_column *column, struct arena *arena)
{
    switch (column->kind) {
    case VALUE_BOOL:
        return "true or false";
    case VALUE_DATE:
        return "a date, such as 2024-01-31";
    case VALUE_TIMESTAMP:
        return column->utc ? "a timestamp with a zone, such as 2024-01-31T09:30:00Z"
                           : "a timestamp, such as 2024-01-31T09:30:00";
    case VALUE_DURATION:
        return "a duration, such as 2d 03:15:00";
    case VALUE_DECIMAL:
        return arena_printf(arena, "a decimal(%d)", column->scale);
    case VALUE_INT:
        return "an integer";
    case VALUE_FLOAT:
    case VALUE_TEXT:
    case VALUE_LIST:
        break;
    }
    return "a number";
}

/* Of a cell that can be read in two ways, the clauses that tell. */
static const char *value_advice(const struct table *table, const char *at, const struct format_job *job,
                                const char *path)
{
    struct cell cell;
    const char *from = at > table->begin && at[-1] == '"' && table->dialect->quotes ? at - 1 : at;
    if (table->dialect->json || !cell_scan(table->dialect, from, table->end, &cell) || !ways_of(table, cell).differ)
        return "omit the column's type to load it as what it is";
    struct text_options options = table->options;
    const bool dates = ways_of(table, cell).ways & WAYS_OF_DATES;
    if (dates)
        options.dates = DATES_DMY;
    else
        options.thousands = ',';
    return arena_printf(job->diags->arena, "say what it means: `%s` or `%s`",
                        table_load_advice(table, job, path, options), dates ? "dates mdy" : "decimal \",\"");
}

static enum status value_error(const struct table *table, const struct problem *problem, const char *location,
                               const struct format_job *job, const char *path)
{
    struct arena *arena = job->diags->arena;
    const struct table_column *column = &table->columns[problem->column];
    const char *cell = table_shown_cell(table, problem->at, arena);
    if (problem->kind == PROBLEM_VALUE) {
        diag_error(job->diags, job->span, "%s: `%s` is not %s", location, cell, type_of(column, arena));
        diag_hint(job->diags, "%s", value_advice(table, problem->at, job, path));
    } else if (column->kind == VALUE_DECIMAL) {
        diag_error(job->diags, job->span, "%s: %s does not fit decimal(%d)", location, cell, column->scale);
        diag_hint(job->diags, "it holds %d digit%s after the point, and 18 or 19 in all", column->scale,
                  column->scale == 1 ? "" : "s");
    } else {
        diag_error(job->diags, job->span, "%s: %s does not fit %s", location, cell, type_table[column->type].name);
    }
    return STATUS_FAILED;
}

const char *table_delimiter_advice(const struct table *table)
{
    static const struct {
        char delimiter;
        const char *advice;
    } others[] = {
        {';', "its values seem to be separated by `;`: name it .csv, or use `load PATH csv`"},
        {'|', "its values seem to be separated by `|`: name it .csv, or use `load PATH csv`"},
        {',', "its values seem to be separated by commas: name it .csv, or use `load PATH csv`"},
    };
    const char *first = memchr(table->text, '\n', (size_t)(table->end - table->text));
    const bool lines = table->dialect->delimiter == '\n' && !table->dialect->json;
    if (table->count != 1 || !(table->dialect->escapes || lines) || !first)
        return NULL;
    const char *second = memchr(first + 1, '\n', (size_t)(table->end - first - 1));
    const size_t length = (size_t)((second ? second : table->end) - first - 1);
    if (lines)
        return memchr(table->text, '\t', (size_t)(first - table->text)) && memchr(first + 1, '\t', length)
                   ? "its lines have tabs: `load PATH tsv` makes columns of them"
                   : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        /* In a name alone it separates nothing. */
        if (memchr(table->text, others[i].delimiter, (size_t)(first - table->text)) &&
            memchr(first + 1, others[i].delimiter, length))
            return others[i].advice;
    }
    return NULL;
}

/* Whether an odd number of quotes is in the line: of a format with escapes, a value in quotes ends with its line. */
static bool leaves_quote_open(const struct table *table, const char *at)
{
    bool open = false;
    for (; table->dialect->escapes && at < table->end && *at != '\n'; at++)
        open ^= *at == '"';
    return open;
}

/* Whether a line begins as comments do. */
static bool begins_as_comment(const struct table *table, const char *at)
{
    return *at == '#' || *at == '%' || (table->end - at >= 2 && at[0] == '/' && at[1] == '/');
}

static const char *line_begin(const struct table *table, const char *at)
{
    const char *newline = memrchr(table->text, '\n', (size_t)(at - table->text));
    return newline ? newline + 1 : table->text;
}

static const char *comment_advice(const struct table *table, const char *at, const struct format_job *job,
                                  const char *path)
{
    struct text_options options = table->options;
    options.comment = arena_text(job->diags->arena, at, *at == '/' ? 2 : 1);
    return arena_printf(job->diags->arena, "leave comments out: `%s`", table_load_advice(table, job, path, options));
}

/* Whether text follows the bracket that closes the array of all records. */
static bool is_behind_array(const struct table *table, const char *at)
{
    const char *end = table->array ? json_skip_value(at, table->end) : NULL;
    end = end ? json_skip_blank(end, table->end) : NULL;
    return end && end < table->end && *end == ']';
}

static enum status object_error(const struct table *table, const struct problem *problem, const char *location,
                                const struct format_job *job, const char *path)
{
    struct diags *diags = job->diags;
    struct text_options options = table->options;
    options.errors = ERRORS_SKIP;
    const char *newline = memchr(problem->at, '\n', (size_t)(table->end - problem->at));
    const char *limit = newline && !table->values ? newline : table->end, *end = json_skip_value(problem->at, limit);
    end = end ? end : newline ? newline : table->end;
    const struct text value = json_bad_value(problem->at, end);
    if (*json_skip_blank(problem->at, table->end - 1) == '{' && value.length > 0)
        return diag_error_hint(
            diags, job->span,
            "numbers of JSON have no `+`, no zero before other digits, and digits on both sides of a "
            "point; words are null, true and false",
            "%s: `%.*s` is no value of JSON", location, (int)(value.length < MAX_SHOWN ? value.length : MAX_SHOWN),
            value.at);
    if (is_behind_array(table, problem->at))
        return diag_error_hint(diags, job->span, "one array holds all objects; several are several files",
                               "%s: the array ends behind the object that begins here, and text follows it", location);
    return diag_error_hint(
        diags, job->span,
        table->values
            ? "an object is such as {\"id\": 42, \"amt\": 0.5}, with commas between those of an array"
            : arena_printf(diags->arena,
                           "each line is an object such as {\"id\": 42, \"amt\": 0.5}; to leave out others: `%s`",
                           table_load_advice(table, job, path, options)),
        table->values ? "%s: what begins here is not a JSON object" : "%s is not a JSON object", location);
}

/* What reads quotes that are written as `\"`, if the line has some; else NULL. */
static const char *escape_advice(const struct table *table, const char *at, const struct format_job *job,
                                 const char *path)
{
    struct arena *arena = job->diags->arena;
    const char *begin = line_begin(table, at), *end = line_end(table, at);
    const bool program = path[0] == '|' || path_is_address(path);
    while (table->dialect->quotes && begin < end && (begin = memchr(begin, '\\', (size_t)(end - begin)))) {
        if (++begin < end && *begin == '"')
            return program ? "quotes within are doubled, and not written as `\\\"`"
                           : arena_printf(arena,
                                          "`load \"|sed 's/\\\\\\\\\\\\\\\\/\\\\x01/g; s/\\\\\\\\\\\"/\\\"\\\"/g; "
                                          "s/\\\\x01/\\\\\\\\/g' %s\" %s`",
                                          path_written(path, arena), table->dialect->extension + 1);
    }
    return NULL;
}

/* The clause for values that are within `'`, if a value of the line begins with one; else NULL. */
static const char *quote_advice(const struct table *table, const char *at, const struct format_job *job,
                                const char *path)
{
    struct text_options options = table->options;
    const char *end = line_end(table, at);
    bool found = false;
    for (const char *mark = at; (mark = memchr(mark, '\'', (size_t)(end - mark))) && !found; mark++)
        found = mark == at || mark[-1] == table->dialect->delimiter;
    options.quote = '\'';
    return found && table->dialect->quotes && !table->options.quote
               ? arena_printf(job->diags->arena, "where values are within `'`: `%s`",
                              table_load_advice(table, job, path, options))
               : NULL;
}

/* What puts a name above the first column, if it has none, as in files of R, whose rows have names in quotes; else
 * NULL. */
static const char *row_names_advice(const struct table *table, size_t values, const char *at,
                                    const struct format_job *job, const char *path)
{
    struct arena *arena = job->diags->arena;
    const char *header = table->text;
    const char delimiter = table->dialect->delimiter;
    if (at != table->begin || values != table->count + 1 || *at != '"' || *header != '"' || delimiter == '\t' ||
        path[0] == '|' || path_is_address(path))
        return NULL;
    return arena_printf(arena, "the first column has no name; give it one: `load \"|sed '1s/^/name%c/' %s\" %s%s`",
                        delimiter, path_written(path, arena), table->dialect->extension + 1,
                        text_options_written(&table->options, arena));
}

static enum status count_error(const struct table *table, const struct problem *problem, const char *location,
                               const struct format_job *job, const char *path)
{
    struct diags *diags = job->diags;
    if (is_blank_line(table, problem->at)) {
        diag_error(diags, job->span, "%s is blank", location);
        diag_hint(diags, "a %s file has one row per line; only its end may be blank", table->dialect->extension);
    } else if (table->dialect->json) {
        return object_error(table, problem, location, job, path);
    } else {
        const size_t values = values_in(table, problem->at);
        const char *advice = table_delimiter_advice(table);
        if (!advice && leaves_quote_open(table, problem->at))
            advice = "a value in quotes seems to go on in the next line: name it .csv, or use `load PATH csv`";
        advice = advice ? advice : escape_advice(table, problem->at, job, path);
        diag_error(diags, job->span, "%s has %zu value%s, but the first line has %zu", location, values,
                   values == 1 ? "" : "s", table->count);
        if (!advice && begins_as_comment(table, problem->at))
            advice = comment_advice(table, problem->at, job, path);
        advice = advice ? advice : row_names_advice(table, values, problem->at, job, path);
        advice = advice ? advice : quote_advice(table, problem->at, job, path);
        struct text_options options = table->options;
        options.ragged = true;
        diag_hint(diags, "%s",
                  advice ? advice
                         : arena_printf(diags->arena,
                                        "quote values that contain the delimiter, or say what such lines are: `%s` or "
                                        "`errors skip`",
                                        table_load_advice(table, job, path, options)));
    }
    return STATUS_FAILED;
}

static enum status encoding_error(const struct problem *problem, const struct table *table, const char *location,
                                  const struct format_job *job, const char *path)
{
    const char *end = table->end, *at = problem->at;
    struct text escape = {0};
    if (table->dialect->json)
        escape = json_bad_escape((struct cell){at, find_any(at, end, '"', '\n', '\n'), true});
    if (escape.length > 0)
        return diag_error_hint(
            job->diags, job->span,
            escape.at[1] == 'u' ? "a character beyond U+FFFF is two escapes, as in \\ud83d\\ude00; text has no U+0000"
                                : "JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\u with four digits",
            "%s: the escape %.*s is no character", location, (int)escape.length, escape.at);
    const bool nul = memchr(at, '\0', (size_t)(find_any(at, end, table->dialect->delimiter, '\n', '"') - at));
    struct text_options options = table->options;
    options.encoding = encoding_guess(table->text, (size_t)(end - table->text));
    return diag_error_hint(job->diags, job->span,
                           nul ? "remove it with `tr -d '\\0'`"
                               : arena_printf(job->diags->arena, "state its encoding, as in `%s`",
                                              table_load_advice(table, job, path, options)),
                           "%s: %s", location, nul ? "text with a NUL byte" : "text that is not UTF-8");
}

enum status table_error(const struct table *table, const struct problem *problem, const struct format_job *job,
                        const char *path)
{
    struct diags *diags = job->diags;
    const char *location = location_of(table, problem, path, diags->arena);
    const char *escape;
    switch (problem->kind) {
    case PROBLEM_COUNT:
        return count_error(table, problem, location, job, path);
    case PROBLEM_QUOTE:
        if (table->dialect->json)
            return count_error(table, problem, location, job, path);
        escape = escape_advice(table, problem->at, job, path);
        return diag_error_hint(
            diags, job->span,
            begins_as_comment(table, line_begin(table, problem->at))
                ? comment_advice(table, line_begin(table, problem->at), job, path)
            : escape ? escape
                     : "a quoted value begins and ends with a quote; quotes within are doubled: \"so \"\"called\"\"\"",
            "%s: malformed quotes", location);
    case PROBLEM_KEY:
        return diag_error(diags, job->span, "%s has the key `%s` twice", location,
                          table->keys->nodes[problem->column].name);
    case PROBLEM_ENCODING:
        return encoding_error(problem, table, location, job, path);
    case PROBLEM_UNIT:
        return diag_error_hint(diags, job->span, "omit the column's type to load it as text",
                               "%s: `%s` has another unit than the values before it", location,
                               table_shown_cell(table, problem->at, diags->arena));
    case PROBLEM_VALUE:
    case PROBLEM_RANGE:
    case PROBLEM_NONE:
        break;
    }
    return value_error(table, problem, location, job, path);
}
