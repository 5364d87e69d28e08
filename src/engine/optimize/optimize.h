/* The optimizer: passes over a queue, and over each of its tasks once the columns it reads are known. */
#ifndef RQL_ENGINE_OPTIMIZE_OPTIMIZE_H
#define RQL_ENGINE_OPTIMIZE_OPTIMIZE_H

#include "engine/plan/task.h"

/* Fills `fused`, initialised with the same arena, with an equivalent queue of as few tasks as possible. Both queues
 * hold the columns they read. `queue` keeps its tasks; only its unneeded outputs are marked. */
void optimize_queue(const struct queue *queue, struct queue *fused);

/* axis_fold.c: fills `folded`, initialised with the same arena, with the tasks of a fused queue, reductions along an
 * axis as folds where that stores fewer rows; false if there are none. It borrows the columns of `fused`. Errors are to
 * be found by `fused`, which tells the rows as they are written. */
bool fold_axes(const struct queue *fused, struct queue *folded);

/* element_columns.c: fills `made` likewise, with what folds compute of elements at one position as columns that tasks
 * of their own compute first; the tasks know how many rows they read. False if there is nothing to gain. */
bool fold_elements(const struct queue *fused, struct queue *made);

/* Analyses a task for a run on `columns`, its inputs in order, and `rows` rows: sets the lane, interval, `checked` and
 * guard of every instruction. May append instructions to the task's code, in that code's arena. */
void optimize_task(struct task *task, struct column *const *columns, int64_t rows);

#endif
