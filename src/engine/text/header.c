/* What the first line says: separator, columns, names. */
#include "base/path.h"
#include "base/utf8.h"
#include "engine/json/json.h"
#include "engine/json/json_keys.h"
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/encoding.h"
#include "engine/text/records.h"
#include "engine/text/table.h"
#include "engine/text/ways.h"

#include <string.h>

enum { MAX_HEADER = 16 << 20 /* bytes of the first line */ };

/* The state of opening a table. */
struct opening {
    struct table *table;
    const struct format_job *job;
    const char *path;
    struct arena *arena;
    struct strbuf *found; /* what is to be told */
};

static enum status fail(const struct opening *opening, const char *what, const char *hint)
{
    diag_error(opening->job->diags, opening->job->span, "`%s` %s", opening->path, what);
    if (hint)
        diag_hint(opening->job->diags, "%s", hint);
    return STATUS_FAILED;
}

static enum status fail_at(const struct opening *opening, enum problem_kind kind, const char *at)
{
    const struct problem problem = {.kind = kind, .at = at};
    return table_error(opening->table, &problem, opening->job, opening->path);
}

/* The end of the last line that is not blank, or the beginning of the text. */
static const char *trimmed_end(const struct table *table)
{
    const char *end = table->end, *blank = table->dialect->delimiter == '\t' ? " \r\n" : " \t\r\n";
    while (end > table->begin && end[-1] != '\0' && strchr(blank, end[-1]))
        end--;
    if (end == table->begin)
        return end;
    const char *newline = memchr(end, '\n', (size_t)(table->end - end));
    return newline ? newline : table->end;
}

/* The number of cells of the first record; of `ragged` text, of the longest. */
static size_t count_columns(const struct table *table)
{
    size_t most = 0, cells;
    const char *at = table->begin;
    do {
        at = record_end(table, at, &cells);
        most = cells > most ? cells : most;
        at = skip_left_out(table, at < table->end ? at + 1 : at);
    } while (table->ragged && at < table->end);
    return most;
}

/* Whether a cell's class fits a column of this kind: then it may be a value of it. */
static bool fits(enum value_class value_class, const struct table_column *column)
{
    switch (column->kind) {
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_DECIMAL:
        return value_class == CLASS_INT || value_class == CLASS_WIDE || value_class == CLASS_FLOAT ||
               value_class == CLASS_DRESSED;
    case VALUE_TIMESTAMP:
        return value_class == CLASS_TIMESTAMP || value_class == CLASS_UTC || value_class == CLASS_MOMENT;
    case VALUE_DATE:
        return value_class == CLASS_DATE || value_class == CLASS_ORDERED;
    case VALUE_BOOL:
    case VALUE_DURATION:
        return value_class == class_of_kind(column->kind, false);
    case VALUE_TEXT:
    case VALUE_LIST:
        break;
    }
    return false;
}

/* The next cell of the first line: false behind its last, and if the file is changing, which format_read reports. */
static bool next_name(const struct table *table, const char **at, struct cell *cell)
{
    const char *next =
        *at > table->begin && (*at)[-1] == '\n' ? NULL : cell_scan(table->dialect, *at, table->end, cell);
    if (next)
        *at = next + (next < table->end);
    return next;
}

/* Whether the first line names the columns: if a cell cannot be a value of its column, or none is one that must be.
 * `below` is the second record; without one, a line of values only is a row. */
static bool is_header(struct table *table, const char *below)
{
    const char *at = table->begin;
    const bool alone = below >= table->end;
    bool value = false, name = false;
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        struct cell cell;
        if (!next_name(table, &at, &cell))
            break;
        const enum value_class value_class = classify(table, cell);
        const bool known = alone || (evidence_has_values(&column->evidence) && column->kind != VALUE_TEXT);
        if (!known || (!cell.quoted && (value_class == CLASS_BLANK || value_class == CLASS_WORD)))
            continue;
        if (!cell.quoted && (alone ? value_class != CLASS_TEXT : fits(value_class, column)))
            value = true;
        else
            name = true;
    }
    return name || !value;
}

/* The name followed by _2, _3, ... if it is taken. */
static const char *distinct_name(struct key_index *names, const char *name, struct arena *arena)
{
    const char *distinct = name;
    for (int i = 2; key_index_find(names, (struct text){distinct, strlen(distinct)}) < key_index_count(names); i++)
        distinct = arena_printf(arena, "%s_%d", name, i);
    key_index_add(names, (struct text){distinct, strlen(distinct)});
    return distinct;
}

