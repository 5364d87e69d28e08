/* The terms of a block are split into multiples of a unit and rests, after J. Demmel and H. D. Nguyen, "Parallel
 * reproducible summation" (2015). Their sums are exact, and so is the difference of two of them, so that the sums of
 * all runs are differences of one running sum. Where terms differ too much in size, runs are added term by term. */
#include "engine/vector/run_sum.h"

#include "base/cpu_dispatch.h"
#include "engine/values/compensated_sum.h"
#include "engine/values/exact_sum_simd.h"
#include "engine/vector/product_sum.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Of terms of at most 2^c, c being the ceiling, multiples are of 2^(c + UNIT): their sum is at most 2^53 of these.
 * Rests are at most half of that, and multiples of 2^(c + REST_UNIT): so is theirs. */
enum {
    TERM_BITS = 11,
    UNIT = TERM_BITS - 53,
    REST_UNIT = 2 * TERM_BITS - 107,
    LEAST_CEILING = -1074 - REST_UNIT,
    MOST_CEILING = 1023 - TERM_BITS,
    QUARTERS = 4, /* are summed side by side, since each addition waits for the one before */
};

/* A multiple and a rest, or sums of these. */
typedef double pair __attribute__((vector_size(16)));

/* Splits the terms; false if a rest has bits below its unit. */
CPU_CLONES static bool split(const double *restrict terms, int count, double first, double second,
                             double *restrict pairs)
{
    int64_t left = 0;
    for (int i = 0; i < count; i++) {
        const double multiple = (terms[i] + first) - first, rest = terms[i] - multiple;
        const double below = rest - ((rest + second) - second);
        int64_t below_bits;
        memcpy(&below_bits, &below, sizeof below_bits);
        left |= below_bits & INT64_MAX; /* -0.0 is nothing */
        pairs[2 * i] = multiple;
        pairs[2 * i + 1] = rest;
    }
    return left == 0;
}

/* Makes each pair the sum of those of its quarter up to it; before[k]: of the quarters before the k-th. */
static void add_up(pair *pairs, int quarter, pair before[QUARTERS])
{
    pair sums[QUARTERS] = {0};
    for (int i = 0; i < quarter; i++) {
        for (int k = 0; k < QUARTERS; k++)
            pairs[k * quarter + i] = sums[k] += pairs[k * quarter + i];
    }
    before[0] = (pair){0};
    for (int k = 1; k < QUARTERS; k++)
        before[k] = before[k - 1] + sums[k - 1];
}

/* Sets multiples[rows[r] - rows[0]] and rests[...] to the sums of the run, and those of rows without one to 0; false if
 * not all terms can be split. */
static bool sum_exactly(const double *terms, const uint16_t *rows, const uint16_t *ends, int runs, double *multiples,
                        double *rests)
{
    pair pairs[RUN_SUM_TERMS + QUARTERS], before[QUARTERS], up_to = {0};
    const int count = ends[runs - 1], quarter = (count + QUARTERS - 1) / QUARTERS, lanes = rows[runs - 1] - rows[0] + 1;
    const int ceiling = exact_sum_lanes_ceiling(terms, count);
    if (ceiling < LEAST_CEILING || ceiling > MOST_CEILING ||
        !split(terms, count, ldexp(1.5, ceiling + UNIT + 52), ldexp(1.5, ceiling + REST_UNIT + 52),
               (double *)(void *)pairs))
        return false;
    for (int i = count; i < QUARTERS * quarter; i++)
        pairs[i] = (pair){0};
    add_up(pairs, quarter, before);
    memset(multiples, 0, (size_t)lanes * sizeof *multiples);
    memset(rests, 0, (size_t)lanes * sizeof *rests);
    for (int r = 0, k = 0; r < runs; r++) {
        const pair last = up_to;
        while (ends[r] > (k + 1) * quarter)
            k++;
        up_to = pairs[ends[r] - 1] + before[k];
        multiples[rows[r] - rows[0]] = up_to[0] - last[0];
        rests[rows[r] - rows[0]] = up_to[1] - last[1];
    }
    return true;
}

static void add_terms(double *const states[4], uint16_t row, const double *terms, int count)
{
    double high = states[0][row], low = states[1][row], rest = states[2][row], weight = states[3][row];
    for (int i = 0; i < count; i++) {
        const double lost = compensated_sum_two_sum(&low, compensated_sum_two_sum(&high, terms[i]));
        rest += lost;
        weight += fabs(lost);
    }
    states[0][row] = high;
    states[1][row] = low;
    states[2][row] = rest;
    states[3][row] = weight;
}

void run_sums_add(double *const states[4], const double *terms, const uint16_t *rows, const uint16_t *ends, int runs)
{
    double multiples[RUN_SUM_TERMS], rests[RUN_SUM_TERMS];
    if (sum_exactly(terms, rows, ends, runs, multiples, rests)) {
        double *at[4];
        for (int k = 0; k < 4; k++)
            at[k] = states[k] + rows[0];
        compensated_sums_add(at, multiples, rows[runs - 1] - rows[0] + 1);
        compensated_sums_add(at, rests, rows[runs - 1] - rows[0] + 1);
        return;
    }
    for (int r = 0, begin = 0; r < runs; begin = ends[r++])
        add_terms(states, rows[r], terms + begin, ends[r] - begin);
}
