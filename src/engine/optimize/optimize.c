#include "engine/optimize/optimize.h"

#include "engine/optimize/passes.h"
#include "engine/plan/verify.h"

#include <assert.h>

static void queue_after(const struct pass_watch *watch, const char *pass, const struct queue *queue)
{
    assert(queue_is_valid(queue, pass));
    if (watch)
        watch->queue(watch->context, pass, queue);
}

static void task_after(const struct pass_watch *watch, const char *pass, const struct task *task, enum code_phase phase)
{
    assert(task_is_valid(task, phase, pass));
    (void)phase; /* without assertions */
    if (watch)
        watch->task(watch->context, pass, task);
}

void optimize_queue(const struct queue *queue, struct queue *fused)
{
    optimize_queue_watched(queue, fused, NULL);
}

void optimize_queue_watched(const struct queue *queue, struct queue *fused, const struct pass_watch *watch)
{
    queue_after(watch, "binding", queue);
    queue_prune(queue); /* dead outputs: mark those that are read */
    fuse(queue, fused); /* task fusion: join each task with those that read it row by row */
    queue_after(watch, "fuse", fused);
    queue_prune(fused); /* a fused task may need fewer outputs */
    push_limits(fused); /* limit pushdown: sort only as many rows as are read */
    queue_after(watch, "push_limits", fused);
}

void optimize_local(struct queue *fused, const struct pass_watch *watch)
{
    free_group_order(fused);
    queue_after(watch, "free_group_order", fused);
    leave_out_keys(fused); /* dependent keys are computed of groups, not of rows */
    queue_after(watch, "leave_out_keys", fused);
}

const struct queue *optimize_and_fold(const struct queue *queue, struct queue *fused, struct queue *folded)
{
    queue_init(fused, queue->arena);
    queue_init(folded, queue->arena);
    optimize_queue(queue, fused);
    optimize_local(fused, NULL);
    return fold_axes(fused, folded) ? folded : fused;
}

void optimize_task(struct task *task, struct column *const *columns, int64_t rows)
{
    optimize_task_watched(task, columns, rows, NULL);
}

void optimize_task_watched(struct task *task, struct column *const *columns, int64_t rows,
                           const struct pass_watch *watch)
{
    task_after(watch, "building", task, CODE_BUILT);
    folds_lower(task); /* lowering: loops of one form */
    task_after(watch, "folds_lower", task, CODE_BUILT);
    range_analyse(task, columns, rows); /* range analysis: intervals, lanes, and which operations may fail */
    task_after(watch, "range_analyse", task, CODE_ANALYSED);
    guard_place(task); /* guard placement: in which rows such a failure matters, and a loop has rounds */
    task_after(watch, "guard_place", task, CODE_GUARDED);
    loops_order(task); /* scheduling: arguments before what reads them */
    task_after(watch, "loops_order", task, CODE_ANALYSED);
}
