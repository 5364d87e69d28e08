/* Launches the kernels of a program over some rows. */
#ifndef RQL_CL_TASK_LAUNCH_H
#define RQL_CL_TASK_LAUNCH_H

#include "cl/codegen/float_sum_levels.h"
#include "cl/codegen/kernel_plan.h"
#include "cl/compile/program.h"
#include "cl/memory/memory.h"

#include "engine/backend/backend.h"

/* The rows of a column: the view starts at the element of the launch's first row (with ACCESS_ANY, at the column's
 * first), and elements low .. high-1, relative to that, can be read. */
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
    int64_t written;                       /* KERNEL_WRITE: rows written, for timing */
    cl_ulong epoch;                        /* KERNEL_WRITE in one pass: memory_tiles */
};

/* A buffer that is read back after a kernel by the same wait; `at` is valid until the next launch. */
struct readback {
    cl_mem buffer;
    size_t bytes;
    const uint64_t *at;
};

/* Return the number of work-groups, each of which writes one result per slot (or its own outputs), and the maximum rows
 * of an accumulator. */
size_t launch_groups(const struct launch *launch, enum kernel_role role);
int64_t launch_accumulator_rows(const struct launch *launch, enum kernel_role role);

/* The bytes of the list of rows_terms.cl for launches of `rows` rows; 0 if KERNEL_WRITE has none. launch_clear_list
 * enqueues its initialisation, once: kernels leave it as they found it. False with the accelerator's failure. */
size_t launch_list_bytes(const struct kernel_plan *plan, int64_t rows);
bool launch_clear_list(struct accelerator *accelerator, cl_mem list, size_t bytes);

/* The number of tiles of KERNEL_WRITE in one pass. */
size_t launch_tiles(const struct launch *launch);

/* Runs a kernel and waits for it. `slots` must fit its slots, or hold the starts of KERNEL_WRITE, or its tiles or list.
 * Sets *flagged if a checked operation may have failed. `readback` may be NULL. Returns false with the accelerator's
 * failure. */
bool launch_kernel(struct launch *launch, enum kernel_role role, cl_mem slots, struct readback *readback,
                   bool *flagged);

/* Set the arguments of a kernel of the launch's program, or of a copy of it; of a round's, all but the number of the
 * round, which is the last. launch_set_combine: of KERNEL_COMBINE, with the columns of the elements, and the launch of
 * the round's tail or NULL. */
bool launch_set_arguments(const struct launch *launch, enum kernel_role role, cl_kernel kernel, cl_mem slots,
                          cl_mem flag);
bool launch_set_combine(const struct launch *launch, const struct launch *tail, const struct view *elements,
                        cl_kernel kernel, cl_mem slots, cl_mem flag);

/* The rows of the first launch of a program, and of the next one after a launch of `rows` rows that took `took_ns`.
 * All that the plan allows, unless the program has loops: their launches are kept short, because a running kernel
 * cannot be cancelled. */
int64_t launch_first_range(const struct kernel_plan *plan);
int64_t launch_next_range(const struct kernel_plan *plan, int64_t rows, int64_t took_ns);

/* Returns the number of the argument that says which element of a column is the first. */
cl_uint launch_first_argument(const struct emitter *emitter, size_t column);

/* Runs each kernel on no rows, so that drivers finish compiling. */
bool launch_warm_up(struct accelerator *accelerator, const struct kernel_plan *plan, struct program *program,
                    const struct job *job);

/* Returns the bytes of parameters of the largest kernel. */
size_t launch_parameter_bytes(const struct kernel_plan *plan);

#endif
