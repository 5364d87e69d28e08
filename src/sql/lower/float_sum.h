/* Correctly rounded sums of floats: their mantissas are integers, which a server adds for each exponent. */
#ifndef RQL_SQL_LOWER_FLOAT_SUM_H
#define RQL_SQL_LOWER_FLOAT_SUM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* The columns of the query, of groups by the first one: the exponent's bits, and the sums of the upper and lower parts
 * of mantissas, which do not overflow up to 2^36 rows. */
enum { FLOAT_SUM_COLUMNS = 3 };

/* Sets the columns for sums of the float `x`. False: they would be too long. */
bool float_sum_columns(const char *x, const char **columns, struct arena *arena);

/* One group. */
struct float_sum_group {
    int64_t exponent, upper, lower;
};

/* The sum, rounded to nearest even. False: there are infinite values or NaN, or it is too large. */
bool float_sum_finish(const struct float_sum_group *groups, int64_t count, double *sum);

#endif
