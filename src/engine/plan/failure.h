/* An operation that failed on some row, and what it was given there. */
#ifndef RQL_ENGINE_PLAN_FAILURE_H
#define RQL_ENGINE_PLAN_FAILURE_H

#include "engine/plan/task.h"

union datum; /* datum.h */

struct failure {
    const struct task *task; /* NULL: a constant expression, of no stage and no row */
    const struct code *code;
    const struct input *inputs; /* of that code; NULL: it has none */
    const struct instr *instr;
    int64_t row;
    int64_t a, b;  /* the arguments, */
    double number; /* or that of TO_INT */
    int64_t rows;  /* GATHER: how many elements there are */
    /* The code's values at that row, as far as computed[v] is computed_for; NULL: not at hand. */
    const union datum *values;
    const int64_t *computed;
    int64_t computed_for;
};

#endif
