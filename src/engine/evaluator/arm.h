/* Arms of ?: that are computed only for the rows that take them.
 *
 * Values that only one arm of a ?: reads, if they are expensive enough, are a sequence of steps of their own. If few
 * rows of a block take the arm, its operands are packed (compacted) before these steps and the result is scattered back
 * afterwards; if no row takes it, the steps are skipped. Failures are recorded by the rows of the block, so guards work
 * as elsewhere. Measured, Xeon with two threads, 10^7 rows: an exponential of a tenth of the rows 4.4 times as fast, of
 * half of them 1.6, a division of a tenth 2.0, a fold of 20 terms 3.4. */
#ifndef RQL_ENGINE_EVALUATOR_ARM_H
#define RQL_ENGINE_EVALUATOR_ARM_H

#include "engine/evaluator/compile.h"

struct arm {
    int32_t number;     /* in the program */
    int32_t begin, end; /* its steps */
    reg condition;
    bool negated; /* the rows for which the condition is false take it */
    reg result;   /* of its steps */
    reg other;    /* the result of the rows that do not take it; NO_REGISTER: not computed yet */
    reg out;
    enum lane lane;     /* of the last three */
    int cost, overhead; /* of a row: of its steps, and of packing and spreading, in additions */
    struct captures captures;
};

/* A worker's rows in an arm. */
struct arm_rows {
    uint8_t mask[BLOCK_ROWS];
    uint16_t row[BLOCK_ROWS];      /* of the vectors outside, */
    uint16_t of_block[BLOCK_ROWS]; /* and of the block */
};

struct worker;

/* Returns, for each value of the task's code, the number of the arm that alone reads it; NO_ARM if several read it or
 * the arm is too cheap. NULL: the code is too long for this analysis. */
enum { NO_ARM = INT32_MAX };
int32_t *arms_find(const struct task *task, struct arena *arena);

/* Whether an arm of the SELECT v has steps of its own. */
bool arms_has(const struct builder *b, value v);

/* Marks the arguments of such a SELECT in b->wanted. */
void arms_want_arguments(struct builder *b, value v);

/* Emits the steps of such a SELECT and assigns its vector. */
void arms_emit(struct builder *b, value v);

/* Calls `use` for each vector of an arm: own, or read from outside. For register allocation (vector_layout.c). */
void arm_vectors(const struct arm *arm, void (*use)(void *context, reg vector, bool own), void *context);

/* Runs an arm on `count` rows; returns whether some row failed. */
bool arm_run(struct worker *worker, const struct arm *arm, int count);

#endif
