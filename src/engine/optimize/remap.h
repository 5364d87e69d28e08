/* Changing what a task refers to: values by their numbers, and other tasks. */
#ifndef RQL_ENGINE_OPTIMIZE_REMAP_H
#define RQL_ENGINE_OPTIMIZE_REMAP_H

#include "engine/plan/task.h"

/* Filters, outputs and aggregates then name map[v] instead of v: NO_VALUE is for values that are not computed. The
 * arrays are copied. */
void task_remap(struct task *task, const value *map, struct arena *arena);

/* axis_fold.c: points a task at those made for the ones that it reads, made[k] for the k-th of the queue. The arrays
 * are copied. */
void task_move_references(struct task *task, struct task *const *made, struct arena *arena);

#endif
