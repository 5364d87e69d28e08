/* Sums of many terms for each of a block of lanes, with the sums in registers.
 *
 * A lane's terms are x * y, round after round: x is the same for all lanes, or there is one a lane, side by side. */
#ifndef RQL_ENGINE_VECTOR_PRODUCT_SUM_H
#define RQL_ENGINE_VECTOR_PRODUCT_SUM_H

#include "engine/plan/code.h"

#include <stdbool.h>
#include <stdint.h>

struct product_sum {
    const void *x, *y;        /* the first round's elements */
    int64_t x_round, y_round; /* elements from a round to the next */
    bool uniform;             /* x is one element a round */
    int lanes;
    int64_t rounds;
    int64_t most; /* no product of integers has a greater magnitude; INT64_MAX: not known */
    /* Read and written. Floats: the four states of a compensated sum: high, low, rest, weight (compensated_sum.h), of
     * rounded products. Integers: the sum. */
    void *states[4];
};

/* Adds the terms: `factors` is the lane of x and y, `sums` that of the states. Returns whether an integer sum
 * overflowed; products must fit. LANE_F64 both, LANE_I32 both, LANE_I32 and LANE_I64, or LANE_I64 both. */
bool product_sum_add(const struct product_sum *sum, enum lane factors, enum lane sums);

/* The greatest magnitude of `count` integers; INT64_MAX for INT64_MIN. */
int64_t largest_i32(const int32_t *values, int64_t count);
int64_t largest_i64(const int64_t *values, int64_t count);

/* Adds a term to each of `count` compensated sums. */
void compensated_sums_add(double *const states[4], const double *terms, int count);

/* term_sum.c: sums of terms of two floats, one of which is the same for all lanes: products, or squares of differences.
 *
 * Each operation rounds, in the order of the terms, as if they were computed one after another. */

/* Most rounds whose sums are computed together: they read x once. */
enum { TERM_SUM_ROUNDS = 8 };

struct term_sum {
    bool squares; /* terms are (x - y)^2; else x * y */
    int terms;    /* at least one */
    int lanes;
    int rounds;             /* at most TERM_SUM_ROUNDS */
    const double *const *x; /* of each term, a value a lane */
    const double *y;        /* of each term TERM_SUM_ROUNDS values, one a round */
    double *out;            /* the first round's sums, */
    int64_t out_round;      /* and elements from a round to the next */
};

void term_sum_compute(const struct term_sum *sum);

#endif
