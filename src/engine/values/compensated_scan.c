#include "engine/values/compensated_scan.h"

#include "base/integer.h"

#include <string.h>

enum { PREFETCHED = 128 /* values ahead */, SECOND_LEVEL = 2 /* the cache */ };

static const int64_t magnitude_mask = INT64_MAX;

#if defined(__x86_64__)
#define LEVEL      avx_512
#define WITH_LEVEL __attribute__((target("avx2,avx512f,avx512dq,avx512vl")))
#define LANES      8
#include "engine/values/compensated_loops.h"

#define LEVEL      avx2
#define WITH_LEVEL __attribute__((target("avx2")))
#define LANES      4
#include "engine/values/compensated_loops.h"
#endif

#define LEVEL plain
#define WITH_LEVEL
#define LANES 2
#include "engine/values/compensated_loops.h"

const struct compensated_level *compensated_level_at(int i)
{
    static const struct compensated_level levels[] = {
#if defined(__x86_64__)
        {"avx512", add_avx_512, scan_avx_512, scan_beside_avx_512},
        {"avx2", add_avx2, scan_avx2, scan_beside_avx2},
#endif
        {"plain", add_plain, scan_plain, scan_beside_plain},
    };
    enum { LEVELS = sizeof levels / sizeof *levels };
#if defined(__x86_64__)
    const bool avx2 = __builtin_cpu_supports("avx2");
    const bool works[LEVELS] = {avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                                    __builtin_cpu_supports("avx512vl"),
                                avx2, true};
#else
    const bool works[LEVELS] = {true};
#endif
    for (int level = 0; level < LEVELS; level++) {
        if (works[level] && i-- == 0)
            return &levels[level];
    }
    return NULL;
}

static bool is_finite(const struct compensated_sum *sum)
{
    return fabs(sum->high) <= DBL_MAX && sum->weight <= DBL_MAX && !sum->positive_inf && !sum->negative_inf &&
           !sum->nan;
}

static struct compensated_sum sum_of_lane(const struct compensated_lanes *lanes, int lane, int64_t count)
{
    return (struct compensated_sum){.high = lanes->high[lane],
                                    .low = lanes->low[lane],
                                    .rest = lanes->rest[lane],
                                    .weight = lanes->weight[lane],
                                    .count = count};
}

/* Adds what the lanes have of the first values, and the other values, unless something is not finite. */
static void add_lanes(struct compensated_sum *sum, const struct compensated_lanes *lanes, const double *values,
                      int64_t count)
{
    struct compensated_sum total = *sum;
    int64_t done = count - count % SCAN_RUNS;
    for (int lane = 0; lane < SCAN_RUNS; lane++) {
        const struct compensated_sum of_lane = sum_of_lane(lanes, lane, done / SCAN_RUNS);
        compensated_sum_merge(&total, &of_lane);
    }
    if (is_finite(&total))
        *sum = total;
    else
        done = 0;
    for (; done < count; done++)
        compensated_sum_add(sum, values[done]);
}

static void add_array(struct compensated_sum *sum, const double *values, int64_t count,
                      const struct compensated_level *level)
{
    struct compensated_lanes lanes = {0};
    level->add(&lanes, values, count - count % SCAN_RUNS);
    add_lanes(sum, &lanes, values, count);
}

static bool scan_serially(bool exclusive, const double *values, int64_t count, struct compensated_sum *sum,
                          double *results)
{
    struct compensated_sum so_far = *sum;
    bool uncertain = false;
    for (int64_t i = 0; i < count; i++) {
        if (exclusive)
            results[i] = compensated_sum_result(&so_far, &uncertain);
        compensated_sum_add(&so_far, values[i]);
        if (!exclusive)
            results[i] = compensated_sum_result(&so_far, &uncertain);
    }
    *sum = so_far;
    return !uncertain;
}

/* ---- SCAN_RUNS runs ---- */

static void write_sums(const double *sums, int rows, int64_t apart, double *results)
{
    for (int i = 0; i < SCAN_RUNS; i++)
        memcpy(results + i * apart, sums + (size_t)i * SCAN_STEP, (size_t)rows * sizeof *sums);
}

