/* Loops of a program (engine/plan/code_loop.h): the steps of a round run on the rows that are still active.
 *
 * A loop has vectors of its own for its index, its states and what it reads from outside. When rows leave the loop,
 * their states are written to the results, and the vectors of the active rows are compacted. */
#ifndef RQL_ENGINE_EVALUATOR_LOOP_H
#define RQL_ENGINE_EVALUATOR_LOOP_H

#include "engine/evaluator/compile.h"

struct loop_state {
    reg state, first, next, out;
    size_t size; /* bytes of an element */
};

struct vector_loop {
    int32_t number;          /* in the program */
    int32_t begin, body_end; /* the round's steps, after the loop's own, */
    int32_t end;             /* and then their guards */
    int32_t checks, checks_end;
    reg index; /* in lane I32 or I64, as `narrow` says */
    bool narrow, reads_index;
    bool nested;            /* there is a loop in it */
    bool keeps_states;      /* of rows that have left: a round may fail, or has a loop */
    reg first, last, where; /* the range, in lane I64, and the rows that have one; outside of the loop */
    reg condition;          /* NO_REGISTER: always true */
    struct loop_state *states;
    size_t state_count;
    struct captures captures;
    struct loop_tile *tile; /* loop_tile.h; NULL: it has none */
    struct loop_flat *flat; /* loop_flat.c; NULL: likewise */
};

/* A worker's rows in a loop. */
struct loop_rows {
    uint16_t row[BLOCK_ROWS];  /* of the vectors outside */
    int64_t first[BLOCK_ROWS]; /* its index in the first round, */
    uint64_t left[BLOCK_ROWS]; /* and how many rounds its range has after that */
    uint8_t goes_on[BLOCK_ROWS], stays[BLOCK_ROWS];
    int count, gone; /* rows in the vectors; of these, those that have left */
    int64_t vain;    /* row-rounds computed for rows that had left, since the last compaction */
    uint64_t least;  /* minimum of `left` */
};

struct worker;

/* Runs a loop on the first `count` rows of its vectors; its FINALs are then computed. */
void loop_run(struct worker *worker, const struct vector_loop *loop, int count);

/* Marks in b->wanted what the LOOP v reads from outside. */
void loop_want_arguments(struct builder *b, value v);

/* Emits the steps of the LOOP v and assigns the vectors of its FINALs. */
void loop_emit(struct builder *b, value v);

/* Calls `use` for each vector of a loop: own, or read or written outside of it. For register allocation
 * (vector_layout.c). */
void loop_vectors(const struct vector_loop *loop, void (*use)(void *context, reg vector, bool own), void *context);

#endif
