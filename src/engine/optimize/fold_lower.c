/* Folds to loops.
 *
 * A fold's values become states of a LOOP: of an integer sum one, of a float sum four, which give the correctly rounded
 * sum or fail where that is uncertain (engine/values/compensated_sum.h has the method). A round's addition to those
 * four stays a mark on their CARRYs. Folds over the same COUNTER become one LOOP. The exact evaluator computes the task
 * as it was before. */
#include "engine/optimize/passes.h"

#include "engine/plan/code_loop.h"

#include <float.h>
#include <math.h>

enum { MOST_FOLDS = 64, MOST_STATES = SUM_PARTS, MOST_INDICES = LOOP_LEVELS };

struct lowering {
    const struct code *from;
    struct code *to;
    value *map;
    bool *live;
    struct span span; /* of the fold that is lowered */
};

/* A fold's states in one loop. */
struct states {
    value at[MOST_STATES];
    size_t count;
    bool are_terms; /* of a float sum: all are what a round adds to it */
};

static value op1(const struct lowering *lowering, enum op op, value a)
{
    return code_unary(lowering->to, op, a, lowering->span);
}

static value op2(const struct lowering *lowering, enum op op, value a, value b)
{
    return code_binary(lowering->to, op, a, b, lowering->span);
}

static value select_of(const struct lowering *lowering, value condition, value yes, value no)
{
    return code_op(lowering->to, OP_SELECT, condition, yes, no, lowering->span);
}

static value number(const struct lowering *lowering, double n)
{
    return code_float(lowering->to, n, lowering->span);
}

static enum aggregate_kind kind_of(const struct code *code, value fold)
{
    return (enum aggregate_kind)code->at[fold].integer;
}

/* Sets *a to the rounded sum and returns the rounding error. */
static value two_sum(const struct lowering *lowering, value *a, value b)
{
    const value sum = op2(lowering, OP_ADD, *a, b), error = op2(lowering, OP_LOST, *a, b);
    *a = sum;
    return error;
}

/* The operations that join two values to one. */
static const enum op joining[AGG_KINDS] = {
#define AGGREGATE_JOIN(kind, op, none, code, ...) [AGG_##kind] = OP_##code,
#define AGGREGATE_JOIN_CHECKED                    AGGREGATE_JOIN
#include "engine/plan/aggregates.def"
};

static value integer_of(const struct lowering *lowering, int64_t n)
{
    return code_exact_int(lowering->to, n, lowering->span);
}

static value truth(const struct lowering *lowering, bool holds)
{
    return code_bool(lowering->to, holds, lowering->span);
}

/* The states before the first round: of extremes and places the first says whether there was a round. */
static void first_states(const struct lowering *lowering, enum aggregate_kind kind, enum kind type,
                         struct states *states)
{
    const struct aggregate_info *info = &aggregate_table[kind];
    const value zero = type == KIND_FLOAT  ? number(lowering, 0)
                       : type == KIND_BOOL ? truth(lowering, false)
                                           : integer_of(lowering, 0);
    switch (info->folds) {
    case FOLD_NONE:
        break;
    case FOLD_JOINED:
        if (kind == AGG_SUM && type == KIND_FLOAT)
            *states = (struct states){.at = {zero, zero, zero, zero}, .count = SUM_PARTS};
        else
            *states = (struct states){.at = {aggregate_none(lowering->to, kind, type, lowering->span)}, .count = 1};
        break;
    case FOLD_EXTREME:
        *states = (struct states){
            .at = {truth(lowering, false), type == KIND_FLOAT ? number(lowering, info->number_none) : zero},
            .count = 2};
        break;
    case FOLD_PLACE:
        *states = (struct states){.at = {truth(lowering, false), zero, integer_of(lowering, 0)}, .count = 3};
        break;
    case FOLD_TEST:
        *states = (struct states){.at = {truth(lowering, kind == AGG_ALL)}, .count = 1};
        break;
    case FOLD_ROUNDS:
        *states = (struct states){.at = {integer_of(lowering, 0)}, .count = 1};
        break;
    }
}

static value is_better(const struct lowering *lowering, enum aggregate_kind kind, enum kind type, value e, value best)
{
    const bool least = kind == AGG_ARGMIN;
    const value better = op2(lowering, OP_LT, least ? e : best, least ? best : e);
    if (type != KIND_FLOAT)
        return better;
    const value first_number = op2(lowering, OP_AND, op2(lowering, OP_NE, best, best), op2(lowering, OP_EQ, e, e));
    return op2(lowering, OP_OR, better, first_number);
}

