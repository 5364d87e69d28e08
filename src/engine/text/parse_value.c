#include "engine/text/pass.h"

#include "base/calendar.h"
#include "base/number_text.h"
#include "base/utf8.h"
#include "engine/text/cells.h"
#include "engine/text/classify.h"
#include "engine/text/scan.h"
#include "engine/values/dictionary.h"

#include <math.h>
#include <string.h>

enum { FAST_DIGITS = 18 /* always fit 64 bits */ };

/* What became of a value. */
enum outcome { STORED, OTHER, OUT_OF_RANGE };

static struct seen *seen_of(const struct parser *parser, const struct step *step)
{
    return &parser->member->seen[step->number];
}

/* Whether a value may end here. */
static inline bool ends_value(const struct parser *parser, const char *at)
{
    return at == parser->end || *at == parser->delimiter || *at == parser->closing;
}

static inline void note_int(struct seen *seen, int64_t value)
{
    seen->values++;
    seen->lo = value < seen->lo ? value : seen->lo;
    seen->hi = value > seen->hi ? value : seen->hi;
}

/* Stores an integer if the column's type holds it. */
static enum outcome store_int(const struct step *step, struct seen *seen, int64_t row, int64_t value)
{
    const struct type_info *info = &type_table[step->column->type];
    if (value < info->lo || value > info->hi)
        return OUT_OF_RANGE;
    memcpy((char *)step->data + (size_t)row * info->size, &value, info->size); /* little-endian */
    note_int(seen, value);
    return STORED;
}

static enum outcome store_float(const struct step *step, struct seen *seen, int64_t row, double value)
{
    seen->values++;
    if (step->column->type == TYPE_F64) {
        ((double *)step->data)[row] = value;
        return STORED;
    }
    float narrow = (float)value;
    ((float *)step->data)[row] = narrow;
    return isinf(narrow) && !isinf(value) ? OUT_OF_RANGE : STORED;
}

/* Reads digits with an optional point as an integer scaled by 10^scale. */
static enum outcome read_decimal(struct piece piece, int scale, int64_t *value)
{
    const char *at = piece.at;
    bool negative = at < piece.end && *at == '-', point = false, digits = false;
    int64_t sum = 0;
    int places = 0;
    at += at < piece.end && (*at == '-' || *at == '+');
    enum outcome outcome = STORED;
    for (; at < piece.end; at++) {
        if (*at == '.' && !point) {
            point = true;
            continue;
        }
        int digit = *at - '0';
        if (digit < 0 || digit > 9)
            return OTHER;
        digits = true;
        if (point && ++places > scale) {
            places = scale;
            outcome = digit != 0 ? OUT_OF_RANGE : outcome;
        } else if (__builtin_mul_overflow(sum, 10, &sum) ||
                   __builtin_add_overflow(sum, negative ? -digit : digit, &sum)) {
            return OUT_OF_RANGE;
        }
    }
    for (; places < scale; places++) {
        if (__builtin_mul_overflow(sum, 10, &sum))
            return OUT_OF_RANGE;
    }
    *value = sum;
    return digits ? outcome : OTHER;
}

static enum outcome store_time(const struct step *step, struct seen *seen, int64_t row, struct piece piece)
{
    int64_t time = 0;
    bool zoned = false, cut = false, valid = false;
    if (step->column->kind == VALUE_DATE)
        valid = date_read(piece.at, piece.end, &time);
    else if (step->column->kind == VALUE_TIMESTAMP)
        valid = timestamp_read(piece.at, piece.end, &time, &zoned, &cut) && zoned == step->column->utc;
    else
        valid = duration_read(piece.at, piece.end, &time);
    if (!valid)
        return OTHER;
    seen->cut += cut;
    return store_int(step, seen, row, time);
}

static enum outcome store_number(const struct step *step, struct seen *seen, int64_t row, struct piece piece)
{
    const struct table_column *column = step->column;
    int64_t integer = 0;
    double number = 0;
    if (column->kind == VALUE_DECIMAL) {
        enum outcome outcome = read_decimal(piece, column->scale, &integer);
        return outcome == STORED ? store_int(step, seen, row, integer) : outcome;
    }
    if (!column->stated && cell_has_leading_zero(piece))
        return OTHER;
    if (column->kind == VALUE_FLOAT && scan_float(piece.at, piece.end, &number) == piece.end)
        return store_float(step, seen, row, number);
    enum reading reading =
        column->kind == VALUE_INT ? read_int(piece.at, piece.end, &integer) : read_float(piece.at, piece.end, &number);
    switch (reading) {
    case READ_INT:
        return store_int(step, seen, row, integer);
    case READ_FLOAT:
        return store_float(step, seen, row, number);
    case READ_OVERFLOW:
        return OUT_OF_RANGE;
    case READ_INVALID:
        break;
    }
    return OTHER;
}

