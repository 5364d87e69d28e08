/* What of a task a kernel computes. A task's roots are what it computes values for: filters, then outputs, then
 * aggregates. */
#ifndef RQL_CL_CODEGEN_LIVE_ROOTS_H
#define RQL_CL_CODEGEN_LIVE_ROOTS_H

#include "engine/plan/task.h"

struct live_roots {
    bool filters, outputs, aggregates;
};

size_t live_roots_count(const struct task *task);

/* The value of a root; NO_VALUE if it has none or nobody wants it. */
value live_roots_value(const struct task *task, size_t root);

/* Marks what is needed, and all that is computed from. `live` has an entry for each value. */
void live_roots_mark(const struct task *task, struct live_roots needs, bool *live);

/* Marks what marked values are computed from, and the guards of those that may fail. */
void live_roots_close(const struct code *code, bool *live);

#endif
