/* Variances and correlations of integers: exact sums of their products, and one rounding at the end. */
#ifndef RQL_ENGINE_VALUES_WIDE_MOMENTS_H
#define RQL_ENGINE_VALUES_WIDE_MOMENTS_H

#include "base/integer.h"

#include <stdint.h>

/* A sum of 192 bits: high * 2^128 + low. Room for the products of 2^60 pairs of 64-bit integers. */
struct wide_sum {
    uint128 low;
    int64_t high;
};

static inline void wide_sum_add(struct wide_sum *sum, int128 term)
{
    sum->low += (uint128)term;
    sum->high += (sum->low < (uint128)term) - (term < 0);
}

static inline void wide_sum_merge(struct wide_sum *into, const struct wide_sum *from)
{
    into->low += from->low;
    into->high += from->high + (into->low < from->low);
}

/* Sums of x and y over `count` rows, fewer than 2^48. */
struct wide_sums {
    struct wide_sum xx, yy, xy;
    int128 x, y;
    int64_t count;
};

static inline void wide_sums_add(struct wide_sums *sums, int64_t x)
{
    sums->count++;
    sums->x += x;
    wide_sum_add(&sums->xx, (int128)x * x);
}

static inline void wide_sums_add_pair(struct wide_sums *sums, int64_t x, int64_t y)
{
    wide_sums_add(sums, x);
    sums->y += y;
    wide_sum_add(&sums->yy, (int128)y * y);
    wide_sum_add(&sums->xy, (int128)x * y);
}

/* The variance of the sample x / 10^scale, scale <= 18, correctly rounded; 0 of fewer than two rows. */
double wide_variance(const struct wide_sums *sums, int scale);

/* Pearson's correlation; NaN if x or y is the same in all rows, 0 of fewer than two. */
double wide_correlation(const struct wide_sums *sums);

#endif
