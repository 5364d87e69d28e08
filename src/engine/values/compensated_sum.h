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

struct cascade {
    double high, low, rest;
    double weight; /* of what went into the rest: its terms' magnitudes added up */
    int64_t count; /* of terms */
    bool positive_inf, negative_inf, nan;
};

/* Replaces a by the sum rounded, and returns the error made (D. E. Knuth's two-sum). */
static inline double cascade_two_sum(double *a, double b)
{
    double sum = *a + b, part = sum - *a;
    double error = (*a - (sum - part)) + (b - part);
    *a = sum;
    return error;
}

static inline void cascade_add(struct cascade *sum, double term)
{
    sum->count++;
    if (!(fabs(term) <= DBL_MAX)) {
        sum->nan = sum->nan || term != term;
        sum->positive_inf = sum->positive_inf || term > 0;
        sum->negative_inf = sum->negative_inf || term < 0;
        return;
    }
    double lost = cascade_two_sum(&sum->low, cascade_two_sum(&sum->high, term));
    sum->rest += lost;
    sum->weight += fabs(lost);
}

void cascade_merge(struct cascade *into, const struct cascade *from);

/* The sum rounded to nearest even, its zero positive. Sets *uncertain, which is else left alone, if it may be wrong. */
double cascade_round(const struct cascade *sum, bool *uncertain);

static inline double cascade_result(const struct cascade *sum, bool *uncertain)
{
    bool exact = sum->weight == 0 && fabs(sum->high) <= DBL_MAX;
    if (exact && !sum->nan && !sum->positive_inf && !sum->negative_inf)
        return sum->high + sum->low + 0.0;
    return cascade_round(sum, uncertain);
}

#endif
