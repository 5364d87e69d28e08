/* What is known of a queue's tasks before any of them has run: for explain. */
#ifndef RQL_ENGINE_EXPLAIN_DRY_RUN_H
#define RQL_ENGINE_EXPLAIN_DRY_RUN_H

#include "engine/plan/task.h"

struct outlook {
    const struct queue *queue;
    struct column ***columns; /* of each task's outputs: of no rows, but stored as they will be */
    int64_t *most;            /* rows each task reads at most */
};

void outlook_init(struct outlook *outlook, const struct queue *queue);
void outlook_release(struct outlook *outlook);

/* The inputs of the next task, in order, analysed as for a run of outlook->most[task->number] rows. */
struct column **outlook_inputs(struct outlook *outlook, struct task *task);

/* The same with others in the inputs' place. */
void outlook_analyse(const struct outlook *outlook, struct task *task, struct column *const *columns);

/* Done with it: what it gives is there for the tasks behind it. */
enum status outlook_pass(struct outlook *outlook, const struct task *task, struct column *const *columns,
                         struct diags *diags);

#endif
