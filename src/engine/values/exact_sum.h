/* Exact sums of doubles: an accumulator that loses nothing, rounded once at the end.
 *
 * After R. M. Neal, "Fast exact summation using small and large superaccumulators" (2015), the small one: signed
 * 64-bit chunks that overlap, so that carries are rare. Order does not matter, so neither do devices, chunking or
 * fusion. */
#ifndef RQL_ENGINE_VALUES_EXACT_SUM_H
#define RQL_ENGINE_VALUES_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

struct exact_sum {
    int64_t chunk[67];
    int32_t pending;                         /* additions until carries must be propagated */
    int64_t positive_inf, negative_inf, nan; /* how many of each were added */
    double error;                            /* bound on the absolute error of what was added inexactly; 0: exact */
    int ceiling, levels; /* with which the last block could be added (exact_sum_simd.h); 0: none yet */
};

void exact_sum_init(struct exact_sum *sum);
void exact_sum_add(struct exact_sum *sum, double value);
/* Quick where no magnitude is less than 2^-36 of the largest near it, and nearly as quick down to 2^-126. */
void exact_sum_add_array(struct exact_sum *sum, const double *values, int64_t count);

/* Adds integer * 2^exponent exactly; exponents below -1074 lose bits only if `integer` has them there. */
void exact_sum_add_scaled(struct exact_sum *sum, int64_t integer, int exponent);

/* Widens the error bound: what was added may be off by up to this much. */
void exact_sum_add_error(struct exact_sum *sum, double bound);
void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from);

/* The sum rounded to nearest even. *certain is false if the error bound leaves more than one possible result. */
double exact_sum_result(const struct exact_sum *sum, bool *certain);

#endif
