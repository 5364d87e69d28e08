/* Variances and correlations of exact sums: n * sum(x * y) - sum(x) * sum(y) is rounded once, so nothing is lost where
 * values are large beside their deviations. */
#ifndef RQL_ENGINE_VALUES_MOMENTS_H
#define RQL_ENGINE_VALUES_MOMENTS_H

#include "base/integer.h"
#include "engine/values/exact_sum.h"

/* A sum as doubles that add up to it, the largest first; a single NaN or infinity if that is what it is. */
struct moment_sum {
    double part[40];
    int count;
};

/* The parts of an exact sum, as many as it needs. */
struct moment_sum moment_sum_of(const struct exact_sum *sum);

/* Sets high[i] + low[i] = a[i] * b[i] for `count` pairs, exactly unless high[i] overflows or low[i] underflows. */
void moment_products(const double *a, const double *b, int count, double *high, double *low);

/* count * xy - x * y, where x, y and xy are sums of x, y and x * y over `count` rows, rounded once. The parts leave out
 * at most `bound` of the exact value; *certain is false if that could change the rounded one. */
double moment_of_floats(int64_t count, const struct moment_sum *xy, const struct moment_sum *x,
                        const struct moment_sum *y, double bound, bool *certain);
/* The same of exact sums: exact, and rounded once. */
double moment_of_exact(int64_t count, const struct exact_sum *xy, const struct exact_sum *x, const struct exact_sum *y);

/* The variance of a sample of `count` >= 2 values, and Pearson's correlation, within -1..1, by these moments. */
double variance_of(int64_t count, double xx);
double correlation_of(double xx, double xy, double yy);

#endif
