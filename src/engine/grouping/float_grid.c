#include "engine/grouping/float_grid.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "base/integer.h"
#include "base/zeroed.h"
#include "engine/values/exact_sum_simd.h"
#include "engine/vector/elements.h"

#include <stdlib.h>
#include <string.h>

/* For values below 2^c, c being the ceiling, multiples are of 2^(c + TERM_BITS - 53): their sum is at most 2^53 of
 * these. Rests are at most half of this, and multiples of 2^(c + 2 * TERM_BITS - 107): so is theirs. */
enum {
    TERM_BITS = 18, /* of the number of rows that may be added */
    MOST_ROWS = 1 << TERM_BITS,
    UNIT = TERM_BITS - 53,
    REST_UNIT = 2 * TERM_BITS - 107,
    LEAST_CEILING = -1074 - REST_UNIT,
    MOST_CEILING = 1023 - TERM_BITS,
    /* Rows that do not fit before another ceiling is chosen, which empties the sums. */
    LEAST_MISSED = 1 << 10,
    ROWS_PER_GROUP = 16,
};

/* The sum of multiples and that of rests. */
typedef double pair __attribute__((vector_size(16)));

struct float_grid {
    int64_t groups;
    int64_t rows;         /* since the sums were emptied */
    int64_t missed;       /* rows that did not fit since a ceiling was looked for, */
    int64_t most_missed;  /* and before the next one is: at first what emptying the sums takes */
    bool chosen;          /* a ceiling: */
    int64_t most;         /* bits of the largest magnitude below it, */
    double first, second; /* what rounds a value to the multiples, and a rest to its unit */
    double *sums;         /* two for each group */
};

struct float_grid *float_grid_new(int64_t groups)
{
    struct float_grid *grid = heap_array(1, sizeof *grid);
    grid->groups = grid->most_missed = groups;
    grid->sums = zeroed_alloc((size_t)groups * sizeof(pair));
    if (!grid->sums) {
        free(grid);
        return NULL;
    }
    return grid;
}

void float_grid_free(struct float_grid *grid)
{
    if (grid)
        zeroed_free(grid->sums, (size_t)grid->groups * sizeof(pair));
    free(grid);
}

/* Empties the sums and chooses a ceiling for these values; false if none suits them. */
static bool choose_ceiling(struct float_grid *grid, struct compensated_sum *states, const double *values, int count)
{
    const int ceiling = exact_sum_lanes_ceiling(values, count) + 1; /* with room for the blocks after it */
    if (ceiling < LEAST_CEILING || ceiling > MOST_CEILING)
        return false;
    float_grid_empty(grid, states);
    grid->chosen = true;
    grid->most = double_bits(ldexp(1, ceiling)) - 1;
    grid->first = ldexp(1.5, ceiling + UNIT + 52);
    grid->second = ldexp(1.5, ceiling + REST_UNIT + 52);
    return true;
}

/* Splits the values into multiples and rests; false if a value does not fit the grid. */
CPU_CLONES static bool split_values(const double *restrict values, int count, int64_t most, double first, double second,
                                    double *restrict block)
{
    int64_t outside = 0, left = 0;
    for (int i = 0; i < count; i++) {
        const double x = values[i], multiple = (x + first) - first, rest = x - multiple;
        const double below = rest - ((rest + second) - second);
        int64_t x_bits, below_bits;
        memcpy(&x_bits, &x, sizeof x_bits);
        memcpy(&below_bits, &below, sizeof below_bits);
        outside |= most - (x_bits & INT64_MAX);
        left |= below_bits & INT64_MAX; /* -0.0 is nothing */
        block[2 * i] = multiple;
        block[2 * i + 1] = rest;
    }
    return outside >= 0 && left == 0;
}

static bool fits(const struct float_grid *grid, const double *values, int count, pair *block)
{
    return grid->chosen && split_values(values, count, grid->most, grid->first, grid->second, (double *)(void *)block);
}

void float_grid_add(struct float_grid *grid, struct compensated_sum *states, const uint32_t *places,
                    const double *values, int count)
{
    pair block[OPERATOR_BLOCK];
    if (grid->rows + count > MOST_ROWS)
        float_grid_empty(grid, states);
    bool fit = fits(grid, values, count, block);
    grid->missed += fit ? 0 : count;
    if (!fit && grid->missed >= grid->most_missed) {
        grid->missed = 0;
        grid->most_missed = LEAST_MISSED + grid->groups * ROWS_PER_GROUP;
        if (choose_ceiling(grid, states, values, count))
            fit = grid->chosen = fits(grid, values, count, block);
    }
    if (!fit) {
        for (int i = 0; i < count; i++)
            compensated_sum_add(&states[places[i]], values[i]);
        return;
    }
    grid->rows += count;
    pair *sums = (pair *)(void *)grid->sums;
    for (int i = 0; i < count; i++)
        sums[places[i]] += block[i];
}

void float_grid_empty(struct float_grid *grid, struct compensated_sum *states)
{
    for (int64_t i = 0; i < grid->groups && grid->rows > 0; i++) {
        if (grid->sums[2 * i] == 0 && grid->sums[2 * i + 1] == 0)
            continue;
        compensated_sum_add(&states[i], grid->sums[2 * i]);
        compensated_sum_add(&states[i], grid->sums[2 * i + 1]);
    }
    if (grid->rows > 0)
        memset(grid->sums, 0, (size_t)grid->groups * sizeof(pair));
    grid->rows = 0;
}
