/* Groups that are the rows or columns of a shape: where a row belongs is told by its number, so no keys are read.
 * Private to group_by.c and along*.c. */
#ifndef RQL_ENGINE_OPERATORS_AXIS_REDUCTION_H
#define RQL_ENGINE_OPERATORS_AXIS_REDUCTION_H

#include "engine/operators/group_aggregate.h"
#include "engine/operators/operator_kinds.h"

/* What is aggregated along what, and where it goes. */
struct axis_reduction {
    const struct operator_job *job;
    const struct workers *workers;
    const struct aggregate *aggregate;
    const struct column *column;      /* of which; NULL of count */
    struct group_aggregate group_agg; /* of a group of `length` rows */
    int64_t groups, length;
    struct column *result; /* a row for each group */
    _Atomic bool *flagged; /* set where a sum does not fit, or is not certain */
};

/* Whether the group is one along a shape that the functions below do, of which nobody wants the keys. */
bool axis_takes(const struct operator_job *job);

/* Makes the result's column, job->results[1]. *flagged is set where it is worthless. */
enum status axis_run(const struct operator_job *job, const struct workers *workers, _Atomic bool *flagged);

/* Fills the result. STATUS_FAILED: there is no memory. */
enum status axis_rows(struct axis_reduction *along);
enum status axis_cols(struct axis_reduction *along);

/* Whether columns' tallies are of a kind that axis_cols does. */
bool axis_cols_takes(const struct group_aggregate *group_agg);

#endif
