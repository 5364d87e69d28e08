/* What of a task a kernel computes. A task's roots are what it computes values for: filters, then outputs, then
 * aggregates. */
#ifndef RQL_CL_CODEGEN_LIVE_ROOTS_H
#define RQL_CL_CODEGEN_LIVE_ROOTS_H

#include "engine/plan/task.h"

struct needs {
    bool filters, outputs, aggregates;
};

size_t needs_roots(const struct task *task);

/* The value of a root; NO_VALUE if it has none or nobody wants it. */
value needs_root(const struct task *task, size_t root);

/* Marks what is needed, and all that is computed from. `live` has an entry for each value. */
void needs_mark(const struct task *task, struct needs needs, bool *live);

/* Marks what marked values are computed from, and the guards of those that may fail. */
void needs_close(const struct code *code, bool *live);

#endif
