/* Renumbering the values that a task refers to. */
#ifndef RQL_ENGINE_OPTIMIZE_REMAP_H
#define RQL_ENGINE_OPTIMIZE_REMAP_H

#include "engine/plan/task.h"

/* Filters, outputs and aggregates then name map[v] instead of v: NO_VALUE is for values that are not computed. The
 * arrays are copied. */
void task_remap(struct task *task, const value *map, struct arena *arena);

#endif
