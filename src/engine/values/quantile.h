/* Quantiles by linear interpolation between the two nearest order statistics (type 7 of R. J. Hyndman, Y. Fan, "Sample
 * quantiles in statistical packages", 1996). */
#ifndef RQL_ENGINE_VALUES_QUANTILE_H
#define RQL_ENGINE_VALUES_QUANTILE_H

#include <stdint.h>

/* The place of a quantile among `count` > 0 sorted values: the number of the value below it, and the fraction of the
 * way from there to the next value. `share`, from 0 to 1, is the share of values below it. */
struct quantile_place {
    int64_t lower;
    double fraction; /* 0 where there is no next */
};
struct quantile_place quantile_place(int64_t count, double share);

/* The value at `fraction`, from 0 to below 1, of the way between two neighbours, a <= b. */
double quantile_of_ints(int64_t a, int64_t b, double fraction);
double quantile_of_floats(double a, double b, double fraction);

#endif
