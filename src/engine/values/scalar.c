#include "engine/values/scalar.h"

#include "base/number_text.h"

#include <math.h>
#include <string.h>

struct scalar scalar_int(int128 value)
{
    return (struct scalar){.kind = KIND_INT, .integer = value};
}

struct scalar scalar_bool(bool value)
{
    return (struct scalar){.kind = KIND_BOOL, .integer = value};
}

struct scalar scalar_float(double value)
{
    return (struct scalar){.kind = KIND_FLOAT, .number = value};
}

double int128_quotient(int128 dividend, int64_t divisor)
{
    if (dividend == 0)
        return 0.0;
    /* More than 64 bits of the quotient and a sticky bit, rounded once. */
    uint128 rest = dividend < 0 ? 0 - (uint128)dividend : (uint128)dividend, by = (uint128)divisor;
    int exponent = 0;
    while (rest >> 127 == 0) {
        rest <<= 1;
        exponent--;
    }
    /* The divisor has at most 63 bits, so the quotient has more than 64. */
    uint128 quotient = rest / by;
    bool below = rest % by != 0;
    while (quotient >> 64 != 0) {
        below = below || (quotient & 1);
        quotient >>= 1;
        exponent++;
    }
    const double rounded = ldexp((double)((uint64_t)quotient | below), exponent);
    return dividend < 0 ? -rounded : rounded;
}

bool scalar_fits(const struct scalar *scalar)
{
    return scalar->integer >= INT64_MIN && scalar->integer <= INT64_MAX;
}

char *int_text(char *at, int64_t value)
{
    const uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    *at = '-';
    char *end = at + (value < 0) + digit_count(size);
    (void)format_digits(end, size);
    return end;
}

void print_int(struct strbuf *out, int64_t value)
{
    char text[NUMBER_TEXT];
    strbuf_add(out, text, (size_t)(int_text(text, value) - text));
}

char *int128_text(char *at, int128 value)
{
    if (value >= INT64_MIN && value <= INT64_MAX)
        return int_text(at, (int64_t)value);
    enum { GROUP = 19 }; /* digits that always fit 64 bits */
    const uint64_t group = 10000000000000000000u;
    uint128 rest = value < 0 ? 0 - (uint128)value : (uint128)value;
    char text[3 * GROUP + 1];
    char *end = text + sizeof text;
    char *begin = end;
    while (rest >= group) {
        char *next = format_digits(begin, (uint64_t)(rest % group));
        rest /= group;
        begin -= GROUP;
        while (next > begin)
            *--next = '0';
    }
    begin = format_digits(begin, (uint64_t)rest);
    if (value < 0)
        *--begin = '-';
    memcpy(at, begin, (size_t)(end - begin));
    return at + (end - begin);
}

char *bool_text(char *at, bool value)
{
    const size_t length = value ? strlen("true") : strlen("false");
    memcpy(at, value ? "true" : "false", length);
    return at + length;
}

static char *number_text(char *at, const struct scalar *scalar)
{
    if (scalar->kind == KIND_BOOL)
        return bool_text(at, scalar->integer != 0);
    if (scalar->kind == KIND_FLOAT)
        return float_text(at, scalar->number);
    if (scalar->logical.kind == LOGICAL_DECIMAL)
        return decimal_text(at, scalar->integer, scalar->logical.scale);
    if (scalar->logical.kind == LOGICAL_NUMBER || !scalar_fits(scalar))
        return int128_text(at, scalar->integer);
    return logical_text(at, scalar->logical, (int64_t)scalar->integer);
}

void scalar_print(struct strbuf *out, const struct scalar *scalar)
{
    if (scalar->missing) {
        strbuf_puts(out, "missing");
    } else if (scalar->logical.kind == LOGICAL_TEXT) {
        strbuf_add(out, scalar->text.at, scalar->text.length);
    } else {
        char text[LOGICAL_TEXT_BYTES];
        strbuf_add(out, text, (size_t)(number_text(text, scalar) - text));
    }
}

static char *add_digits(char *at, const char *digits, int count)
{
    memcpy(at, digits, (size_t)count);
    return at + count;
}

static char *add_zeroes(char *at, int count)
{
    if (count <= 0)
        return at;
    memset(at, '0', (size_t)count);
    return at + count;
}

static char *positional_text(char *at, const struct decimal *decimal)
{
    if (decimal->exponent <= 0) {
        *at++ = '0';
        *at++ = '.';
        return add_digits(add_zeroes(at, -decimal->exponent), decimal->digits, decimal->count);
    }
    const int whole = decimal->count < decimal->exponent ? decimal->count : decimal->exponent;
    at = add_zeroes(add_digits(at, decimal->digits, whole), decimal->exponent - whole);
    *at++ = '.';
    if (whole == decimal->count)
        return add_zeroes(at, 1);
    return add_digits(at, decimal->digits + whole, decimal->count - whole);
}

static char *scientific_text(char *at, const struct decimal *decimal)
{
    *at++ = decimal->digits[0];
    if (decimal->count > 1) {
        *at++ = '.';
        at = add_digits(at, decimal->digits + 1, decimal->count - 1);
    }
    *at++ = 'e';
    return int_text(at, decimal->exponent - 1);
}

char *float_text(char *at, double value)
{
    if (isnan(value))
        return add_digits(at, "nan", 3);
    if (signbit(value))
        *at++ = '-';
    const double number = fabs(value);
    if (isinf(number))
        return add_digits(at, "inf", 3);
    if (number == 0)
        return add_digits(at, "0.0", 3);
    struct decimal decimal;
    shortest_decimal(&decimal, number);
    if (decimal.exponent > -4 && decimal.exponent <= 16)
        return positional_text(at, &decimal);
    return scientific_text(at, &decimal);
}

void print_float(struct strbuf *out, double value)
{
    char text[NUMBER_TEXT];
    strbuf_add(out, text, (size_t)(float_text(text, value) - text));
}
