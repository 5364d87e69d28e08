/* Division of integers by a literal as OpenCL C: multiplication by its reciprocal (engine/values/const_divide.h), which
 * vectorises. The reciprocal is a kernel argument, so all divisors share a program, but for powers of two, by which a
 * shift divides. */
#ifndef RQL_CL_CODEGEN_DIVIDE_CONST_H
#define RQL_CL_CODEGEN_DIVIDE_CONST_H

#include "engine/plan/code.h"

struct divide_const {
    const char *number;   /* of the value: the 3 of "v3"; names of temporaries end in it too */
    const char *dividend; /* an expression in `work` */
    const char *divisor;  /* the argument: a struct divisor as uint4 or a struct long_divisor as ulong4 */
    enum lane work;       /* LANE_I32 or LANE_I64: the lane of the dividend */
    const char *type;     /* of the result: "int" or "long" */
    bool power;           /* the divisor is a power of two, from 2 on */
    bool remainder;
    bool checked; /* also compute the failure mask, "f3" */
};

/* Appends the statements. */
void divide_const_emit(struct strbuf *out, const struct divide_const *quotient);

#endif
