#include "engine/optimize/optimize.h"

#include "engine/optimize/passes.h"
#include "engine/plan/verify.h"

#include <assert.h>

void optimize_queue(const struct queue *queue, struct queue *fused)
{
    assert(queue_is_valid(queue, "binding"));
    queue_prune(queue); /* dead outputs: mark those that are read */
    fuse(queue, fused); /* task fusion: join each task with those that read it row by row */
    assert(queue_is_valid(fused, "fuse"));
    queue_prune(fused); /* a fused task may need fewer outputs */
    push_limits(fused); /* limit pushdown: sort only as many rows as are read */
    assert(queue_is_valid(fused, "push_limits"));
}

void optimize_task(struct task *task, struct column *const *columns, int64_t rows)
{
    assert(task_is_valid(task, CODE_BUILT, "what made the task"));
    folds_lower(task); /* lowering: loops of one form */
    assert(task_is_valid(task, CODE_BUILT, "folds_lower"));
    range_analyse(task, columns, rows); /* range analysis: intervals, lanes, and which operations may fail */
    assert(task_is_valid(task, CODE_ANALYSED, "range_analyse"));
    guard_place(task); /* guard placement: in which rows such a failure matters, and a loop has rounds */
    assert(task_is_valid(task, CODE_GUARDED, "guard_place"));
    loops_order(task); /* scheduling: arguments before what reads them */
    assert(task_is_valid(task, CODE_ANALYSED, "loops_order"));
}
