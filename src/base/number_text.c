#include "base/number_text.h"

#include "base/integer.h"
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_CHARACTERS = 1000, /* longer text is not a number: a double has at most 767 significant digits */
    MAX_DIGITS = 19,       /* always fit 64 bits */
    MAX_FIVES = 27,        /* 5^27 is the largest within 63 bits */
    EXACT_TENS = 22        /* 10^22 is the largest that is a double */
};

enum reading read_int(const char *at, const char *end, int64_t *value)
{
    const bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end)
        return READ_INVALID;
    const uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t sum = 0;
    bool overflow = false;
    for (; at < end; at++) {
        if (!is_digit(*at))
            return READ_INVALID;
        const uint64_t digit = (uint64_t)(*at - '0');
        overflow = overflow || sum > (limit - digit) / 10;
        sum = sum * 10 + digit;
    }
    if (overflow)
        return READ_OVERFLOW;
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
    return (size_t)(end - at) == strlen(word) && strncasecmp(at, word, strlen(word)) == 0;
}

static bool is_special_value(const char *at, const char *end)
{
    return is_word(at, end, "inf") || is_word(at, end, "nan") || is_word(at, end, "infinity");
}

bool looks_like_number(const char *at, const char *end)
{
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (is_special_value(at, end))
        return true;
    const char *whole = skip_digits(at, end);
    bool digits = whole > at;
    at = whole;
    if (at < end && *at == '.') {
        const char *fraction = skip_digits(at + 1, end);
        digits = digits || fraction > at + 1;
        at = fraction;
    }
    if (!digits)
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

enum reading read_float(const char *at, const char *end, double *value)
{
    char text[MAX_CHARACTERS + 1];
    const size_t length = (size_t)(end - at);
    if (length > MAX_CHARACTERS || !looks_like_number(at, end))
        return READ_INVALID;
    memcpy(text, at, length);
    text[length] = '\0';
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* a decimal point in any locale */
    *value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    at += *at == '-' || *at == '+';
    return isinf(*value) && !is_special_value(at, end) ? READ_OVERFLOW : READ_FLOAT;
}

const char *scan_hex(const char *at, const char *end, int count, uint32_t *value)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    if (end - at < count)
        return NULL;
    for (*value = 0; count > 0; count--, at++) {
        const char *digit = *at ? strchr(digits, *at) : NULL;
        if (!digit)
            return NULL;
        *value = *value << 4 | (uint32_t)((digit - digits) & 15);
    }
    return at;
}

uint64_t power_of_five(int exponent)
{
    uint64_t power = 1;
    for (uint64_t factor = 5; exponent > 0; exponent >>= 1, factor *= factor) {
        if (exponent & 1)
            power *= factor;
    }
    return power;
}

/* Powers of five are exact integers; powers of two only change the exponent. */
double number_scaled(uint64_t digits, int exponent)
{
    static const double tens[EXACT_TENS + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool exact = digits <= (uint64_t)1 << 53;
    if (exact && exponent >= 0 && exponent <= EXACT_TENS)
        return (double)digits * tens[exponent];
    if (exact && exponent < 0 && -exponent <= EXACT_TENS)
        return (double)digits / tens[-exponent];
    if (exponent >= 0)
        return ldexp((double)((uint128)digits * power_of_five(exponent)), exponent);
    /* A quotient of about 62 bits, with the last bit set if the division left a remainder: rounds to 53 bits like the
     * exact quotient. */
    const uint64_t divisor = power_of_five(-exponent);
    const int shift = bit_width(divisor) + 61 - bit_width(digits);
    uint128 dividend = (uint128)digits << shift;
    uint64_t quotient = (uint64_t)(dividend / divisor);
    quotient |= dividend % divisor != 0;
    return ldexp((double)quotient, exponent - shift);
}

/* Appends the digits from `at` to *digits and counts them without leading zeroes; *digits wraps around after
 * MAX_DIGITS. */
static const char *gather_digits(const char *at, const char *end, uint64_t *digits, int *count)
{
    for (; at < end && is_digit(*at); at++) {
        *digits = *digits * 10 + (uint64_t)(*at - '0');
        *count += *count > 0 || *digits != 0;
    }
    return at;
}

const char *scan_float(const char *at, const char *end, double *value)
{
    const bool negative = at < end && *at == '-';
    at += negative;
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    const char *begin = at;
    at = gather_digits(at, end, &digits, &count);
    const char *whole = at;
    bool has_digits = whole > begin;
    if (at < end && *at == '.') {
        at = gather_digits(at + 1, end, &digits, &count);
        has_digits = has_digits || at > whole + 1;
        if (at - whole > MAX_DIGITS + MAX_FIVES)
            return NULL;
        exponent = -(int)(at - whole - 1);
    }
    if (!has_digits || count > MAX_DIGITS)
        return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) {
        const bool negative_exponent = at + 1 < end && at[1] == '-';
        const char *first = at + 1 + (at + 1 < end && (at[1] == '-' || at[1] == '+'));
        int written = 0;
        for (at = first; at < end && is_digit(*at); at++)
            written = written < 10000 ? written * 10 + (*at - '0') : written;
        if (at == first)
            return NULL;
        exponent += negative_exponent ? -written : written;
    }
    if (exponent < -MAX_FIVES || exponent > MAX_FIVES)
        return NULL;
    const double number = digits ? number_scaled(digits, exponent) : 0;
    *value = negative ? -number : number;
    return at;
}
