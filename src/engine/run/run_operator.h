/* Running an operator: on a device if it can, else on the evaluator. */
#ifndef RQL_ENGINE_RUN_RUN_OPERATOR_H
#define RQL_ENGINE_RUN_RUN_OPERATOR_H

#include "engine/run/run_task.h"

/* run_task of a task of SINK_OPERATOR; the caller sets up the outcome's array of columns. */
enum status run_operator(const struct runner *runner, const struct task *task, struct column *const *inputs,
                         int64_t rows, struct outcome *outcome, struct diags *diags);

#endif
