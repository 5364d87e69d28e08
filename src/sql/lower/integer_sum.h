/* Exact sums and means of integers of any size over up to MOST_ROWS rows: servers wrap sums around, so that they add
 * digits. */
#ifndef RQL_SQL_LOWER_INTEGER_SUM_H
#define RQL_SQL_LOWER_INTEGER_SUM_H

#include "base/arena.h"
#include "engine/plan/code.h"

/* Digits of 21 bits, the lowest first; the highest one has the sign. The sum of one over MOST_ROWS, 2^41, is below
 * 2^63. */
enum { DIGIT_BITS = 21, MOST_DIGITS = 3 };
#define MOST_ROWS (INT64_C(1) << 41)

/* How many digits the value needs, by the bounds that are known of it. */
int digits_of(const struct instr *instr);

/* The sums of the digits of the integer `v`. */
void digit_sums(const char *v, int digits, const char **sums, struct arena *arena);

/* The condition that the sum does not fit in 64 bits, or that there are more rows. */
const char *digits_overflow(const char *const *sums, int digits, struct arena *arena);

/* The mean, rounded once, in three steps of subqueries. Each sets the columns of the next one: `columns` are the names
 * of those that were set before, MEAN_COLUMNS of them, first the sums of the digits (NULL: there are fewer). `rows`:
 * their number. */
enum { MEAN_COLUMNS = MOST_DIGITS + 1 };
void mean_magnitude(const char **columns, struct arena *arena);
void mean_divide(const char **columns, const char *rows, struct arena *arena);
const char *mean_round(const char *const *columns, const char *rows, struct arena *arena);

#endif
