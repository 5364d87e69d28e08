/* Arms of ?: that are computed for the rows that take them.
 *
 * What only one arm of a ?: reads, and is worth it, is a run of steps of its own. Of a block in which few rows take the
 * arm, what the steps read is packed and their result is spread; where no row takes it, nothing is computed. Failed
 * rows are noted as those of the block, so guards are as elsewhere. */
#ifndef RQL_ENGINE_EVALUATOR_ARM_H
#define RQL_ENGINE_EVALUATOR_ARM_H

#include "engine/evaluator/compile.h"

struct arm_capture {
    reg outer, inner;
    size_t size; /* bytes of an element */
};

struct arm {
    int32_t number;     /* in the program */
    int32_t begin, end; /* its steps */
    reg condition;
    bool negated; /* the rows for which the condition does not hold take it */
    reg result;   /* of its steps */
    reg other;    /* what the other rows have; NO_REGISTER: nothing yet */
    reg out;
    enum lane lane;     /* of the last three */
    int cost, overhead; /* of a row: of its steps, and of packing and spreading, in additions */
    struct arm_capture *captures;
    size_t capture_count;
};

/* A worker's rows in an arm. */
struct arm_rows {
    uint8_t mask[BLOCK_ROWS];
    uint16_t row[BLOCK_ROWS];      /* of the vectors outside, */
    uint16_t of_block[BLOCK_ROWS]; /* and of the block */
};

struct worker;

/* For each value the arm that alone reads it, as arm_number; NO_ARM: none, or none that is worth it. NULL: the code is
 * too long for arms of their own. */
enum { NO_ARM = INT32_MAX };
int32_t *arms_find(const struct task *task, struct arena *arena);

/* Whether some arm of the SELECT v is computed so. */
bool arms_has(const struct builder *b, value v);

/* Marks as wanted what such a SELECT reads. */
void arms_want_arguments(struct builder *b, value v);

/* Adds the steps of such a SELECT, which then has its vector. */
void arms_emit(struct builder *b, value v);

/* Calls `use` for the vectors that an arm has of its own, and those that it reads. */
void arm_vectors(const struct arm *arm, void (*use)(void *context, reg vector, bool own), void *context);

/* Runs an arm on `count` rows; returns whether some row failed. */
bool arm_run(struct worker *worker, const struct arm *arm, int count);

#endif
