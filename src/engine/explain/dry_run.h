/* What is known of a queue's tasks before any of them has run: for explain. */
#ifndef RQL_ENGINE_EXPLAIN_DRY_RUN_H
#define RQL_ENGINE_EXPLAIN_DRY_RUN_H

#include "engine/plan/task.h"

struct dry_run {
    const struct queue *queue;
    struct column ***columns; /* of each task's outputs: of no rows, but stored as they will be */
    int64_t *most;            /* rows each task reads at most */
};

void dry_run_init(struct dry_run *dry_run, const struct queue *queue);
void dry_run_release(struct dry_run *dry_run);

/* The inputs of the next task, in order, analysed as for a run of outlook->most[task->number] rows. */
struct column **dry_run_inputs(struct dry_run *dry_run, struct task *task);

/* The same with others in the inputs' place. */
void dry_run_analyse(const struct dry_run *dry_run, struct task *task, struct column *const *columns);

/* Done with it: what it gives is there for the tasks behind it. */
enum status dry_run_pass(struct dry_run *dry_run, const struct task *task, struct column *const *columns,
                         struct diags *diags);

#endif
