#include "engine/plan/assertion.h"

/* The least count that a shift does not take. */
enum { TOO_FAR = 64 };

static bool is_int(const struct code *code, value v, int64_t integer)
{
    const struct instr *instr = &code->at[v];
    return instr->op == OP_CONST && instr->kind == KIND_INT && instr->integer == integer;
}

value assertion_add(struct code *code, value condition, struct span span)
{
    value zero = code_exact_int(code, 0, span), too_far = code_exact_int(code, TOO_FAR, span);
    value one = code_exact_int(code, 1, span);
    value count = code_op(code, OP_SELECT, condition, zero, too_far, span);
    value shifted = code_op(code, OP_SHL, one, count, NO_VALUE, span);
    return code_op(code, OP_EQ, shifted, one, NO_VALUE, span);
}

value condition_of_shift(const struct code *code, value shift)
{
    const struct instr *instr = &code->at[shift];
    if (instr->op != OP_SHL || !is_int(code, instr->args[0], 1))
        return NO_VALUE;
    const struct instr *count = &code->at[instr->args[1]];
    bool chosen = count->op == OP_SELECT && is_int(code, count->args[1], 0) && is_int(code, count->args[2], TOO_FAR);
    return chosen ? count->args[0] : NO_VALUE;
}

value assertion_condition(const struct code *code, value filter)
{
    const struct instr *instr = &code->at[filter];
    return instr->op == OP_EQ && is_int(code, instr->args[1], 1) ? condition_of_shift(code, instr->args[0]) : NO_VALUE;
}

bool is_assertion_shift(const struct code *code, value v)
{
    const struct instr *instr = &code->at[v];
    return instr->op == OP_SHL && (condition_of_shift(code, v) != NO_VALUE || is_int(code, instr->args[1], TOO_FAR));
}
