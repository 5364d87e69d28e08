/* Folds of a column's elements, read as several streams.
 *
 * A processor looks ahead in each stream by itself, but only up to the end of a page, and reads pages of several
 * streams at once. */
#ifndef RQL_ENGINE_EVALUATOR_FOLD_STREAMS_H
#define RQL_ENGINE_EVALUATOR_FOLD_STREAMS_H

#include "engine/vector/ops.h"

enum { FOLD_STREAMS = 4, FOLD_STRIP_BYTES = 1024 /* of a stream, before it is the next one's turn */ };

/* Folds `count` elements of `size` bytes, in another order than theirs. */
void fold_streams(fold_fn *fold, struct agg_state *state, const void *elements, size_t size, int count);

#endif
