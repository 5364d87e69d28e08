/* Memory limit: what neither memory nor the disk holds is refused before it is computed. Reserving memory always
 * succeeds; writing to it is what makes the system kill a process.
 *
 * The pool (base/buffer_pool.h) accounts for what there is; without one it is the machine's memory. */
#ifndef RQL_ENGINE_BACKEND_MEMORY_LIMIT_H
#define RQL_ENGINE_BACKEND_MEMORY_LIMIT_H

#include "base/buffer_pool.h"
#include "base/diag.h"

#include <stdint.h>

/* STATUS_FAILED, with an error, if `rows` of `row_bytes` each exceed the limit, or if `left` of them, which are not
 * written yet, exceed the memory that is free now. For columns that are reserved, and of these not the spilled ones. */
enum status memory_limit_check(struct buffer_pool *pool, int64_t rows, int64_t left, int64_t row_bytes,
                               struct span span, struct diags *diags);

/* The same of columns that are not reserved yet, and may be spilled. */
enum status memory_rows_check(struct buffer_pool *pool, int64_t rows, int64_t left, int64_t row_bytes, struct span span,
                              struct diags *diags);

/* STATUS_FAILED, with an error, if neither memory nor disk have what a task allocates, `bytes` in all. */
enum status memory_work_check(struct buffer_pool *pool, int64_t bytes, struct span span, struct diags *diags);

/* STATUS_FAILED, with an error, if memory has no room for `bytes`, or more, that cannot be spilled. */
enum status memory_held_check(struct buffer_pool *pool, int64_t bytes, struct span span, struct diags *diags);

/* Adds to errors of lack of memory why nothing was spilled, if there is a reason. */
void memory_errors_explain(struct buffer_pool *pool, struct diags *diags);

#endif
