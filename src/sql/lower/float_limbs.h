/* Correctly rounded sums of floats within groups, by the server alone.
 *
 * A float below 2^58 that is a multiple of 2^-96 is four integers: its whole part, and three of 32 bits behind the
 * point. Each is added by itself; of each group the sums are carried into digits of base 2^32 of the magnitude. Two
 * floats have these digits exactly but for a last bit that stands for all others (S. Boldo, G. Melquiond, "Emulation of
 * a FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008), so that adding them rounds once.
 * Other floats, NaN among them, are a failure. */
#ifndef RQL_SQL_LOWER_FLOAT_LIMBS_H
#define RQL_SQL_LOWER_FLOAT_LIMBS_H

#include "base/arena.h"

#include <stdbool.h>

/* Columns of a sum: the parts from the least significant on, and whether the sum is negative. */
enum { LIMB_PARTS = 4, LIMB_NEGATIVE = LIMB_PARTS, LIMB_COLUMNS };

/* The aggregates of the float `x`, the first LIMB_PARTS columns, and the condition that they do not tell the sum.
 * False: they would be too long. */
bool float_limbs_add(const char *x, const char **columns, const char **fails, struct arena *arena);

/* Of these columns, of which `columns` has the names, those of the magnitude, and then those with their carries added:
 * each is to be read from a subquery with the columns before it. */
void float_limbs_magnitude(const char **columns, struct arena *arena);
void float_limbs_carry(const char **columns, struct arena *arena);

/* Then the sum, a double. */
const char *float_limbs_round(const char *const *columns, struct arena *arena);

#endif
