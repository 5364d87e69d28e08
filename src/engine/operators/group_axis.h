/* Groups that are the rows or columns of a shape: where a row belongs is told by its number, so no keys are read.
 * Private to break_group.c and along*.c. */
#ifndef RQL_ENGINE_OPERATORS_GROUP_AXIS_H
#define RQL_ENGINE_OPERATORS_GROUP_AXIS_H

#include "engine/operators/group_states.h"
#include "engine/operators/operator_kinds.h"

/* What is aggregated along what, and where it goes. */
struct along {
    const struct break_job *job;
    const struct crew *crew;
    const struct aggregate *aggregate;
    const struct column *column; /* of which; NULL of count */
    struct tally tally;          /* of a group of `length` rows */
    int64_t groups, length;
    struct column *result; /* a row for each group */
    _Atomic bool *flagged; /* set where a sum does not fit, or is not certain */
};

/* Whether the group is one along a shape that the functions below do, of which nobody wants the keys. */
bool along_takes(const struct break_job *job);

/* Makes the result's column, job->results[1]. *flagged is set where it is worthless. */
enum status along_run(const struct break_job *job, const struct crew *crew, _Atomic bool *flagged);

/* Fills the result. STATUS_FAILED: there is no memory. */
enum status along_rows(struct along *along);
enum status along_cols(struct along *along);

/* Whether columns' tallies are of a kind that along_cols does. */
bool along_cols_takes(const struct tally *tally);

#endif
