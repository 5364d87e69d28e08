#include "engine/optimize/optimize.h"

#include "engine/optimize/passes.h"

void optimize_queue(const struct queue *queue, struct queue *fused)
{
    queue_prune(queue); /* mark the outputs that are read */
    fuse(queue, fused); /* join each task with those that read it row by row */
    queue_prune(fused); /* a fused task may need fewer outputs */
    push_limits(fused); /* sort only as many rows as are read */
}

void optimize_task(struct task *task, struct column *const *columns, int64_t rows)
{
    folds_lower(task);                  /* loops of one form */
    range_analyse(task, columns, rows); /* intervals, lanes, and which operations may fail */
    guard_place(task);                  /* in which rows such a failure matters, and a loop has rounds */
    loops_order(task);
}
