#include "textfile.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NUMBER = 1000, SHOWN = 40 };

struct text_reader {
    const char *at, *end;
    int64_t line;      /* of the text last returned, 1-based */
    locale_t c_locale; /* numbers are written with a point, whatever the user's locale */
};

struct piece {
    const char *at;
    size_t length;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The next line without the white space around it; false at the end. */
static bool next_line(struct text_reader *reader, struct piece *piece)
{
    if (reader->at == reader->end)
        return false;
    const char *begin = reader->at;
    const char *newline = memchr(begin, '\n', (size_t)(reader->end - begin));
    const char *end = newline ? newline : reader->end;
    reader->at = newline ? newline + 1 : reader->end;
    reader->line++;
    while (begin < end && is_space(*begin))
        begin++;
    while (end > begin && is_space(end[-1]))
        end--;
    *piece = (struct piece){begin, (size_t)(end - begin)};
    return true;
}

/* How a piece of text reads as a number. */
enum reading { READ_INT, READ_FLOAT, READ_BIG, READ_NOTHING };

static enum reading read_int(struct piece piece, int64_t *value)
{
    const char *at = piece.at, *end = at + piece.length;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return READ_NOTHING;
    const uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t sum = 0;
    bool big = false;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return READ_NOTHING;
        uint64_t digit = (uint64_t)(*at - '0');
        big = big || sum > (limit - digit) / 10;
        sum = sum * 10 + digit;
    }
    if (big)
        return READ_BIG;
    *value = (int64_t)(negative ? 0 - sum : sum);
    return READ_INT;
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

static bool is_word(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

/* Whether this is a decimal number, "inf" or "nan": strtod takes more than a file should hold. */
static bool looks_like_float(struct piece piece)
{
    const char *at = piece.at, *end = at + piece.length;
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (is_word(at, end, "inf") || is_word(at, end, "nan"))
        return true;
    const char *whole = skip_digits(at, end);
    ptrdiff_t digits = whole - at;
    at = whole;
    if (at < end && *at == '.') {
        const char *fraction = skip_digits(at + 1, end);
        digits += fraction - (at + 1);
        at = fraction;
    }
    if (digits == 0)
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '-' || *at == '+'))
            at++;
        const char *exponent = skip_digits(at, end);
        if (exponent == at)
            return false;
        at = exponent;
    }
    return at == end;
}

static enum reading read_float(struct piece piece, locale_t c_locale, double *value)
{
    char text[MAX_NUMBER + 1];
    if (!looks_like_float(piece) || piece.length > MAX_NUMBER)
        return READ_NOTHING;
    memcpy(text, piece.at, piece.length);
    text[piece.length] = '\0';
    *value = strtod_l(text, NULL, c_locale);
    if (isinf(*value) && !strchr(text, 'i'))
        return READ_BIG;
    return READ_FLOAT;
}

static enum status line_error(const struct text_reader *reader, struct mapping *mapping, struct piece piece,
                              enum reading reading, struct span span, struct diags *diags)
{
    const char *path = mapping_path(mapping);
    long long line = reader->line;
    if (mapping_damaged(mapping))
        return diag_error(diags, span, "`%s` changed while it was read", path);
    if (piece.length == 0) {
        diag_error(diags, span, "`%s`, line %lld is blank", path, line);
        diag_hint(diags, "a .txt file has one number a line; only its end may be blank");
    } else if (reading == READ_BIG) {
        diag_error(diags, span, "`%s`, line %lld: %.*s is too large", path, line,
                   (int)(piece.length < SHOWN ? piece.length : SHOWN), piece.at);
        diag_hint(diags, "integers have 64 bits; with a decimal point anywhere the column is one of floats");
    } else {
        diag_error(diags, span, "`%s`, line %lld: `%.*s` is not a number", path, line,
                   (int)(piece.length < SHOWN ? piece.length : SHOWN), piece.at);
        diag_hint(diags, "a .txt file has one number a line; raw data needs its type, as in load %s i32", path);
    }
    return STATUS_FAILED;
}

