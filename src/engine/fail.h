/* The error of an operation that has no result: what, in which stage, at which row, and how to avoid it. */
#ifndef RQL_ENGINE_FAIL_H
#define RQL_ENGINE_FAIL_H

#include "task.h"

struct failure {
    const struct task *task; /* NULL: a constant expression, of no stage and no row */
    const struct code *code;
    const struct instr *instr;
    int64_t row;
    int64_t a, b;  /* the arguments, */
    double number; /* or that of TO_INT */
};

/* Records the error; returns STATUS_FAILED. */
enum status fail_operation(const struct failure *failure, struct diags *diags);

#endif
