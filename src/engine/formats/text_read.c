#include "engine/formats/text_read.h"

#include "engine/formats/text_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_ROWS = 100, /* rows that decide a column's kind */
    MAX_KEYS = 1 << 20,
    MAX_HEADER = 16 << 20, /* bytes of the first line */
    MAX_LISTED = 8         /* column names in a note */
};

static const struct dialect dialect_csv = {.delimiter = ',', .header = true, .quotes = true};
static const struct dialect dialect_tsv = {.delimiter = '\t', .header = true, .escapes = true};
static const struct dialect dialect_jsonl = {.delimiter = ',', .header = true, .json = true};
static const struct dialect dialect_text = {.delimiter = '\n'};

/* The state of reading a file. */
struct table_reader {
    const struct format_job *job;
    struct arena *arena; /* of the diags */
    const char *path;
    struct table table;
};

static enum status fail(const struct table_reader *reader, const char *what, const char *hint)
{
    diag_error(reader->job->diags, reader->job->span, "`%s` %s", reader->path, what);
    if (hint)
        diag_hint(reader->job->diags, "%s", hint);
    return STATUS_FAILED;
}

static enum status fail_at(const struct table_reader *reader, enum problem_kind kind, const char *at)
{
    const struct problem problem = {.kind = kind, .at = at};
    return table_error(&reader->table, &problem, reader->job, reader->path);
}

/* Sets the table's text without a byte order mark and trailing white space. */
static void trim(struct table *table, const char *text, size_t length)
{
    table->text = table->begin = text;
    table->end = text + length;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        table->begin += 3;
    const char *blank = table->dialect->delimiter == '\t' ? " \r\n" : " \t\r\n";
    while (table->end > table->begin && table->end[-1] != '\0' && strchr(blank, table->end[-1]))
        table->end--;
}

static char unescaped(char c)
{
    return c == 't' ? '\t' : c == 'n' ? '\n' : c;
}

/* A name with its quotes or escapes removed. */
static const char *name_of(const struct dialect *dialect, struct piece piece, struct arena *arena)
{
    char *name = arena_text(arena, piece.at, (size_t)(piece.end - piece.at));
    char *to = name;
    for (const char *from = name; *from; from++) {
        if (piece.quoted && from[0] == '"' && from[1] == '"')
            from++;
        if (dialect->escapes && from[0] == '\\' && from[1] != '\0')
            *to++ = unescaped(*++from);
        else
            *to++ = *from;
    }
    *to = '\0';
    return name;
}

static bool is_number(struct piece piece)
{
    return !piece.quoted && looks_like_number(piece.at, piece.end);
}

/* Counts the values of the first record and checks whether all are numbers. Returns its end; NULL: malformed quotes. */
static const char *scan_record(const struct table *table, size_t *count, bool *numbers)
{
    struct piece piece;
    const char *at = table->begin;
    *count = 0;
    *numbers = true;
    for (;;) {
        at = table_value(table->dialect, at, table->end, &piece);
        if (!at)
            return NULL;
        ++*count;
        *numbers = *numbers && is_number(piece);
        if (at == table->end || *at == '\n')
            return at;
        at++;
    }
}

static void name_columns(struct table_reader *reader, bool named)
{
    struct table *table = &reader->table;
    const char *at = table->begin;
    for (size_t k = 0; k < table->count; k++) {
        struct piece piece;
        at = table_value(table->dialect, at, table->end, &piece);
        if (!at) { /* it was valid before: the file is changing, which format_read reports */
            piece = (struct piece){table->end, table->end, false};
            at = table->end;
        }
        const char *name = named ? name_of(table->dialect, piece, reader->arena) : "";
        table->columns[k].name = *name ? name : arena_printf(reader->arena, "c%zu", k + 1);
        at += at < table->end;
    }
    if (named)
        table->begin = at;
}

/* Takes the columns from the keys of the first object, which is also a record. */
static enum status read_keys(struct table_reader *reader)
{
    struct table *table = &reader->table;
    size_t count = table_json_keys(table, NULL, MAX_KEYS);
    if (count == 0)
        return fail_at(reader, PROBLEM_COUNT, table->begin);
    struct piece *keys = arena_array(reader->arena, count, sizeof *keys);
    table->columns = arena_array(reader->arena, count, sizeof *table->columns);
    table->count = table_json_keys(table, keys, count);
    for (size_t k = 0; k < count; k++) {
        const char *name = table_json_name(keys[k], reader->arena);
        table->columns[k].key = keys[k];
        table->columns[k].name = *name ? name : arena_printf(reader->arena, "c%zu", k + 1);
    }
    return STATUS_OK;
}

/* Whether the line contains a carriage return without a newline. */
static bool has_lone_return(const char *line, const char *end)
{
    const char *found = memchr(line, '\r', (size_t)(end - line));
    return found && found + 1 < end && !memchr(line, '"', (size_t)(end - line));
}

