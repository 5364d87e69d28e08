/* The rows of a task with code: filters, outputs, aggregates. */
#ifndef RQL_ENGINE_EXACT_EXACT_ROWS_H
#define RQL_ENGINE_EXACT_EXACT_ROWS_H

#include "engine/exact/exact_lazy.h"

/* Finds which task rows the result rows are (lazy->kept or lazy->begin, and lazy->count), without computing outputs. */
enum status exact_list_rows(struct exact *exact, struct lazy_task *lazy);

/* Computes exact->columns, reserved for all rows that the task reads, and sets lazy->count. The error is the first in
 * the order of rows, filters included; with a tail, filters come first. */
enum status exact_write_rows(struct exact *exact, struct lazy_task *lazy);

/* Aggregates the task's rows into exact->states, which are initialised. */
enum status exact_add_rows(struct exact *exact, struct lazy_task *lazy);

/* Bytes of a result row in these columns. */
int64_t exact_row_bytes(struct column *const *columns, size_t count);

#endif
