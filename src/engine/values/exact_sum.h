/* Exact sums of doubles: an accumulator that loses nothing, rounded once at the end.
 *
 * After R. M. Neal, "Fast exact summation using small and large superaccumulators" (2015), the small one: signed
 * 64-bit chunks that overlap, so that carries are rare. Order does not matter, so neither do devices, chunking or
 * fusion. */
#ifndef RQL_ENGINE_VALUES_EXACT_SUM_H
#define RQL_ENGINE_VALUES_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

struct fsum {
    int64_t chunk[67];
    int32_t pending;                         /* additions until carries must be propagated */
    int64_t positive_inf, negative_inf, nan; /* how many of each were added */
    double error;                            /* bound on the absolute error of what was added inexactly; 0: exact */
    int ceiling, levels;                     /* with which the last block could be added (fsum_lanes.h); 0: none yet */
};

void fsum_init(struct fsum *sum);
void fsum_add(struct fsum *sum, double value);
/* Quick where no magnitude is less than 2^-36 of the largest near it, and nearly as quick down to 2^-126. */
void fsum_add_array(struct fsum *sum, const double *values, int64_t count);

/* Adds integer * 2^exponent exactly; exponents below -1074 lose bits only if `integer` has them there. */
void fsum_add_scaled(struct fsum *sum, int64_t integer, int exponent);

/* Widens the error bound: what was added may be off by up to this much. */
void fsum_add_error(struct fsum *sum, double bound);
void fsum_merge(struct fsum *into, const struct fsum *from);

/* The sum rounded to nearest even. *certain is false if the error bound leaves more than one possible result. */
double fsum_result(const struct fsum *sum, bool *certain);

#endif
