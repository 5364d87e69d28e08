/* Which kernels the program of a task has, what each computes, and its parameters. */
#ifndef RQL_CL_CODEGEN_KERNEL_PLAN_H
#define RQL_CL_CODEGEN_KERNEL_PLAN_H

#include "cl/codegen/accumulate.h"
#include "cl/codegen/emit.h"
#include "cl/codegen/round_text.h"
#include "cl/device/kernel_config.h"

/* The kernels of a program. Their parameters, in order:
 *
 *   1. columns (input_access.h), then literals, then the literals of user functions
 *   2. AGGREGATE, COUNT: slots; AGGREGATE of a round that has rows too: before them the outputs, as of WRITE.
 * FLOAT_SUMS: the members of a struct float_sum_levels for each float sum, then slots. WRITE, TERMS: of each needed
 * output the column and the number of its first element; then with filters the start of each work-group, or in one pass
 * the state of each tile; with `listed` the list of rows_terms.cl
 *   3. the number of the first row, the number of rows, the rows of a chunk (in one pass: the number of the launch),
 * the flag, and in rounds of a loop the number of the round
 *
 * KERNEL_TERMS is launched after KERNEL_WRITE, for the rows on its list, or instead of it, for all rows. For
 * KERNEL_COMBINE see round_text.h. */
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

/* The roots (live_roots.h) that each kernel computes. */
extern const struct live_roots kernel_needs[KERNEL_ROLE_COUNT];

struct kernel_plan {
    struct emitter emitter;
    const struct kernel_round *round; /* NULL: the task is not one of the rounds of a loop */
    const struct kernel_config *config;
    struct accumulators aggregates; /* SINK_AGGREGATE: of the first pass, */
    struct accumulators float_sums; /* and of the second, for float sums */
    struct accumulators kept;       /* SINK_ROWS with filters: of the first pass, which counts */
    const enum type *stores;        /* SINK_ROWS: storage type of each output */
    bool listed;                    /* KERNEL_WRITE is rows_terms.cl, with a list for KERNEL_TERMS */
    bool roles[KERNEL_ROLE_COUNT];  /* kernels of this program */
    int64_t rows;                   /* maximum rows of a launch */
};

/* Whether each group of this kernel takes a contiguous chunk of rows, in tiles; otherwise groups take tiles in turns.
 */
bool kernel_in_tiles(const struct kernel_plan *plan, enum kernel_role role);

/* Whether KERNEL_WRITE filters in one pass (filter_lookback.cl). */
bool kernel_in_one_pass(const struct kernel_plan *plan);

/* The work-items of a work-group of this kernel. */
size_t kernel_group(const struct kernel_plan *plan, enum kernel_role role);

/* Plans a task with input k stored as inputs[k] and needed output k as outputs[k]. Returns false if it has no OpenCL
 * form. */
bool kernel_plan_make(struct kernel_plan *plan, const struct task *task, const struct kernel_config *config,
                      const enum type *inputs, const enum type *outputs, struct arena *arena);

/* Likewise for a task of the rounds of a loop, without filters: the host enqueues its kernels for many rounds without
 * waiting for results. */
bool kernel_plan_make_round(struct kernel_plan *plan, const struct task *task, const struct kernel_config *config,
                            const enum type *inputs, const enum type *outputs, const struct kernel_round *round,
                            struct arena *arena);

#endif