/* Sets the lanes to sums that get `rows` more terms; false: one is not finite. */
static bool open_lanes(const struct compensated_sum *sums, int64_t rows, struct compensated_lanes *lanes, double *scale)
{
    bool finite = true;
    int64_t terms = 0;
    for (int i = 0; i < SCAN_RUNS; i++) {
        finite = finite && is_finite(&sums[i]);
        terms = sums[i].count > terms ? sums[i].count : terms;
        lanes->high[i] = sums[i].high;
        lanes->low[i] = sums[i].low;
        lanes->rest[i] = sums[i].rest;
        lanes->weight[i] = sums[i].weight;
    }
    *scale = (double)(terms + rows + 4) * 0x1p-52; /* as in compensated_sum_round */
    return finite;
}

static bool is_lossy(const struct compensated_lanes *lanes)
{
    bool lossy = false;
    for (int i = 0; i < SCAN_RUNS; i++)
        lossy = lossy || lanes->weight[i] != 0;
    return lossy;
}

/* Whole vectors of runs of `rows` values each. */
static bool scan_in_lanes(const struct compensated_scan *scan, struct compensated_lanes *lanes, double scale,
                          const double *values, int64_t rows, int64_t apart, double *results)
{
    double sums[SCAN_RUNS * SCAN_STEP];
    bool lossy = is_lossy(lanes), certain = true;
    for (int64_t row = 0; row < rows && certain; row += SCAN_STEP) {
        const int count = rows - row < SCAN_STEP ? (int)(rows - row) : SCAN_STEP;
        const struct compensated_lanes before = *lanes;
        certain =
            scan->level->scan(lanes, values + row, apart, scan->ahead, count, scan->exclusive, lossy, scale, sums);
        if (!certain && !lossy) {
            lossy = true;
            *lanes = before;
            certain =
                scan->level->scan(lanes, values + row, apart, scan->ahead, count, scan->exclusive, lossy, scale, sums);
        }
        write_sums(sums, count, apart, results + row);
    }
    return certain;
}

/* Runs of `rows` values one behind the other, of one chain or each of its own. `sums`: those before each, then those
 * behind it. Where values are not finite, or results not certain, the runs are scanned one after another. */
static bool scan_runs(const struct compensated_scan *scan, bool one_chain, const double *values, int64_t rows,
                      struct compensated_sum *sums, double *results)
{
    struct compensated_lanes lanes;
    const int64_t whole = rows - rows % SCAN_RUNS;
    double scale;
    bool certain = true;
    const bool in_lanes =
        open_lanes(sums, rows, &lanes, &scale) && scan_in_lanes(scan, &lanes, scale, values, whole, rows, results);
    const int64_t done = in_lanes ? whole : 0;
    for (int i = 0; i < SCAN_RUNS; i++) {
        if (in_lanes)
            sums[i] = sum_of_lane(&lanes, i, sums[i].count + whole);
        else if (one_chain && i > 0)
            sums[i] = sums[i - 1];
        const int64_t at = i * rows + done;
        certain &= scan_serially(scan->exclusive, values + at, rows - done, &sums[i], results + at);
    }
    return certain;
}

/* ---- chains ---- */

enum { SCAN_RUN_ROWS = 2048, LEAST_RUN_ROWS = 64 /* shorter runs cost more than they gain */ };

/* Rows of each of the runs that `count` values begin with. What they leave is less than a vector for each run. */
static int64_t run_rows(int64_t count)
{
    const int64_t rows = count / SCAN_RUNS - count / SCAN_RUNS % SCAN_RUNS;
    return rows < LEAST_RUN_ROWS ? 0 : rows < SCAN_RUN_ROWS ? rows : SCAN_RUN_ROWS;
}

/* A strip of each run in turn: a processor looks ahead in each by itself, up to the end of a page. */
static void add_runs(const struct compensated_scan *scan, const double *values, int64_t rows,
                     struct compensated_sum *totals)
{
    enum { STRIP_ROWS = 128, TOGETHER = 4 };
    for (int first = 0; first < SCAN_RUNS; first += TOGETHER) {
        struct compensated_lanes lanes[TOGETHER] = {0};
        for (int64_t row = 0; row < rows; row += STRIP_ROWS) {
            for (int i = 0; i < TOGETHER; i++)
                scan->level->add(&lanes[i], values + (first + i) * rows + row, min_int64(rows - row, STRIP_ROWS));
        }
        for (int i = 0; i < TOGETHER; i++) {
            totals[first + i] = (struct compensated_sum){0};
            add_lanes(&totals[first + i], &lanes[i], values + (first + i) * rows, rows);
        }
    }
}

