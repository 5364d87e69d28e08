/* Demand analysis, from the results back to the operations that may fail.
 *
 * Each reader passes its demand to its arguments, narrowed by && || ?: to the rows where it reads them; a value is
 * demanded where any reader demands it. Conditions combine bools that the code computes anyway, so each edge adds at
 * most a few operations on bools. A condition may read a bool that is invalid after a failure, but the first failure in
 * the order of lazy evaluation is reached through valid conditions only, so it is never missed.
 *
 * A loop has rounds where one of its FINALs is demanded, which becomes a condition of its COUNTER; in a round all its
 * next values are demanded if its own condition holds. What it reads from outside is demanded where the loop is. */
#include "engine/optimize/passes.h"

#include "engine/plan/code_loop.h"

#include <string.h>

/* A demand: a bool of the code, or one of these. */
enum { ALWAYS = NO_VALUE, NEVER = -2 };

/* Conditions may multiply the size of the code by this; beyond that they only get weaker. */
enum { MAX_GROWTH = 4 };

struct demands {
    struct code *code;
    int32_t limit;        /* of instructions */
    const bool *relevant; /* is, or is computed from, a checked operation */
    value *at;            /* of each value */
    /* Where there are loops: the levels that each of the `known` first values depends on (code_loop.h), and the demand
     * of the loops of each level. */
    uint32_t *levels;
    int32_t known;
    value loops[LOOP_LEVELS];
};

static bool is_full(const struct demands *demands)
{
    return demands->code->count >= demands->limit;
}

static bool opposites(const struct code *code, value a, value b)
{
    return (code->at[a].op == OP_NOT && code->at[a].args[0] == b) ||
           (code->at[b].op == OP_NOT && code->at[b].args[0] == a);
}

static value operation(struct demands *demands, enum op op, value a, value b)
{
    struct span span = demands->code->at[a].span;
    return code_binary(demands->code, op, a, b, span);
}

static value negation(struct demands *demands, value condition)
{
    if (is_full(demands))
        return ALWAYS;
    return operation(demands, OP_NOT, condition, NO_VALUE);
}

/* Both hold; at the limit of instructions, only the first is tested. */
static value both(struct demands *demands, value a, value b)
{
    if (a == NEVER || b == NEVER)
        return NEVER;
    if (a == ALWAYS)
        return b;
    if (b == ALWAYS || is_full(demands))
        return a;
    return operation(demands, OP_AND, a, b);
}

/* Whether `a` is rest && part. */
static bool splits(const struct code *code, value a, value rest, value *part)
{
    const struct instr *instr = &code->at[a];
    if (instr->op != OP_AND || (instr->args[0] != rest && instr->args[1] != rest))
        return false;
    *part = instr->args[instr->args[0] == rest];
    return true;
}

/* Either holds. code_op keeps operations that could fail; nothing here is lazy, so more simplifies: a || (b && a) is a,
 * and (d && c) || (d && !c), a value read by both branches of ?:, is d. */
static value either(struct demands *demands, value a, value b)
{
    const struct code *code = demands->code;
    if (a == NEVER || b == ALWAYS)
        return b;
    if (b == NEVER || a == ALWAYS || a == b)
        return a;
    value part;
    if (opposites(code, a, b))
        return ALWAYS;
    if (splits(code, a, b, &part))
        return b;
    if (splits(code, b, a, &part))
        return a;
    if (code->at[a].op == OP_AND) {
        for (int i = 0; i < 2; i++) {
            const value shared = code->at[a].args[i];
            if (splits(code, b, shared, &part) && opposites(code, code->at[a].args[1 - i], part))
                return shared;
        }
    }
    return is_full(demands) ? ALWAYS : operation(demands, OP_OR, a, b);
}

static uint32_t levels_of(struct demands *demands, value v)
{
    for (; demands->known < demands->code->count; demands->known++)
        demands->levels[demands->known] = code_levels_of(demands->code, demands->known, demands->levels);
    return demands->levels[v];
}

