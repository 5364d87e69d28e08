/* Sums of values and of their products, for the variances and correlations of groups. */
#ifndef RQL_ENGINE_GROUPING_GROUP_MOMENTS_H
#define RQL_ENGINE_GROUPING_GROUP_MOMENTS_H

#include "base/integer.h"
#include "engine/values/compensated_sum.h"
#include "engine/values/wide_moments.h"
#include "engine/vector/elements.h"

#include <stddef.h>

/* Sums over integers up to 2^31 in magnitude and less than 2^32 rows: exact. A variance needs only the sums of x.
 * Deviations are the same from any pivot, so integers of a narrow range are taken as their distance from its middle. */
struct int_moments {
    int128 xx, yy, xy;
    int64_t count, x, y;
};

/* What is subtracted from x and y. */
struct pivots {
    int64_t x, y;
};

/* A compensated sum of finite terms, which are counted elsewhere. */
struct moment_state {
    double high, low, rest, weight;
};
static inline void add_term(struct moment_state *state, double term)
{
    compensated_add(&state->high, &state->low, &state->rest, &state->weight, term);
}

/* A block's products in two parts each. */
struct products {
    double high[OPERATOR_BLOCK], low[OPERATOR_BLOCK];
};
static inline void add_product(struct moment_state *state, const struct products *products, int64_t i, double sign)
{
    add_term(state, sign * products->high[i]);
    add_term(state, sign * products->low[i]);
}

/* Sums over floats: exact, or uncertain, as compensated sums are. */
struct float_moments {
    int64_t count;
    int64_t broken; /* values, or products, that are not finite */
    struct moment_state x, xx;
    struct moment_state y, yy, xy; /* not allocated for a variance */
};
size_t float_moments_size(bool pairs);

/* Whether all rows are of one group, and enough of them. */
bool is_one_place(const uint32_t *places, int count);

/* Adds values x[i], or pairs with y[i] (NULL: none), to the states at their places, where `where` (or NULL) is not 0.
 */
void int_moments_add(struct int_moments *states, struct pivots pivots, const uint32_t *places, const int64_t *x,
                     const int64_t *y, const int64_t *where, int count);
void wide_moments_add(struct wide_sums *states, const uint32_t *places, const int64_t *x, const int64_t *y,
                      const int64_t *where, int count);
void float_moments_add(void *states, const uint32_t *places, const double *x, const double *y, const int64_t *where,
                       int count);
void int_moments_merge(struct int_moments *into, const struct int_moments *from);
void wide_moments_merge(struct wide_sums *into, const struct wide_sums *from);
void float_moments_merge(struct float_moments *into, const struct float_moments *from, bool pairs);

/* The variance, of integers that are multiplied by 10^scale, or of pairs the correlation; 0 of fewer than two.
 * *uncertain is set if it may be wrong. */
double int_moments_result(const struct int_moments *moments, bool pairs, int scale);
double float_moments_result(const struct float_moments *moments, bool pairs, bool *uncertain);

#endif
