/* A worker's state, shared by what runs blocks (block.c) and what gathers rows into one (gather.c). */
#ifndef RQL_ENGINE_EVALUATOR_WORKER_H
#define RQL_ENGINE_EVALUATOR_WORKER_H

#include "engine/evaluator/arm.h"
#include "engine/evaluator/block.h"
#include "engine/evaluator/loop_tile.h"
#include "engine/vector/ahead.h"
#include "engine/vector/ops.h"

/* gather.c: gathering: where few rows pass the leading filter, those of many blocks are copied into one block before
 * the rest of the program runs, and only their elements of the other columns are read from memory. Measured, Xeon with
 * two threads, 10^7 rows of which one in 1000 passes: 1.8 to 2.2 times as fast. */

struct worker;

struct gather {
    bool off;                  /* too many rows of the current piece pass */
    int64_t skipped;           /* rows, of all pieces, whose other columns were not read */
    uint16_t rows[BLOCK_ROWS]; /* that passed, counted from the first row scanned */
};

/* Runs the leading filter on `count` task rows from `row`, or on fewer, and loads the rows that pass as one block.
 * `count` is at most UINT16_MAX + 1. Returns how many passed; `*scanned` is how many rows were scanned, 0 if too many
 * of the first block pass. */
int gather_block(struct worker *worker, int64_t row, int64_t count, int64_t *scanned);

/* Hardware prefetch stops at page ends, and a block of a column fills a page. So the next block is prefetched in the
 * course of the loops over this one. */
struct prefetch {
    size_t left;   /* bytes */
    size_t shares; /* loops that have some of these, */
    size_t share;  /* so many each until the column ends */
    size_t column; /* of program->stored: the next, */
    size_t done;   /* of whose block so many bytes are prefetched */
    size_t gap;    /* rows between this block and that one */
};

struct worker {
    const struct program *program;
    unsigned char *memory;
    const void **at;        /* each vector's values in the current block, */
    unsigned char **places; /* and where a step writes them */
    int64_t row;            /* the block's first task row */
    int rows;               /* in the block */
    const uint16_t *index;  /* selection vector; NULL: all rows */
    const uint8_t *mask;    /* the same as a mask, where packing by it is quicker; else NULL */
    uint16_t selection[BLOCK_ROWS + 2];
    bool flagged;
    bool *failing;            /* checks with failures in this block */
    uint8_t *failures;        /* and in which rows: BLOCK_ROWS bytes a check */
    uint8_t fail[BLOCK_ROWS]; /* failures of the current step */
    size_t body_loops;        /* loops over the rows that pass, for what the worker makes of them */
    bool few_pass;            /* rows of the block before: the loops over them are short */
    bool cached;              /* all columns are in a cache: they are not prefetched */
    int64_t end;              /* of the piece, */
    int64_t gap;              /* and rows from there to the next one, as is expected */
    struct prefetch prefetch;
    struct gather gather;
    struct loop_rows **loops;           /* of each loop of the program, */
    struct arm_rows **arms;             /* and of each arm of ?: */
    const uint16_t *packed;             /* the block's rows that an arm's steps run on; NULL: all */
    unsigned char *staged_states;       /* a block of each state of a loop */
    enum element_place *element_places; /* of each element that a loop's tile reads (loop_tile_run.c) */
    struct chain_run *chains;           /* of each chain of such a tile */
    struct pairwise **pairings;         /* of each aggregate that is folded pairwise */
};

/* Runs the leading filter on the `count` task rows from `row`, at most a block; returns its mask. */
const uint8_t *worker_run_leading(struct worker *worker, int64_t row, int count);

bool worker_is_cancelled(const struct worker *worker);

/* Points a vector to the worker's own memory for it. */
static inline void *worker_own(struct worker *worker, reg vector)
{
    void *at = worker->memory + worker->program->vectors[vector].place;
    worker->at[vector] = at;
    return at;
}

/* Runs steps begin .. end-1 on `count` rows; returns whether some row failed. */
bool worker_run_steps(struct worker *worker, int32_t begin, int32_t end, int count);

/* Flags the failures of checks begin .. end-1 in rows where the guard, computed by now, is true. */
void worker_settle_failures(struct worker *worker, int32_t begin, int32_t end, int count);

#endif