/* Names the columns after the cells of the first line, or c1, c2, ... */
static void name_columns(struct table *table, bool named, struct arena *arena)
{
    const char *at = table->begin;
    struct key_index *names = key_index_new(arena);
    struct strbuf scratch = {0};
    for (size_t k = 0; k < table->count; k++) {
        struct cell cell;
        if (!next_name(table, &at, &cell))
            cell = (struct cell){at, at, false};
        struct text text = cell_text(table->dialect, cell, &scratch);
        const char *name = named ? arena_text(arena, text.at, text.length) : "";
        name = *name ? name : arena_printf(arena, "c%zu", k + 1);
        table->columns[k].name = distinct_name(names, name, arena);
    }
    strbuf_free(&scratch);
    if (named)
        table->begin = at;
}

/* Whether the line contains a carriage return without a newline, outside quotes. */
static bool has_lone_return(const char *line, const char *end)
{
    const char *found = memchr(line, '\r', (size_t)(end - line));
    bool quoted = false;
    for (const char *at = line; found && at < found; at++)
        quoted ^= *at == '"';
    return found && found + 1 < end && !quoted;
}

/* UTF-16 with the high bytes first, of which most are 0, or last. */
static const char *order_of_bytes(const char *at, const char *end)
{
    size_t zeros[2] = {0};
    for (size_t i = 0; at + i < end; i++)
        zeros[i % 2] += at[i] == '\0';
    return zeros[0] > zeros[1] ? "utf16be" : "utf16le";
}

static const char *return_advice(const struct opening *opening)
{
    struct arena *arena = opening->job->diags->arena;
    if (opening->path[0] == '|' || path_is_address(opening->path))
        return "convert it with `tr '\\r' '\\n'`";
    return arena_printf(arena, "`load \"|tr '\\\\r' '\\\\n' < %s\" %s`", path_written(opening->path, arena),
                        opening->table->dialect->extension + 1);
}

/* Errors that show in the first line. */
static enum status check_first_line(const struct opening *opening)
{
    const struct table *table = opening->table;
    const char *newline = memchr(table->begin, '\n', (size_t)(table->end - table->begin));
    const char *line_end = newline ? newline : table->end;
    if (table->dialect->header && trimmed_end(table) == table->begin)
        return fail(opening, "is empty",
                    table->dialect->json ? "a line should be an object such as {\"id\": 42, \"amt\": 0.5}"
                                         : "its first line should name the columns");
    if (memchr(table->begin, '\0', (size_t)(line_end - table->begin))) {
        struct text_options options = table->options;
        options.encoding = order_of_bytes(table->begin, line_end);
        return fail(opening, "is not UTF-8 text",
                    arena_printf(opening->job->diags->arena, "it may have another format, or be UTF-16: `%s`",
                                 table_load_advice(table, opening->job, opening->path, options)));
    }
    if (table->dialect->header && has_lone_return(table->begin, line_end))
        return fail(opening, "has carriage returns instead of newlines", return_advice(opening));
    if (table->dialect->header && line_end - table->begin > MAX_HEADER)
        return fail(opening, "has a first line of more than 16 MiB", NULL);
    return STATUS_OK;
}

/* What the first records show of the sign before decimals: numbers of a file have one. Where some have a decimal comma
 * and none has a point, points are between thousands; where some have a point, and the commas of others may be either,
 * these are. */
static void find_decimal_sign(const struct opening *opening)
{
    struct table *table = opening->table;
    bool comma = false, point = false, open = false;
    for (size_t k = 0; k < table->count; k++) {
        const struct table_column *column = &table->columns[k];
        const unsigned left = WAYS_OF_NUMBERS & ~column->evidence.refused;
        bool is_open = false;
        if (!evidence_is_numbers(&column->evidence))
            continue;
        point = point || (left && !(left & WAYS_OF_COMMA));
        comma = comma || (left && !(left & WAYS_OF_POINT) && (column->evidence.decimals & left));
        (void)evidence_way(&column->evidence, table->ways, &is_open);
        open = open || (is_open && column->evidence.differ);
    }
    if (comma == point || (table->ways & WAYS_OF_NUMBERS) != WAYS_OF_NUMBERS || (point && !open))
        return;
    table->ways &= ~(unsigned)(comma ? WAYS_OF_POINT : WAYS_OF_COMMA);
    strbuf_printf(opening->found, "%snumbers have a decimal %s (`decimal \"%s\"`)",
                  opening->found->length > 0 ? "; " : "", comma ? "comma" : "point", comma ? "," : ".");
    for (size_t k = 0; k < table->count; k++)
        table->columns[k].evidence = (struct evidence){0};
    table_sample(table, table->begin);
    table_guess_kinds(table);
}

