/* A job on the threads of the evaluator: its range of rows is cut into pieces, which threads take in order.
 *
 * Results do not depend on the number of threads: partial aggregates are exact and merge in any order (except those of
 * aggregate_in_order, which one thread computes, and user reduces, which are kept by piece), and filtered rows are
 * written in the order of pieces. A range may have any size: cancellation is checked before each piece. */
#ifndef RQL_ENGINE_EVALUATOR_PIECES_H
#define RQL_ENGINE_EVALUATOR_PIECES_H

#include "base/thread_pool.h"
#include "engine/backend/backend.h"
#include "engine/operators/group_stream.h"

/* Runs the job, whose columns are in memory, on `most` threads of the pool or fewer, into `states` (one an aggregate of
 * its task) or `sink`; the other is NULL. Sets *flagged if a row is one for the exact evaluator. STATUS_OK or
 * STATUS_CANCELLED. */
enum status run_pieces(struct thread_pool *pool, int most, const struct job *job, struct agg_state *states,
                       struct row_sink *sink, bool *flagged);

/* group_rows.c: groups rows as they are computed: each thread writes the rows of a piece to columns that stay in its
 * cache. */

/* A stream for the threads of the pool; NULL for the reasons of group_stream_open. */
struct group_stream *group_rows_open(const struct operator_job *job, struct thread_pool *thread_pool);

/* Adds the rows of the job's range that pass its filters to the stream. *flagged: a checked operation may have failed,
 * and the stream is worthless. Statuses: OK and CANCELLED. */
enum status group_rows_run(const struct job *job, struct group_stream *stream, struct thread_pool *thread_pool,
                           bool *flagged);

/* rounds.c: rounds of a loop on the evaluator: the program of each task is compiled once. */

/* The functions of struct backend_ops for rounds, on the threads of the pool. */
struct backend_rounds *host_rounds_open(const struct rounds_job *job, struct thread_pool *pool);
enum status host_rounds_run(struct backend_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end);
bool host_rounds_finish(struct backend_rounds *rounds);
void host_rounds_close(struct backend_rounds *rounds);

#endif
