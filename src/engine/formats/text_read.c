#include "engine/formats/text_read.h"

#include "engine/formats/text_table.h"

#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE_ROWS = 100, /* by which it is decided what a column is */
    MAX_KEYS = 1 << 20,
    MAX_HEADER = 16 << 20, /* bytes: more are no header */
    MAX_NOTED = 8          /* names of columns in a note */
};

static const struct dialect dialect_csv = {.delimiter = ',', .header = true, .quotes = true};
static const struct dialect dialect_tsv = {.delimiter = '\t', .header = true, .escapes = true};
static const struct dialect dialect_jsonl = {.delimiter = ',', .header = true, .json = true};
static const struct dialect dialect_text = {.delimiter = '\n'};

/* A file while it is read. */
struct reading_job {
    const struct format_job *job;
    struct arena *arena; /* of the diags */
    const char *path;
    struct table table;
};

static enum status fail(const struct reading_job *reading, const char *what, const char *hint)
{
    diag_error(reading->job->diags, reading->job->span, "`%s` %s", reading->path, what);
    if (hint)
        diag_hint(reading->job->diags, "%s", hint);
    return STATUS_FAILED;
}

static enum status fail_at(const struct reading_job *reading, enum problem_kind kind, const char *at)
{
    const struct problem problem = {.kind = kind, .at = at};
    return table_error(&reading->table, &problem, reading->job, reading->path);
}

/* What the file holds besides a byte order mark and white space at its end. */
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

/* A name without the quotes or escapes that it is written with. */
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

/* Whether a record's values are all numbers, and how many they are; its end, or NULL if its quotes are wrong. */
static const char *look_at_record(const struct table *table, size_t *count, bool *numbers)
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

static void name_columns(struct reading_job *reading, bool named)
{
    struct table *table = &reading->table;
    const char *at = table->begin;
    for (size_t k = 0; k < table->count; k++) {
        struct piece piece;
        at = table_value(table->dialect, at, table->end, &piece);
        if (!at) { /* it was right a moment ago: the file is being changed, which is told when all is read */
            piece = (struct piece){table->end, table->end, false};
            at = table->end;
        }
        const char *name = named ? name_of(table->dialect, piece, reading->arena) : "";
        table->columns[k].name = *name ? name : arena_printf(reading->arena, "c%zu", k + 1);
        at += at < table->end;
    }
    if (named)
        table->begin = at;
}

/* The keys of the first object, which is a record too. */
static enum status read_keys(struct reading_job *reading)
{
    struct table *table = &reading->table;
    size_t count = table_json_keys(table, NULL, MAX_KEYS);
    if (count == 0)
        return fail_at(reading, PROBLEM_COUNT, table->begin);
    struct piece *keys = arena_array(reading->arena, count, sizeof *keys);
    table->columns = arena_array(reading->arena, count, sizeof *table->columns);
    table->count = table_json_keys(table, keys, count);
    for (size_t k = 0; k < count; k++) {
        const char *name = table_json_name(keys[k], reading->arena);
        table->columns[k].key = keys[k];
        table->columns[k].name = *name ? name : arena_printf(reading->arena, "c%zu", k + 1);
    }
    return STATUS_OK;
}

/* Whether a carriage return stands within the line, as where it alone ends lines. */
static bool has_lone_return(const char *line, const char *end)
{
    const char *found = memchr(line, '\r', (size_t)(end - line));
    return found && found + 1 < end && !memchr(line, '"', (size_t)(end - line));
}

/* Finds the columns and their names; the records then begin behind those. */
static enum status read_header(struct reading_job *reading)
{
    struct table *table = &reading->table;
    if (!table->dialect->header) {
        table->count = 1;
        table->columns = arena_array(reading->arena, 1, sizeof *table->columns);
        table->columns[0].name = "";
        return STATUS_OK;
    }
    if (table->begin == table->end)
        return fail(reading, "is empty", "its first line should name the columns");
    const char *newline = memchr(table->begin, '\n', (size_t)(table->end - table->begin));
    const char *line_end = newline ? newline : table->end;
    if (memchr(table->begin, '\0', (size_t)(line_end - table->begin)))
        return fail(reading, "does not begin with text in UTF-8", "is it of another format, or in UTF-16?");
    if (has_lone_return(table->begin, line_end))
        return fail(reading, "ends its lines with carriage returns alone", "`tr '\\r' '\\n'` makes newlines of them");
    if (line_end - table->begin > MAX_HEADER)
        return fail(reading, "does not begin with a line of names: it has more than 16 MiB", NULL);
    if (table->dialect->json)
        return read_keys(reading);
    bool numbers;
    size_t count;
    if (!look_at_record(table, &count, &numbers))
        return fail_at(reading, PROBLEM_QUOTE, table->begin);
    table->columns = arena_array(reading->arena, count, sizeof *table->columns);
    table->count = count;
    name_columns(reading, !numbers);
    return STATUS_OK;
}

/* What a column is by one of its values; no kind but text lets a value that is not there decide. */
static enum value_kind kind_of(struct piece piece, enum value_kind so_far)
{
    bool truth;
    int64_t integer;
    if (looks_like_number(piece.at, piece.end)) {
        bool is_int = read_int(piece.at, piece.end, &integer) != READ_INVALID;
        return is_int && so_far != VALUE_FLOAT ? VALUE_INT : VALUE_FLOAT;
    }
    return table_is_bool(piece, &truth) ? VALUE_BOOL : VALUE_LEFT_OUT;
}

/* Decides what each column is by its first rows: the first value that is there says whether it is numbers. */
static void sample(struct table *table)
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
                break; /* parsing will tell what is wrong */
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

