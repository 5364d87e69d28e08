/* Operations of typed code as OpenCL C: the table that the emitter reads. */
#ifndef RQL_CL_CODEGEN_OP_TEMPLATES_H
#define RQL_CL_CODEGEN_OP_TEMPLATES_H

#include "engine/plan/code.h"

/* Which machine type an operation's arguments are brought to before it. */
enum work {
    WORK_WIDEST,  /* integers: the widest of the arguments and the result, 64 bits if checked */
    WORK_DIVIDE,  /* the same, but 32 bits are enough for the check */
    WORK_COMPARE, /* the widest of the arguments */
    WORK_MASK,    /* booleans */
    WORK_LONG,
    WORK_DOUBLE,
    WORK_CALL, /* doubles; the expression is the name of a library function */
    WORK_MIXED /* the first argument 64 bits, the second a double */
};

/* What the expression gives. */
enum op_result_type {
    RESULT_WORK,    /* the type worked in */
    RESULT_COMPARE, /* a comparison in the type worked in, still to become a mask */
    RESULT_INT,
    RESULT_LONG,
    RESULT_DOUBLE
};

/* In the templates: $a $b $c are the arguments, $m the first one as a mask as wide as the type worked in, $n a number
 * of its own, $r the expression's value; $T and $U are the type worked in and its unsigned twin, $W the vectors' width,
 * $max the largest shift. Comparisons of vectors give 0 or -1 in each lane, of scalars 0 or 1; ?: takes either. */
struct op_template {
    enum op op;
    enum kind kind; /* of the arguments (of ?: the second) */
    enum work work;
    enum op_result_type result;
    const char *before; /* a statement that the expression needs, or NULL */
    const char *expression;
    const char *fails; /* for checked operations: a comparison that holds where there is no result */
};

/* NULL if the operation has no form for arguments of this kind. */
const struct op_template *op_template_of(enum op op, enum kind kind);

/* A call of a library function, four lanes at a time: on processors with AVX-512, PoCL 3.1's pow and fmod of eight
 * doubles are wrong for about one row in ten thousand. In the arena. */
const char *op_template_call(struct arena *arena, const char *function, int arity, const char *const *args, int width);

#endif