static enum status fail_names(const struct opening *opening)
{
    const struct table *table = opening->table;
    struct text_options options = table->options;
    options.encoding = encoding_guess(table->text, (size_t)(table->end - table->text));
    const char *hint = arena_printf(opening->job->diags->arena, "state their encoding, as in `%s`",
                                    table_load_advice(table, opening->job, opening->path, options));
    return fail(opening, "has names that are not UTF-8", hint);
}

/* Finds the columns of delimited text. */
static enum status open_delimited(const struct opening *opening)
{
    struct table *table = opening->table;
    table->count = table->dialect->header ? count_columns(table) : 1;
    if (table->count == 0)
        return fail_at(opening, PROBLEM_QUOTE, table->begin);
    if (table->count > MAX_COLUMNS)
        return fail(opening, "has more than 30 000 columns", NULL);
    if (table->count > 1)
        table->end = trimmed_end(table);
    table->columns = arena_array(opening->arena, table->count, sizeof *table->columns);
    for (size_t k = 0; k < table->count; k++)
        table->columns[k].list = NO_COLUMN;
    table->columns[0].name = "";
    if (table->dialect->header) {
        size_t cells;
        const char *below = record_end(table, table->begin, &cells);
        below = skip_left_out(table, below < table->end ? below + 1 : table->end);
        table_sample(table, below);
        table_guess_kinds(table);
        const bool named = is_header(table, below);
        if (named && !utf8_is_valid(table->begin, (size_t)(below - table->begin)))
            return fail_names(opening);
        name_columns(table, named, opening->arena);
        if (!named)
            table_sample(table, table->begin);
        table_guess_kinds(table);
        find_decimal_sign(opening);
        return STATUS_OK;
    }
    table_sample(table, table->begin);
    return STATUS_OK;
}

static bool is_called_json(const char *path)
{
    const char *extension = strstr(path_base(path), ".json");
    return extension && (extension[5] == '\0' || extension[5] == '.');
}

/* The first line that is no object by itself, as a short look tells; the end if all are. */
static const char *find_long_object(const struct table *table, const char *at)
{
    for (; at < table->end; at = json_skip_blank(line_end(table, at), table->end)) {
        const char *last = line_end(table, at);
        while (last > at && json_is_blank(last[-1]))
            last--;
        if (*at != '{' || last[-1] != '}')
            return at;
    }
    return at;
}

/* Whether an object begins here that has several lines. */
static bool is_long_object(const struct table *table, const char *at)
{
    return at < table->end && *at == '{' && !json_is_object(at, line_end(table, at)) &&
           json_is_object(at, json_skip_value(at, table->end));
}

/* Finds out whether records are lines: an array, or an object of several lines, is not. Files called .json may have
 * both, those called .jsonl are lines. */
static enum status find_records(const struct opening *opening)
{
    struct table *table = opening->table;
    const char *at = json_skip_blank(table->begin, table->end);
    const bool head = opening->job->text && opening->job->text->head;
    table->array = at < table->end && *at == '[';
    while (at < table->end && *at == '{' && *json_enter(at, table->end - 1) == '}' &&
           json_is_object(at, line_end(table, at))) /* an empty object is a line in both */
        at = json_skip_blank(line_end(table, at), table->end);
    table->values = table->array || is_long_object(table, at) ||
                    (is_called_json(opening->path) && is_long_object(table, find_long_object(table, at)));
    if (!table->values)
        return STATUS_OK;
    table->begin = json_skip_blank(table->begin, table->end);
    table->begin = json_skip_blank(table->begin + table->array, table->end);
    while (table->end > table->begin && json_is_blank(table->end[-1]))
        table->end--;
    if (!table->array)
        return STATUS_OK;
    if (table->end == table->begin || (table->end[-1] != ']' && !head)) {
        const char *array = json_skip_blank(table->text, table->end), *behind = json_skip_value(array, table->end);
        if (behind)
            return fail(opening,
                        arena_printf(opening->arena, "has text behind its array, in line %lld",
                                     (long long)table_line(table, json_skip_blank(behind, table->end))),
                        "one array holds all objects; several are several files");
        return fail(opening, "ends within its array", "a `]` is missing: the file may have been cut");
    }
    table->end -= table->end[-1] == ']';
    while (table->end > table->begin && json_is_blank(table->end[-1]))
        table->end--;
    return table->end == table->begin ? fail(opening, "is an array without objects", NULL) : STATUS_OK;
}

