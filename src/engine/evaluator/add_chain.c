#include "engine/evaluator/compile.h"

#include <string.h>

enum { LEAST_TERMS = 4 };

/* Whether the value is an addition in the lane. A product goes with its addition (float_pair.c). */
static bool is_addition(const struct builder *b, value v, enum lane lane)
{
    const struct code *code = b->code;
    const struct instr *instr = &code->at[v];
    if (instr->op != OP_ADD || instr->checked || instr->lane != lane)
        return false;
    for (int i = 0; i < 2; i++) {
        const struct instr *arg = &code->at[instr->args[i]];
        if (arg->lane > lane || (arg->op == OP_MUL && arg->kind == KIND_FLOAT && b->read_once[instr->args[i]]))
            return false;
    }
    return true;
}

int add_chain_terms(const struct builder *b, value v, value terms[CHAIN_TERMS])
{
    const enum lane lane = b->code->at[v].lane;
    int count = 0;
    if (b->in_loop || lane == LANE_BOOL || !is_addition(b, v, lane))
        return 0;
    value first = v;
    do {
        terms[CHAIN_TERMS - ++count] = b->code->at[first].args[1];
        first = b->code->at[first].args[0];
    } while (count < CHAIN_TERMS - 1 && b->read_once[first] && !builder_is_computed(b, first) &&
             is_addition(b, first, lane));
    terms[CHAIN_TERMS - ++count] = first;
    memmove(terms, terms + CHAIN_TERMS - count, (size_t)count * sizeof *terms);
    return count < LEAST_TERMS ? 0 : count;
}

void add_chain_emit(struct builder *b, value v, const value *terms, int count)
{
    const enum lane lane = b->code->at[v].lane;
    struct step step = {.dense = vector_add_chain(lane),
                        .op = OP_ADD,
                        .args = {NO_REGISTER, NO_REGISTER, NO_REGISTER},
                        .check = CHECK_NONE,
                        .term_count = count};
    step.terms = arena_array(b->arena, (size_t)count, sizeof *step.terms);
    for (int i = 0; i < count; i++)
        step.terms[i] = builder_vector(b, terms[i], lane);
    step.out = builder_lane_vector(b, lane);
    builder_add_step(b, step);
    b->of[b->scope][lane][v] = step.out;
}
