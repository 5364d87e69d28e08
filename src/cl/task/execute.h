/* A range of a task's rows, run by its program: kernels launched, what they leave put together. */
#ifndef RQL_CL_TASK_EXECUTE_H
#define RQL_CL_TASK_EXECUTE_H

#include "cl/compile/program.h"

#include "engine/backend/backend.h"

/* A task with its plan and its program; the program is NULL if the plan has no kernels. */
struct execution {
    struct accelerator *accelerator;
    const struct kernel_plan *plan;
    const struct program *program;
    const struct job *job;
};

/* Whether the inputs that are needed as a whole fit the device. */
bool execute_fits(const struct execution *execution);

/* The most rows that fit a launch and the device's memory. */
int64_t execute_most_rows(const struct execution *execution);

/* As in struct backend_ops. When the device's memory runs out, smaller pieces are tried before giving up. */
enum status execute_aggregate(const struct execution *execution, struct agg_state *states, bool *flagged);
enum status execute_rows(const struct execution *execution, struct row_sink *sink, bool *flagged);

#endif