static enum status open_json(const struct opening *opening)
{
    struct table *table = opening->table;
    struct problem problem = {.kind = PROBLEM_COUNT, .at = table->begin};
    table->end = trimmed_end(table);
    table->keys = json_keys_new(opening->arena);
    if (find_records(opening) != STATUS_OK)
        return STATUS_FAILED;
    if (!table_sample_keys(table, &problem))
        return table_error(table, &problem, opening->job, opening->path);
    if (!table_cut(table, opening->job->workers) || !json_learn_all(table->keys, table, opening->job->workers))
        return STATUS_CANCELLED;
    if (json_make_columns(table->keys, table) == 0)
        return fail(opening, "has no values: its objects are empty", NULL);
    struct key_index *names = key_index_new(opening->arena);
    for (size_t k = 0; k < table->count && table->columns[k].list == NO_COLUMN; k++)
        table->columns[k].name = distinct_name(names, table->columns[k].name, opening->arena);
    return STATUS_OK;
}

static enum status state_type(const struct opening *opening, const struct stated_type *stated)
{
    static const enum value_kind kinds[] = {
#define LOGICAL_TYPE(kind, ...) [LOGICAL_##kind] = VALUE_##kind,
#include "engine/values/logical_types.def"
    };
    struct table *table = opening->table;
    size_t k = 0;
    while (k < table->count &&
           (table->columns[k].list != NO_COLUMN || strcmp(table->columns[k].name, stated->name) != 0))
        k++;
    if (k == table->count) {
        const char **names = arena_array(opening->job->diags->arena, table->count, sizeof *names);
        for (size_t i = 0; i < table->count; i++)
            names[i] = table->columns[i].name;
        return diag_error(opening->job->diags, opening->job->span, "`%s` has no column `%s`%s", opening->path,
                          stated->name, did_you_mean(opening->job->diags->arena, stated->name, names, table->count));
    }
    struct table_column *column = &table->columns[k];
    if (column->kind == VALUE_LIST) { /* arrays are what is written */
        struct json_node *node = &table->keys->nodes[column->node];
        node->raw = true;
        node->column = k;
    }
    column->stated = true;
    column->scale = stated->logical.scale;
    if (stated->logical.kind != LOGICAL_NUMBER) {
        column->kind = kinds[stated->logical.kind];
        column->type = logical_table[stated->logical.kind].stored;
    } else {
        const enum kind kind = type_table[stated->type].kind;
        column->kind = kind == KIND_FLOAT ? VALUE_FLOAT : kind == KIND_BOOL ? VALUE_BOOL : VALUE_INT;
        column->type = stated->type;
    }
    return STATUS_OK;
}

enum status table_open(struct table *table, struct dialect *dialect, const struct format_job *job, const char *path,
                       struct arena *arena, struct strbuf *found)
{
    const struct opening opening = {table, job, path, arena, found};
    const struct text_options *options = job->text;
    table->ways = ways_stated(options);
    table->ragged = options && options->ragged;
    table->errors = options ? options->errors : ERRORS_TELL;
    table->options = text_options_copy(options, arena);
    table->comment = table->options.comment;
    table->missing = table->options.missing;
    table->missing_count = table->options.missing_count;
    enum status status = check_first_line(&opening);
    if (status != STATUS_OK)
        return status;
    table_find_beginning(table, dialect, options, found);
    if (table->begin == table->end && dialect->header)
        return fail(&opening, "has no line but those that are left out", NULL);
    status = dialect->json ? open_json(&opening) : open_delimited(&opening);
    for (size_t i = 0; options && i < options->count && status == STATUS_OK; i++)
        status = state_type(&opening, &options->columns[i]);
    const char *advice = status == STATUS_OK ? table_delimiter_advice(table) : NULL;
    if (advice)
        strbuf_printf(found, "%s%s", found->length > 0 ? "; " : "", advice);
    return status;
}
