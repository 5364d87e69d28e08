/* Exact sums of floats of few groups, beside their compensated sums: two doubles for each group.
 *
 * After J. Demmel and H. D. Nguyen, "Parallel reproducible summation" (2015): adding 1.5 * 2^e to a value and
 * subtracting it again leaves a multiple of 2^(e-52), and the rest is a multiple of a smaller unit. The sums of many
 * such multiples and rests are exact, so that a row takes one addition of two doubles. They are added to the
 * compensated sums before they could be inexact. Blocks of values that are too large or have bits below the smaller
 * unit are compensated instead. */
#ifndef RQL_ENGINE_GROUPING_FLOAT_GRID_H
#define RQL_ENGINE_GROUPING_FLOAT_GRID_H

#include "engine/values/compensated_sum.h"

enum { FLOAT_GRID_GROUPS = 1 << 14 }; /* for more groups, emptying takes too long */

struct float_grid;

/* A thread's sums of this many groups. NULL: no memory. */
struct float_grid *float_grid_new(int64_t groups);
void float_grid_free(struct float_grid *grid); /* NULL: nothing */

/* Adds value i, of at most OPERATOR_BLOCK, to group places[i]: to the grid, or to its state. */
void float_grid_add(struct float_grid *grid, struct compensated_sum *states, const uint32_t *places,
                    const double *values, int count);

/* Adds the grid's sums to the states of the groups, and clears them. */
void float_grid_empty(struct float_grid *grid, struct compensated_sum *states);

#endif
