/* Readable numbers: thousands separators, and large numbers in words. */
#ifndef RQL_REPL_PRINT_NUMBER_FORMAT_H
#define RQL_REPL_PRINT_NUMBER_FORMAT_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether a printed number has five or more digits before its point, and so gets separators. */
bool number_format_are_many(const char *number, size_t length);

/* Appends a printed number with commas between thousands: 1234567.25 as 1,234,567.25. inf, nan and numbers with an
 * exponent are unchanged. */
void number_format_group(struct strbuf *out, const char *number, size_t length);

/* Appends an integer with commas between thousands. */
void number_format_group_int(struct strbuf *out, int64_t integer);

/* The same, or without commas. */
void number_format_int(struct strbuf *out, int64_t integer, bool separators);

/* Appends "233.77 billion" for a number from a million up to 10^21, otherwise nothing. */
void number_format_in_words(struct strbuf *out, double number);

/* Appends "12.3 M". */
void number_format_short(struct strbuf *out, double number);

#endif
