/* Numbers for people: digits in threes, and large ones in words. */
#ifndef RQL_REPL_PRINT_NUMBER_FORMAT_H
#define RQL_REPL_PRINT_NUMBER_FORMAT_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether a printed number has so many digits before its point that they are easier to read in threes: five or more. */
bool number_format_are_many(const char *number, size_t length);

/* Appends a printed number with commas between thousands: 1234567.25 as 1,234,567.25. Whatever is none, like inf, and
 * what has an exponent stays as it is. */
void number_format_group(struct strbuf *out, const char *number, size_t length);

/* The same of an integer, however few its digits. */
void number_format_group_int(struct strbuf *out, int64_t integer);

/* Appends a number of a million or more as "233.77 billion"; nothing of smaller or absurdly large ones. */
void number_format_in_words(struct strbuf *out, double number);

/* Appends it as "12.3 M". */
void number_format_short(struct strbuf *out, double number);

#endif
