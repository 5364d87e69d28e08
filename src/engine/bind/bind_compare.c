/* Comparisons, exact also between integers and floats. */
#include "engine/bind/bind_internal.h"

static value operation(struct scope *scope, enum op op, value a, value b, struct span span)
{
    return code_op(scope->code, op, a, b, NO_VALUE, span);
}

/* Whether every value of this integer is exact as a double. */
static bool fits_double(const struct scope *scope, value v)
{
    const struct instr *instr = &scope->code->at[v];
    const int64_t limit = INT64_C(1) << 53;
    switch (instr->op) {
    case OP_CONST:
        return instr->integer >= -limit && instr->integer <= limit;
    case OP_INPUT:
        return scope->flow != NULL && (uint64_t)instr->integer < scope->flow->count &&
               type_table[scope->flow->columns[instr->integer].type].size <= 4;
    case OP_BOOL_TO_INT:
    case OP_POPCOUNT:
    case OP_SIGN:
        return true;
    default:
        return false;
    }
}

/* Compares by the sign of a - b (-1, 0, 1; 2 beside a NaN), or of b - a if `swapped`. */
static value compare_by_sign(struct scope *scope, enum op op, value sign, bool swapped, struct span span)
{
    value zero = code_exact_int(scope->code, 0, span);
    if (op == OP_EQ || op == OP_NE || !swapped)
        return operation(scope, op, sign, zero, span);
    value one = code_exact_int(scope->code, 1, span);
    if (op == OP_LT)
        return operation(scope, OP_EQ, sign, one, span);
    value above = operation(scope, OP_LE, zero, sign, span);
    value ordered = operation(scope, OP_LE, sign, one, span);
    return operation(scope, OP_AND, above, ordered, span);
}

value bind_compare(struct scope *scope, enum op op, value a, value b, struct span span)
{
    a = bind_number(scope, a, span);
    b = bind_number(scope, b, span);
    const enum kind kind = scope->code->at[a].kind;
    if (kind == scope->code->at[b].kind)
        return operation(scope, op, a, b, span);
    const bool swapped = kind == KIND_FLOAT;
    value *integer = swapped ? &b : &a;
    if (!fits_double(scope, *integer)) {
        value sign = operation(scope, OP_CMP_INT_FLOAT, *integer, swapped ? a : b, span);
        return compare_by_sign(scope, op, sign, swapped, span);
    }
    *integer = operation(scope, OP_TO_FLOAT, *integer, NO_VALUE, span);
    return operation(scope, op, a, b, span);
}