/* Determines the columns and their names; the records begin after the header. */
static enum status read_header(struct table_reader *reader)
{
    struct table *table = &reader->table;
    if (!table->dialect->header) {
        table->count = 1;
        table->columns = arena_array(reader->arena, 1, sizeof *table->columns);
        table->columns[0].name = "";
        return STATUS_OK;
    }
    if (table->begin == table->end)
        return fail(reader, "is empty", "its first line should name the columns");
    const char *newline = memchr(table->begin, '\n', (size_t)(table->end - table->begin));
    const char *line_end = newline ? newline : table->end;
    if (memchr(table->begin, '\0', (size_t)(line_end - table->begin)))
        return fail(reader, "is not UTF-8 text", "it may have another format or be UTF-16");
    if (has_lone_return(table->begin, line_end))
        return fail(reader, "has carriage returns instead of newlines", "convert it with `tr '\\r' '\\n'`");
    if (line_end - table->begin > MAX_HEADER)
        return fail(reader, "has a first line of more than 16 MiB", NULL);
    if (table->dialect->json)
        return read_keys(reader);
    bool numbers;
    size_t count;
    if (!scan_record(table, &count, &numbers))
        return fail_at(reader, PROBLEM_QUOTE, table->begin);
    table->columns = arena_array(reader->arena, count, sizeof *table->columns);
    table->count = count;
    name_columns(reader, !numbers);
    return STATUS_OK;
}

/* The kind of a column after one more value; missing values are handled by the caller. */
static enum value_kind kind_of(struct piece piece, enum value_kind so_far)
{
    bool truth;
    int64_t integer;
    if (looks_like_number(piece.at, piece.end)) {
        bool is_int = read_int(piece.at, piece.end, &integer) != READ_INVALID;
        return is_int && so_far != VALUE_FLOAT ? VALUE_INT : VALUE_FLOAT;
    }
    return table_is_bool(piece, &truth) ? VALUE_BOOL : VALUE_SKIPPED;
}

/* Determines the kind of each column from the first rows: the first present value decides whether it is numeric. */
static void sample_kinds(struct table *table)
{
    const char *at = table->begin;
    bool *decided = calloc(table->count, sizeof *decided);
    for (int row = 0; row < SAMPLE_ROWS && decided && at && at < table->end; row++) {
        for (size_t k = 0; k < table->count && at; k++) {
            struct table_column *column = &table->columns[k];
            struct piece piece;
            if (table->dialect->json && !(at = table_json_key(table, at, table->end, k)))
                break;
            at = table_value(table->dialect, at, table->end, &piece);
            bool more = at && k + 1 < table->count;
            if (!at || (more && (at == table->end || *at == '\n')))
                break; /* parsing will report the error */
            at += more;
            bool numbers = column->kind == VALUE_INT || column->kind == VALUE_FLOAT;
            if (table_is_missing(piece) || (decided[k] && !(numbers && looks_like_number(piece.at, piece.end))))
                continue;
            column->kind = kind_of(piece, column->kind);
            decided[k] = true;
        }
        at = at ? memchr(at, '\n', (size_t)(table->end - at)) : NULL;
        if (at)
            at++;
    }
    free(decided);
}

static enum status reserve(struct table_reader *reader)
{
    static const enum type types[] = {
        [VALUE_SKIPPED] = TYPE_BOOL, [VALUE_BOOL] = TYPE_BOOL, [VALUE_INT] = TYPE_I64, [VALUE_FLOAT] = TYPE_F64};
    for (size_t k = 0; k < reader->table.count; k++) {
        struct table_column *column = &reader->table.columns[k];
        enum type type = types[column->kind];
        if (!column->wanted)
            continue;
        column_unref(column->column);
        column->column = column_reserve(type, type, reader->table.rows);
        if (!column->column)
            return file_memory_error(reader->path, reader->job->span, reader->job->diags);
    }
    return STATUS_OK;
}

/* The first error of the table: the one that stopped a chunk, or an integer overflow in a column that has no floats. */
static struct problem first_problem(const struct table *table)
{
    struct problem first = {0};
    for (int64_t i = 0; i < table->chunk_count && i <= table->failed && first.kind == PROBLEM_NONE; i++) {
        const struct chunk *chunk = &table->chunks[i];
        first = chunk->problem;
        for (size_t k = 0; k < table->count; k++) {
            const char *overflow = table->columns[k].floats ? NULL : chunk->columns[k].overflow;
            if (overflow && (first.kind == PROBLEM_NONE || overflow < first.at))
                first = (struct problem){PROBLEM_OVERFLOW, overflow, k};
        }
    }
    return first;
}

static enum status parse_pass(struct table_reader *reader)
{
    struct table *table = &reader->table;
    enum status status = reserve(reader);
    if (status != STATUS_OK)
        return status;
    if (!table_parse(table, reader->job->workers))
        return STATUS_CANCELLED;
    struct problem problem = first_problem(table);
    return problem.kind == PROBLEM_NONE ? STATUS_OK : table_error(table, &problem, reader->job, reader->path);
}

