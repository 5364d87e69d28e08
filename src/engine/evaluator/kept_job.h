/* A job that runs again and again on the same columns, whose elements change in between: its program is made once. */
#ifndef RQL_ENGINE_EVALUATOR_KEPT_JOB_H
#define RQL_ENGINE_EVALUATOR_KEPT_JOB_H

#include "base/thread_pool.h"
#include "engine/backend/backend.h"

/* Parameters as of backend_ops.keep; on the threads of the pool. */
struct kept_job *kept_job_new(const struct job *job, struct column *const *columns, struct thread_pool *pool);
enum status kept_job_run(struct kept_job *kept, struct agg_state *states, bool *flagged);
void kept_job_free(struct kept_job *kept);

#endif
