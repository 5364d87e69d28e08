/* Running sums of many doubles in vectors, by compensated sums (compensated_sum.h).
 *
 * A lane takes values one after another, so the lanes take as many runs side by side. A long chain is divided into
 * runs, whose totals come first and give what each run begins with; short chains are a run each. */
#ifndef RQL_ENGINE_VALUES_COMPENSATED_SCAN_H
#define RQL_ENGINE_VALUES_COMPENSATED_SCAN_H

#include "engine/values/compensated_sum.h"

enum { SCAN_RUNS = 8, SCAN_STEP = 128 /* rows of each run at most */ };

/* SCAN_RUNS sums of finite values. */
struct compensated_lanes {
    double high[SCAN_RUNS], low[SCAN_RUNS], rest[SCAN_RUNS], weight[SCAN_RUNS];
};

/* The inner loops, compiled for a level of a processor. */
struct compensated_level {
    const char *name;

    /* Adds `count` values, a multiple of SCAN_RUNS, to the lanes in turn. */
    void (*add)(struct compensated_lanes *lanes, const double *values, int64_t count);

    /* Adds `rows` values to each lane, a multiple of SCAN_RUNS and at most SCAN_STEP, those of lane i from values + i *
     * apart, and writes lane i's running sums from sums + i * SCAN_STEP: after each value, or before each if
     * `exclusive`. The values `ahead` of those are prefetched. The error of `rest` is at most weight * scale. False,
     * and then lanes and sums are worthless: a sum may be rounded wrongly, or something went to `rest`, which only
     * `lossy` allows. */
    bool (*scan)(struct compensated_lanes *lanes, const double *values, int64_t apart, int64_t ahead, int rows,
                 bool exclusive, bool lossy, double scale, double *sums);

    /* The same for columns that are scanned side by side: the values, and sums, of a row are contiguous, and `apart`
     * elements from those of the next row. */
    bool (*scan_beside)(struct compensated_lanes *lanes, const double *values, int64_t apart, int rows, bool exclusive,
                        bool lossy, double scale, double *sums);
};

/* Level `i`, the best first, of those that this processor has; NULL behind the last. */
const struct compensated_level *compensated_level_at(int i);

/* A running sum. Its results are correctly rounded, or the functions say that they may not be. */
struct compensated_scan {
    const struct compensated_level *level;
    bool exclusive; /* a row gets the sum of those before it */
    int64_t ahead;  /* values so far behind the one being scanned are prefetched */
};

/* Adds `count` values. */
void compensated_scan_total(const struct compensated_scan *scan, const double *values, int64_t count,
                            struct compensated_sum *sum);

/* Continues the sum by `count` values. False if some result may be wrong. */
bool compensated_scan_chain(const struct compensated_scan *scan, const double *values, int64_t count,
                            struct compensated_sum *sum, double *results);

/* Several segments of `rows` values, each of which begins with `start`. */
bool compensated_scan_segments(const struct compensated_scan *scan, const double *values, int64_t rows,
                               int64_t segments, const struct compensated_sum *start, double *results);

/* Chains side by side: continues `columns` sums by so many rows of values, which follow each other. */
bool compensated_scan_columns(const struct compensated_scan *scan, const double *values, int columns, int rows,
                              struct compensated_sum *sums, double *results);

#endif
