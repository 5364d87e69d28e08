/* Compensated float sums that are correctly rounded or known to be uncertain: three doubles, where an exact sum
 * (exact_sum.h) for every group or row would be too large.
 *
 * K-fold summation with K = 3 after T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product" (2005): the rounding
 * error of each addition, which is exact, goes to a second sum, and the errors of that one to a third. Only the third
 * is inexact; the sum of its terms' magnitudes bounds its error. */
#ifndef RQL_ENGINE_VALUES_COMPENSATED_SUM_H
#define RQL_ENGINE_VALUES_COMPENSATED_SUM_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct compensated_sum {
    double high, low, rest;
    double weight; /* sum of the magnitudes added to the rest */
    int64_t count; /* of terms */
    bool positive_inf, negative_inf, nan;
};

/* Sets *a to the rounded sum and returns the rounding error (D. E. Knuth's TwoSum). */
static inline double compensated_sum_two_sum(double *a, double b)
{
    double sum = *a + b, part = sum - *a;
    const double error = (*a - (sum - part)) + (b - part);
    *a = sum;
    return error;
}

/* Adds a finite term to a sum that is kept in four places. */
static inline void compensated_add(double *high, double *low, double *rest, double *weight, double term)
{
    const double lost = compensated_sum_two_sum(low, compensated_sum_two_sum(high, term));
    *rest += lost;
    *weight += fabs(lost);
}

/* Adds a term; infinities and NaN are only noted. Zero-initialised, a sum is 0. */
static inline void compensated_sum_add(struct compensated_sum *sum, double term)
{
    sum->count++;
    if (!(fabs(term) <= DBL_MAX)) {
        sum->nan = sum->nan || term != term;
        sum->positive_inf = sum->positive_inf || term > 0;
        sum->negative_inf = sum->negative_inf || term < 0;
        return;
    }
    compensated_add(&sum->high, &sum->low, &sum->rest, &sum->weight, term);
}

/* Adds the terms of `from` to `into`, with what is known of their error. */
void compensated_sum_merge(struct compensated_sum *into, const struct compensated_sum *from);

/* The sum rounded to nearest even, its zero positive. *uncertain is set if it may be wrong, and never cleared. */
double compensated_sum_round(const struct compensated_sum *sum, bool *uncertain);

/* The same, with an inline fast path for sums that lost nothing, which are exact. */
static inline double compensated_sum_result(const struct compensated_sum *sum, bool *uncertain)
{
    const bool exact = sum->weight == 0 && fabs(sum->high) <= DBL_MAX;
    if (exact && !sum->nan && !sum->positive_inf && !sum->negative_inf)
        return sum->high + sum->low + 0.0;
    return compensated_sum_round(sum, uncertain);
}

#endif
