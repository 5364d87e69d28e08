/* Vectorised exact sums of doubles.
 *
 * After J. Demmel and H. D. Nguyen, "Parallel reproducible summation" (2015): an accumulator that starts at 1.5 * 2^e
 * and stays between 2^e and 2^(e+1) extracts from each value the multiple of 2^(e-52), its unit; the remainder goes to
 * the accumulator of the next lower level. Each step is exact, and an accumulator's bits count its units. The sum is
 * exact if the last level leaves no remainder, as where magnitudes do not differ by much. */
#ifndef RQL_ENGINE_VALUES_EXACT_SUM_SIMD_H
#define RQL_ENGINE_VALUES_EXACT_SUM_SIMD_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LANES_STEP = 32,              /* a multiple of the values added per step, on any processor */
    LANES_STREAMS = 4,            /* runs of values that are read side by side */
    LANES_BESIDE = 0,             /* as the distance of runs: they follow each other */
    LANES_MOST = LANES_STEP * 64, /* values in one call, so that no accumulator overflows */
    LANES_FEW_LEVELS = 2,         /* extract bits down to 2^(ceiling-89) */
    LANES_LEVELS = 4,             /* extract bits down to 2^(ceiling-179) */
    LANES_HIGHEST = 1015,         /* the highest ceiling */
};

struct exact_sum_lanes {
    int64_t integer[LANES_LEVELS]; /* the sum is the total of integer[i] * 2^unit[i] over the levels */
    int unit[LANES_LEVELS];
};

/* `count` values, a multiple of LANES_STEP and at most LANES_MOST, in LANES_STREAMS runs that begin `apart` from each
 * other; LANES_BESIDE: one behind the other. Runs far from each other are read sooner where they are in memory: a
 * processor looks ahead in each by itself, up to the end of a page. */
struct exact_sum_values {
    const double *at;
    int64_t apart;
    int count;
};

/* Sets `sum` to the sum of the values, on LANES_FEW_LEVELS or LANES_LEVELS levels. False if a value has bits below the
 * last level, or the accumulators cannot hold the sums of the values, which they can where magnitudes are at most
 * 2^(ceiling-1). */
bool exact_sum_lanes_add(const struct exact_sum_values *values, int ceiling, int levels, struct exact_sum_lanes *sum);

/* The loop behind it, compiled for one set of vector instructions. */
typedef bool exact_sum_level(const struct exact_sum_values *values, int ceiling, int levels,
                             struct exact_sum_lanes *sum);

/* Loop `i`, the fastest first, of those that this processor can run; NULL behind the last. */
exact_sum_level *exact_sum_level_at(int i);

/* The exponent of the least power of two that is not below any magnitude, at least -1022; above LANES_HIGHEST for
 * values that cannot be added, as infinities and NaN. */
int exact_sum_lanes_ceiling(const double *values, int count);

#endif
