/* Exact conversion of text to numbers: an integer fits 64 bits or is an overflow, and a float is the nearest double.
 * Decimal only: no hexadecimal and no thousands separators. "inf" and "nan" are accepted in any case. */
#ifndef RQL_BASE_NUMBER_TEXT_H
#define RQL_BASE_NUMBER_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What a text is as a number. */
enum reading { READ_INT, READ_FLOAT, READ_OVERFLOW, READ_INVALID };

/* Parses all of at..end-1 as an integer: READ_INT, READ_OVERFLOW or READ_INVALID. */
enum reading read_int(const char *at, const char *end, int64_t *value);

/* Whether all of at..end-1 is a number, integer or float. */
bool looks_like_number(const char *at, const char *end);

/* Parses all of at..end-1 as a float: READ_FLOAT, READ_OVERFLOW (finite but beyond all doubles) or READ_INVALID. */
enum reading read_float(const char *at, const char *end, double *value);

/* The fast path: parses a prefix of at most 19 significant digits with an optional point and exponent and sets *value
 * to the nearest double. Returns its end, or NULL if there are no digits or read_float is needed. */
const char *scan_float(const char *at, const char *end, double *value);

/* digits * 10^exponent, correctly rounded; digits > 0, |exponent| <= 27. */
double number_scaled(uint64_t digits, int exponent);

/* Parses exactly `count` hexadecimal digits; NULL if there are fewer before `end`, else their end. */
const char *scan_hex(const char *at, const char *end, int count, uint32_t *value);

/* 5^exponent, 0 <= exponent <= 27. */
uint64_t power_of_five(int exponent);

/* float_text.c: numbers as text. */

/* 0.d1 d2 ... * 10^exponent; the last digit is not 0 */
struct decimal {
    char digits[20];
    int count;
    int exponent;
};

/* The shortest decimal that reads back as `number`, which is finite and positive. */
void shortest_decimal(struct decimal *decimal, double number);

/* Writes the digits of `value` so that they end before `end`; returns their start. Four digits per division: rows are
 * printed by the million. */
char *format_digits(char *end, uint64_t value);

/* How many digits the value has. */
int digit_count(uint64_t value);

/* "00" to "99". */
extern const char digit_pairs[200];

/* Writes the two digits of a number below 100; returns their end. */
static inline char *write_pair(char *at, uint32_t number)
{
    memcpy(at, digit_pairs + 2 * (size_t)number, 2);
    return at + 2;
}

#endif
