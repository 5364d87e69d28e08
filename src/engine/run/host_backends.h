/* Which backends write their results to host memory. */
#ifndef RQL_ENGINE_RUN_HOST_BACKENDS_H
#define RQL_ENGINE_RUN_HOST_BACKENDS_H

#include "engine/run/run.h"

/* Whether the backend's results are in host memory; false while that is unknown because it has not started. */
bool backend_on_host(struct backend *backend);

/* Whether backend_on_host holds for every backend that may run a task. */
bool runs_on_host(const struct runner *runner);

/* Whether the run may use a GPU that has started. */
bool runs_on_gpu(const struct runner *runner);

#endif
