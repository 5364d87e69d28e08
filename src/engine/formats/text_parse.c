#include "engine/formats/text_table.h"

#include <stdatomic.h>
#include <string.h>
#include <strings.h>

/* The state of parsing a chunk. */
struct parser {
    const struct table *table;
    struct chunk *chunk;
    const char *end;
    char delimiter;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Skips white space other than the delimiter. */
static const char *skip_blank(const char *at, const char *end, char delimiter)
{
    while (at < end && is_blank(*at) && *at != delimiter)
        at++;
    return at;
}

/* Whether a value may end here. */
static bool ends_value(const char *at, const char *end, char delimiter)
{
    return at == end || *at == delimiter || *at == '\n';
}

/* Skips a \r before a newline or the end. */
static const char *skip_return(const char *at, const char *end)
{
    return at < end && *at == '\r' && (at + 1 == end || at[1] == '\n') ? at + 1 : at;
}

static const char *quoted_value(const char *at, const char *end, char delimiter, struct piece *piece)
{
    *piece = (struct piece){.at = ++at, .quoted = true};
    for (;;) {
        at = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL;
        if (!at)
            return NULL;
        if (at + 1 == end || at[1] != '"')
            break;
        at += 2;
    }
    piece->end = at;
    at = skip_return(skip_blank(at + 1, end, delimiter), end);
    return ends_value(at, end, delimiter) ? at : NULL;
}

const char *table_value(const struct dialect *dialect, const char *at, const char *end, struct piece *piece)
{
    char delimiter = dialect->delimiter;
    if (dialect->json)
        return table_json_value(at, end, piece);
    at = skip_blank(at, end, delimiter);
    if (dialect->quotes && at < end && *at == '"')
        return quoted_value(at, end, delimiter, piece);
    const char *begin = at;
    for (; !ends_value(at, end, delimiter); at++) {
        if (*at == '"' && dialect->quotes)
            return NULL;
    }
    const char *last = at;
    while (last > begin && (is_blank(last[-1]) || (last[-1] == '\r' && (at == end || *at == '\n'))))
        last--;
    *piece = (struct piece){begin, last, false};
    return at;
}

static bool is_word(struct piece piece, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(piece.end - piece.at) == length && strncasecmp(piece.at, word, length) == 0;
}

bool table_is_missing(struct piece piece)
{
    return piece.at == piece.end || is_word(piece, "na") || is_word(piece, "n/a") || is_word(piece, "null") ||
           is_word(piece, "none") || is_word(piece, "\\n");
}

bool table_is_bool(struct piece piece, bool *value)
{
    *value = is_word(piece, "true");
    return *value || is_word(piece, "false");
}

static bool fail(struct parser *parser, enum problem_kind kind, const char *at, size_t column)
{
    parser->chunk->problem = (struct problem){kind, at, column};
    return false;
}

static bool fail_value(struct parser *parser, struct piece piece, size_t column)
{
    return fail(parser, table_is_missing(piece) ? PROBLEM_MISSING : PROBLEM_VALUE, piece.at, column);
}

static void note_int(struct chunk_column *seen, int64_t value)
{
    seen->lo = value < seen->lo ? value : seen->lo;
    seen->hi = value > seen->hi ? value : seen->hi;
}

static bool parse_int_slow(struct parser *parser, const char **at, size_t k, int64_t *value)
{
    struct table_column *column = &parser->table->columns[k];
    struct chunk_column *seen = &parser->chunk->columns[k];
    struct piece piece;
    const char *next = table_value(parser->table->dialect, *at, parser->end, &piece);
    if (!next)
        return fail(parser, PROBLEM_QUOTE, *at, k);
    *at = next;
    switch (read_int(piece.at, piece.end, value)) {
    case READ_INT:
        note_int(seen, *value);
        return true;
    case READ_OVERFLOW: /* not an error if a later line makes this a float column */
        seen->overflow = seen->overflow ? seen->overflow : piece.at;
        return true;
    case READ_FLOAT:
    case READ_INVALID:
        break;
    }
    if (!looks_like_number(piece.at, piece.end))
        return fail_value(parser, piece, k);
    if (!column->floats) /* avoid writing a cache line that other threads share */
        column->floats = true;
    return true;
}

/* The fast path: up to 18 digits followed by the end of the value. */
static inline bool parse_int(struct parser *parser, const char **at, size_t k, int64_t *value)
{
    const char *end = parser->end, *digit = *at;
    bool negative = digit < end && *digit == '-';
    digit += negative;
    const char *first = digit;
    uint64_t sum = 0;
    for (unsigned c; digit < end && (c = (unsigned)(unsigned char)*digit - '0') <= 9; digit++)
        sum = sum * 10 + c;
    const char *next = skip_return(digit, end);
    if (digit == first || digit - first > 18 || !ends_value(next, end, parser->delimiter))
        return parse_int_slow(parser, at, k, value);
    *value = negative ? -(int64_t)sum : (int64_t)sum;
    note_int(&parser->chunk->columns[k], *value);
    *at = next;
    return true;
}

static bool parse_float_slow(struct parser *parser, const char **at, size_t k, double *value)
{
    struct piece piece;
    const char *next = table_value(parser->table->dialect, *at, parser->end, &piece);
    if (!next)
        return fail(parser, PROBLEM_QUOTE, *at, k);
    *at = next;
    enum reading reading = read_float(piece.at, piece.end, value);
    if (reading == READ_OVERFLOW)
        return fail(parser, PROBLEM_OVERFLOW, piece.at, k);
    return reading == READ_FLOAT || fail_value(parser, piece, k);
}

static bool parse_float(struct parser *parser, const char **at, size_t k, double *value)
{
    const char *next = scan_float(*at, parser->end, value);
    next = next ? skip_return(next, parser->end) : NULL;
    if (!next || !ends_value(next, parser->end, parser->delimiter))
        return parse_float_slow(parser, at, k, value);
    *at = next;
    return true;
}

static bool parse_bool(struct parser *parser, const char **at, size_t k, uint8_t *value)
{
    struct piece piece;
    const char *next = table_value(parser->table->dialect, *at, parser->end, &piece);
    if (!next)
        return fail(parser, PROBLEM_QUOTE, *at, k);
    *at = next;
    bool truth;
    if (!table_is_bool(piece, &truth))
        return fail_value(parser, piece, k);
    *value = truth;
    return true;
}

static bool skip_value(struct parser *parser, const char **at, size_t k)
{
    struct piece piece;
    const char *next = table_value(parser->table->dialect, *at, parser->end, &piece);
    if (!next)
        return fail(parser, PROBLEM_QUOTE, *at, k);
    *at = next;
    return true;
}

static inline bool parse_value(struct parser *parser, const char **at, size_t k, int64_t row)
{
    const struct table_column *column = &parser->table->columns[k];
    if (!column->wanted)
        return skip_value(parser, at, k);
    switch (column->kind) {
    case VALUE_INT:
        return parse_int(parser, at, k, column_at(column->column, row));
    case VALUE_FLOAT:
        return parse_float(parser, at, k, column_at(column->column, row));
    case VALUE_BOOL:
        return parse_bool(parser, at, k, column_at(column->column, row));
    case VALUE_SKIPPED:
        break;
    }
    return skip_value(parser, at, k);
}

/* Parses a record and its newline. */
static bool parse_line(struct parser *parser, const char **from, int64_t row)
{
    const size_t count = parser->table->count;
    const char *end = parser->end, *at = *from;
    for (size_t k = 0; k < count; k++) {
        if (!parse_value(parser, &at, k, row))
            return false;
        if (k + 1 < count) {
            if (at == end || *at != parser->delimiter)
                return fail(parser, PROBLEM_COUNT, *from, k);
            at++;
        }
    }
    if (at < end && *at != '\n')
        return fail(parser, PROBLEM_COUNT, *from, count);
    *from = at < end ? at + 1 : at;
    return true;
}

/* Parses a record that is a JSON object. */
static bool parse_object(struct parser *parser, const char **from, int64_t row)
{
    const size_t count = parser->table->count;
    const char *end = parser->end, *at = *from;
    for (size_t k = 0; k < count; k++) {
        parser->delimiter = k + 1 < count ? ',' : '}';
        at = table_json_key(parser->table, at, end, k);
        if (!at)
            return fail(parser, PROBLEM_COUNT, *from, k);
        if (!parse_value(parser, &at, k, row))
            return false;
        if (at == end || *at++ != parser->delimiter)
            return fail(parser, PROBLEM_COUNT, *from, k);
    }
    at = skip_return(skip_blank(at, end, '\n'), end);
    if (at < end && *at != '\n')
        return fail(parser, PROBLEM_COUNT, *from, count);
    *from = at < end ? at + 1 : at;
    return true;
}

static bool parse_record(struct parser *parser, const char **from, int64_t row)
{
    return parser->table->dialect->json ? parse_object(parser, from, row) : parse_line(parser, from, row);
}

static void parse_chunk(void *context, int member, int64_t part)
{
    (void)member;
    struct table *table = context;
    struct chunk *chunk = &table->chunks[part];
    struct parser parser = {table, chunk, chunk->end, table->dialect->delimiter};
    if (part > table->failed)
        return;
    for (size_t k = 0; k < table->count; k++)
        chunk->columns[k] = (struct chunk_column){.lo = INT64_MAX, .hi = INT64_MIN};
    const char *at = chunk->begin;
    int64_t row = chunk->first_row, rows_end = row + chunk->rows;
    bool ok = true;
    while (ok && row < rows_end)
        ok = parse_record(&parser, &at, row++);
    /* Rows were counted by newlines; a difference means misplaced quotes. */
    if (ok && at < chunk->end)
        ok = fail(&parser, PROBLEM_QUOTE, at, 0);
    int64_t failed = table->failed;
    while (!ok && part < failed && !atomic_compare_exchange_weak(&table->failed, &failed, part))
        continue;
}

bool table_parse(struct table *table, const struct workers *workers)
{
    table->failed = table->chunk_count;
    return workers_run(workers, table->chunk_count, parse_chunk, table);
}
