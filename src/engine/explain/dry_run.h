/* What is known of a queue's tasks before any of them has run: for explain. */
#ifndef RQL_ENGINE_EXPLAIN_DRY_RUN_H
#define RQL_ENGINE_EXPLAIN_DRY_RUN_H

#include "engine/run/run.h"

struct dry_run {
    const struct queue *queue;
    struct column ***columns; /* of each task's outputs: of no rows, but stored as they will be */
    int64_t *most;            /* rows each task reads at most */
};

void dry_run_init(struct dry_run *dry_run, const struct queue *queue);
void dry_run_release(struct dry_run *dry_run);

/* Specialises the next task for a run of dry_run->most[task->number] rows (task_specialise). *named are its inputs,
 * *columns what is read in their place. */
const struct task *dry_run_task(struct dry_run *dry_run, const struct runner *runner, const struct task *task,
                                struct column *const **named, struct column *const **columns);

/* Done with it: what it gives is there for the tasks behind it. */
enum status dry_run_pass(struct dry_run *dry_run, const struct task *task, struct column *const *columns,
                         struct diags *diags);

#endif