/* The condition, or a weaker one that does not depend on loops that `v` is not in. */
static value visible(struct demands *demands, value condition, value v)
{
    if (!demands->levels || condition == ALWAYS || condition == NEVER)
        return condition;
    const uint32_t within = levels_of(demands, v);
    if ((levels_of(demands, condition) & ~within) == 0)
        return condition;
    for (int level = 0; level < LOOP_LEVELS; level++) {
        const value loop = demands->loops[level];
        if ((levels_of(demands, condition) & ~within) >> level & 1 && loop != NEVER && loop != ALWAYS &&
            (levels_of(demands, loop) & ~within) == 0)
            return loop;
    }
    return ALWAYS;
}

/* Demands `v` where both conditions hold. A COUNTER is demanded by its loops alone. */
static void demand(struct demands *demands, value v, value condition, value also)
{
    if (demands->relevant[v] && demands->at[v] != ALWAYS && demands->code->at[v].op != OP_COUNTER)
        demands->at[v] = either(demands, demands->at[v], visible(demands, both(demands, condition, also), v));
}

/* What a loop reads outside of it is demanded where the loop is, and its next values in each round. */
static void demand_loop(struct demands *demands, value v)
{
    struct code *code = demands->code;
    const value where = demands->at[v], holds = code->at[v].args[1], index = loop_index(code, v);
    const int64_t level = code->at[v].integer;
    demands->loops[level] = either(demands, demands->loops[level], where);
    demands->at[index] = either(demands, demands->at[index], where);
    demand(demands, holds, (levels_of(demands, holds) >> level & 1) != 0 ? ALWAYS : where, ALWAYS);
    const value round = loop_is_counted(code, v) ? ALWAYS : holds;
    for (value at = code->at[v].args[0]; code->at[at].op == OP_CARRY; at = code->at[at].args[2]) {
        const value next = code->at[at].args[1];
        demand(demands, code->at[at].args[0], where, ALWAYS);
        demand(demands, next, (levels_of(demands, next) >> level & 1) != 0 ? round : where, ALWAYS);
    }
}

static void demand_arguments(struct demands *demands, value v)
{
    const struct instr instr = demands->code->at[v]; /* a copy: adding conditions moves the code */
    const value condition = demands->at[v];
    const value *args = instr.args;
    switch (instr.op) {
    case OP_AND:
    case OP_OR:
        demand(demands, args[0], condition, ALWAYS);
        if (demands->relevant[args[1]])
            demand(demands, args[1], condition, instr.op == OP_AND ? args[0] : negation(demands, args[0]));
        break;
    case OP_SELECT:
        demand(demands, args[0], condition, ALWAYS);
        demand(demands, args[1], condition, args[0]);
        if (demands->relevant[args[2]])
            demand(demands, args[2], condition, negation(demands, args[0]));
        break;
    case OP_LOOP:
        demand_loop(demands, v);
        break;
    case OP_CARRY: /* by the LOOP */
        break;
    default:
        for (int i = 0; i < op_table[instr.op].arity; i++)
            demand(demands, args[i], condition, ALWAYS);
    }
}

/* A filter is demanded for the rows that passed those before it, results for the rows that passed all. (A window may
 * leave out more: the exact evaluator knows.) */
static void demand_results(struct demands *demands, const struct task *task)
{
    value passed = ALWAYS;
    for (size_t i = 0; i < task->filter_count; i++) {
        demand(demands, task->filters[i].keep, passed, ALWAYS);
        passed = both(demands, passed, task->filters[i].keep);
    }
    for (size_t i = 0; i < task->output_count && task->sink == SINK_ROWS; i++) {
        if (task->outputs[i].needed)
            demand(demands, task->outputs[i].value, passed, ALWAYS);
    }
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (task->aggregates[i].value != NO_VALUE)
            demand(demands, task->aggregates[i].value, passed, ALWAYS);
    }
}

/* Marks the values that a failure can reach; returns whether there are any. */
static bool find_relevant(const struct code *code, const bool *live, bool *relevant)
{
    bool any = false;
    for (value v = 0; v < code->count; v++) {
        relevant[v] = live[v] && (code->at[v].checked || code->at[v].op == OP_COUNTER);
        for (int i = 0; i < op_table[code->at[v].op].arity && live[v]; i++)
            relevant[v] = relevant[v] || relevant[code->at[v].args[i]];
        any = any || relevant[v];
    }
    return any;
}

