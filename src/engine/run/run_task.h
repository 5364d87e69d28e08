/* Running one task. */
#ifndef RQL_ENGINE_RUN_RUN_TASK_H
#define RQL_ENGINE_RUN_RUN_TASK_H

#include "engine/run/run.h"

/* What a task produced. */
struct outcome {
    struct column **columns; /* of each output, one reference; NULL where nothing reads it */
    int64_t rows;
    struct deferred *deferred; /* what computes the rows that are deferred, or NULL; one reference */
    struct scalar scalar;      /* of its aggregate */
    bool flagged;              /* a value may have failed: nothing else is set */
};

/* Releases the columns and deferred rows. */
void outcome_release(struct outcome *outcome, const struct task *task);

/* Runs the task on `rows` rows of its inputs' columns (NULL for inputs that nothing needed reads). `defer` says whether
 * rows of the result may be deferred. `arena` holds the outcome's array. On an error, and when flagged, the outcome
 * holds no columns. Flagged and STATUS_FAILED: the error is that of the first value that failed, if all are read. */
enum status run_task(const struct runner *runner, const struct task *task, struct column *const *inputs, int64_t rows,
                     enum defer_choice defer, struct arena *arena, struct outcome *outcome, struct diags *diags);

/* Runs a task of rows whose only reader is `group`, the next task of the queue, and groups the rows while they are
 * computed: they are never stored. *passed receives their number. `outcome` is the group's; it has the array of
 * columns. STATUS_UNABLE: the two have to be run one after the other. */
enum status run_task_grouped(const struct runner *runner, const struct task *task, struct column *const *inputs,
                             int64_t rows, const struct task *group, int64_t *passed, struct outcome *outcome,
                             struct diags *diags);

#endif
