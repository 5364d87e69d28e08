/* Correctly rounded sums of floats: their mantissas are integers, which a server adds for each exponent. */
#ifndef RQL_SQL_LOWER_FLOAT_SUM_H
#define RQL_SQL_LOWER_FLOAT_SUM_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* The columns of the query, of groups by the first one: the exponent's bits, or what is not finite, and the sums of
 * three parts of mantissas, which do not overflow up to 2^44 rows. */
enum { FLOAT_SUM_PARTS = 3, FLOAT_SUM_COLUMNS = 1 + FLOAT_SUM_PARTS };

/* Sets the columns for sums of the float `x`. False: they would be too long. */
bool float_sum_columns(const char *x, const char **columns, struct arena *arena);

/* One group. */
struct float_sum_group {
    int64_t exponent, part[FLOAT_SUM_PARTS]; /* the highest first */
};

/* The sum, rounded to nearest even. False: it may be too large. */
bool float_sum_finish(const struct float_sum_group *groups, int64_t count, double *sum);

/* float_limbs.c: correctly rounded sums of floats within groups, by the server alone.
 *
 * A float below 2^58 that is a multiple of 2^-110 is six integers: its whole part, and five of 22 bits behind the
 * point. Each is added by itself; of each group the sums are carried into digits of base 2^22 of the magnitude. Two
 * floats have these digits exactly but for a last bit that stands for all others (S. Boldo, G. Melquiond, "Emulation of
 * a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008), so that adding them rounds once.
 * What is not finite is added by itself; other floats are a failure. */

/* Columns of a sum: the parts from the least significant on, whether the sum is negative, and what is not finite. */
enum { LIMB_PARTS = 6, LIMB_NEGATIVE = LIMB_PARTS, LIMB_SPECIAL, LIMB_COLUMNS };

/* The aggregates of the float `x`, all columns but LIMB_NEGATIVE, and the condition that they do not tell the sum.
 * False: they would be too long. */
bool float_limbs_add(const char *x, const char **columns, const char **fails, struct arena *arena);

/* Of these columns, of which `columns` has the names, those of the magnitude, and then those with their carries added:
 * each is to be read from a subquery with the columns before it. */
void float_limbs_magnitude(const char **columns, struct arena *arena);
void float_limbs_carry(const char **columns, struct arena *arena);

/* Then the sum, a double. */
const char *float_limbs_round(const char *const *columns, struct arena *arena);

#endif