static enum status no_memory(const struct reading_job *reading)
{
    return diag_error(reading->job->diags, reading->job->span, "there is no memory for `%s`", reading->path);
}

static enum status reserve(struct reading_job *reading)
{
    static const enum type types[] = {
        [VALUE_LEFT_OUT] = TYPE_BOOL, [VALUE_BOOL] = TYPE_BOOL, [VALUE_INT] = TYPE_I64, [VALUE_FLOAT] = TYPE_F64};
    for (size_t k = 0; k < reading->table.count; k++) {
        struct table_column *column = &reading->table.columns[k];
        enum type type = types[column->kind];
        if (!column->wanted)
            continue;
        column_unref(column->column);
        column->column = column_reserve(type, type, reading->table.rows);
        if (!column->column)
            return no_memory(reading);
    }
    return STATUS_OK;
}

/* The first thing wrong with the table: what stopped a chunk, or an integer that is too large in a column that did not
 * turn out to be one of floats. */
static struct problem first_problem(const struct table *table)
{
    struct problem first = {0};
    for (int64_t i = 0; i < table->chunk_count && i <= table->failed && first.kind == PROBLEM_NONE; i++) {
        const struct chunk *chunk = &table->chunks[i];
        first = chunk->problem;
        for (size_t k = 0; k < table->count; k++) {
            const char *big = table->columns[k].floats ? NULL : chunk->columns[k].big;
            if (big && (first.kind == PROBLEM_NONE || big < first.at))
                first = (struct problem){PROBLEM_OVERFLOW, big, k};
        }
    }
    return first;
}

static enum status parse_pass(struct reading_job *reading)
{
    struct table *table = &reading->table;
    enum status status = reserve(reading);
    if (status != STATUS_OK)
        return status;
    if (!table_parse(table, reading->job->workers))
        return STATUS_CANCELLED;
    struct problem problem = first_problem(table);
    return problem.kind == PROBLEM_NONE ? STATUS_OK : table_error(table, &problem, reading->job, reading->path);
}

/* The columns of integers that have met a float are to be parsed once more, as such; false if there are none. */
static bool again_as_floats(struct table *table)
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

/* The range of each column of integers, as the first pass has seen it. */
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

static void note_left_out(const struct reading_job *reading)
{
    const struct table *table = &reading->table;
    const char *list = "";
    size_t count = 0;
    for (size_t k = 0; k < table->count; k++) {
        if (table->columns[k].kind != VALUE_LEFT_OUT)
            continue;
        if (count++ < MAX_NOTED)
            list = arena_printf(reading->arena, "%s%s`%s`", list, *list ? ", " : "", table->columns[k].name);
    }
    if (count > 0)
        diag_note(reading->job->diags, reading->job->span, "`%s`: %s%s %s no numbers and %s left out", reading->path,
                  list, count > MAX_NOTED ? ", ..." : "", count == 1 ? "holds" : "hold", count == 1 ? "is" : "are");
}

/* Which columns there are: all but those of text. */
static enum status choose_columns(struct reading_job *reading)
{
    struct table *table = &reading->table;
    size_t wanted = 0;
    if (table->dialect->delimiter != '\n')
        sample(table);
    for (size_t k = 0; k < table->count; k++) {
        struct table_column *column = &table->columns[k];
        if (table->dialect->delimiter == '\n' || table->begin == table->end)
            column->kind = VALUE_INT;
        column->wanted = column->kind != VALUE_LEFT_OUT;
        wanted += column->wanted;
    }
    const char *advice = table_delimiter_advice(table);
    if (wanted == 0)
        return fail(reading, "holds no column of numbers", advice ? advice : "columns of text are none of rql's types");
    return STATUS_OK;
}

static struct relation *relation_of(const struct reading_job *reading)
{
    const struct table *table = &reading->table;
    struct column **columns = arena_array(reading->arena, table->count, sizeof(struct column *));
    const char **names = arena_array(reading->arena, table->count, sizeof *names);
    size_t count = 0;
    for (size_t k = 0; k < table->count; k++) {
        if (table->columns[k].kind == VALUE_LEFT_OUT)
            continue;
        column_finish(table->columns[k].column, table->rows);
        columns[count] = table->columns[k].column;
        names[count++] = table->columns[k].name;
    }
    return relation_new(table->rows, count, columns, names);
}

static enum status read_records(struct reading_job *reading, struct relation **relation)
{
    struct table *table = &reading->table;
    enum status status = read_header(reading);
    if (status == STATUS_OK)
        status = choose_columns(reading);
    if (status != STATUS_OK)
        return status;
    if (!table_cut(table, reading->job->workers))
        return STATUS_CANCELLED;
    status = parse_pass(reading);
    if (status == STATUS_OK)
        set_ranges(table);
    if (status == STATUS_OK && again_as_floats(table))
        status = parse_pass(reading);
    if (status == STATUS_OK) {
        note_left_out(reading);
        *relation = relation_of(reading);
    }
    return status;
}

static enum status read_table(const struct format_job *job, struct mapping *mapping, const struct dialect *dialect,
                              struct relation **relation)
{
    struct reading_job reading = {.job = job, .arena = job->diags->arena, .path = mapping_path(mapping)};
    struct table *table = &reading.table;
    table->dialect = dialect;
    const char *text = mapping_data(mapping);
    trim(table, text ? text : "", mapping_length(mapping));
    size_t diags_before = job->diags->count;
    enum status status = read_records(&reading, relation);
    if (status != STATUS_CANCELLED && mapping_changed(mapping)) { /* what is wrong with it then means nothing */
        if (status == STATUS_OK)
            relation_unref(*relation);
        job->diags->count = diags_before;
        status = fail(&reading, "changed while it was read", NULL);
    }
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
