/* The program of a task: skeletons filled with the task's code. */
#ifndef RQL_CL_CODEGEN_KERNEL_TEXT_H
#define RQL_CL_CODEGEN_KERNEL_TEXT_H

#include "cl/codegen/accumulate.h"
#include "cl/codegen/emit.h"
#include "cl/device/kernel_config.h"

/* The kernels that a program may have, named so. Parameters in order: columns and what is read of them
 * (input_access.h), literals, those of the user's functions as well, then aggregate, count: slots;    levels: a struct
 * levels by member for each float sum, slots; write: outputs (pointer, first element), and, with filters, starts; and
 * for all: row number of the first row, rows, rows of a chunk, flag. */
enum kernel_role { KERNEL_AGGREGATE, KERNEL_FLOAT_SUMS, KERNEL_COUNT, KERNEL_WRITE, KERNEL_ROLE_COUNT };

extern const char *const kernel_names[KERNEL_ROLE_COUNT];

/* What a kernel of this role computes. */
extern const struct live_roots kernel_needs[KERNEL_ROLE_COUNT];

struct kernel_plan {
    struct emitter emitter;
    const struct kernel_config *shape;
    struct accumulators aggregates; /* SINK_AGGREGATE: the first pass, */
    struct accumulators float_sums; /* and the second, of float sums */
    struct accumulators kept;       /* SINK_ROWS with filters: the first pass */
    const enum type *stores;        /* SINK_ROWS: how each output is laid out */
    bool roles[KERNEL_ROLE_COUNT];  /* which kernels there are */
    int64_t rows;                   /* the most rows of a launch */
    const char *text;               /* in the arena */
};

/* Whether each group of this kernel takes a contiguous chunk of the rows, in tiles; else all walk them side by side, or
 * the shape is one of chunks. */
bool kernel_in_tiles(const struct kernel_plan *plan, enum kernel_role role);

/* The bytes of columns that a kernel reads of every row, kept or not. */
size_t kernel_row_bytes(const struct kernel_plan *plan, enum kernel_role role, struct arena *arena);

/* Plans a task: input k laid out as inputs[k], needed output k as outputs[k]. False if it has no OpenCL form. */
bool kernel_plan_make(struct kernel_plan *plan, const struct task *task, const struct kernel_config *shape,
                      const enum type *inputs, const enum type *outputs, struct arena *arena);

#endif
