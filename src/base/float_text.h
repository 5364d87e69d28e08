/* Numbers to decimal digits: the shortest that read back as the same number. */
#ifndef RQL_BASE_FLOAT_TEXT_H
#define RQL_BASE_FLOAT_TEXT_H

#include <stdint.h>

/* 0.d1 d2 ... * 10^exponent; the last digit is not 0 */
struct decimal {
    char digits[20];
    int count;
    int exponent;
};

/* The shortest decimal that reads back as `number`, which is finite and positive. */
void shortest_decimal(struct decimal *decimal, double number);

/* Writes the digits of `value` so that they end before `end`; returns their start. Two digits per division: rows are
 * printed by the million. */
char *format_digits(char *end, uint64_t value);

#endif
