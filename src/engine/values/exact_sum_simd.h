/* Sums of many doubles without an error, in vectors.
 *
 * An accumulator that begins at 1.5 * 2^e and stays below 2^(e+1) takes of every value what is a multiple of 2^(e-52),
 * and what it has not taken goes on to one for less: each step is exact, so the order does not matter, and an
 * accumulator's bits are a count of its units. Nothing is lost if nothing is left of any value in the end, which is
 * the case where magnitudes do not differ by much. After J. Demmel and H. D. Nguyen, "Parallel reproducible summation"
 * (2015). */
#ifndef RQL_ENGINE_VALUES_EXACT_SUM_SIMD_H
#define RQL_ENGINE_VALUES_EXACT_SUM_SIMD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LANES_STEP = 16, /* values are taken so many at a time, */
    LANES_MOST = LANES_STEP * 128,
    LANES_FEW_LEVELS = 2, /* which take bits down to 2^(ceiling-89), */
    LANES_LEVELS = 4,     /* and to 2^(ceiling-179) */
    LANES_HIGHEST = 1015, /* no accumulator takes what is above 2^1015 */
};

struct exact_sum_lanes {
    int64_t integer[LANES_LEVELS]; /* the sum is that of integer[i] * 2^unit[i] over the levels */
    int unit[LANES_LEVELS];
};

/* Adds `count` values, a multiple of LANES_STEP and at most LANES_MOST, on so many levels, LANES_FEW_LEVELS or
 * LANES_LEVELS; `sum` is set. False if the values have no such sum: one is beyond 2^ceiling in magnitude, or has bits
 * below the last level. */
bool exact_sum_lanes_add(const double *values, int count, int ceiling, int levels, struct exact_sum_lanes *sum);

/* The least power of two that is not below any magnitude, at least 2^-1022; above LANES_HIGHEST for what no levels
 * take, as infinities and NaN. */
int exact_sum_lanes_ceiling(const double *values, int count);

#endif