void compensated_scan_total(const struct compensated_scan *scan, const double *values, int64_t count,
                            struct compensated_sum *sum)
{
    struct compensated_sum totals[SCAN_RUNS];
    for (int64_t rows; (rows = run_rows(count)) > 0; count -= rows * SCAN_RUNS) {
        add_runs(scan, values, rows, totals);
        for (int i = 0; i < SCAN_RUNS; i++)
            compensated_sum_merge(sum, &totals[i]);
        values += rows * SCAN_RUNS;
    }
    add_array(sum, values, count, scan->level);
}

bool compensated_scan_chain(const struct compensated_scan *scan, const double *values, int64_t count,
                            struct compensated_sum *sum, double *results)
{
    struct compensated_sum totals[SCAN_RUNS], sums[SCAN_RUNS];
    bool certain = true;
    for (int64_t rows; (rows = run_rows(count)) > 0; count -= rows * SCAN_RUNS) {
        add_runs(scan, values, rows, totals);
        sums[0] = *sum;
        for (int i = 1; i < SCAN_RUNS; i++) {
            sums[i] = sums[i - 1];
            compensated_sum_merge(&sums[i], &totals[i - 1]);
        }
        certain &= scan_runs(scan, true, values, rows, sums, results);
        *sum = sums[SCAN_RUNS - 1];
        values += rows * SCAN_RUNS;
        results += rows * SCAN_RUNS;
    }
    return certain & scan_serially(scan->exclusive, values, count, sum, results);
}

bool compensated_scan_segments(const struct compensated_scan *scan, const double *values, int64_t rows,
                               int64_t segments, const struct compensated_sum *start, double *results)
{
    const bool side_by_side = run_rows(rows) == 0;
    bool certain = true;
    for (int64_t i = 0; i < segments;) {
        const int64_t at = i * rows;
        struct compensated_sum sums[SCAN_RUNS];
        for (int k = 0; k < SCAN_RUNS; k++)
            sums[k] = *start;
        if (side_by_side && i + SCAN_RUNS <= segments) {
            certain &= scan_runs(scan, false, values + at, rows, sums, results + at);
            i += SCAN_RUNS;
        } else {
            certain &= compensated_scan_chain(scan, values + at, rows, sums, results + at);
            i++;
        }
    }
    return certain;
}

/* SCAN_RUNS columns. */
static bool scan_beside(const struct compensated_scan *scan, const double *values, int64_t apart, int rows,
                        struct compensated_sum *sums, double *results)
{
    struct compensated_lanes lanes, before;
    double scale;
    if (!open_lanes(sums, rows, &lanes, &scale))
        return false;
    before = lanes;
    if (is_lossy(&lanes) ||
        !scan->level->scan_beside(&lanes, values, apart, rows, scan->exclusive, false, scale, results)) {
        lanes = before;
        if (!scan->level->scan_beside(&lanes, values, apart, rows, scan->exclusive, true, scale, results))
            return false;
    }
    for (int i = 0; i < SCAN_RUNS; i++)
        sums[i] = sum_of_lane(&lanes, i, sums[i].count + rows);
    return true;
}

bool compensated_scan_columns(const struct compensated_scan *scan, const double *values, int columns, int rows,
                              struct compensated_sum *sums, double *results)
{
    bool certain = true;
    for (int i = 0; i < columns;) {
        if (i + SCAN_RUNS <= columns && scan_beside(scan, values + i, columns, rows, sums + i, results + i)) {
            i += SCAN_RUNS;
            continue;
        }
        const int end = i + SCAN_RUNS < columns ? i + SCAN_RUNS : columns;
        for (; i < end; i++) {
            for (int64_t at = i; at < (int64_t)columns * rows; at += columns)
                certain &= scan_serially(scan->exclusive, values + at, 1, &sums[i], results + at);
        }
    }
    return certain;
}
