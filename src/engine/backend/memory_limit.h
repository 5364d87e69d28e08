/* Refusing what memory cannot hold before it is made: memory that is merely reserved is there until it is written, and
 * then the system ends some process. */
#ifndef RQL_ENGINE_BACKEND_MEMORY_LIMIT_H
#define RQL_ENGINE_BACKEND_MEMORY_LIMIT_H

#include "base/diag.h"

#include <stdint.h>

/* How many bytes there are in all: `told`, or if that is 0 those of the machine. */
int64_t memory_limit_bytes(int64_t told);

/* STATUS_FAILED, and says so, if `rows` of `row_bytes` each are more than the memory (memory_limit_bytes) or, where
 * `left` of the rows are not written yet, these more than what is free of it now. */
enum status memory_limit_check(int64_t told, int64_t rows, int64_t left, int64_t row_bytes, struct span span,
                               struct diags *diags);

#endif