/* The states after a round with the value `e`. */
static void next_states(const struct lowering *lowering, enum aggregate_kind kind, enum kind type, value e, value index,
                        struct states *states)
{
    value *at = states->at;
    switch (aggregate_table[kind].folds) {
    case FOLD_NONE:
        break;
    case FOLD_JOINED:
        if (kind != AGG_SUM || type != KIND_FLOAT) {
            at[0] = op2(lowering, joining[kind], at[0], e);
            break;
        }
        value lost = two_sum(lowering, &at[0], e);
        lost = two_sum(lowering, &at[1], lost);
        at[2] = op2(lowering, OP_ADD, at[2], lost);
        at[3] = op2(lowering, OP_ADD, at[3], op1(lowering, OP_ABS, lost));
        break;
    case FOLD_EXTREME:
        at[1] = select_of(lowering, at[0], op2(lowering, joining[kind], at[1], e), e);
        at[0] = truth(lowering, true);
        break;
    case FOLD_PLACE: {
        const value better =
            op2(lowering, OP_OR, op1(lowering, OP_NOT, at[0]), is_better(lowering, kind, type, e, at[1]));
        at[2] = select_of(lowering, better, index, at[2]);
        at[1] = select_of(lowering, better, e, at[1]);
        at[0] = truth(lowering, true);
        break;
    }
    case FOLD_TEST:
        at[0] = e;
        break;
    case FOLD_ROUNDS:
        at[0] = op2(lowering, OP_ADD, at[0], integer_of(lowering, 1));
        break;
    }
}

/* Whether a + b rounds to a for every b within `bound` of `offset`: as compensated_sum.c. */
static value swallows(const struct lowering *lowering, value a, value offset, value bound)
{
    const value slack = number(lowering, 0x1p-50), tiny = number(lowering, DBL_TRUE_MIN);
    value most = op2(lowering, OP_ADD, offset, bound), least = op2(lowering, OP_SUB, offset, bound);
    most = op2(lowering, OP_ADD, most,
               op2(lowering, OP_ADD, op2(lowering, OP_MUL, op1(lowering, OP_ABS, most), slack), tiny));
    least = op2(lowering, OP_SUB, least,
                op2(lowering, OP_ADD, op2(lowering, OP_MUL, op1(lowering, OP_ABS, least), slack), tiny));
    return op2(lowering, OP_AND, op2(lowering, OP_EQ, op2(lowering, OP_ADD, a, most), a),
               op2(lowering, OP_EQ, op2(lowering, OP_ADD, a, least), a));
}

/* The value where the condition holds; fails elsewhere. */
static value only_where(const struct lowering *lowering, value condition, value v)
{
    return select_of(lowering, op1(lowering, OP_ASSERT, condition), v, v);
}

/* The correctly rounded sum of these states. 2^53 terms are more than a loop has rounds for; the error of the last sum
 * is at most (terms + 4) * 2^-52 times its weight, here with 2^40 terms. */
static value rounded_sum(const struct lowering *lowering, const struct states *states)
{
    const value zero = number(lowering, 0), greatest = number(lowering, DBL_MAX);
    value result = states->at[0];
    value small = two_sum(lowering, &result, states->at[1]);
    const value smaller = two_sum(lowering, &small, states->at[2]);
    const value offset = two_sum(lowering, &result, small);
    const value weight = op2(lowering, OP_MUL, states->at[3], number(lowering, 0x1p-12));
    const value bound = op2(lowering, OP_ADD, op1(lowering, OP_ABS, smaller), weight);
    const value exact =
        op2(lowering, OP_AND, op2(lowering, OP_EQ, smaller, zero), op2(lowering, OP_EQ, states->at[3], zero));
    value sure = op2(lowering, OP_OR, exact, swallows(lowering, result, offset, bound));
    sure = op2(lowering, OP_AND, sure, op2(lowering, OP_LE, op1(lowering, OP_ABS, result), greatest));
    sure = op2(lowering, OP_AND, sure, op2(lowering, OP_LE, bound, greatest));
    return op2(lowering, OP_ADD, only_where(lowering, sure, result), zero);
}

