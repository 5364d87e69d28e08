/* The bins of histograms: the single definition for all evaluators.
 *
 * Bins are equally wide, from the least value to the greatest, and include their lower edge; the last includes its
 * upper edge too. If all values are equal they are in the last bin. Edges of integers are exact fractions, rounded
 * once. */
#ifndef RQL_ENGINE_VALUES_HISTOGRAM_BINS_H
#define RQL_ENGINE_VALUES_HISTOGRAM_BINS_H

#include <stdbool.h>
#include <stdint.h>

struct histogram_bins {
    int64_t bins;    /* at least 1 */
    bool number;     /* the values are floats */
    double flo, fhi; /* then the least and the greatest, finite; */
    int64_t lo, hi;  /* else these */
};

/* Edge k of 0..bins, rounded: between floats to 15 digits, unless edges are so close that these do not tell them apart.
 */
double histogram_edge(const struct histogram_bins *hist, int64_t k);

/* The bin of a value from lo to hi. */
int64_t histogram_bin_of_int(const struct histogram_bins *hist, int64_t integer);
int64_t histogram_bin_of_float(const struct histogram_bins *hist, double number);

/* The bin of a float as far as rounding lets it be told, mostly; the edges decide. */
static inline int64_t histogram_guess(const struct histogram_bins *hist, double number)
{
    const double half = hist->fhi / 2 - hist->flo / 2;
    const double guess = half > 0 ? (number / 2 - hist->flo / 2) / half * (double)hist->bins : 0;
    const int64_t last = hist->bins - 1;
    return guess >= (double)last ? last : guess > 0 ? (int64_t)guess : 0;
}

#endif
