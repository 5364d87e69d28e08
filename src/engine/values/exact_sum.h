/* Exact sums of doubles, rounded once at the end.
 *
 * The small superaccumulator of R. M. Neal, "Fast exact summation using small and large superaccumulators" (2015):
 * signed 64-bit chunks that overlap, so that carries are propagated rarely. The result does not depend on the order of
 * terms, so neither on devices, ranges or fusion. */
#ifndef RQL_ENGINE_VALUES_EXACT_SUM_H
#define RQL_ENGINE_VALUES_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

struct exact_sum {
    int64_t chunk[67];
    int32_t pending;                         /* additions until carries have to be propagated */
    int64_t positive_inf, negative_inf, nan; /* number of such terms */
    double error;                            /* bound on the absolute error of inexact terms; 0: exact */
    int ceiling, levels;                     /* that fitted the last block (exact_sum_simd.h); 0: none yet */
};

/* Sets the sum of no terms. */
void exact_sum_init(struct exact_sum *sum);

/* Adds a term; infinities and NaN are counted. */
void exact_sum_add(struct exact_sum *sum, double value);

/* Adds `count` terms. Vectorised (exact_sum_simd.h) where magnitudes of neighbouring values differ by less than 2^36,
 * and a little slower up to 2^126. */
void exact_sum_add_array(struct exact_sum *sum, const double *values, int64_t count);

/* Adds integer * 2^exponent, exactly if that is a multiple of 2^-1074. */
void exact_sum_add_scaled(struct exact_sum *sum, int64_t integer, int exponent);

/* Says that the terms so far may be wrong by `bound` more in all. */
void exact_sum_add_error(struct exact_sum *sum, double bound);

/* Adds the terms and the error bound of `from` to `into`. */
void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from);

/* The sum rounded to nearest even; infinity or NaN as IEEE 754 adds them, in any order. *certain is false if the error
 * bound leaves more than one possible result. */
double exact_sum_result(const struct exact_sum *sum, bool *certain);

#endif
