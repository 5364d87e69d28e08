/* Adds the slots of kernels to the states of aggregates. */
#ifndef RQL_CL_TASK_READ_AGGREGATES_H
#define RQL_CL_TASK_READ_AGGREGATES_H

#include "cl/codegen/float_sum_levels.h"
#include "cl/codegen/kernel_plan.h"

/* The slots of one launch: `groups` results of each accumulator. */
struct slots {
    const struct accumulators *accumulators;
    const uint64_t *at;
    size_t groups;
};

/* Returns how many of `rows` rows passed the filters. */
int64_t read_aggregate_kept(const struct slots *slots, int64_t rows);

/* Chooses the levels of each float sum (levels[k] for aggregate k) whose accumulators see at most accumulator_rows
 * rows; all zero for a sum of only zeroes. Sets *needed if a sum is not of zeroes. Returns false if some value is too
 * near the largest double. */
bool read_aggregate_levels(const struct slots *first, int64_t accumulator_rows, struct float_sum_levels *levels,
                           bool *needed);

/* Add the first pass, in which `kept` rows passed the filters, and the second to the states. */
void read_aggregate_first(const struct slots *first, int64_t kept, struct agg_state *states, size_t count);
void read_aggregate_second(const struct slots *second, const struct float_sum_levels *levels, int64_t kept,
                           struct agg_state *states);

#endif
