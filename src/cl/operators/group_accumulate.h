/* Adds rows to the records of their groups, by one of three strategies with equal results. */
#ifndef RQL_CL_OPERATORS_GROUP_ACCUMULATE_H
#define RQL_CL_OPERATORS_GROUP_ACCUMULATE_H

#include "cl/operators/group_record.h"

enum accumulate_strategy {
    ACCUMULATE_PRIVATE, /* each work-item has a table in local memory, and needs no atomics */
    ACCUMULATE_LOCAL,   /* each work-group has one */
    ACCUMULATE_SHARED   /* one table for all */
};

struct accumulate_plan {
    enum accumulate_strategy strategy;
    size_t records, pass; /* records of a table, and how many of them a pass over the rows takes */
    size_t copies;        /* of each record */
    size_t groups, lanes; /* work-groups, and work-items of each */
    int64_t rows;
};

/* Picks the strategy for this number of records; false if none is faster on this device than sorting. */
bool group_accumulate_plan(struct accumulate_plan *plan, const struct record_layout *layout,
                           const struct accelerator *accelerator, int64_t rows, uint64_t records);

/* Text that finds the record of a row: lines that declare `uint index` from `ulong i` or `continue`, and the parameters
 * and the lines before the loop that they use. */
struct record_index_text {
    const char *parameters, *prologue, *index;
};

enum { ACCUMULATE_CLEAR, ACCUMULATE_ADD, ACCUMULATE_KERNELS };

/* Sets the names of the kernels. */
void group_accumulate_names(const char *names[ACCUMULATE_KERNELS]);

/* Appends the kernels. */
void group_accumulate_add_text(struct strbuf *out, const struct record_layout *layout,
                               const struct accumulate_plan *plan, const struct kernel_config *config,
                               const struct record_index_text *text, struct arena *arena);

/* Runs the kernels on a table of records; `parameters` are the arguments of the index text. */
void group_accumulate_into(struct operator_run *run, const struct record_layout *layout,
                           const struct accumulate_plan *plan, const struct arguments *parameters,
                           const struct view *table, int64_t row_bytes);

/* The same on a new one. Returns the records as a column of u32, or NULL
 * if the run has stopped or memory is short. */
struct column *group_accumulate_run(struct operator_run *run, const struct record_layout *layout,
                                    const struct accumulate_plan *plan, const struct arguments *parameters,
                                    int64_t row_bytes);

#endif
