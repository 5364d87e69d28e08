/* Operations of typed code as OpenCL C: the table of the emitter. */
#ifndef RQL_CL_CODEGEN_OP_TEMPLATES_H
#define RQL_CL_CODEGEN_OP_TEMPLATES_H

#include "engine/plan/code.h"

/* The type that arguments are converted to. */
enum work {
    WORK_WIDEST,  /* integers: the widest of the arguments and the result, 64 bits if checked */
    WORK_DIVIDE,  /* as WORK_WIDEST, but the check needs only 32 bits */
    WORK_COMPARE, /* the widest of the arguments */
    WORK_MASK,    /* booleans */
    WORK_LONG,
    WORK_DOUBLE,
    WORK_MIXED /* the first argument 64 bits, the second a double */
};

/* The type of the expression. */
enum op_result_type {
    RESULT_WORK,    /* the type of the arguments */
    RESULT_COMPARE, /* a comparison of those, still to be converted to a mask */
    RESULT_INT,
    RESULT_LONG,
    RESULT_DOUBLE
};

/* In the templates: $a $b $c are the arguments, of type $T (of a select, $a is a mask), $n a unique number, $r the
 * value of the expression; $U is the unsigned twin of $T, $max the largest shift. */
struct op_template {
    enum op op;
    enum kind kind; /* of the arguments (of select: the second) */
    enum work work;
    enum op_result_type result;
    const char *before; /* statement before the expression, or NULL */
    const char *expression;
    const char *fails; /* of checked operations: a comparison that holds where there is no result */
};

/* When a product of longs fails of which $y is an int: its upper half is put together from products of halves, for
 * which a GPU has instructions. Of one row. */
extern const char narrow_product_fails[];

/* Returns the template for arguments of this kind, or NULL. */
const struct op_template *op_template_of(enum op op, enum kind kind);

#endif
