#include "cl/codegen/loop_terms.h"

static bool is_op(const struct code *code, value v, enum op op)
{
    return v != NO_VALUE && code->at[v].op == op;
}

static bool is_sub(const struct code *code, value v, value a, value b)
{
    return is_op(code, v, OP_SUB) && code->at[v].args[0] == a && code->at[v].args[1] == b;
}

/* The argument of an addition that is not `a`: 0 or 1; -1: it is no addition to `a`. */
static int other_term(const struct code *code, value v, value a)
{
    if (!is_op(code, v, OP_ADD))
        return -1;
    return code->at[v].args[0] == a ? 1 : code->at[v].args[1] == a ? 0 : -1;
}

/* Whether `error` is the rounding error of sum = a + b, as two_sum of fold_lower.c has it. */
static bool is_error(const struct code *code, value error, value sum, value a, value b)
{
    if (!is_op(code, error, OP_ADD))
        return false;
    for (int k = 0; k < 2; k++) {
        const value left = code->at[error].args[k], right = code->at[error].args[1 - k];
        if (!is_op(code, left, OP_SUB) || !is_op(code, right, OP_SUB))
            continue;
        const value part = code->at[right].args[1], rest = code->at[left].args[1];
        if (is_sub(code, part, sum, a) && is_sub(code, right, b, part) && is_sub(code, rest, sum, part) &&
            is_sub(code, left, a, rest))
            return true;
    }
    return false;
}

static bool is_zero(const struct code *code, value v)
{
    const struct instr *instr = &code->at[v];
    return instr->op == OP_CONST && (instr->kind == KIND_FLOAT ? instr->number == 0 : instr->integer == 0);
}

/* A float sum of the states from `k` on. */
static bool is_float_sum(const struct code *code, value loop, size_t k, const struct loop_values *values,
                         const bool *depends)
{
    value state[4], next[4];
    if (k + 4 > values->carry_count)
        return false;
    for (size_t i = 0; i < 4; i++) {
        state[i] = loop_state(code, loop, k + i, values);
        next[i] = values->carries[k + i].next;
        if (state[i] == NO_VALUE || !is_zero(code, values->carries[k + i].first))
            return false;
    }
    const int term = other_term(code, next[0], state[0]);
    const int lost = term < 0 ? -1 : other_term(code, next[1], state[1]);
    const int least = lost < 0 ? -1 : other_term(code, next[2], state[2]);
    const int size = least < 0 ? -1 : other_term(code, next[3], state[3]);
    if (size < 0)
        return false;
    const value e = code->at[next[0]].args[term], low = code->at[next[1]].args[lost],
                rest = code->at[next[2]].args[least], weight = code->at[next[3]].args[size];
    return !depends[e] && is_error(code, low, next[0], state[0], e) && is_error(code, rest, next[1], state[1], low) &&
           is_op(code, weight, OP_ABS) && code->at[weight].args[0] == rest;
}

/* Marks what depends on the loop's STATEs. Returns false if a guard of its rounds does. */
static bool mark_states(const struct code *code, value loop, const struct loop_values *values, bool *depends)
{
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        depends[v] = instr->op == OP_STATE && instr->integer == code->at[loop].integer;
        for (int i = 0; i < op_table[instr->op].arity; i++)
            depends[v] = depends[v] || (instr->args[i] != NO_VALUE && depends[instr->args[i]]);
    }
    for (value v = 0; v < code->count; v++) {
        if (values->body[v] && code->at[v].checked && code->at[v].guard != NO_VALUE && depends[code->at[v].guard])
            return false;
    }
    return true;
}

bool loop_sums_find(const struct code *code, value loop, const uint32_t *levels, struct loop_sums *sums,
                    struct arena *arena)
{
    struct loop_values values;
    bool *depends = arena_array(arena, (size_t)code->count + 1, sizeof *depends);
    sums->count = 0;
    if (!loop_is_counted(code, loop))
        return false;
    loop_find_values(code, loop, levels, &values, arena);
    if (!mark_states(code, loop, &values, depends))
        return false;
    for (size_t k = 0; k < values.carry_count;) {
        struct loop_sum *sum = &sums->at[sums->count++];
        const value next = values.carries[k].next, state = loop_state(code, loop, k, &values);
        *sum = (struct loop_sum){.state = k, .addition = next};
        if (is_float_sum(code, loop, k, &values, depends)) {
            sum->is_float = true;
            k += 4;
            continue;
        }
        sum->term = state == NO_VALUE ? -1 : other_term(code, next, state);
        if (sum->term < 0 || code->at[next].kind != KIND_INT || depends[code->at[next].args[sum->term]] ||
            !is_zero(code, values.carries[k].first))
            return false;
        k++;
    }
    return sums->count > 0;
}

/* Whether the range of a loop depends on what columns hold. */
static bool reads_data(const struct code *code, value index, struct arena *arena)
{
    bool *read = arena_array(arena, (size_t)code->count + 1, sizeof *read);
    read[code->at[index].args[0]] = read[code->at[index].args[1]] = true;
    for (value v = index; v-- > 0;) {
        if (read[v] && (code->at[v].op == OP_INPUT || code->at[v].op == OP_GATHER))
            return true;
        for (int i = 0; read[v] && i < op_table[code->at[v].op].arity; i++)
            read[code->at[v].args[i]] = true;
    }
    return false;
}

/* How the terms of one loop are best shared. */
static enum terms_shared share_of(const struct code *code, value index, bool few_rows, struct arena *arena)
{
    const struct instr *first = &code->at[code->at[index].args[0]], *last = &code->at[code->at[index].args[1]];
    if (first->op != OP_CONST || last->op != OP_CONST)
        return few_rows || reads_data(code, index, arena) ? TERMS_OF_LONG_ROWS : TERMS_NOT_SHARED;
    return few_rows && last->integer >= first->integer &&
                   (uint64_t)last->integer - (uint64_t)first->integer >= (uint64_t)MANY_TERMS
               ? TERMS_OF_ALL_ROWS
               : TERMS_NOT_SHARED;
}

enum terms_shared loops_share_terms(const struct emitter *emitter, const struct kernel_round *round)
{
    enum { FEW_ROWS = 1 << 15 };
    const struct code *code = &emitter->task->code;
    const bool few_rows = round && round->rows <= FEW_ROWS;
    enum terms_shared shared = TERMS_NOT_SHARED;
    if (!emitter->loops || emitter->task->filter_count > 0 || (round && round->stops))
        return TERMS_NOT_SHARED;
    const uint32_t *levels = code_levels(code, emitter->arena);
    struct loop_sums *sums = arena_alloc(emitter->arena, sizeof *sums);
    for (value v = 0; v < code->count; v++) {
        if (!emitter->live[v] || code->at[v].op != OP_LOOP || levels[v] != 0)
            continue;
        if (!loop_sums_find(code, v, levels, sums, emitter->arena))
            return TERMS_NOT_SHARED;
        const enum terms_shared best = share_of(code, loop_index(code, v), few_rows, emitter->arena);
        shared = best > shared ? best : shared;
    }
    return shared;
}
