/* How many rows a task reads, and which of them its window keeps. */
#ifndef RQL_ENGINE_PLAN_ROW_COUNT_H
#define RQL_ENGINE_PLAN_ROW_COUNT_H

#include "engine/plan/task.h"

/* The rows the task reads; given[n] is how many rows task n of the queue gave. The error: zipped tasks that did not
 * give equally many. */
enum status rows_read(const struct task *task, const int64_t *given, int64_t *rows, struct diags *diags);

/* The rows begin .. end-1 that a window keeps of `rows` rows. */
void rows_kept(const struct window *window, int64_t rows, int64_t *begin, int64_t *end);

#endif
