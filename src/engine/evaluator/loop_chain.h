/* Chains of a loop's tile: additions one after another, of products or of squares of differences of a value from
 * outside and an element that is one for all rows, as a distance from a point is. Such sums stay in registers, and
 * those of some rounds are computed together (engine/vector/term_sum.h). */
#ifndef RQL_ENGINE_EVALUATOR_LOOP_CHAIN_H
#define RQL_ENGINE_EVALUATOR_LOOP_CHAIN_H

#include "engine/evaluator/loop_tile.h"

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

/* Finds the chains of a tile whose steps are listed; those that compute nothing but a chain's terms then refer to it.
 */
void tile_find_chains(struct loop_tile *tile, const struct vector_loop *loop, struct program *program,
                      struct arena *arena);

/* A worker's chain, for at most TILE_ROWS rows. All that it points to is in the worker's arena. */
struct chain_run {
    bool runs; /* else its steps do */
    const double **x, **y;
    int64_t *y_round;
    double *sums; /* of rounds `first` .. `end`-1, TILE_ROWS a round */
    int64_t first, end;
};

struct chain_run *chain_runs_new(const struct program *program, struct arena *arena);

/* Begins the tile's chains for rows from `begin` on, whose captures are set. */
void chains_begin(struct worker *worker, const struct loop_tile *tile, const enum element_place *places, int begin);

/* Sets the chain's sums of the round for `count` rows, before round `rounds`. */
void chain_run_round(struct worker *worker, const struct loop_tile *tile, int chain, int64_t round, int64_t rounds,
                     int count);

#endif
