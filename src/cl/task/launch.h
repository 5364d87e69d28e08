/* Launching the kernels of a program over some rows. */
#ifndef RQL_CL_TASK_LAUNCH_H
#define RQL_CL_TASK_LAUNCH_H

#include "cl/codegen/float_sum_levels.h"
#include "cl/codegen/kernel_text.h"
#include "cl/compile/program.h"
#include "cl/memory/memory.h"

#include "engine/backend/backend.h"

/* A column's rows for the kernels: the view's first element is that of the launch's first row (of a whole input, the
 * column's first), and elements low .. high-1, counted from there, can be read. */
struct launch_input {
    struct view view;
    int64_t low, high;
};

struct launch {
    struct accelerator *accelerator;
    const struct kernel_plan *plan;
    const struct program *program;
    const struct job *job;
    int64_t row, rows;                     /* of the task */
    const struct launch_input *inputs;     /* of each of the emitter's columns */
    const struct view *outputs;            /* KERNEL_WRITE: of each output */
    const struct float_sum_levels *levels; /* KERNEL_FLOAT_SUMS: of each aggregate */
    int64_t written;                       /* KERNEL_WRITE: rows, for the timing */
};

/* How many work-groups there are, each of which leaves one result in every slot (or starts its own output); and how
 * many rows one accumulator sees at most. */
size_t launch_groups(const struct launch *launch, enum kernel_role role);
int64_t launch_accumulator_rows(const struct launch *launch, enum kernel_role role);

/* Runs a kernel and waits for it. SCRATCH_SLOTS must be large enough for what it leaves there, or hold the starts of
 * KERNEL_WRITE. *flagged is set if a checked operation may have failed, else left alone. False with the accelerator's
 * failure. */
bool launch_kernel(const struct launch *launch, enum kernel_role role, bool *flagged);

/* Runs each kernel of the program on no rows, which is when drivers finish compiling. */
bool launch_warm_up(struct accelerator *accelerator, const struct kernel_plan *plan, struct program *program,
                    const struct job *job);

/* The bytes of parameters that the largest kernel takes. */
size_t launch_parameter_bytes(const struct kernel_plan *plan);

#endif
