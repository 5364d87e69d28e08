/* Aggregates of many groups at once: an array of states for each aggregate, one state for each group. */
#ifndef RQL_ENGINE_GROUPING_GROUP_AGGREGATE_H
#define RQL_ENGINE_GROUPING_GROUP_AGGREGATE_H

#include "engine/backend/backend.h"
#include "engine/grouping/group_moments.h"
#include "engine/storage/column.h"

/* What a state is. */
enum state_form {
    STATE_INTEGER,     /* int64_t, joined; of AGG_COUNT the rows, of AGG_FIRST the group's first row, of AGG_SUM what is
                          known to fit */
    STATE_NUMBER,      /* double, joined; NaN until there is another value */
    STATE_WIDE_SUM,    /* int128 */
    STATE_FLOAT_SUM,   /* struct compensated_sum */
    STATE_PRODUCT,     /* struct product_state: of integers */
    STATE_INT_MOMENTS, /* struct int_moments */
    STATE_WIDE_MOMENTS, /* struct wide_sums */
    STATE_FLOAT_MOMENTS /* struct float_moments */
};

struct group_aggregate {
    enum aggregate_kind kind; /* of a mean it is AGG_SUM, of a correlation AGG_VAR */
    enum state_form form;
    const struct column *column; /* that is aggregated; NULL for count and first */
    const struct column *other;  /* a correlation's second column, else NULL */
    struct pivots pivots;        /* of struct int_moments */
    const struct column *where;  /* moments are of the rows where this is not 0; NULL: of all */
};

/* The states that an aggregate of a column needs for groups of at most `rows` rows; false if it is not supported. */
bool group_aggregate_for(enum aggregate_kind kind, const struct column *column, int64_t rows,
                         struct group_aggregate *group_agg);

/* The states that a variance, or with `other` a correlation, needs. */
void group_moments_for(const struct column *column, const struct column *other, const struct column *where,
                       int64_t rows, struct group_aggregate *group_agg);

size_t group_aggregate_size(const struct group_aggregate *group_agg); /* of a state, in bytes */

void group_aggregate_clear(const struct group_aggregate *group_agg, void *states, int64_t begin, int64_t count);

/* A block of values, as operator_values returns them; `others` and `where` (as int64_t) of moments, or NULL. */
struct group_values {
    const void *values, *others;
    const int64_t *where;
};

/* Adds value i (for first: a row number) to states[places[i]]. */
void group_aggregate_add(const struct group_aggregate *group_agg, void *states, const uint32_t *places,
                         const struct group_values *values, int count);

/* Merges from[other] into into[place]. */
void group_aggregate_merge(const struct group_aggregate *group_agg, void *into, int64_t place, const void *from,
                           int64_t other);

/* Writes the aggregate's results of states[places[i]], groups of counts[places[i]] rows, to a column from `row` on.
 * False if a sum does not fit 64 bits or its rounding is not certain. */
bool group_aggregate_write(const struct group_aggregate *group_agg, const struct aggregate *aggregate,
                           const void *states, const int64_t *counts, const uint32_t *places, int count,
                           struct column *to, int64_t row);

/* Reserves result column k of a group: one like a key, or of an aggregate. NULL: no memory. */
struct column *group_result_reserve(const struct operator_job *job, size_t k, int64_t rows);

#endif
