/* Aggregates of many groups at once: for each aggregate an array with a cell for each group. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_STATES_H
#define RQL_ENGINE_OPERATORS_GROUP_STATES_H

#include "engine/backend/aggregate.h"
#include "engine/storage/column.h"

enum tally_kind {
    TALLY_COUNT,
    TALLY_FIRST,     /* int64_t: the least number of a row */
    TALLY_SUM,       /* int64_t: integers whose sum is known to fit */
    TALLY_WIDE_SUM,  /* int128 */
    TALLY_FLOAT_SUM, /* struct cascade */
    TALLY_MIN,       /* int64_t */
    TALLY_MAX,
    TALLY_FLOAT_MIN, /* double; NaN as long as there is nothing else */
    TALLY_FLOAT_MAX
};

struct tally {
    enum tally_kind kind;
    const struct column *column; /* whose elements are added; NULL of count and first */
};

/* The tally an aggregate of a column needs, over this many rows; false if there is none for it. */
bool tally_for(enum aggregate_kind kind, const struct column *column, int64_t rows, struct tally *tally);

size_t tally_size(const struct tally *tally); /* of a cell */

void tally_clear(const struct tally *tally, void *cells, int64_t begin, int64_t count);

/* Adds values, as break_values gives them (of first: row numbers), each to the cell of its place. */
void tally_add(const struct tally *tally, void *cells, const uint32_t *places, const void *values, int count);

/* Adds one cell to another. */
void tally_merge(const struct tally *tally, void *into, int64_t place, const void *from, int64_t other);

/* Writes what an aggregate comes to in these cells, of groups of these many rows, to a column's rows from `row` on.
 * False if a sum does not fit or is not certain. */
bool tally_write(const struct tally *tally, const struct aggregate *aggregate, const void *cells, const int64_t *counts,
                 const uint32_t *places, int count, struct column *to, int64_t row);

#endif
