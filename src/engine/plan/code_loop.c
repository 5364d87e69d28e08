#include "engine/plan/code_loop.h"

#include <assert.h>

static value add_node(struct code *code, struct instr instr)
{
    return code_add(code, &instr);
}

value code_counter(struct code *code, int level, value first, value last, struct span span)
{
    assert(level >= 0 && level < LOOP_LEVELS);
    const value always = code_bool(code, true, span);
    return add_node(
        code, (struct instr){
                  .op = OP_COUNTER, .kind = KIND_INT, .integer = level, .args = {first, last, always}, .span = span});
}

value code_state(struct code *code, int level, int64_t slot, enum kind kind, struct span span)
{
    return add_node(code, (struct instr){.op = OP_STATE, .kind = kind, .integer = level, .offset = slot, .span = span});
}

value aggregate_none(struct code *code, enum aggregate_kind kind, enum kind type, struct span span)
{
    const struct aggregate_info *info = &aggregate_table[kind];
    return type == KIND_FLOAT ? code_float(code, info->number_none, span) : code_exact_int(code, info->none, span);
}

value code_fold(struct code *code, enum aggregate_kind kind, value index, value body, bool inner, struct span span)
{
    const enum fold_form form = aggregate_table[kind].folds;
    const bool position = form == FOLD_PLACE || form == FOLD_ROUNDS;
    return add_node(code, (struct instr){.op = OP_FOLD,
                                         .kind = position ? KIND_INT : code->at[body].kind,
                                         .integer = kind,
                                         .exact = inner,
                                         .args = {index, body, NO_VALUE},
                                         .span = span});
}

value code_loop(struct code *code, value index, value condition, const struct carry *carries, size_t count,
                struct span span)
{
    assert(code->at[index].op == OP_COUNTER && count <= LOOP_STATES);
    value chain = index;
    for (size_t k = count; k-- > 0;)
        chain = add_node(code, (struct instr){.op = OP_CARRY,
                                              .kind = KIND_BOOL,
                                              .integer = carries[k].part,
                                              .args = {carries[k].first, carries[k].next, chain},
                                              .span = span});
    return add_node(code, (struct instr){.op = OP_LOOP,
                                         .kind = KIND_BOOL,
                                         .integer = code->at[index].integer,
                                         .args = {chain, condition, NO_VALUE},
                                         .span = span});
}

value code_final(struct code *code, value loop, int64_t slot, enum kind kind, struct span span)
{
    return add_node(
        code,
        (struct instr){.op = OP_FINAL, .kind = kind, .offset = slot, .args = {loop, NO_VALUE, NO_VALUE}, .span = span});
}

value loop_index(const struct code *code, value loop)
{
    value at = code->at[loop].args[0];
    while (code->at[at].op == OP_CARRY)
        at = code->at[at].args[2];
    return at;
}

size_t loop_carries(const struct code *code, value loop, struct carry *carries)
{
    size_t count = 0;
    if (code->at[loop].op != OP_LOOP)
        return 0;
    for (value at = code->at[loop].args[0]; code->at[at].op == OP_CARRY; at = code->at[at].args[2])
        carries[count++] =
            (struct carry){code->at[at].args[0], code->at[at].args[1], .part = (int)code->at[at].integer};
    return count;
}

bool loop_is_counted(const struct code *code, value loop)
{
    const struct instr *condition = &code->at[code->at[loop].args[1]];
    return condition->op == OP_CONST && condition->integer != 0;
}

int code_free_level(const struct code *code)
{
    int64_t level = 0;
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if ((instr->op == OP_COUNTER || instr->op == OP_STATE) && instr->integer >= level)
            level = instr->integer + 1;
    }
    return (int)level;
}

uint32_t code_levels_of(const struct code *code, value v, const uint32_t *levels)
{
    const struct instr *instr = &code->at[v];
    uint32_t of = 0;
    for (int i = 0; i < op_table[instr->op].arity; i++)
        of |= levels[instr->args[i]];
    if (instr->op == OP_COUNTER || instr->op == OP_STATE)
        of |= (uint32_t)1 << instr->integer;
    if (instr->op == OP_FOLD)
        of &= ~((uint32_t)1 << code->at[instr->args[0]].integer);
    if (instr->op == OP_LOOP)
        of &= ~((uint32_t)1 << instr->integer);
    return of;
}