/* Stores the value if it is of the column's kind, which is not text. */
static enum outcome store(const struct table *table, const struct step *step, struct seen *seen, int64_t row,
                          struct piece piece)
{
    bool truth, string = table->dialect->json && piece.quoted;
    switch (step->column->kind) {
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_DECIMAL:
        return string && !step->column->stated ? OTHER : store_number(step, seen, row, piece);
    case VALUE_BOOL:
        return string || !cell_is_bool(piece, &truth) ? OTHER : store_int(step, seen, row, truth);
    case VALUE_DATE:
    case VALUE_TIMESTAMP:
    case VALUE_DURATION:
        return store_time(step, seen, row, piece);
    case VALUE_TEXT:
        break;
    }
    return OTHER;
}

/* Notes what a value that is not of the column's kind is, or fails if the type is stated. */
static bool note_other(struct parser *parser, const struct step *step, struct piece piece, enum outcome outcome)
{
    size_t k = (size_t)(step->column - parser->table->columns);
    enum value_class value_class = classify(parser->table, piece);
    bool time = value_class == CLASS_TIMESTAMP || value_class == CLASS_UTC;
    if (step->column->stated && !(step->column->kind == VALUE_TIMESTAMP && time))
        return parse_fail(parser, outcome == OUT_OF_RANGE ? PROBLEM_RANGE : PROBLEM_VALUE, piece.at, k);
    evidence_add(&seen_of(parser, step)->evidence, value_class, piece.at);
    return true;
}

static bool parse_slowly(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    struct seen *seen = seen_of(parser, step);
    struct piece piece;
    const char *next = cell_scan(parser->table->dialect, *at, parser->end, &piece);
    if (!next)
        return parse_fail(parser, PROBLEM_QUOTE, *at, (size_t)(step->column - parser->table->columns));
    *at = next;
    if (cell_is_missing(parser->table, piece, step->column->kind)) {
        step->absent[row] = 1;
        seen->missing++;
        if (piece.at < piece.end && !step->column->stated)
            evidence_add(&seen->evidence, CLASS_WORD, piece.at);
        return true;
    }
    enum outcome outcome = store(parser->table, step, seen, row, piece);
    return outcome == STORED || note_other(parser, step, piece, outcome);
}

/* Up to 18 digits followed by the end of the value, in an i64 column. */
static inline bool parse_int(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    const char *end = parser->end, *digit = *at;
    bool negative = digit < end && *digit == '-';
    digit += negative;
    const char *first = digit;
    uint64_t sum = 0;
    for (unsigned c; digit < end && (c = (unsigned)(unsigned char)*digit - '0') <= 9; digit++)
        sum = sum * 10 + c;
    const char *next = skip_return(digit, end);
    if (digit == first || digit - first > FAST_DIGITS || !ends_value(parser, next) ||
        (*first == '0' && digit - first > 1))
        return parse_slowly(parser, at, step, row);
    int64_t value = negative ? -(int64_t)sum : (int64_t)sum;
    ((int64_t *)step->data)[row] = value;
    note_int(seen_of(parser, step), value);
    *at = next;
    return true;
}

static inline bool parse_float(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    const char *end = parser->end, *first = *at + (*at < end && **at == '-');
    double value;
    bool leading = end - first > 1 && first[0] == '0' && first[1] >= '0' && first[1] <= '9';
    const char *next = leading ? NULL : scan_float(*at, end, &value);
    next = next ? skip_return(next, end) : NULL;
    if (!next || !ends_value(parser, next))
        return parse_slowly(parser, at, step, row);
    ((double *)step->data)[row] = value;
    seen_of(parser, step)->values++;
    *at = next;
    return true;
}

