/* Runs a range of a task's rows by its program. */
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

/* Whether the inputs that are read at any position (input.whole) fit the device's memory. */
bool execute_fits(const struct execution *execution);

/* Returns the maximum rows of a launch, by device memory and program. */
int64_t execute_most_rows(const struct execution *execution);

/* As in struct backend_ops. If the device runs out of memory, smaller pieces are tried before giving up. */
enum status execute_aggregate(const struct execution *execution, struct agg_state *states, bool *flagged);
enum status execute_rows(const struct execution *execution, struct row_sink *sink, bool *flagged);

#endif
