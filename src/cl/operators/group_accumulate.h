/* Adding rows to the records of their groups: three ways, all of which give the same. */
#ifndef RQL_CL_OPERATORS_GROUP_ACCUMULATE_H
#define RQL_CL_OPERATORS_GROUP_ACCUMULATE_H

#include "cl/operators/group_record.h"

/* How rows are dealt out to records. */
enum accumulate_strategy {
    ACCUMULATE_LOCAL,  /* groups of work-items have tables of their own in local memory */
    ACCUMULATE_CHUNKS, /* every work-item has one of its own in global memory, without atomics */
    ACCUMULATE_SHARED  /* all use one */
};

struct accumulate_plan {
    enum accumulate_strategy strategy;
    size_t records, copies, tables; /* records; of each in a table; tables but for the shared one */
    size_t groups;
    int64_t rows;
};

/* The best way for so many records; false if the device has none, or none that is worth it. */
bool group_accumulate_plan(struct accumulate_plan *plan, const struct record_layout *layout,
                           const struct accelerator *accelerator, int64_t rows, uint64_t records);

/* What a kernel needs to know which record row i belongs to: lines that declare `uint index` from `ulong i`, or
 * `continue`, and the parameters and the lines before the loop that those need. */
struct record_index_text {
    const char *parameters, *prologue, *index;
};

enum { ACCUMULATE_CLEAR, ACCUMULATE_ADD, ACCUMULATE_MERGE, ACCUMULATE_KERNELS };

/* Which of the kernels there are: their names, or NULL. */
void group_accumulate_names(const struct accumulate_plan *plan, const char *names[ACCUMULATE_KERNELS]);

/* Appends them. */
void group_accumulate_add_text(struct strbuf *out, const struct record_layout *layout,
                               const struct accumulate_plan *plan, const struct kernel_config *shape,
                               const struct record_index_text *text, struct arena *arena);

/* Runs them, the first being kernel number `kernel` of the tool; `parameters` are the arguments for the text's. What
 * comes out is a column of u32: the records one after another. NULL if the tool has stopped, or there is no memory. */
struct column *group_accumulate_run(struct operator_run *run, size_t kernel, const struct record_layout *layout,
                                    const struct accumulate_plan *plan, const struct arguments *parameters,
                                    int64_t row_bytes);

#endif
