/* Loops of a program (engine/plan/code_loop.h): a round's steps on the rows that are still in the loop.
 *
 * A loop has vectors of its own for its index, its states and what it reads from outside. When a row leaves the loop,
 * its states are written to the results, and the other rows' values are moved together. */
#ifndef RQL_ENGINE_EVALUATOR_LOOP_H
#define RQL_ENGINE_EVALUATOR_LOOP_H

#include "engine/evaluator/compile.h"

struct loop_state {
    reg state, first, next, out;
    size_t size; /* bytes of an element */
};

struct loop_capture {
    reg outer, inner;
    size_t size;
};

struct vector_loop {
    int32_t number;          /* in the program */
    int32_t begin, body_end; /* the round's steps, after the loop's own, */
    int32_t end;             /* and then their guards */
    int32_t checks, checks_end;
    reg index; /* in lane I32 or I64, as `narrow` says */
    bool narrow, reads_index;
    bool nested;            /* there is a loop in it */
    reg first, last, where; /* the range, in lane I64, and the rows that have one; outside of the loop */
    reg condition;          /* NO_REGISTER: always true */
    struct loop_state *states;
    size_t state_count;
    struct loop_capture *captures;
    size_t capture_count;
    struct loop_tile *tile; /* loop_tile.h; NULL: it has none */
    struct loop_flat *flat; /* loop_flat.h; NULL: likewise */
};

/* A worker's rows in a loop. */
struct loop_rows {
    uint16_t row[BLOCK_ROWS];  /* of the vectors outside */
    int64_t first[BLOCK_ROWS]; /* its index in the first round, */
    uint64_t left[BLOCK_ROWS]; /* and how many rounds its range has after that */
    uint8_t goes_on[BLOCK_ROWS], stays[BLOCK_ROWS];
    int count, gone; /* rows in the vectors; of these, those that have left */
    int64_t vain;    /* what was computed for such rows, in rows */
    uint64_t least;  /* of `left` */
};

struct worker;

/* Runs a loop on `count` rows. */
void loop_run(struct worker *worker, const struct vector_loop *loop, int count);

/* Marks as wanted what the LOOP v reads from outside. */
void loop_want_arguments(struct builder *b, value v);

/* Adds the steps of the LOOP v; its FINALs then have vectors. */
void loop_emit(struct builder *b, value v);

/* Calls `use` for the vectors that a loop has of its own, and those that it reads and writes at its begin and end. */
void loop_vectors(const struct vector_loop *loop, void (*use)(void *context, reg vector, bool own), void *context);

#endif
