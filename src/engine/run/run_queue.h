/* Runs the tasks of a queue one after another. */
#ifndef RQL_ENGINE_RUN_RUN_QUEUE_H
#define RQL_ENGINE_RUN_RUN_QUEUE_H

#include "engine/run/run.h"

/* Runs a bound queue, fused if runner->fusion. `defer` says whether the result may have deferred rows. The caller
 * releases `result`; on failure it is empty. */
enum status run_queue(struct runner *runner, const struct queue *queue, enum defer_choice defer, struct result *result,
                      struct diags *diags);

#endif
