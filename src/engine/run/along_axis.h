/* A group along an axis of a shape. Its keys are what the number of a row gives; where only its aggregate is read they
 * need not be computed (operators/axis_reduction.h). */
#ifndef RQL_ENGINE_RUN_ALONG_AXIS_H
#define RQL_ENGINE_RUN_ALONG_AXIS_H

#include "engine/run/run_task.h"

/* Whether the host is to run such a group, of one aggregate, of which `task` computes the key. */
bool is_along_axis(const struct runner *runner, const struct task *task, const struct task *group);

/* Runs the task, on `rows` rows, for the column that the group aggregates if it computes that, and then the group,
 * whose other inputs are `others`. *passed receives the number of the task's rows. `outcome` is the group's; it has the
 * array of columns. STATUS_UNABLE: the two have to be run one after the other. */
enum status run_along_axis(const struct runner *runner, const struct task *task, struct column *const *inputs,
                           int64_t rows, const struct task *group, struct column *const *others, int64_t *passed,
                           struct outcome *outcome, struct diags *diags);

#endif
