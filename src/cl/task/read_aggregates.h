/* From the slots that kernels leave to the states of aggregates. */
#ifndef RQL_CL_TASK_READ_AGGREGATES_H
#define RQL_CL_TASK_READ_AGGREGATES_H

#include "cl/codegen/float_sum_levels.h"
#include "cl/codegen/kernel_text.h"

/* The slots of one launch: `groups` results of each of a list's accumulators. */
struct slots {
    const struct accumulators *accumulators;
    const uint64_t *at;
    size_t groups;
};

/* How many of `rows` rows passed the filters. */
int64_t read_aggregate_kept(const struct slots *slots, int64_t rows);

/* The levels of each float sum (levels[k] for aggregate k), where an accumulator of the second pass sees at most so
 * many rows; all zeroes for one that has nothing but zeroes to add. *needed is set if there is anything to add at all.
 * False if some value is too near the largest double. */
bool read_aggregate_levels(const struct slots *first, int64_t accumulator_rows, struct float_sum_levels *levels,
                           bool *needed);

/* Adds the first pass, of which `kept` rows passed the filters, and the second one to the states. */
void read_aggregate_first(const struct slots *first, int64_t kept, struct agg_state *states, size_t count);
void read_aggregate_second(const struct slots *second, const struct float_sum_levels *levels, int64_t kept,
                           struct agg_state *states);

#endif
