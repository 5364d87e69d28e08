/* Returns the program of a plan, its kernels by role. */
#ifndef RQL_CL_TASK_PLAN_PROGRAM_H
#define RQL_CL_TASK_PLAN_PROGRAM_H

#include "cl/codegen/kernel_text.h"
#include "cl/compile/program.h"

/* Returns the program of a plan, its kernels by role. */
struct program *program_for(struct accelerator *accelerator, const struct kernel_plan *plan, struct diags *diags);

/* Begins to build it if it is new, without waiting; returns its state. */
enum readiness program_begin(struct accelerator *accelerator, const struct kernel_plan *plan);

/* Returns why the device cannot run the plan; NULL if it can. */
const char *plan_limit(const struct kernel_plan *plan, const struct device *device);

#endif