/* Selects the integer columns with floats, to be parsed again as floats; false if there are none. */
static bool select_float_columns(struct table *table)
{
    bool again = false;
    for (size_t k = 0; k < table->count; k++) {
        struct table_column *column = &table->columns[k];
        column->wanted = column->kind == VALUE_INT && column->floats;
        column->kind = column->wanted ? VALUE_FLOAT : column->kind;
        again = again || column->wanted;
    }
    return again;
}

/* Sets the range of each integer column, from the first pass. */
static void set_ranges(const struct table *table)
{
    for (size_t k = 0; k < table->count; k++) {
        struct column *column = table->columns[k].column;
        if (table->columns[k].kind != VALUE_INT || table->columns[k].floats || table->rows == 0)
            continue;
        column->range_known = true;
        for (int64_t i = 0; i < table->chunk_count; i++) {
            const struct chunk_column *seen = &table->chunks[i].columns[k];
            column->lo = i == 0 || seen->lo < column->lo ? seen->lo : column->lo;
            column->hi = i == 0 || seen->hi > column->hi ? seen->hi : column->hi;
        }
    }
}

static void note_skipped(const struct table_reader *reader)
{
    const struct table *table = &reader->table;
    const char *list = "";
    size_t count = 0;
    for (size_t k = 0; k < table->count; k++) {
        if (table->columns[k].kind != VALUE_SKIPPED)
            continue;
        if (count++ < MAX_LISTED)
            list = arena_printf(reader->arena, "%s%s`%s`", list, *list ? ", " : "", table->columns[k].name);
    }
    if (count > 0)
        diag_note(reader->job->diags, reader->job->span, "`%s`: skipped columns without numbers: %s%s", reader->path,
                  list, count > MAX_LISTED ? ", ..." : "");
}

/* Selects the columns to parse: all but text. */
static enum status choose_columns(struct table_reader *reader)
{
    struct table *table = &reader->table;
    size_t wanted = 0;
    if (table->dialect->delimiter != '\n')
        sample_kinds(table);
    for (size_t k = 0; k < table->count; k++) {
        struct table_column *column = &table->columns[k];
        if (table->dialect->delimiter == '\n' || table->begin == table->end)
            column->kind = VALUE_INT;
        column->wanted = column->kind != VALUE_SKIPPED;
        wanted += column->wanted;
    }
    const char *advice = table_delimiter_advice(table);
    if (wanted == 0)
        return fail(reader, "has no column of numbers", advice ? advice : "text columns are not supported");
    return STATUS_OK;
}

static struct relation *relation_of(const struct table_reader *reader)
{
    const struct table *table = &reader->table;
    struct column **columns = arena_array(reader->arena, table->count, sizeof(struct column *));
    const char **names = arena_array(reader->arena, table->count, sizeof *names);
    size_t count = 0;
    for (size_t k = 0; k < table->count; k++) {
        if (table->columns[k].kind == VALUE_SKIPPED)
            continue;
        column_finish(table->columns[k].column, table->rows);
        columns[count] = table->columns[k].column;
        names[count++] = table->columns[k].name;
    }
    return relation_new(table->rows, count, columns, names);
}

static enum status read_records(struct table_reader *reader, struct relation **relation)
{
    struct table *table = &reader->table;
    enum status status = read_header(reader);
    if (status == STATUS_OK)
        status = choose_columns(reader);
    if (status != STATUS_OK)
        return status;
    if (!table_cut(table, reader->job->workers))
        return STATUS_CANCELLED;
    status = parse_pass(reader);
    if (status == STATUS_OK)
        set_ranges(table);
    if (status == STATUS_OK && select_float_columns(table))
        status = parse_pass(reader);
    if (status == STATUS_OK) {
        note_skipped(reader);
        *relation = relation_of(reader);
    }
    return status;
}

static enum status read_table(const struct format_job *job, struct mapping *mapping, const struct dialect *dialect,
                              struct relation **relation)
{
    struct table_reader reader = {.job = job, .arena = job->diags->arena, .path = mapping_path(mapping)};
    struct table *table = &reader.table;
    table->dialect = dialect;
    const char *text = mapping_data(mapping);
    trim(table, text ? text : "", mapping_length(mapping));
    enum status status = read_records(&reader, relation);
    for (size_t k = 0; k < table->count; k++)
        column_unref(table->columns[k].column);
    table_free_chunks(table);
    return status;
}

enum status read_csv(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    return read_table(job, mapping, &dialect_csv, relation);
}

enum status read_tsv(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    return read_table(job, mapping, &dialect_tsv, relation);
}

enum status read_jsonl(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    return read_table(job, mapping, &dialect_jsonl, relation);
}

enum status read_text(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    return read_table(job, mapping, &dialect_text, relation);
}
