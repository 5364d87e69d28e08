/* How many rows a task reads, and which of them its window keeps. */
#ifndef RQL_ENGINE_PLAN_ROW_COUNT_H
#define RQL_ENGINE_PLAN_ROW_COUNT_H

#include "engine/plan/task.h"

/* Sets *rows to the rows that the task reads; given[n] is the number of result rows of task n of the queue. An error if
 * zipped tasks have different numbers. */
enum status rows_read(const struct task *task, const int64_t *given, int64_t *rows, struct diags *diags);

/* Sets the rows begin .. end-1 that the window keeps of `rows` rows. */
void rows_kept(const struct window *window, int64_t rows, int64_t *begin, int64_t *end);

#endif
