/* Which backends write their results to host memory. */
#ifndef RQL_ENGINE_RUN_HOST_BACKENDS_H
#define RQL_ENGINE_RUN_HOST_BACKENDS_H

#include "engine/run/run.h"

/* Whether what a backend writes is in this memory at once; not known of one that has not started. */
bool backend_on_host(struct backend *backend);
bool runs_on_host(const struct runner *runner); /* all that it may choose */

#endif
