/* Rounds of a loop on a device, in batches: within a batch the host does not look at what comes of them. */
#ifndef RQL_ENGINE_RUN_DEVICE_ROUNDS_H
#define RQL_ENGINE_RUN_DEVICE_ROUNDS_H

#include "engine/backend/backend.h"
#include "engine/plan/loop.h"

struct rounds_on_device;

/* All is borrowed; `rows` of the state. NULL: the backend cannot run them so. */
struct rounds_on_device *rounds_on_device_open(struct backend *backend, const struct rounds_job *job,
                                               const struct loop *loop, int64_t rows, struct arena *arena);

/* As kept_rounds_run. The state is then in the columns of the job, where *odd in those after a round. STATUS_FAILED:
 * the device has failed, and the state is lost. */
enum status rounds_on_device_run(struct rounds_on_device *rounds, int64_t *round, bool *done, bool *odd,
                                 struct progress *progress);

/* The number of batches that have run. */
int64_t rounds_on_device_batches(const struct rounds_on_device *rounds);

void rounds_on_device_close(struct rounds_on_device *rounds); /* NULL is allowed */

#endif
