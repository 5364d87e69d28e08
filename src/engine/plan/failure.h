/* An operation that failed on a row, and its arguments. */
#ifndef RQL_ENGINE_PLAN_FAILURE_H
#define RQL_ENGINE_PLAN_FAILURE_H

#include "engine/plan/task.h"

union datum; /* datum.h */

struct failure {
    const struct task *task; /* NULL: a constant expression, without stage and row */
    const struct code *code;
    const struct input *inputs; /* of the code; NULL: it has none */
    const struct instr *instr;
    int64_t row;
    bool looped;   /* within a LOOP: */
    int64_t round; /* in this round of it */
    int64_t a, b;  /* the arguments, */
    double number; /* or TO_INT's argument */
    int64_t rows;  /* GATHER: the number of elements */
    /* The code's values at that row where computed[v] == computed_for; NULL: unavailable. */
    const union datum *values;
    const int64_t *computed;
    int64_t computed_for;
};

#endif