/* Whether nothing but white space is left. */
static bool only_blank(const struct text_reader *reader)
{
    for (const char *at = reader->at; at < reader->end; at++) {
        if (!is_space(*at) && *at != '\n')
            return false;
    }
    return true;
}

struct outcome {
    enum status status;
    bool floats; /* a line was met that only a column of floats can hold */
};

/* Fills a column of i64, or finds that it must be one of f64. */
static struct outcome fill_ints(struct text_reader *reader, struct mapping *mapping, struct column *column,
                                struct span span, struct diags *diags)
{
    int64_t rows = 0;
    int64_t *values = column_at(column, 0);
    bool too_big = false;
    struct piece piece, big_piece = {0};
    int64_t big_line = 0;
    while (next_line(reader, &piece)) {
        if (piece.length == 0 && only_blank(reader))
            break;
        enum reading reading = read_int(piece, &values[rows]);
        if (reading == READ_NOTHING && looks_like_float(piece))
            return (struct outcome){STATUS_OK, true};
        if (reading == READ_NOTHING)
            return (struct outcome){line_error(reader, mapping, piece, reading, span, diags), false};
        if (reading == READ_BIG && !too_big) {
            too_big = true; /* unless a later line makes this a column of floats */
            big_piece = piece;
            big_line = reader->line;
        }
        rows++;
    }
    if (too_big) {
        reader->line = big_line;
        return (struct outcome){line_error(reader, mapping, big_piece, READ_BIG, span, diags), false};
    }
    column_finish(column, rows);
    return (struct outcome){STATUS_OK, false};
}

static enum status fill_floats(struct text_reader *reader, struct mapping *mapping, struct column *column,
                               struct span span, struct diags *diags)
{
    int64_t rows = 0;
    double *values = column_at(column, 0);
    struct piece piece;
    while (next_line(reader, &piece)) {
        if (piece.length == 0 && only_blank(reader))
            break;
        enum reading reading = read_float(piece, reader->c_locale, &values[rows]);
        if (reading != READ_FLOAT)
            return line_error(reader, mapping, piece, reading, span, diags);
        rows++;
    }
    column_finish(column, rows);
    return STATUS_OK;
}

static enum status fill_column(struct text_reader *reader, struct mapping *mapping, struct column **column,
                               struct span span, struct diags *diags)
{
    /* A line has at least a digit and a newline, the last one perhaps no newline. */
    int64_t capacity = (int64_t)(mapping_length(mapping) / 2) + 1;
    *column = column_reserve(TYPE_I64, TYPE_I64, capacity);
    if (!*column)
        return diag_error(diags, span, "there is no memory for `%s`", mapping_path(mapping));
    struct text_reader again = *reader;
    struct outcome outcome = fill_ints(reader, mapping, *column, span, diags);
    if (outcome.status != STATUS_OK || !outcome.floats)
        return outcome.status;
    column_unref(*column);
    *column = column_reserve(TYPE_F64, TYPE_F64, capacity);
    if (!*column)
        return diag_error(diags, span, "there is no memory for `%s`", mapping_path(mapping));
    *reader = again;
    return fill_floats(reader, mapping, *column, span, diags);
}

enum status read_text(const struct format_job *job, struct mapping *mapping, struct relation **relation)
{
    struct span span = job->span;
    struct diags *diags = job->diags;
    const char *text = mapping_data(mapping);
    struct text_reader reader = {.at = text, .end = text ? text + mapping_length(mapping) : NULL};
    reader.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    struct column *column = NULL;
    enum status status = fill_column(&reader, mapping, &column, span, diags);
    freelocale(reader.c_locale);
    if (status == STATUS_OK && mapping_damaged(mapping))
        status = diag_error(diags, span, "`%s` changed while it was read", mapping_path(mapping));
    if (status == STATUS_OK)
        *relation = relation_new(column->rows, 1, &column, &(const char *){""});
    column_unref(column);
    return status;
}
