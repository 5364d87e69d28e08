/* Runs the tasks of a queue one after another. */
#ifndef RQL_ENGINE_TASK_RUN_QUEUE_H
#define RQL_ENGINE_TASK_RUN_QUEUE_H

#include "engine/run/run.h"

/* Runs a bound queue, fused if runner->fusion. `defer` says whether the result may have deferred rows. The caller
 * releases `result`; on failure it is empty. */
enum status run_queue(struct runner *runner, const struct queue *queue, enum defer_choice defer, struct result *result,
                      struct diags *diags);

/* Runs an optimised queue for the columns of its last task, of which the caller gets a reference each, hidden ones too.
 * `queue` is `fused`, or the queue as bound if that is to be run. */
enum status run_queue_columns(struct runner *runner, const struct queue *queue, const struct queue *fused,
                              struct column **columns, int64_t *rows, struct diags *diags);

#endif
