/* Loops that run in tiles: some rows, and all of their rounds, before the next rows.
 *
 * Where the position of an element moves by a constant from round to round, its first position tells all others: so
 * that they are inside of the column is known before the rounds, and rounds compute no positions. Rows next to each
 * other read one element, or elements side by side, which needs no copy, or any. Compensated sums are one step. A sum
 * of products of such elements is added in registers (engine/vector/product_sum.h). */
#ifndef RQL_ENGINE_EVALUATOR_LOOP_TILE_H
#define RQL_ENGINE_EVALUATOR_LOOP_TILE_H

#include "engine/evaluator/loop.h"
#include "engine/plan/code_loop.h"

enum {
    TILE_SUM_STATES = 4,
    TILE_ROWS = 512, /* what a round computes of them stays in a core's first cache */
};

/* Where the elements are that some rows read in a round. */
enum element_place { PLACE_ONE, PLACE_SIDE_BY_SIDE, PLACE_ANYWHERE };

/* An element that rounds read. */
struct tile_element {
    const struct step *gather;
    const struct column *column; /* the gather's, or a copy in the lane's type */
    enum lane lane;
    reg position; /* in the first round, as a tile_bound's */
    int64_t step; /* from a round to the next */
    int same;     /* the first element with these positions */
    bool fills;   /* where it is one for several rows, some step needs it in a vector */
};

/* A position that must be in 0 .. limit-1. */
struct tile_bound {
    reg computed; /* where the first round's steps have it, lane I64 */
    reg position; /* its copy, which stays in all rounds */
    int64_t step, limit;
};

/* A compensated sum: four states, and what is added. */
struct tile_sum {
    size_t state; /* the first of them */
    reg term;
};

/* What a round does, in order: a step, reads an element, or adds to a sum. */
struct tile_step {
    const struct step *step; /* or NULL */
    int element, sum;        /* or -1 */
    int second; /* an element that is the step's second argument, where it may be one for all rows; or -1 */
    int chain;  /* computes nothing but terms of this chain (loop_chain.h), or its sum; or -1 */
};

/* The loop as one sum of products of elements. */
struct tile_product {
    bool is;
    int x, y; /* elements */
    enum lane factors, sum;
    int64_t most; /* as in a product_sum */
};

struct loop_tile {
    struct step *positions; /* compute the positions in the first round */
    size_t position_count;
    struct tile_step *steps;
    size_t step_count;
    bool checked; /* some step may fail */
    struct tile_element *elements;
    size_t element_count;
    struct tile_bound *bounds;
    size_t bound_count;
    struct tile_sum *sums;
    size_t sum_count;
    bool *in_sum; /* of each state */
    struct tile_chain *chains;
    size_t chain_count;
    struct tile_product product;
};

/* The tile of the loop v, whose steps are there; NULL: it has none. `b` is the builder of its steps. */
struct loop_tile *loop_tile_new(const struct builder *b, const struct vector_loop *loop, value v,
                                const struct loop_values *values);

/* Whether it may have one, if its steps are those of all rows. */
bool loop_may_tile(const struct builder *b, value v, const struct loop_values *values);

/* Runs a step on `count` rows of the loop's vectors; `uniform`: its second argument is one value. Returns whether some
 * row failed. */
bool loop_step_run(struct worker *worker, const struct step *step, bool uniform, int count);

/* Runs `rounds` rounds from round `first` on the rows, none of which has left. The index, captures and states are set.
 * Returns false, with the states as they were, if a position is outside or something else needs the loop's own steps.
 */
bool loop_tile_run(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows, int64_t first,
                   int64_t rounds);

#endif
