
#include "base/number_text.h"

#include "base/integer.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char digit_pairs[200] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
    "4950515253545556575859606162636465666768697071727374757677787980818283848586878889909192939495"
    "96979899";

int digit_count(uint64_t value)
{
    static const uint64_t tens[] = {0,
                                    10,
                                    100,
                                    1000,
                                    10000,
                                    100000,
                                    1000000,
                                    10000000,
                                    100000000,
                                    1000000000,
                                    10000000000,
                                    100000000000,
                                    1000000000000,
                                    10000000000000,
                                    100000000000000,
                                    1000000000000000,
                                    10000000000000000,
                                    100000000000000000,
                                    1000000000000000000,
                                    10000000000000000000u};
    const int bits = 64 - __builtin_clzll(value | 1), guess = bits * 1233 >> 12; /* 1233 / 4096: log10 of 2 */
    return guess + 1 - (value < tens[guess]);
}

char *format_digits(char *end, uint64_t value)
{
    while (value >= 10000) {
        const uint32_t four = (uint32_t)(value % 10000);
        value /= 10000;
        end -= 4;
        memcpy(end, digit_pairs + 2 * (size_t)(four / 100), 2);
        memcpy(end + 2, digit_pairs + 2 * (size_t)(four % 100), 2);
    }
    uint32_t rest = (uint32_t)value;
    if (rest >= 100) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * (size_t)(rest % 100), 2);
        rest /= 100;
    }
    if (rest >= 10) {
        end -= 2;
        memcpy(end, digit_pairs + 2 * (size_t)rest, 2);
    } else {
        *--end = (char)('0' + rest);
    }
    return end;
}

static void decimal_from_int(struct decimal *decimal, uint64_t digits, int places)
{
    char text[24];
    char *end = text + sizeof text;
    char *begin = format_digits(end, digits);
    decimal->exponent = (int)(end - begin) - places;
    while (end - begin > 1 && end[-1] == '0')
        end--;
    decimal->count = (int)(end - begin);
    memcpy(decimal->digits, begin, (size_t)decimal->count);
}

/* The common case, numbers with few decimal places: if n / 10^places equals the number and n has at most 15 digits,
 * both operands are exact and the division rounds once, so the digits of n read back. The fewest places give the fewest
 * digits. */
static bool decimal_by_scaling(struct decimal *decimal, double number)
{
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    const double limit = 1e15;
    for (int places = 0; places < (int)(sizeof tens / sizeof tens[0]); places++) {
        const double scaled = nearbyint(number * tens[places]);
        if (!(scaled < limit))
            return false;
        if (scaled / tens[places] == number) {
            decimal_from_int(decimal, (uint64_t)scaled, places);
            return true;
        }
    }
    return false;
}

/* mantissa * 2^exponent * 10^places as an integer, rounded to nearest even; below 2^64, with |places| <= 27. */
static uint64_t rounded(uint64_t mantissa, int exponent, int places)
{
    const int shift = exponent + places;
    uint128 dividend = mantissa, divisor = 1;
    if (places >= 0)
        dividend *= power_of_five(places);
    else
        divisor = power_of_five(-places);
    if (shift >= 0)
        dividend <<= shift;
    else
        divisor <<= -shift;
    bool is_shift = places >= 0; /* much faster than a division */
    uint128 quotient = is_shift ? dividend >> (shift < 0 ? -shift : 0) : dividend / divisor;
    uint128 twice = (dividend - quotient * divisor) * 2;
    const bool round_up = twice > divisor || (twice == divisor && (quotient & 1));
    return (uint64_t)quotient + round_up;
}

/* The first of 15, 16 or 17 digits that read back, by exact arithmetic, for numbers of common magnitude. Powers of two
 * are excluded, because doubles lie closer below them than above. */
static bool decimal_by_rounding(struct decimal *decimal, double number)
{
    static const uint64_t tens[] = {100000000000000, 1000000000000000, 10000000000000000, 100000000000000000};
    const double lowest = 1e-9, highest = 1e22;
    int exponent;
    const double fraction = frexp(number, &exponent);
    if (fraction == 0.5 || !(number > lowest && number < highest))
        return false;
    const uint64_t mantissa = (uint64_t)ldexp(fraction, DBL_MANT_DIG);
    const int magnitude = (int)floor(log10(number));
    for (int digits = 15; digits <= 17; digits++) {
        const int places = digits - 1 - magnitude;
        const uint64_t nearest = rounded(mantissa, exponent - DBL_MANT_DIG, places);
        if (nearest < tens[digits - 15] || nearest >= tens[digits - 14])
            return false; /* the logarithm rounded past a power of ten */
        if (number_scaled(nearest, -places) == number) {
            decimal_from_int(decimal, nearest, places);
            return true;
        }
    }
    return false;
}

/* The digits of text printed by %e. Any decimal point of the locale is skipped. */
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

/* The 16-digit decimal just above a power of two. It is nearer to the number than to the next double but is not the
 * nearest 16-digit decimal, because doubles lie half as far apart below as above. */
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
    /* Every decimal of up to 15 digits survives conversion to a normal double and back, so if a short one exists, %.14e
     * prints it with trailing zeroes. Subnormal numbers have fewer digits. */
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

void shortest_decimal(struct decimal *decimal, double number)
{
    if (number >= 1e-3 && decimal_by_scaling(decimal, number))
        return;
    if (!decimal_by_rounding(decimal, number))
        decimal_by_search(decimal, number);
}