static value result_of(const struct lowering *lowering, enum aggregate_kind kind, enum kind type,
                       const struct states *states)
{
    const bool real = type == KIND_FLOAT;
    value v = states->at[0];
    switch (aggregate_table[kind].folds) {
    case FOLD_NONE:
    case FOLD_TEST:
        return v;
    case FOLD_JOINED:
        return !real             ? v
               : kind == AGG_SUM ? rounded_sum(lowering, states)
                                 : op2(lowering, OP_ADD, v, number(lowering, 0));
    case FOLD_EXTREME:
        v = only_where(lowering, v, states->at[1]);
        return real ? op2(lowering, OP_ADD, v, number(lowering, 0)) : v;
    case FOLD_PLACE:
        return only_where(lowering, v, states->at[2]);
    case FOLD_ROUNDS:
        return only_where(lowering, op2(lowering, OP_LT, integer_of(lowering, 0), v), v);
    }
    return v;
}

static value copy(const struct lowering *lowering, value v)
{
    return code_inline(lowering->to, lowering->from, v, NULL, NO_VALUE, lowering->map);
}

static bool has_inner(const struct code *code, value fold)
{
    const struct instr *body = &code->at[code->at[fold].args[1]];
    return body->op == OP_FOLD && body->exact;
}

/* States of one loop, of all its folds: those of `level`, or with the kinds of `like`. */
static void loop_states(const struct lowering *lowering, int64_t level, const struct states *like, size_t folds,
                        struct states *states)
{
    int64_t slot = 0;
    for (size_t f = 0; f < folds; f++) {
        states[f] = (struct states){.count = like[f].count};
        for (size_t k = 0; k < like[f].count; k++, slot++)
            states[f].at[k] =
                code_state(lowering->to, (int)level, slot, lowering->to->at[like[f].at[k]].kind, lowering->span);
    }
}

static value add_loop(const struct lowering *lowering, value index, value condition, const struct states *first,
                      const struct states *next, size_t folds, struct states *finals)
{
    struct carry carries[MOST_FOLDS * MOST_STATES];
    size_t count = 0;
    for (size_t f = 0; f < folds; f++) {
        for (size_t k = 0; k < first[f].count; k++)
            carries[count++] =
                (struct carry){first[f].at[k], next[f].at[k], .part = next[f].are_terms ? (int)k + 1 : 0};
    }
    const value loop = code_loop(lowering->to, index, condition, carries, count, lowering->span);
    int64_t slot = 0;
    for (size_t f = 0; f < folds; f++) {
        finals[f] = (struct states){.count = first[f].count};
        for (size_t k = 0; k < first[f].count; k++, slot++)
            finals[f].at[k] =
                code_final(lowering->to, loop, slot, lowering->to->at[first[f].at[k]].kind, lowering->span);
    }
    return loop;
}

/* any and all end with the round that decides. */
static value goes_on(const struct lowering *lowering, enum aggregate_kind kind, value state)
{
    if (kind == AGG_ANY)
        return op1(lowering, OP_NOT, state);
    return kind == AGG_ALL ? state : truth(lowering, true);
}

/* Marks what depends on the indices: `fixed`, of these, what is a constant where they are. Returns the operations of a
 * round that remain; -1: there are folds among them. */
static int32_t mark_rounds(const struct lowering *lowering, const value *indices, size_t depth, const value *bodies,
                           size_t count, bool *depends, bool *fixed)
{
    const struct code *from = lowering->from;
    bool *live = arena_array(from->arena, (size_t)from->count, sizeof *live);
    int32_t operations = 0;
    for (size_t f = 0; f < count; f++)
        live[bodies[f]] = true;
    code_mark_all(from, live);
    for (size_t d = 0; d < depth; d++)
        depends[indices[d]] = fixed[indices[d]] = true;
    for (value v = 0; v < from->count; v++) {
        const struct instr *instr = &from->at[v];
        const int arity = op_table[instr->op].arity;
        bool constant = arity > 0 && instr->op != OP_GATHER && instr->op < OP_COUNTER;
        for (int i = 0; i < arity; i++) {
            depends[v] = depends[v] || depends[instr->args[i]];
            constant = constant && (fixed[instr->args[i]] || code_is_const(from, instr->args[i]));
        }
        fixed[v] = fixed[v] || (constant && depends[v]);
        const bool chosen = instr->op == OP_SELECT && fixed[instr->args[0]];
        if (live[v] && depends[v] && instr->op > OP_COUNTER)
            return -1;
        operations += live[v] && depends[v] && !fixed[v] && !chosen;
    }
    return operations;
}

