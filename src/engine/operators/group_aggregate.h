/* Aggregates of many groups at once: for each aggregate an array with a cell for each group. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_AGGREGATE_H
#define RQL_ENGINE_OPERATORS_GROUP_AGGREGATE_H

#include "engine/backend/aggregate.h"
#include "engine/storage/column.h"

enum group_aggregate_kind {
    GROUP_COUNT,
    GROUP_FIRST,     /* int64_t: the least number of a row */
    GROUP_SUM,       /* int64_t: integers whose sum is known to fit */
    GROUP_WIDE_SUM,  /* int128 */
    GROUP_FLOAT_SUM, /* struct compensated_sum */
    GROUP_MIN,       /* int64_t */
    GROUP_MAX,
    GROUP_FLOAT_MIN, /* double; NaN as long as there is nothing else */
    GROUP_FLOAT_MAX
};

struct group_aggregate {
    enum group_aggregate_kind kind;
    const struct column *column; /* whose elements are added; NULL of count and first */
};

/* The tally an aggregate of a column needs, over this many rows; false if there is none for it. */
bool group_aggregate_for(enum aggregate_kind kind, const struct column *column, int64_t rows,
                         struct group_aggregate *group_agg);

size_t group_aggregate_size(const struct group_aggregate *group_agg); /* of a cell */

void group_aggregate_clear(const struct group_aggregate *group_agg, void *states, int64_t begin, int64_t count);

/* Adds values, as operator_values gives them (of first: row numbers), each to the cell of its place. */
void group_aggregate_add(const struct group_aggregate *group_agg, void *states, const uint32_t *places,
                         const void *values, int count);

/* Adds one cell to another. */
void group_aggregate_merge(const struct group_aggregate *group_agg, void *into, int64_t place, const void *from,
                           int64_t other);

/* Writes what an aggregate comes to in these cells, of groups of these many rows, to a column's rows from `row` on.
 * False if a sum does not fit or is not certain. */
bool group_aggregate_write(const struct group_aggregate *group_agg, const struct aggregate *aggregate,
                           const void *states, const int64_t *counts, const uint32_t *places, int count,
                           struct column *to, int64_t row);

#endif
