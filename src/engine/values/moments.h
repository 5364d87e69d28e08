/* Variances and correlations of exact sums: n * sum(x * y) - sum(x) * sum(y) is rounded once, so nothing is lost where
 * values are large beside their deviations. */
#ifndef RQL_ENGINE_VALUES_MOMENTS_H
#define RQL_ENGINE_VALUES_MOMENTS_H

#include "base/integer.h"
#include "engine/values/exact_sum.h"

/* A sum as doubles that add up to it. */
struct moment_sum {
    double part[40];
    int count;
};

/* An exact sum, which has as many as it needs: none after NaN or infinity. */
struct moment_sum moment_sum_of(const struct exact_sum *sum);

/* a * b = *high + *low, exactly unless that is too large or too small. */
void moment_products(const double *a, const double *b, int count, double *high, double *low);

/* count * xy - x * y, whose parts leave out at most `bound`. *certain is false if rounding needs more than is known. */
double moment_of_floats(int64_t count, const struct moment_sum *xy, const struct moment_sum *x,
                        const struct moment_sum *y, double bound, bool *certain);
double moment_of_ints(int64_t count, int128 xy, int64_t x, int64_t y);

/* Of a sample of at least two, by these moments. */
double variance_of(int64_t count, double xx);
double correlation_of(double xx, double xy, double yy);

#endif
