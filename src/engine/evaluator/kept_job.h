/* A job that runs repeatedly on the same columns, whose elements change between runs: its program is compiled once. */
#ifndef RQL_ENGINE_EVALUATOR_KEPT_JOB_H
#define RQL_ENGINE_EVALUATOR_KEPT_JOB_H

#include "base/thread_pool.h"
#include "engine/evaluator/worker.h"

enum { CACHED_BYTES = 1 << 20 }; /* stay in a core's cache from round to round */

/* A thread's part. */
struct kept_member {
    struct kept_job *kept;
    struct arena *arena;
    struct worker *worker;
    struct agg_state *states;
    void **destinations;
};

struct kept_job {
    struct arena *arena;
    struct job job;
    const struct program *program;
    struct column *const *columns;
    struct thread_pool *pool;
    struct kept_member *members;
    int threads;
    uint64_t runs;
    int64_t piece_rows;
    bool nontemporal;
    _Atomic int64_t next;
    _Atomic bool flagged, cancelled;
};

/* Compiles the job. `columns` are those of the outputs, with all of the job's rows, NULL where not needed; or NULL, for
 * its aggregates. Returns NULL for filters, windows and aggregates in order, and without memory. Everything that the
 * job points to must outlive the result. */
struct kept_job *kept_job_new(const struct job *job, struct column *const *columns, struct thread_pool *pool);
/* Runs it: writes its columns, or merges its aggregates into `states`. Sets *flagged if a checked operation may have
 * failed. */
enum status kept_job_run(struct kept_job *kept, struct agg_state *states, bool *flagged);
/* Runs the task rows begin .. begin+count-1 on the calling thread. */
void kept_job_run_piece(struct kept_member *member, int64_t begin, int64_t count);

void kept_job_free(struct kept_job *kept); /* NULL is allowed */

#endif
