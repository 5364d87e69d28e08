/* Tree reduction by a user's associative function, a vector at a time: adjacent values are combined until one is left.
 */
#ifndef RQL_ENGINE_EVALUATOR_PAIRWISE_REDUCE_H
#define RQL_ENGINE_EVALUATOR_PAIRWISE_REDUCE_H

#include "engine/backend/aggregate.h"
#include "engine/backend/user_reduce.h"

struct pairwise;

/* `reducer` is prepared and not one of floats. The vectors are in `arena`. */
struct pairwise *pairwise_new(const struct user_reduce *reducer, struct arena *arena);

/* Adds up to BLOCK_ROWS values, bools in bytes or 64-bit integers, to the state of the rows before. Sets `failed` if
 * some combination may have no result. */
void pairwise_fold(struct pairwise *pairwise, const void *values, int count, struct agg_state *state);

#endif
