/* Quantiles by linear interpolation between the two nearest order statistics (type 7 of R. J. Hyndman, Y. Fan, "Sample
 * quantiles in statistical packages", 1996). */
#ifndef RQL_ENGINE_VALUES_QUANTILE_H
#define RQL_ENGINE_VALUES_QUANTILE_H

#include <stdint.h>

/* Of `count` > 0 sorted values, of which a share from 0 to 1 lies below the quantile: the number of the lower one, and
 * how far it is from there to the next. */
struct quantile_place {
    int64_t lower;
    double fraction; /* 0 where there is no next */
};
struct quantile_place quantile_place(int64_t count, double share);

/* The value at `fraction`, from 0 to below 1, of the way between two neighbours, a <= b. */
double quantile_of_ints(int64_t a, int64_t b, double fraction);
double quantile_of_floats(double a, double b, double fraction);

#endif
