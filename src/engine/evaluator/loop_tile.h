/* Loops that run in tiles: all rounds of some rows before those of the next rows.
 *
 * Where the position of an element advances by a constant from round to round, it is an induction variable: bounds are
 * checked once before the rounds (range check elimination), and rounds compute no positions. In a round, adjacent rows
 * read the same element, adjacent elements, which need no copy, or any elements. A compensated sum is one step. A sum
 * of products of such elements is accumulated in registers (engine/vector/product_sum.h).
 *
 * On a 2-core EPYC, a product of matrices takes 7.5 times the time without tiles, n-body 1.75 times; without the
 * registers, a product of floats takes 2 times, of integers 9.6 times. */
#ifndef RQL_ENGINE_EVALUATOR_LOOP_TILE_H
#define RQL_ENGINE_EVALUATOR_LOOP_TILE_H

#include "engine/evaluator/loop.h"
#include "engine/plan/code_loop.h"

enum {
    TILE_ROWS = 512, /* the values of a round stay in the first-level cache */
};

/* How the elements that adjacent rows read in a round lie: one for all rows, adjacent, or anywhere. */
enum element_place { PLACE_ONE, PLACE_SIDE_BY_SIDE, PLACE_ANYWHERE };

/* An element that rounds read. */
struct tile_element {
    const struct step *gather;
    const struct column *column; /* the gather's, or a copy in the lane's type */
    enum lane lane;
    reg position; /* in the first round, as a tile_bound's */
    int64_t step; /* from a round to the next */
    int same;     /* the first element with these positions */
    bool fills;   /* where it is one for several rows, some step needs it broadcast to a vector */
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
    int second;    /* an element that is the step's second argument, where it may be one for all rows; or -1 */
    int chain;     /* computes nothing but terms of this chain (loop_chain.c), or its sum; or -1 */
    size_t behind; /* of a step that computes terms: the first step from here on that does not */
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

/* The tile of the loop v, whose steps have been emitted by `b`; NULL: it cannot run in tiles. In the arena of `b`. */
struct loop_tile *loop_tile_new(const struct builder *b, const struct vector_loop *loop, value v,
                                const struct loop_values *values);

/* Whether the loop v may have a tile; decided before its steps are emitted. */
bool loop_may_tile(const struct builder *b, value v, const struct loop_values *values);

/* Runs a step on `count` rows of the loop's vectors; `uniform`: its second argument is one value. Returns whether some
 * row failed. */
bool loop_step_run(struct worker *worker, const struct step *step, bool uniform, int count);

/* Runs `rounds` rounds from round `first` on the rows, none of which has left; the index, captures and states are set.
 * Returns false, with the states unchanged, if a position is out of bounds or a checked operation failed: then the
 * loop's own steps have to run. */
bool loop_tile_run(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows, int64_t first,
                   int64_t rounds);

/* loop_flat.c: loops that only sum, and whose rows have different numbers of rounds: the loop is flattened.
 *
 * The terms of all rows are numbered consecutively (segmented reduction). A full block of terms is computed at once,
 * whichever rows they belong to, and then added to the sums of those rows. On a 2-core EPYC, PageRank takes 2.3 times
 * the time without this form, and a product of a sparse matrix, with 0 to 19 terms a row, 2.2 times. */

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

/* The flattened form of a loop that has a tile, in the arena of `b`. NULL: it has states other than sums. */
struct loop_flat *loop_flat_new(const struct builder *b, const struct vector_loop *loop);

/* Runs all rounds of the rows, none of which has left. Returns false, with the states unchanged, if the rows have about
 * the same number of rounds, or if a checked operation failed, perhaps where it does not matter. Overwrites the vectors
 * of the captures. */
bool loop_flat_run(struct worker *worker, const struct vector_loop *loop, const struct loop_rows *rows, int count);

/* loop_chain.c: chains of a loop's tile: sums of products, or of squared differences, of a loop-invariant value and an
 * element that is the same for all rows, such as the squared distance from a point. The sums of several rounds are
 * computed together in registers (engine/vector/term_sum.c). On a 2-core EPYC, K-Means of points with 50 coordinates
 * takes 1.85 times the time without chains, and finding the nearest of 200 points in space 1.6 times. */

struct chain_term {
    reg row; /* a capture of the loop */
    int element;
};

struct tile_chain {
    bool squares;
    struct chain_term *terms;
    int term_count;
    size_t last; /* the step of the last addition */
};

/* Finds the chains of a tile whose steps are complete. Steps that only compute terms of a chain, or its sum, are set to
 * refer to it (tile_step.chain). */
void tile_find_chains(struct loop_tile *tile, const struct vector_loop *loop, struct program *program,
                      struct arena *arena);

/* A worker's chain, for at most TILE_ROWS rows. All that it points to is in the worker's arena. */
struct chain_run {
    bool runs;             /* else its steps are run one by one */
    const double **x, **y; /* of each term: its rows' values, and its element in round 0 */
    double *factors;       /* of each term, its elements in rounds `first` .. `end`-1 */
    double *sums;          /* of rounds `first` .. `end`-1, TILE_ROWS a round */
    int64_t first, end;
};

struct chain_run *chain_runs_new(const struct program *program, struct arena *arena);

/* Begins the tile's chains for the rows from `begin` on, after their captures have been set. */
void chains_begin(struct worker *worker, const struct loop_tile *tile, const enum element_place *places, int begin);

/* Computes the chain's sums of round `round` for `count` rows, and those of later rounds before `rounds` that fit its
 * buffer. */
void chain_run_round(struct worker *worker, const struct loop_tile *tile, int chain, int64_t round, int64_t rounds,
                     int count);

#endif
