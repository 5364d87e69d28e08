/* The part of a task that a kernel computes. The roots of a task are the values it computes: filters, then outputs,
 * then aggregates. */
#ifndef RQL_CL_CODEGEN_LIVE_ROOTS_H
#define RQL_CL_CODEGEN_LIVE_ROOTS_H

#include "engine/plan/task.h"

struct live_roots {
    bool filters, outputs, aggregates;
};

size_t live_roots_count(const struct task *task);

/* Returns the value of a root, or NO_VALUE if it has none or is not needed. */
value live_roots_value(const struct task *task, size_t root);

/* Marks the needed roots and all values they depend on. `live` has an entry per value. */
void live_roots_mark(const struct task *task, struct live_roots needs, bool *live);

/* Marks what marked values depend on, and the guards of checked ones. */
void live_roots_close(const struct code *code, bool *live);

#endif
