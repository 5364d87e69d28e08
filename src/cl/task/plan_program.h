/* The program of a kernel plan: found among those in memory or on disk, or built. */
#ifndef RQL_CL_TASK_PLAN_PROGRAM_H
#define RQL_CL_TASK_PLAN_PROGRAM_H

#include "cl/codegen/kernel_plan.h"
#include "cl/compile/program.h"

/* Returns the program of a plan, its kernels by role, owned by the accelerator. NULL: it cannot be built, which a note
 * says, or it is still being built and the accelerator does not wait. */
struct program *program_for(struct accelerator *accelerator, const struct kernel_plan *plan, struct diags *diags);

/* Starts to build the program if it is new, without waiting, and returns its state. */
enum readiness program_begin(struct accelerator *accelerator, const struct kernel_plan *plan);

/* Returns why the device cannot run the plan; NULL if it can. */
const char *plan_limit(const struct kernel_plan *plan, const struct device *device);

#endif
