/* Sums of terms of two floats, one of which is the same for all lanes: products, or squares of differences.
 *
 * Each operation rounds, in the order of the terms, as if they were computed one after another. */
#ifndef RQL_ENGINE_VECTOR_TERM_SUM_H
#define RQL_ENGINE_VECTOR_TERM_SUM_H

#include <stdbool.h>
#include <stdint.h>

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
