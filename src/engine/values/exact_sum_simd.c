#include "engine/values/exact_sum_simd.h"

#include "base/cpu_dispatch.h"

#include <math.h>
#include <string.h>

/* AVX2 registers; wider ones are not needed to keep up with memory. Several independent chains, one for each stream,
 * hide the latency of additions. */
typedef double doubles __attribute__((vector_size(32)));
typedef int64_t integers __attribute__((vector_size(32)));

enum {
    LANES = LANES_BESIDE,
    CHAINS = LANES_STREAMS,
    TERM_BITS = 7,               /* a lane adds LANES_MOST / LANES_STEP terms, 2^7 */
    TAKEN_BITS = 52 - TERM_BITS, /* from one level's unit to the next */
    LOWEST_UNIT = -1074,
    LINE = 64 / sizeof(double), /* a cache line */
    AHEAD = 16 * LINE,          /* prefetched of each stream, */
    SECOND_LEVEL = 2            /* for a cache of the second level */
};

static const int64_t magnitude_mask = INT64_MAX, fraction_mask = (INT64_C(1) << 52) - 1;

static int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Where values are below 2^(e-1-TERM_BITS) in magnitude, their sum stays within 2^(e-1), and the accumulator between
 * 2^e and 2^(e+1), except that it may be rounded up to that. If the first one ever left this range, additions may have
 * been inexact. What a level of units u leaves is at most u/2 = 2^(e-53): the next level's e is smaller by 52 -
 * TERM_BITS. */
static inline __attribute__((always_inline)) bool add_levels(const double *values, int64_t apart, int count,
                                                             int ceiling, int levels, struct exact_sum_lanes *sum)
{
    const bool beside = apart == LANES_BESIDE;
    doubles at[LANES_LEVELS][CHAINS];
    int64_t begin[LANES_LEVELS];
    integers outside = {0}, left = {0};
    for (int k = 0; k < levels; k++) {
        const double start = ldexp(1.5, ceiling + 1 + TERM_BITS - k * TAKEN_BITS);
        sum->unit[k] = ceiling + 1 + TERM_BITS - k * TAKEN_BITS - 52;
        begin[k] = bits_of(start);
        for (int c = 0; c < CHAINS; c++)
            at[k][c] = start - (doubles){0};
    }
    for (int i = 0; i < count; i += LANES_STEP) {
        for (int at_line = 0; beside && at_line < LANES_STEP; at_line += LINE)
            __builtin_prefetch(values + LANES_MOST + at_line); /* the next block, most likely */
        for (int c = 0; !beside && i % (CHAINS * LINE) == 0 && c < CHAINS; c++)
            __builtin_prefetch(values + c * apart + AHEAD, 0, SECOND_LEVEL);
        for (int c = 0; c < CHAINS; c++) {
            doubles rest;
            memcpy(&rest, values + c * apart, sizeof rest);
            for (int k = 0; k < levels; k++) {
                const doubles before = at[k][c];
                at[k][c] += rest;
                rest -= at[k][c] - before;
            }
            left |= (integers)rest;
            outside |= (integers)at[0][c] ^ begin[0];
        }
        values += beside ? LANES_STEP : LANES;
    }
    int64_t any_outside = 0, any_left = 0;
    for (int lane = 0; lane < LANES; lane++) {
        any_outside |= outside[lane] & ~fraction_mask;
        any_left |= left[lane] & magnitude_mask; /* -0.0 is no remainder */
    }
    if (any_outside != 0 || any_left != 0)
        return false;
    for (int k = 0; k < levels; k++) {
        integers units = {0};
        for (int c = 0; c < CHAINS; c++)
            units += (integers)at[k][c] - begin[k];
        sum->integer[k] = 0;
        for (int lane = 0; lane < LANES; lane++)
            sum->integer[k] += units[lane];
    }
    return true;
}

CPU_CLONES static bool add_few_levels(const struct exact_sum_values *values, int ceiling, struct exact_sum_lanes *sum)
{
    if (values->apart == LANES_BESIDE)
        return add_levels(values->at, LANES_BESIDE, values->count, ceiling, LANES_FEW_LEVELS, sum);
    return add_levels(values->at, values->apart, values->count, ceiling, LANES_FEW_LEVELS, sum);
}

CPU_CLONES static bool add_all_levels(const struct exact_sum_values *values, int ceiling, struct exact_sum_lanes *sum)
{
    return add_levels(values->at, values->apart, values->count, ceiling, LANES_LEVELS, sum);
}

bool exact_sum_lanes_add(const struct exact_sum_values *values, int ceiling, int levels, struct exact_sum_lanes *sum)
{
    /* The last unit is at least the smallest double. */
    const int lowest = LOWEST_UNIT + 52 - 1 - TERM_BITS + (levels - 1) * TAKEN_BITS;
    const int from = ceiling < lowest ? lowest : ceiling;
    return levels == LANES_FEW_LEVELS ? add_few_levels(values, from, sum) : add_all_levels(values, from, sum);
}

CPU_CLONES static int64_t largest_magnitude(const double *values, int count)
{
    int64_t most = 0;
    for (int i = 0; i < count; i++) {
        int64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits &= magnitude_mask;
        most = bits > most ? bits : most;
    }
    return most;
}

int exact_sum_lanes_ceiling(const double *values, int count)
{
    return (int)(largest_magnitude(values, count) >> 52) - 1022;
}
