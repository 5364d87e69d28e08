/* Columns as kernels of operators read them, and kernels that loop over their rows. */
#ifndef RQL_CL_OPERATORS_ROW_LOOP_H
#define RQL_CL_OPERATORS_ROW_LOOP_H

#include "cl/codegen/key_encoding.h"
#include "cl/operators/operator_run.h"

#include "base/parallel.h"

struct encoded_column {
    struct column *column;
    const struct key_encoding *encoding;
    uint64_t least; /* encoding that offsets are relative to */
};

/* Whether these columns of `rows` rows fit the device, and 32 bits number the rows. */
bool columns_fit(const struct accelerator *accelerator, struct column *const *columns, size_t count, int64_t rows);

/* Gathers the rows that a column of u32 lists, and finishes columns to[k]; NULL ones are not needed. STATUS_OK or
 * STATUS_CANCELLED. */
enum status gather_listed(const struct workers *workers, const struct column *rows, struct column *const *from,
                          struct column *const *to, size_t count);

/* Adds a column of `rows` rows: its buffer and the index of its first element. */
void argument_column(struct arguments *arguments, struct operator_run *run, struct column *column, int64_t rows);

/* $each, the loop over rows begin .. end-1 of a launch, `chunk` for each group. The last parameters of kernels that use
 * it are `ulong begin, ulong end, ulong chunk`. */
extern const char row_loop_text[];

/* Returns $atomicload: the text that reads a word `cell` that others may be changing. */
const char *row_loop_atomic_load(const struct kernel_config *config);

/* Returns the number of work-groups to launch for `rows` rows. */
size_t row_loop_groups(const struct accelerator *accelerator, int64_t rows);

/* Runs such a kernel over all rows, in launches of limited length. `arguments` precede begin. */
void row_loop(struct operator_run *run, size_t kernel, const struct arguments *arguments, int64_t rows, size_t groups,
              const char *what, int64_t row_bytes);

/* The same in work-groups of `local` work-items. */
void row_loop_of(struct operator_run *run, size_t kernel, const struct arguments *arguments, int64_t rows,
                 size_t groups, size_t local, const char *what, int64_t row_bytes);

#endif
