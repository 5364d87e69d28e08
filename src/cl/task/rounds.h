/* The rounds of a loop on a device: kernels that the host enqueues one after another, in batches, between columns that
 * stay there. Nothing is transferred between the rounds of a batch. */
#ifndef RQL_CL_TASK_ROUNDS_H
#define RQL_CL_TASK_ROUNDS_H

#include "cl/device/accelerator.h"

#include "engine/backend/backend.h"

/* As in struct backend_ops. rounds_open builds the programs; NULL: a task is not of such a form, or no memory. */
struct device_rounds *rounds_open(struct accelerator *accelerator, const struct rounds_job *job);
enum status rounds_run(struct device_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end);
bool rounds_finish(struct device_rounds *rounds);
void rounds_close(struct device_rounds *rounds);

#endif
