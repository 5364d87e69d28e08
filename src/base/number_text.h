/* Numbers from text, exactly: an integer fits 64 bits or is told to be too large, and a float is the double nearest to
 * what is written. Decimal only; "inf" and "nan" in either case, hexadecimal and thousands separators are none. */
#ifndef RQL_BASE_NUMBER_TEXT_H
#define RQL_BASE_NUMBER_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* How a piece of text reads as a number. */
enum reading { READ_INT, READ_FLOAT, READ_OVERFLOW, READ_INVALID };

/* The whole of at..end-1 as an integer: READ_INT, READ_OVERFLOW or READ_INVALID. */
enum reading read_int(const char *at, const char *end, int64_t *value);

/* Whether all of it is a number, written as an integer or a float. */
bool looks_like_number(const char *at, const char *end);

/* The whole of it as a float: READ_FLOAT, READ_OVERFLOW (a finite number beyond all doubles) or READ_INVALID. */
enum reading read_float(const char *at, const char *end, double *value);

/* Reads digits, at most 19 of which count, with a point among them and an exponent behind, and gives the double nearest
 * to them. Returns where they end, or NULL if they are none or it takes read_float to be exact. */
const char *scan_float(const char *at, const char *end, double *value);

/* digits * 10^exponent, rounded once; digits > 0, |exponent| <= 27. */
double number_scaled(uint64_t digits, int exponent);

/* 5^exponent, for 0 to 27. */
uint64_t power_of_five(int exponent);

#endif
