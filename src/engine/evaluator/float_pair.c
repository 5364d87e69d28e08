#include "engine/evaluator/compile.h"

static bool is_float_term(const struct instr *instr)
{
    return (instr->op == OP_ADD || instr->op == OP_SUB || instr->op == OP_MUL) && instr->kind == KIND_FLOAT;
}

int float_pair_argument(const struct builder *b, value v)
{
    const struct instr *instr = &b->code->at[v];
    const bool divides = builder_divides_by_power(b->code, instr);
    int found = -1;
    for (int i = 0; i < 2 && (divides || is_float_term(instr)); i++) {
        const value arg = instr->args[i];
        const bool can = is_float_term(&b->code->at[arg]) && b->read_once[arg] && !builder_is_computed(b, arg);
        /* Of a sum of products, each product goes with its addition. */
        if (can && (found < 0 || b->code->at[arg].op == OP_MUL))
            found = i;
    }
    return found;
}

void float_pair_emit(struct builder *b, value v, int paired)
{
    const struct instr *instr = &b->code->at[v];
    const struct instr *first = &b->code->at[instr->args[paired]];
    const value third = instr->args[1 - paired];
    const bool divides = instr->op == OP_DIV,
               swaps = first->op != OP_SUB && builder_is_constant(b->code, first->args[0]);
    struct step step = {.op = divides ? OP_MUL : instr->op, .check = CHECK_NONE};
    for (int i = 0; i < 2; i++)
        step.args[i] = builder_vector(b, first->args[swaps ? 1 - i : i], LANE_F64);
    step.args[2] = divides ? builder_add_constant(b, third, LANE_F64, true) : builder_vector(b, third, LANE_F64);
    step.uniform = builder_is_constant(b->code, first->args[swaps ? 0 : 1]);
    step.uniform_c = builder_is_constant(b->code, third);
    step.dense = vector_float_pair(first->op, step.op, paired == 1);
    step.out = builder_lane_vector(b, LANE_F64);
    builder_add_step(b, step);
    b->of[b->scope][LANE_F64][v] = step.out;
}
