/* The program of a task: kernel templates filled with the task's code. */
#ifndef RQL_CL_CODEGEN_KERNEL_TEXT_H
#define RQL_CL_CODEGEN_KERNEL_TEXT_H

#include "cl/codegen/accumulate.h"
#include "cl/codegen/emit.h"
#include "cl/codegen/round_text.h"
#include "cl/device/kernel_config.h"

/* The kernels of a program. Parameters in order: columns (input_access.h); literals, then those of user functions;
 * aggregate, count: slots; float_sums: the members of a struct float_sum_levels for each float sum, slots; write:
 * outputs (pointer, first element) and, with filters, starts, or in one pass the words of the tiles, or the list of
 * rows_terms.cl; all: number of the
 * first row, rows, rows of a chunk (in one pass the number of the launch), flag; in rounds of a loop: the number of the
 * round. KERNEL_TERMS: as write, behind which it is launched, or in whose place, then without a list. KERNEL_COMBINE:
 * see round_text.h. */
enum kernel_role {
    KERNEL_AGGREGATE,
    KERNEL_FLOAT_SUMS,
    KERNEL_COUNT,
    KERNEL_WRITE,
    KERNEL_TERMS,
    KERNEL_COMBINE,
    KERNEL_ROLE_COUNT
};

extern const char *const kernel_names[KERNEL_ROLE_COUNT];

/* The roots that a kernel computes. */
extern const struct live_roots kernel_needs[KERNEL_ROLE_COUNT];

struct kernel_plan {
    struct emitter emitter;
    const struct kernel_round *round; /* NULL: the task is not one of the rounds of a loop */
    const struct kernel_config *config;
    struct accumulators aggregates; /* SINK_AGGREGATE: the first pass, */
    struct accumulators float_sums; /* and the second, of float sums */
    struct accumulators kept;       /* SINK_ROWS with filters: the first pass */
    const enum type *stores;        /* SINK_ROWS: storage type of each output */
    bool listed;                    /* KERNEL_WRITE is rows_terms.cl, with a list for KERNEL_TERMS */
    bool roles[KERNEL_ROLE_COUNT];  /* kernels of this program */
    int64_t rows;                   /* maximum rows of a launch */
};

/* Whether each group of this kernel takes a contiguous chunk of rows, in tiles; otherwise groups take tiles in turns,
 * or the device class works in chunks. */
bool kernel_in_tiles(const struct kernel_plan *plan, enum kernel_role role);

/* Whether KERNEL_WRITE filters in one pass (filter_lookback.cl). */
bool kernel_in_one_pass(const struct kernel_plan *plan);

/* The work-items of a work-group of this kernel. */
size_t kernel_group(const struct kernel_plan *plan, enum kernel_role role);

/* Rows of a work-group's tile of this kernel, which is in tiles. */
size_t kernel_tile_rows(const struct kernel_plan *plan, enum kernel_role role);

/* Bytes of columns that a kernel reads of every row, kept or not. */
size_t kernel_row_bytes(const struct kernel_plan *plan, enum kernel_role role, struct arena *arena);

/* Plans a task with input k stored as inputs[k] and needed output k as outputs[k]. Returns false if it has no OpenCL
 * form. */
bool kernel_plan_make(struct kernel_plan *plan, const struct task *task, const struct kernel_config *config,
                      const enum type *inputs, const enum type *outputs, struct arena *arena);

/* Likewise, of a task without filters that runs once a round, without a look of the host at what comes of it. */
bool kernel_plan_make_round(struct kernel_plan *plan, const struct task *task, const struct kernel_config *config,
                            const enum type *inputs, const enum type *outputs, const struct kernel_round *round,
                            struct arena *arena);

/* The program's text, in the arena. */
const char *kernel_plan_text(const struct kernel_plan *plan);

#endif
