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

/* skewed_rounds.c: many rounds of a job in one pass over memory, by time skewing (Wonnacott, 2002).
 *
 * Round t + 1 follows round t at the distance at which rows read each other, on the same two sets of columns, so that
 * the rows in between stay in a core's cache. Threads take groups of rounds, and each group follows the one before it.
 *
 * A diffusion of 1000 x 1000 cells in 2000 rounds takes 1.4 s of processor time instead of 2.5, one of 3000 x 3000 in
 * 200 rounds 1.4 instead of 2.6 (EPYC, 2 cores). */

struct skewed_rounds;

/* For the rounds of a single task without conditions, whose program is that of `even`; the arguments must outlive the
 * result. NULL: it would not pay, a value may fail, or rows read others at any position. */
struct skewed_rounds *skewed_rounds_open(const struct rounds_job *rounds, struct kept_job *even, struct arena *arena);

/* Runs `rounds` rounds. Afterwards the state is in the columns before a round, or in those after it if the number is
 * odd. STATUS_CANCELLED: the columns are worthless. */
enum status skewed_rounds_run(struct skewed_rounds *skewed, int64_t rounds);

void skewed_rounds_close(struct skewed_rounds *skewed); /* NULL is allowed; `even` stays open */

#endif
