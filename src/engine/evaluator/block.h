/* Runs a program, a block of rows at a time. A thread has a worker of its own. */
#ifndef RQL_ENGINE_EVALUATOR_BLOCK_H
#define RQL_ENGINE_EVALUATOR_BLOCK_H

#include "engine/backend/aggregate.h"
#include "engine/backend/user_reduce.h"
#include "engine/evaluator/program.h"

struct worker;

/* A worker and its vectors, in `arena`. */
struct worker *worker_new(const struct program *program, struct arena *arena);

/* Whether a checked operation failed where its value is read; the worker's results are then invalid. */
bool worker_flagged(const struct worker *worker);

/* Sets the expected distance in rows from the end of a piece to the begin of the worker's next one, which is
 * prefetched.
 */
void worker_set_gap(struct worker *worker, int64_t rows);

/* Bytes of columns that were not read because their rows did not pass the leading filter. */
int64_t worker_skipped_bytes(const struct worker *worker);

/* Aggregates task rows begin .. begin+count-1 into `states`, one for each of the program's aggregates; at most a piece.
 */
void worker_aggregate(struct worker *worker, int64_t begin, int64_t count, struct agg_state *states);

/* Writes the rows among begin .. begin+count-1 that pass, at most a piece, to destinations[i] for the i-th of the
 * program's outputs, and returns how many passed. Each destination holds `count` rows. */
int64_t worker_rows(struct worker *worker, int64_t begin, int64_t count, void *const *destinations);

/* pairwise_reduce.c: tree reduction by a user's associative function, a vector at a time: adjacent values are
 * combined until one is left. */

struct pairwise;

/* `reducer` is prepared and not one of floats. The vectors are in `arena`. */
struct pairwise *pairwise_new(const struct user_reduce *reducer, struct arena *arena);

/* Adds up to BLOCK_ROWS values, bools in bytes or 64-bit integers, to the state of the rows before. Sets `failed` if
 * some combination may have no result. */
void pairwise_fold(struct pairwise *pairwise, const void *values, int count, struct agg_state *state);

#endif
