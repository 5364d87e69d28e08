/* Columns as a breaker's kernels read them, and the launches that walk over their rows. */
#ifndef RQL_CL_OPERATORS_ROW_LOOP_H
#define RQL_CL_OPERATORS_ROW_LOOP_H

#include "cl/codegen/key_encoding.h"
#include "cl/operators/operator_run.h"

struct encoded_column {
    struct column *column;
    const struct key_encoding *encoding;
    uint64_t least; /* the encoding that offsets are counted from */
};

/* Whether the device takes `rows` rows of these columns, and a kernel can number them with 32 bits. */
bool columns_fit(const struct accelerator *accelerator, struct column *const *columns, size_t count, int64_t rows);

/* The arguments of a kernel in order; their bytes are copied. */
struct arguments {
    struct arena *arena;
    struct operator_argument *at;
    size_t count, capacity;
};

void argument_add(struct arguments *arguments, size_t size, const void *bytes);
void argument_buffer(struct arguments *arguments, cl_mem buffer);
void argument_uint(struct arguments *arguments, uint64_t number);
void argument_ulong(struct arguments *arguments, uint64_t number);
void argument_local(struct arguments *arguments, size_t bytes); /* local memory, rather than a value */

/* A column of so many rows: its buffer and the number of its first element. */
void argument_column(struct arguments *arguments, struct operator_run *run, struct column *column, int64_t rows);

/* The loop over a launch's rows begin..end-1 that kernels of this shape write down as $each. Those kernels' last
 * parameters are `ulong begin, ulong end, ulong chunk`. */
const char *row_loop_text(const struct kernel_config *shape);

/* The expression for kernels/peek.cl. */
const char *row_loop_atomic_load(const struct kernel_config *shape);

/* The most work-items that walk over the rows, in groups of shape->group, and how many rows there are to each. */
size_t row_loop_groups(const struct accelerator *accelerator, int64_t rows);

/* Runs such a kernel over all rows, in launches that are not too long. `arguments` are those before begin. */
void row_loop(struct operator_run *run, size_t kernel, const struct arguments *arguments, int64_t rows, size_t groups,
              const char *what, int64_t row_bytes);

#endif
