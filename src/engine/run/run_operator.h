/* Running a breaker: on the device if it can, else on the evaluator. Private to run*.c. */
#ifndef RQL_ENGINE_RUN_RUN_OPERATOR_H
#define RQL_ENGINE_RUN_RUN_OPERATOR_H

#include "engine/run/run_task.h"

/* Like run_task, which calls it for SINK_OPERATOR; the outcome has its array of columns. */
enum status run_operator(const struct runner *runner, const struct task *task, struct column *const *inputs,
                         int64_t rows, struct outcome *outcome, struct diags *diags);

#endif
