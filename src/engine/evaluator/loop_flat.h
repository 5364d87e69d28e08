/* Loops of sums whose rows have unequally many rounds: the terms of all rows one after another.
 *
 * A block of terms is computed at once, whichever rows they are of, and then added to the sums of its rows. */
#ifndef RQL_ENGINE_EVALUATOR_LOOP_FLAT_H
#define RQL_ENGINE_EVALUATOR_LOOP_FLAT_H

#include "engine/evaluator/loop_tile.h"

/* A step, or one of the tile's sums, which adds a term. */
struct flat_step {
    const struct step *step; /* or NULL */
    int sum;                 /* or -1 */
    bool moves_on;           /* a GATHER whose positions are likely to be side by side */
};

struct loop_flat {
    struct flat_step *steps;
    size_t step_count;
};

/* The steps that compute terms, of a loop with a tile. NULL: it has other states than sums. */
struct loop_flat *loop_flat_new(const struct builder *b, const struct vector_loop *loop);

/* Runs all rounds of the rows, of which none has left. Returns false, with the states as they were, if the rows have
 * about equally many rounds, or something failed, for which it may not count. The vectors of the captures are not kept.
 */
bool loop_flat_run(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows, int count);

#endif
