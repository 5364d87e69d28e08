/* Which interval of a histogram a number falls into: the single definition for all evaluators.
 *
 * The intervals are equally wide, from the least number to the greatest; each has its lower edge, the last its upper
 * one too. If all numbers are equal they fall into the last. Of integers the edges are exact fractions, rounded once.
 */
#ifndef RQL_ENGINE_VALUES_HISTOGRAM_BINS_H
#define RQL_ENGINE_VALUES_HISTOGRAM_BINS_H

#include <stdbool.h>
#include <stdint.h>

struct histogram_bins {
    int64_t bins;    /* at least 1 */
    bool number;     /* floats: */
    double flo, fhi; /* finite */
    int64_t lo, hi;  /* else */
};

/* Edge k of 0..bins, rounded. */
double histogram_edge(const struct histogram_bins *hist, int64_t k);

/* The interval of a number from lo to hi. */
int64_t histogram_bin_of_int(const struct histogram_bins *hist, int64_t integer);
int64_t histogram_bin_of_float(const struct histogram_bins *hist, double number);

#endif
