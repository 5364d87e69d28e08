#include "cl/codegen/loop_terms.h"

static bool is_zero(const struct code *code, value v)
{
    const struct instr *instr = &code->at[v];
    return instr->op == OP_CONST && (instr->kind == KIND_FLOAT ? instr->number == 0 : instr->integer == 0);
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
        const struct carry *carry = &values.carries[k];
        const bool is_float = carry->part == 1;
        const int added = is_float ? -1 : loop_term(code, loop, k, &values);
        const value term = is_float ? carry->next : added < 0 ? NO_VALUE : code->at[carry->next].args[added];
        if (term == NO_VALUE || depends[term] || !is_zero(code, carry->first))
            return false;
        sums->at[sums->count++] =
            (struct loop_sum){.state = k, .is_float = is_float, .addition = carry->next, .term = added};
        k += is_float ? SUM_PARTS : 1;
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
