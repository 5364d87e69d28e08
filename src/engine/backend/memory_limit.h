/* Memory limit: results that memory cannot hold are refused before they are computed. Reserving memory always succeeds;
 * writing to it is what makes the system kill a process. */
#ifndef RQL_ENGINE_BACKEND_MEMORY_LIMIT_H
#define RQL_ENGINE_BACKEND_MEMORY_LIMIT_H

#include "base/diag.h"

#include <stdint.h>

/* The memory limit in bytes: `limit`, or if that is 0 the machine's memory. */
int64_t memory_limit_bytes(int64_t limit);

/* STATUS_FAILED, with an error, if `rows` of `row_bytes` each exceed the limit, or if `left` of them, which are not
 * written yet, exceed the memory that is free now. */
enum status memory_limit_check(int64_t limit, int64_t rows, int64_t left, int64_t row_bytes, struct span span,
                               struct diags *diags);

/* STATUS_FAILED, with an error, if what a task allocates, `bytes` in all, exceeds the limit or the memory that is free
 * now. */
enum status memory_work_check(int64_t limit, int64_t bytes, struct span span, struct diags *diags);

#endif