/* Values still to be visited, each of them once. */
struct visit {
    bool *reached;
    value *waiting;
    int32_t count;
};

static void reach(struct visit *visit, value v)
{
    if (v < 0 || visit->reached[v])
        return;
    visit->reached[v] = true;
    visit->waiting[visit->count++] = v;
}

/* Marks what a condition is computed from in a loop of which it is the index or in the body, as a value that several
 * loops share may be. A loop also reads the conditions of its index and of what can fail in its rounds, though they
 * come later in the code. */
static void mark_bodies(const struct code *code, value condition, const uint32_t *levels, bool *in_body)
{
    const size_t count = (size_t)code->count;
    bool *body = arena_array(code->arena, count, sizeof *body);
    struct visit visit = {.reached = arena_array(code->arena, count, sizeof *visit.reached),
                          .waiting = arena_array(code->arena, count, sizeof *visit.waiting)};
    memset(in_body, 0, count);
    reach(&visit, condition);
    while (visit.count > 0) {
        const value at = visit.waiting[--visit.count];
        for (int i = 0; i < op_table[code->at[at].op].arity; i++)
            reach(&visit, code->at[at].args[i]);
        if (code->at[at].op != OP_LOOP)
            continue;
        loop_mark_body(code, at, levels, body);
        for (value inner = 0; inner < at; inner++) {
            in_body[inner] = in_body[inner] || body[inner];
            if (body[inner] && code->at[inner].checked)
                reach(&visit, code->at[inner].guard);
        }
    }
}

/* Which values a condition waits for; neighbours mostly share theirs. */
struct waiting {
    const uint32_t *levels;
    value condition; /* NO_VALUE: none */
    bool *in_body;
};

/* If so, the condition has to be replaced: what waits for what is then found anew. */
static bool waits_for(struct waiting *waiting, const struct code *code, value condition, value v)
{
    if (condition < 0 || waiting->levels[v] == 0)
        return false;
    if (condition != waiting->condition)
        mark_bodies(code, condition, waiting->levels, waiting->in_body);
    waiting->condition = waiting->in_body[v] ? NO_VALUE : condition;
    return waiting->in_body[v];
}

/* Leaves out conditions that wait for the value that they guard. */
static void drop_circular(struct code *code)
{
    struct waiting waiting = {.levels = code_levels(code, code->arena), .condition = NO_VALUE};
    const value always = code_bool(code, true, code->at[0].span);
    waiting.in_body = arena_array(code->arena, (size_t)code->count, sizeof *waiting.in_body);
    for (value v = 0; v < code->count; v++) {
        struct instr *instr = &code->at[v];
        if (instr->checked && waits_for(&waiting, code, instr->guard, v))
            instr->guard = NO_VALUE;
        if (instr->op == OP_COUNTER && waits_for(&waiting, code, instr->args[2], v))
            instr->args[2] = always;
    }
}

void guard_place(struct task *task)
{
    struct code *code = &task->code;
    const int32_t count = code->count;
    const bool *live = task_live(task, code->arena);
    bool *relevant = arena_array(code->arena, (size_t)count + 1, sizeof *relevant);
    if (!find_relevant(code, live, relevant))
        return;

    struct demands demands = {.code = code, .limit = count * MAX_GROWTH, .relevant = relevant};
    demands.at = arena_array(code->arena, (size_t)count, sizeof *demands.at);
    for (value v = 0; v < count; v++)
        demands.at[v] = NEVER;
    for (int level = 0; level < LOOP_LEVELS; level++)
        demands.loops[level] = NEVER;
    if (code_has_loops(code))
        demands.levels = arena_array(code->arena, (size_t)demands.limit + 16, sizeof *demands.levels);
    demand_results(&demands, task);
    for (value v = count - 1; v >= 0; v--) {
        if (!relevant[v] || demands.at[v] == NEVER)
            continue;
        if (code->at[v].checked)
            code->at[v].guard = demands.at[v];
        demand_arguments(&demands, v);
        if (code->at[v].op == OP_COUNTER && demands.at[v] != ALWAYS)
            code->at[v].args[2] = demands.at[v];
    }
    if (demands.levels)
        drop_circular(code);
}
