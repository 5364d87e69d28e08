/* Dry run, for explain: types and row counts of a queue's tasks before any has run. */
#ifndef RQL_ENGINE_EXPLAIN_DRY_RUN_H
#define RQL_ENGINE_EXPLAIN_DRY_RUN_H

#include "engine/run/run.h"

struct dry_run {
    const struct queue *queue;
    struct column ***columns; /* of each task's outputs: without rows, but with the type they will be stored in */
    int64_t *most;            /* upper bound of the rows each task reads */
};

void dry_run_init(struct dry_run *dry_run, const struct queue *queue);
void dry_run_release(struct dry_run *dry_run);

/* Specialises the next task for a run of dry_run->most[task->number] rows (task_specialise). Sets *named to its input
 * columns, *columns to the (narrow) copies read in their place. */
const struct task *dry_run_task(struct dry_run *dry_run, const struct runner *runner, const struct task *task,
                                struct column *const **named, struct column *const **columns);

/* Adds the columns of the task's outputs, for the tasks that read them. */
enum status dry_run_outputs(struct dry_run *dry_run, const struct task *task, struct column *const *columns,
                            struct diags *diags);

#endif
