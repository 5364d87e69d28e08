/* The program of a planned task. */
#ifndef RQL_CL_TASK_PLAN_PROGRAM_H
#define RQL_CL_TASK_PLAN_PROGRAM_H

#include "cl/codegen/kernel_text.h"
#include "cl/compile/program.h"

/* The program of a plan, its kernels by role. */
struct program *program_for(struct accelerator *accelerator, const struct kernel_plan *plan, struct diags *diags);

/* Has it built if it is new, without waiting, and says how far it is. */
enum readiness program_begin(struct accelerator *accelerator, const struct kernel_plan *plan);

#endif
