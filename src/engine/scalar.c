#include "scalar.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 uint128;

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
    /* Enough bits of the quotient, and whether there are more, rounded once. */
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
    double rounded = ldexp((double)((uint64_t)quotient | below), exponent);
    return dividend < 0 ? -rounded : rounded;
}

bool scalar_fits(const struct scalar *scalar)
{
    return scalar->integer >= INT64_MIN && scalar->integer <= INT64_MAX;
}

void scalar_print(struct strbuf *out, const struct scalar *scalar)
{
    if (scalar->kind == KIND_FLOAT)
        print_float(out, scalar->number);
    else
        print_int128(out, scalar->integer);
}

/* Writes the digits of `value` so that they end before `end`; returns where they begin. Two digits a division: rows
 * are printed by the million. */
static char *digits_before(char *end, uint64_t value)
{
    while (value >= 100) {
        unsigned pair = (unsigned)(value % 100);
        value /= 100;
        *--end = (char)('0' + pair % 10);
        *--end = (char)('0' + pair / 10);
    }
    if (value >= 10) {
        *--end = (char)('0' + value % 10);
        value /= 10;
    }
    *--end = (char)('0' + value);
    return end;
}

char *int_text(char *at, int64_t value)
{
    char text[NUMBER_TEXT];
    char *end = text + sizeof text;
    char *begin = digits_before(end, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    if (value < 0)
        *--begin = '-';
    memcpy(at, begin, (size_t)(end - begin));
    return at + (end - begin);
}

void print_int(struct strbuf *out, int64_t value)
{
    char text[NUMBER_TEXT];
    strbuf_add(out, text, (size_t)(int_text(text, value) - text));
}

void print_int128(struct strbuf *out, int128 value)
{
    if (value >= INT64_MIN && value <= INT64_MAX) {
        print_int(out, (int64_t)value);
        return;
    }
    enum { GROUP = 19 }; /* as many digits as a 64-bit part surely holds */
    const uint64_t group = 10000000000000000000u;
    uint128 rest = value < 0 ? 0 - (uint128)value : (uint128)value;
    char text[3 * GROUP + 1];
    char *end = text + sizeof text;
    char *begin = end;
    while (rest >= group) {
        char *next = digits_before(begin, (uint64_t)(rest % group));
        rest /= group;
        begin -= GROUP;
        while (next > begin)
            *--next = '0';
    }
    begin = digits_before(begin, (uint64_t)rest);
    if (value < 0)
        *--begin = '-';
    strbuf_add(out, begin, (size_t)(end - begin));
}

/* The shortest digits that read back as a number: 0.d1 d2 ... * 10^exponent. */
struct decimal {
    char digits[20];
    int count;
    int exponent;
};

static void decimal_from_int(struct decimal *decimal, uint64_t digits, int places)
{
    char text[24];
    char *end = text + sizeof text;
    char *begin = digits_before(end, digits);
    decimal->exponent = (int)(end - begin) - places;
    while (end - begin > 1 && end[-1] == '0')
        end--;
    decimal->count = (int)(end - begin);
    memcpy(decimal->digits, begin, (size_t)decimal->count);
}

/* Decimals of few places, the usual case: if n / 10^places is the number, where n has at most 15 digits and so both are
 * exact and the division is rounded once, then these digits read back, and the fewest places give the fewest digits. */
static bool decimal_by_scaling(struct decimal *decimal, double number)
{
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    const double limit = 1e15;
    for (int places = 0; places < (int)(sizeof tens / sizeof tens[0]); places++) {
        double scaled = nearbyint(number * tens[places]);
        if (!(scaled < limit))
            return false;
        if (scaled / tens[places] == number) {
            decimal_from_int(decimal, (uint64_t)scaled, places);
            return true;
        }
    }
    return false;
}

/* The digits of a number printed by %e. Whatever the locale's decimal point is, it is not a digit. */
static void decimal_from_text(struct decimal *decimal, const char *text)
{
    decimal->count = 0;
    while (*text != 'e') {
        if (*text >= '0' && *text <= '9')
            decimal->digits[decimal->count++] = *text;
        text++;
    }
    decimal->exponent = atoi(text + 1) + 1;
    while (decimal->count > 1 && decimal->digits[decimal->count - 1] == '0')
        decimal->count--;
}

/* The 16-digit decimal just above a power of two, which is nearer to it than the next double but not the nearest
 * decimal of its length, as doubles lie half as far apart below as above. */
static bool above_power_of_two(char *text, size_t size, double number)
{
    int exponent;
    if (frexp(number, &exponent) != 0.5)
        return false;
    snprintf(text, size, "%.15e", number);
    char *last = strchr(text, 'e') - 1;
    if (*last == '9')
        return false;
    ++*last;
    return strtod(text, NULL) == number;
}

static void decimal_by_search(struct decimal *decimal, double number)
{
    char text[40];
    /* Any decimal of up to 15 digits survives the way to a normal double and back, so if one is short enough, %.14e
     * finds it with zeroes behind. Subnormal numbers have fewer digits to offer. */
    for (int digits = number < DBL_MIN ? 1 : 15; digits < 17; digits++) {
        snprintf(text, sizeof text, "%.*e", digits - 1, number);
        if (strtod(text, NULL) == number) {
            decimal_from_text(decimal, text);
            return;
        }
    }
    if (!above_power_of_two(text, sizeof text, number))
        snprintf(text, sizeof text, "%.16e", number);
    decimal_from_text(decimal, text);
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
    int whole = decimal->count < decimal->exponent ? decimal->count : decimal->exponent;
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
    if (value < 0)
        *at++ = '-';
    double number = fabs(value);
    if (isinf(number))
        return add_digits(at, "inf", 3);
    if (number == 0)
        return add_digits(at, "0.0", 3);
    struct decimal decimal;
    if (!(number >= 1e-3 && decimal_by_scaling(&decimal, number)))
        decimal_by_search(&decimal, number);
    if (decimal.exponent > -4 && decimal.exponent <= 16)
        return positional_text(at, &decimal);
    return scientific_text(at, &decimal);
}

void print_float(struct strbuf *out, double value)
{
    char text[NUMBER_TEXT];
    strbuf_add(out, text, (size_t)(float_text(text, value) - text));
}
