/* Float sums that are correctly rounded at any moment, or say that they may not be: three doubles instead of the many
 * of an fsum, for when there is a sum for every group or row.
 *
 * After T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product" (2005): each addition's exact rounding error
 * goes to a second sum, and that one's to a third. Only the third is rounded; the sum of its terms' magnitudes bounds
 * by how much. */
#ifndef RQL_ENGINE_VALUES_COMPENSATED_SUM_H
#define RQL_ENGINE_VALUES_COMPENSATED_SUM_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct compensated_sum {
    double high, low, rest;
    double weight; /* of what went into the rest: its terms' magnitudes added up */
    int64_t count; /* of terms */
    bool positive_inf, negative_inf, nan;
};

/* Replaces a by the sum rounded, and returns the error made (D. E. Knuth's two-sum). */
static inline double compensated_sum_two_sum(double *a, double b)
{
    double sum = *a + b, part = sum - *a;
    double error = (*a - (sum - part)) + (b - part);
    *a = sum;
    return error;
}

static inline void compensated_sum_add(struct compensated_sum *sum, double term)
{
    sum->count++;
    if (!(fabs(term) <= DBL_MAX)) {
        sum->nan = sum->nan || term != term;
        sum->positive_inf = sum->positive_inf || term > 0;
        sum->negative_inf = sum->negative_inf || term < 0;
        return;
    }
    double lost = compensated_sum_two_sum(&sum->low, compensated_sum_two_sum(&sum->high, term));
    sum->rest += lost;
    sum->weight += fabs(lost);
}

void compensated_sum_merge(struct compensated_sum *into, const struct compensated_sum *from);

/* The sum rounded to nearest even, its zero positive. Sets *uncertain, which is else left alone, if it may be wrong. */
double compensated_sum_round(const struct compensated_sum *sum, bool *uncertain);

static inline double compensated_sum_result(const struct compensated_sum *sum, bool *uncertain)
{
    bool exact = sum->weight == 0 && fabs(sum->high) <= DBL_MAX;
    if (exact && !sum->nan && !sum->positive_inf && !sum->negative_inf)
        return sum->high + sum->low + 0.0;
    return compensated_sum_round(sum, uncertain);
}

#endif