static inline bool parse_time(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    bool string = parser->table->dialect->json;
    const char *begin = *at + string;
    if (begin >= parser->end || (string && **at != '"'))
        return parse_slowly(parser, at, step, row);
    const char *last = find_any(begin, parser->end, string ? '"' : parser->delimiter, '\r', '\n');
    const char *next = last < parser->end && string ? last + 1 : skip_return(last, parser->end);
    if (!ends_value(parser, next) ||
        store_time(step, seen_of(parser, step), row, (struct piece){begin, last, string}) != STORED)
        return parse_slowly(parser, at, step, row);
    *at = next;
    return true;
}

/* Stores a text that was written at `at`. Each string is checked when the thread sees it first. */
static inline bool store_text(struct parser *parser, const struct step *step, int64_t row, struct text text,
                              const char *at)
{
    struct seen *seen = seen_of(parser, step);
    if (!seen->interner)
        seen->interner = interner_new();
    uint32_t number = interner_add(seen->interner, text);
    ((uint32_t *)step->data)[row] = number + 1;
    seen->values++;
    if (number < seen->strings)
        return true;
    seen->strings = number + 1;
    if (text.length == 0 || (utf8_is_valid(text.at, text.length) && !memchr(text.at, '\0', text.length)))
        return true;
    return parse_fail(parser, PROBLEM_ENCODING, at, (size_t)(step->column - parser->table->columns));
}

static bool parse_text_slowly(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    const struct table *table = parser->table;
    struct piece piece;
    const char *next = cell_scan_text(table->dialect, *at, parser->end, &piece);
    if (!next)
        return parse_fail(parser, PROBLEM_QUOTE, *at, (size_t)(step->column - table->columns));
    *at = next;
    if (cell_is_missing(table, piece, VALUE_TEXT)) {
        step->absent[row] = 1;
        seen_of(parser, step)->missing++;
        return true;
    }
    struct text text = cell_text(table->dialect, piece, &parser->member->scratch);
    return store_text(parser, step, row, text, piece.at);
}

/* A cell without quotes or escapes, or in quotes without quotes; a JSON string without escapes. */
static inline bool parse_text(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    const struct dialect *dialect = parser->table->dialect;
    const char *begin = *at, *end = parser->end, *next;
    if (dialect->json) {
        next = begin < end && *begin == '"' ? find_any(++begin, end, '"', '\\', '\n') : end;
        if (next == end || *next != '"' || !ends_value(parser, next + 1) || parser->table->missing_count)
            return parse_text_slowly(parser, at, step, row);
        *at = next + 1;
        return store_text(parser, step, row, (struct text){begin, (size_t)(next - begin)}, begin);
    }
    if (dialect->quotes && begin < end && *begin == '"' && parser->table->missing_count == 0) {
        next = find_any(begin + 1, end, '"', '"', '"');
        if (next == end || !ends_value(parser, next + 1))
            return parse_text_slowly(parser, at, step, row);
        *at = next + 1;
        return store_text(parser, step, row, (struct text){begin + 1, (size_t)(next - begin - 1)}, begin + 1);
    }
    next = find_any(begin, end, parser->delimiter, '\n', dialect->escapes ? '\\' : '"');
    const char *last = next > begin && next[-1] == '\r' && (next == end || *next == '\n') ? next - 1 : next;
    if (!ends_value(parser, next) || last == begin || *begin == '"' || parser->table->missing_count)
        return parse_text_slowly(parser, at, step, row);
    *at = next;
    return store_text(parser, step, row, (struct text){begin, (size_t)(last - begin)}, begin);
}

bool parse_value(struct parser *parser, const char **at, const struct step *step, int64_t row)
{
    /* A stated word for missing values may look like a value. */
    if (parser->table->missing_count > 0 && step->column->kind != VALUE_TEXT)
        return parse_slowly(parser, at, step, row);
    switch (step->column->kind) {
    case VALUE_INT:
        return step->column->type == TYPE_I64 ? parse_int(parser, at, step, row) : parse_slowly(parser, at, step, row);
    case VALUE_FLOAT:
        return step->column->type == TYPE_F64 ? parse_float(parser, at, step, row)
                                              : parse_slowly(parser, at, step, row);
    case VALUE_DATE:
    case VALUE_TIMESTAMP:
        return parse_time(parser, at, step, row);
    case VALUE_TEXT:
        return parse_text(parser, at, step, row);
    case VALUE_BOOL:
    case VALUE_DECIMAL:
    case VALUE_DURATION:
        break;
    }
    return parse_slowly(parser, at, step, row);
}