/* The rounds of folds over these indices, if they are known and few; else 0. */
static int64_t few_rounds(const struct code *from, const value *indices, size_t depth)
{
    enum { FEW = 64 };
    int64_t rounds = 1;
    for (size_t d = 0; d < depth; d++) {
        const struct instr *index = &from->at[indices[d]], *first = &from->at[index->args[0]],
                           *last = &from->at[index->args[1]], *where = &from->at[index->args[2]];
        if (first->op != OP_CONST || last->op != OP_CONST || where->op != OP_CONST || !where->integer ||
            last->integer < first->integer ||
            (uint64_t)last->integer - (uint64_t)first->integer >= (uint64_t)(FEW / rounds))
            return 0;
        rounds *= last->integer - first->integer + 1;
    }
    return rounds;
}

/* Writes the rounds of folds one after another, if they are few and short. */
static bool unroll(const struct lowering *lowering, const value *folds, const value *bodies, size_t count,
                   const value *indices, size_t depth)
{
    enum { MOST_OPERATIONS = 512 };
    const struct code *from = lowering->from;
    const int64_t rounds = few_rounds(from, indices, depth);
    bool *depends = arena_array(from->arena, (size_t)from->count, sizeof *depends);
    bool *fixed = arena_array(from->arena, (size_t)from->count, sizeof *fixed);
    value *map = arena_array(from->arena, (size_t)from->count + 1, sizeof *map);
    struct states states[MOST_FOLDS];
    if (rounds == 0)
        return false;
    const int32_t operations = mark_rounds(lowering, indices, depth, bodies, count, depends, fixed);
    if (operations < 0 || (operations + (int64_t)count * MOST_STATES) * rounds > MOST_OPERATIONS)
        return false;
    for (size_t f = 0; f < count; f++) {
        const enum aggregate_kind kind = kind_of(from, folds[f]);
        if (rounds == 1 && aggregate_table[kind].folds == FOLD_PLACE)
            return false; /* the result does not depend on the round, whose errors count all the same */
        first_states(lowering, kind, from->at[bodies[f]].kind, &states[f]);
    }
    for (int64_t round = 0; round < rounds; round++) {
        int64_t rest = round;
        for (value v = 0; v < from->count; v++)
            map[v] = depends[v] ? NO_VALUE : lowering->map[v];
        for (size_t d = depth; d-- > 0;) {
            const int64_t first = from->at[from->at[indices[d]].args[0]].integer;
            const int64_t extent = from->at[from->at[indices[d]].args[1]].integer - first + 1;
            map[indices[d]] = integer_of(lowering, first + rest % extent);
            rest /= extent;
        }
        for (size_t f = 0; f < count; f++) {
            const enum aggregate_kind kind = kind_of(from, folds[f]);
            const value e = code_inline(lowering->to, from, bodies[f], NULL, NO_VALUE, map);
            if (aggregate_table[kind].folds == FOLD_TEST) /* which may be decided already */
                states[f].at[0] = op2(lowering, kind == AGG_ANY ? OP_OR : OP_AND, states[f].at[0], e);
            else
                next_states(lowering, kind, from->at[bodies[f]].kind, e, map[indices[depth - 1]], &states[f]);
        }
    }
    for (size_t f = 0; f < count; f++)
        lowering->map[folds[f]] = result_of(lowering, kind_of(from, folds[f]), from->at[bodies[f]].kind, &states[f]);
    return true;
}

