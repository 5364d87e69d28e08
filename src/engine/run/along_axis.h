/* A group along an axis of a shape. Its key is a function of the row number, so it need not be computed where only the
 * aggregate is read (operators/axis_reduction.h). Measured, Xeon, squares summed along columns 1.7 to 2.8 times as fast
 * as with keys, along rows 1.1 to 1.2. */
#ifndef RQL_ENGINE_RUN_ALONG_AXIS_H
#define RQL_ENGINE_RUN_ALONG_AXIS_H

#include "engine/run/run_task.h"

/* Whether `group` is such a group with one aggregate, whose key `task` computes, and the host is to run it. */
bool is_along_axis(const struct runner *runner, const struct task *task, const struct task *group);

/* Runs `task` on `rows` rows of `inputs`, if it computes the column that the group aggregates, and then the group,
 * whose other inputs are `others`. *passed receives the number of rows of the task's result. `outcome` receives the
 * group's result; the caller allocates its array of columns. STATUS_UNABLE: run the two one after the other. */
enum status run_along_axis(const struct runner *runner, const struct task *task, struct column *const *inputs,
                           int64_t rows, const struct task *group, struct column *const *others, int64_t *passed,
                           struct outcome *outcome, struct diags *diags);

#endif