uint32_t *code_levels(const struct code *code, struct arena *arena)
{
    uint32_t *levels = arena_array(arena, (size_t)code->count + 1, sizeof *levels);
    for (value v = 0; v < code->count; v++)
        levels[v] = code_levels_of(code, v, levels);
    return levels;
}

bool code_has_loops(const struct code *code)
{
    for (value v = 0; v < code->count; v++) {
        if (code->at[v].op == OP_COUNTER)
            return true;
    }
    return false;
}

void loop_mark_body(const struct code *code, value loop, const uint32_t *levels, bool *of)
{
    const uint32_t level = (uint32_t)1 << code->at[loop_index(code, loop)].integer;
    for (value v = 0; v < code->count; v++)
        of[v] = v == loop;
    for (value v = loop; v >= 0; v--) {
        for (int i = 0; of[v] && i < op_table[code->at[v].op].arity; i++)
            of[code->at[v].args[i]] = (levels[code->at[v].args[i]] & level) != 0;
    }
    of[loop] = false;
}

/* Inside of a loop is what depends on it, or on a loop within it. */
static bool is_inside(const uint32_t *levels, value v, value loop)
{
    return (levels[v] & ~levels[loop]) != 0;
}

/* Adds a value that is read inside; returns whether it is inside itself and new. */
static bool add_read(struct loop_values *values, const uint32_t *levels, value v, value loop)
{
    const bool inside = is_inside(levels, v, loop), found = inside && !values->body[v];
    values->body[v] = values->body[v] || inside;
    values->outer[v] = values->outer[v] || !inside;
    return found;
}

void loop_find_values(const struct code *code, value loop, const uint32_t *levels, struct loop_values *values,
                      struct arena *arena)
{
    const size_t count = (size_t)code->count;
    *values = (struct loop_values){
        .body = arena_array(arena, count, sizeof *values->body),
        .outer = arena_array(arena, count, sizeof *values->outer),
        .carries = arena_array(arena, LOOP_STATES, sizeof *values->carries),
        .index = loop_index(code, loop),
    };
    values->carry_count = loop_carries(code, loop, values->carries);
    for (size_t k = 0; k < values->carry_count; k++)
        add_read(values, levels, values->carries[k].next, loop);
    add_read(values, levels, code->at[loop].args[1], loop);
    /* To a fixed point: guards may follow what they guard. */
    for (bool changed = true; changed;) {
        changed = false;
        for (value v = code->count - 1; v >= 0; v--) {
            const struct instr *instr = &code->at[v];
            if (!values->body[v] || v == values->index)
                continue;
            if (instr->checked && instr->guard != NO_VALUE && add_read(values, levels, instr->guard, loop))
                changed = true;
            for (int i = 0; i < op_table[instr->op].arity; i++)
                (void)add_read(values, levels, instr->args[i], loop);
        }
    }
}

value loop_state(const struct code *code, value loop, size_t k, const struct loop_values *values)
{
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if (values->body[v] && instr->op == OP_STATE && instr->integer == code->at[loop].integer &&
            (size_t)instr->offset == k)
            return v;
    }
    return NO_VALUE;
}

enum lane loop_state_lane(const struct code *code, value loop, size_t k, const struct loop_values *values)
{
    const value state = loop_state(code, loop, k, values);
    const enum lane first = code->at[values->carries[k].first].lane, next = code->at[values->carries[k].next].lane;
    if (state != NO_VALUE)
        return code->at[state].lane;
    return first > next ? first : next;
}

int loop_term(const struct code *code, value loop, size_t k, const struct loop_values *values)
{
    const struct instr *next = &code->at[values->carries[k].next];
    const value state = loop_state(code, loop, k, values);
    if (state == NO_VALUE || next->op != OP_ADD || next->kind != KIND_INT)
        return -1;
    return next->args[0] == state ? 1 : next->args[1] == state ? 0 : -1;
}
