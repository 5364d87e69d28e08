/* Division of integers by a literal as OpenCL C: a multiplication by its reciprocal (engine/const_divide.h), which
 * vectorises and, the reciprocal being an argument, is the same program for all divisors. */
#ifndef RQL_CL_CODEGEN_DIVIDE_CONST_H
#define RQL_CL_CODEGEN_DIVIDE_CONST_H

#include "engine/plan/code.h"

struct divide_const {
    const char *number;   /* of the value: the 3 of "v3"; names for what is in between end in it too */
    const char *dividend; /* an expression in `work` */
    const char *divisor;  /* the argument: a struct divisor as uint4 or a struct long_divisor as ulong4 */
    enum lane work;       /* LANE_I32 or LANE_I64: what is divided */
    const char *type;     /* of the result: "int" or "long" */
    int width;
    bool small; /* in LANE_I64: the magnitudes of what is divided and of the divisor have 32 bits */
    bool remainder;
    bool checked; /* gives the mask of failures, "f3", too */
};

/* Appends the statements. */
void divide_const_emit(struct strbuf *out, const struct divide_const *quotient);

#endif