/* Folds over the same indices, which are one loop in another. */
static void lower_folds(const struct lowering *lowering, const value *folds, size_t count)
{
    const struct code *from = lowering->from;
    struct code *to = lowering->to;
    struct states states[MOST_INDICES + 1][MOST_FOLDS], next[MOST_FOLDS];
    value indices[MOST_INDICES], bodies[MOST_FOLDS];
    size_t depth = 0;
    for (size_t f = 0; f < count; f++)
        bodies[f] = from->at[folds[f]].args[1];
    indices[depth++] = from->at[folds[0]].args[0];
    for (value fold = folds[0]; has_inner(from, fold);) {
        fold = from->at[fold].args[1];
        indices[depth++] = from->at[fold].args[0];
        bodies[0] = from->at[fold].args[1];
    }
    if (unroll(lowering, folds, bodies, count, indices, depth))
        return;
    for (size_t d = 0; d < depth; d++)
        indices[d] = copy(lowering, indices[d]);
    const enum aggregate_kind leading = kind_of(from, folds[0]);
    for (size_t f = 0; f < count; f++)
        first_states(lowering, kind_of(from, folds[f]), from->at[bodies[f]].kind, &states[0][f]);
    for (size_t d = 0; d < depth; d++)
        loop_states(lowering, to->at[indices[d]].integer, states[0], count, states[d + 1]);
    for (size_t f = 0; f < count; f++) {
        const enum aggregate_kind kind = kind_of(from, folds[f]);
        const enum kind type = from->at[bodies[f]].kind;
        const value e = copy(lowering, bodies[f]);
        if (kind == AGG_SUM && type == KIND_FLOAT) {
            next[f] = (struct states){.at = {e, e, e, e}, .count = SUM_PARTS, .are_terms = true};
        } else {
            next[f] = states[depth][f];
            next_states(lowering, kind, type, e, indices[depth - 1], &next[f]);
        }
    }
    for (size_t d = depth; d-- > 0;) {
        struct states finals[MOST_FOLDS];
        add_loop(lowering, indices[d], goes_on(lowering, leading, states[d + 1][0].at[0]), states[d], next, count,
                 finals);
        for (size_t f = 0; f < count; f++)
            next[f] = finals[f];
    }
    for (size_t f = 0; f < count; f++)
        lowering->map[folds[f]] = result_of(lowering, kind_of(from, folds[f]), from->at[bodies[f]].kind, &next[f]);
}

static bool decides(const struct code *code, value fold)
{
    return aggregate_table[code->at[fold].integer].folds == FOLD_TEST;
}

/* Whether all folds that the value is computed from are lowered. */
static bool is_ready(const struct lowering *lowering, value body)
{
    const struct code *from = lowering->from;
    bool *reached = arena_array(from->arena, (size_t)from->count, sizeof *reached);
    reached[body] = true;
    for (value v = body; v >= 0; v--) {
        if (!reached[v] || lowering->map[v] != NO_VALUE)
            continue;
        if (from->at[v].op == OP_FOLD)
            return false;
        for (int i = 0; i < op_table[from->at[v].op].arity; i++)
            reached[from->at[v].args[i]] = true;
    }
    return true;
}

/* Lowers a fold, and with it those over the same index that do not depend on it. */
static void lower_with_others(struct lowering *lowering, value fold)
{
    const struct code *from = lowering->from;
    value folds[MOST_FOLDS] = {fold};
    size_t count = 1;
    lowering->span = from->at[fold].span;
    const bool alone = has_inner(from, fold) || decides(from, fold);
    for (value v = fold + 1; v < from->count && !alone && count < MOST_FOLDS; v++) {
        const struct instr *other = &from->at[v];
        if (other->op == OP_FOLD && lowering->live[v] && other->args[0] == from->at[fold].args[0] && !other->exact &&
            !has_inner(from, v) && !decides(from, v) && lowering->map[v] == NO_VALUE &&
            is_ready(lowering, other->args[1]))
            folds[count++] = v;
    }
    lower_folds(lowering, folds, count);
}

void folds_lower(struct task *task)
{
    const struct code from = task->code;
    struct arena *arena = from.arena;
    bool any = false;
    for (value v = 0; v < from.count; v++)
        any = any || from.at[v].op == OP_FOLD;
    if (!any)
        return;
    struct task *plain = arena_copy(arena, task, sizeof *plain);
    struct code to;
    code_init(&to, arena);
    struct lowering lowering = {
        .from = &from,
        .to = &to,
        .map = code_map(arena, &from),
        .live = task_live(task, arena),
    };
    for (value v = 0; v < from.count; v++) {
        const struct instr *instr = &from.at[v];
        if (instr->op == OP_INPUT)
            lowering.map[v] = code_input_at(&to, instr->integer, instr->offset, instr->kind, instr->span);
        else if (lowering.live[v] && instr->op == OP_FOLD && !instr->exact && lowering.map[v] == NO_VALUE)
            lower_with_others(&lowering, v);
        else if (lowering.live[v] && instr->op != OP_FOLD)
            copy(&lowering, v);
    }
    task->code = to;
    task_remap(task, lowering.map, arena);
    task->unlowered = plain;
}
