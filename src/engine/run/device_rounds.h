/* Rounds of a loop on a device, in batches: the host enqueues all kernels of a batch and synchronises once after it. */
#ifndef RQL_ENGINE_RUN_DEVICE_ROUNDS_H
#define RQL_ENGINE_RUN_DEVICE_ROUNDS_H

#include "engine/backend/backend.h"
#include "engine/plan/loop.h"

struct rounds_on_device;

/* Prepares the rounds of `loop` on a state of `rows` rows. The arguments must outlive the result. NULL: the backend has
 * no device rounds of this form. */
struct rounds_on_device *rounds_on_device_open(struct backend *backend, const struct rounds_job *job,
                                               const struct loop *loop, int64_t rows, struct arena *arena);

/* As kept_rounds_run. Afterwards the state is in job->state[] or, if *odd, in job->after[]. STATUS_FAILED: the device
 * has failed, and the state is lost. */
enum status rounds_on_device_run(struct rounds_on_device *rounds, int64_t *round, bool *done, bool *odd,
                                 struct progress *progress);

/* The number of batches that have run. */
int64_t rounds_on_device_batches(const struct rounds_on_device *rounds);

void rounds_on_device_close(struct rounds_on_device *rounds); /* NULL is allowed */

#endif
