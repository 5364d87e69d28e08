/* A job on the threads of the evaluator: its range of rows is cut into pieces, which threads take in order.
 *
 * Results do not depend on the number of threads: partial aggregates are exact and merge in any order (except those of
 * aggregate_in_order, which one thread computes, and user reduces, which are kept by piece), and filtered rows are
 * written in the order of pieces. A range may have any size: cancellation is checked before each piece. */
#ifndef RQL_ENGINE_EVALUATOR_PIECES_H
#define RQL_ENGINE_EVALUATOR_PIECES_H

#include "base/thread_pool.h"
#include "engine/backend/backend.h"

/* Runs the job, whose columns are in memory, on `most` threads of the pool or fewer, into `states` (one an aggregate of
 * its task) or `sink`; the other is NULL. Sets *flagged if a row is one for the exact evaluator. STATUS_OK or
 * STATUS_CANCELLED. */
enum status run_pieces(struct thread_pool *pool, int most, const struct job *job, struct agg_state *states,
                       struct row_sink *sink, bool *flagged);

#endif
