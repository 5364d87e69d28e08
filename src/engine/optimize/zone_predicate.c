/* Interval analysis of one zone. Unlike range_analysis.c, which widens to classes so that one program serves many
 * queries, it uses the actual literals and the zone's own bounds. */
#include "engine/optimize/optimize.h"

#include "engine/plan/interval.h"

#include <math.h>

/* Bounds of a value in the zone, if nothing it is computed from failed. */
struct fact {
    struct interval range;  /* integers */
    double low, high;       /* floats other than NaN; low > high: none */
    bool nan;               /* floats: may be NaN */
    bool may_hold, may_not; /* bools */
    bool fails;             /* computing it, lazily, may fail for some row */
};

struct zone_predicate {
    const struct task *task;
    int64_t rows;
    bool *live;
    struct fact *at; /* of each value */
};

/* The rows under test. */
struct segment {
    int64_t begin, end;
    const struct zone *inputs, *whole;
};

static const struct fact any_float = {.low = -INFINITY, .high = INFINITY, .nan = true};
static const struct fact any_bool = {.may_hold = true, .may_not = true};

struct zone_predicate *zone_predicate_new(const struct task *task, int64_t rows, struct arena *arena)
{
    struct zone_predicate *predicate = arena_array(arena, 1, sizeof *predicate);
    const size_t count = (size_t)task->code.count;
    *predicate = (struct zone_predicate){.task = task, .rows = rows};
    predicate->at = arena_array(arena, count + 1, sizeof *predicate->at);
    predicate->live = arena_array(arena, count + 1, sizeof *predicate->live);
    for (size_t i = 0; i < task->filter_count; i++)
        code_mark(&task->code, task->filters[i].keep, predicate->live);
    return predicate;
}

static struct fact of_zone(const struct zone *zone, enum kind kind)
{
    switch (kind) {
    case KIND_BOOL:
        return (struct fact){.may_hold = zone->hi >= 1, .may_not = zone->lo <= 0};
    case KIND_INT:
        return (struct fact){.range = {.lo = zone->lo, .hi = zone->hi}};
    case KIND_FLOAT:
        break;
    }
    return (struct fact){.low = zone->low, .high = zone->high, .nan = zone->nan};
}

static struct fact join(const struct fact *a, const struct fact *b, enum kind kind)
{
    return (struct fact){
        .range = kind == KIND_INT ? interval_join(a->range, b->range) : a->range,
        .low = a->low < b->low ? a->low : b->low,
        .high = a->high > b->high ? a->high : b->high,
        .nan = a->nan || b->nan,
        .may_hold = a->may_hold || b->may_hold,
        .may_not = a->may_not || b->may_not,
    };
}

static struct fact of_input(const struct instr *instr, const struct segment *segment)
{
    if (instr->offset == 0)
        return of_zone(&segment->inputs[instr->integer], instr->kind);
    const struct zone zero = {0};
    const struct fact beyond = of_zone(&zero, instr->kind);
    const struct fact within = of_zone(&segment->whole[instr->integer], instr->kind);
    return join(&within, &beyond, instr->kind);
}

static struct fact of_constant(const struct instr *instr)
{
    return (struct fact){
        .range = {.lo = instr->integer, .hi = instr->integer},
        .low = isnan(instr->number) ? INFINITY : instr->number,
        .high = isnan(instr->number) ? -INFINITY : instr->number,
        .nan = isnan(instr->number),
        .may_hold = instr->integer != 0,
        .may_not = instr->integer == 0,
    };
}

static bool is_empty(const struct fact *number)
{
    return number->low > number->high;
}

static bool is_bounded(const struct fact *number)
{
    return !is_empty(number) && isfinite(number->low) && isfinite(number->high);
}

/* The hull of the results at the corners, for operations that are monotone in each argument; rounding preserves that.
 */
static struct fact hull(double a, double b, double c, double d, bool nan)
{
    struct fact fact = {.low = fmin(fmin(a, b), fmin(c, d)), .high = fmax(fmax(a, b), fmax(c, d)), .nan = nan};
    return isnan(a) || isnan(b) || isnan(c) || isnan(d) ? any_float : fact;
}

static struct fact float_operation(enum op op, const struct fact *a, const struct fact *b)
{
    const bool nan = a->nan || b->nan;
    switch (op) {
    case OP_NEG:
        return (struct fact){.low = -a->high, .high = -a->low, .nan = a->nan};
    case OP_ABS:
        if (is_empty(a))
            return *a;
        return (struct fact){.low = a->low > 0    ? a->low
                                    : a->high < 0 ? -a->high
                                                  : 0,
                             .high = fmax(fabs(a->low), fabs(a->high)),
                             .nan = a->nan};
    case OP_FLOOR:
    case OP_CEIL:
    case OP_ROUND:
        if (is_empty(a))
            return *a;
        return (struct fact){.low = float_op(op, a->low, 0), .high = float_op(op, a->high, 0), .nan = a->nan};
    case OP_ADD:
    case OP_SUB:
    case OP_MUL:
        if (!is_bounded(a) || !is_bounded(b))
            return any_float;
        return hull(float_op(op, a->low, b->low), float_op(op, a->low, b->high), float_op(op, a->high, b->low),
                    float_op(op, a->high, b->high), nan);
    default:
        return any_float;
    }
}

static struct fact comparison_fact(bool sure, bool never)
{
    return (struct fact){.may_hold = !never, .may_not = !sure};
}

static struct fact compare_ints(enum op op, struct interval a, struct interval b)
{
    const bool apart = a.hi < b.lo || b.hi < a.lo;
    const bool same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;
    switch (op) {
    case OP_EQ:
        return comparison_fact(same, apart);
    case OP_NE:
        return comparison_fact(apart, same);
    case OP_LT:
        return comparison_fact(a.hi < b.lo, a.lo >= b.hi);
    default:
        return comparison_fact(a.hi <= b.lo, a.lo > b.hi);
    }
}

/* Comparisons with NaN are false, except !=. */
static struct fact compare_floats(enum op op, const struct fact *a, const struct fact *b)
{
    bool none = is_empty(a) || is_empty(b), nan = a->nan || b->nan;
    const bool apart = a->high < b->low || b->high < a->low;
    const bool same = !nan && a->low == a->high && b->low == b->high && a->low == b->low;
    switch (op) {
    case OP_EQ:
        return comparison_fact(!none && same, none || apart);
    case OP_NE:
        return comparison_fact(none || apart, !none && same);
    case OP_LT:
        return comparison_fact(!none && !nan && a->high < b->low, none || a->low >= b->high);
    default:
        return comparison_fact(!none && !nan && a->high <= b->low, none || a->low > b->high);
    }
}

static struct fact compare_bools(enum op op, const struct fact *a, const struct fact *b)
{
    const struct interval x = {.lo = !a->may_not, .hi = a->may_hold}, y = {.lo = !b->may_not, .hi = b->may_hold};
    return compare_ints(op, x, y);
}

/* -1, 0 or 1, and 2 where the float is NaN. */
static struct fact compare_mixed(struct interval a, const struct fact *b)
{
    struct fact fact = {.range = {.lo = -1, .hi = 2}};
    if (is_empty(b) || b->nan)
        return fact;
    fact.range.lo = compare_int_float((int64_t)a.lo, b->high);
    fact.range.hi = compare_int_float((int64_t)a.hi, b->low);
    return fact;
}

static struct fact truncated(const struct fact *a)
{
    int64_t lo, hi;
    if (!a->nan && !is_empty(a) && float_to_int(a->low, &lo) && float_to_int(a->high, &hi))
        return (struct fact){.range = {.lo = lo, .hi = hi}};
    return (struct fact){.range = {.lo = INT64_MIN, .hi = INT64_MAX, .fails = true}};
}

static struct fact of_int_operation(enum op op, const struct fact *const *args, bool *fails)
{
    struct interval range = op == OP_TO_INT          ? truncated(args[0]).range
                            : op == OP_CMP_INT_FLOAT ? compare_mixed(args[0]->range, args[1]).range
                            : op == OP_BOOL_TO_INT ? (struct interval){.lo = !args[0]->may_not, .hi = args[0]->may_hold}
                                                   : interval_of(op, args[0]->range, args[1]->range, args[2]->range);
    *fails = range.fails || range.lo < INT64_MIN || range.hi > INT64_MAX;
    range.lo = range.lo < INT64_MIN ? INT64_MIN : range.lo > INT64_MAX ? INT64_MAX : range.lo;
    range.hi = range.hi > INT64_MAX ? INT64_MAX : range.hi < INT64_MIN ? INT64_MIN : range.hi;
    return (struct fact){.range = {.lo = range.lo, .hi = range.hi}};
}

/* Lazy operations: && || ?:. */
static struct fact of_lazy(const struct instr *instr, const struct fact *const *args)
{
    const struct fact *a = args[0], *b = args[1], *c = args[2];
    struct fact fact;
    switch (instr->op) {
    case OP_AND:
        fact = (struct fact){.may_hold = a->may_hold && b->may_hold, .may_not = a->may_not || b->may_not};
        fact.fails = a->fails || (a->may_hold && b->fails);
        return fact;
    case OP_OR:
        fact = (struct fact){.may_hold = a->may_hold || b->may_hold, .may_not = a->may_not && b->may_not};
        fact.fails = a->fails || (a->may_not && b->fails);
        return fact;
    default:
        fact = !a->may_not ? *b : !a->may_hold ? *c : join(b, c, instr->kind);
        fact.fails = a->fails || (a->may_hold && b->fails) || (a->may_not && c->fails);
        return fact;
    }
}

static struct fact of_comparison(const struct code *code, const struct instr *instr, const struct fact *const *args)
{
    switch (code->at[instr->args[0]].kind) {
    case KIND_BOOL:
        return compare_bools(instr->op, args[0], args[1]);
    case KIND_INT:
        return compare_ints(instr->op, args[0]->range, args[1]->range);
    case KIND_FLOAT:
        break;
    }
    return compare_floats(instr->op, args[0], args[1]);
}

/* Operations that read all arguments. */
static struct fact of_operation(const struct code *code, const struct instr *instr, const struct fact *const *args)
{
    bool fails = false;
    struct fact fact;
    switch (instr->op) {
    case OP_EQ:
    case OP_NE:
    case OP_LT:
    case OP_LE:
        fact = of_comparison(code, instr, args);
        break;
    case OP_NOT:
        fact = (struct fact){.may_hold = args[0]->may_not, .may_not = args[0]->may_hold};
        break;
    case OP_ASSERT:
        fact = (struct fact){.may_hold = args[0]->may_hold};
        fails = args[0]->may_not;
        break;
    case OP_TO_FLOAT:
        fact = code->at[instr->args[0]].kind == KIND_INT
                   ? (struct fact){.low = (double)args[0]->range.lo, .high = (double)args[0]->range.hi}
                   : any_float;
        break;
    default:
        fact = instr->kind == KIND_INT     ? of_int_operation(instr->op, args, &fails)
               : instr->kind == KIND_FLOAT ? float_operation(instr->op, args[0], args[1])
                                           : any_bool;
    }
    /* Loops are not followed. */
    fails = fails || instr->op >= OP_COUNTER;
    for (int i = 0; i < op_table[instr->op].arity; i++)
        fails = fails || args[i]->fails;
    fact.fails = fails;
    return fact;
}

static struct fact of_instruction(const struct zone_predicate *predicate, const struct instr *instr,
                                  const struct segment *segment)
{
    static const struct fact none = {0};
    const struct code *code = &predicate->task->code;
    const struct fact *args[3] = {&none, &none, &none};
    for (int i = 0; i < op_table[instr->op].arity; i++)
        args[i] = &predicate->at[instr->args[i]];
    struct fact fact;
    switch (instr->op) {
    case OP_INPUT:
        return of_input(instr, segment);
    case OP_CONST:
        return of_constant(instr);
    case OP_ROW:
        return (struct fact){.range = {.lo = segment->begin, .hi = segment->end - 1}};
    case OP_ROWS:
        return (struct fact){.range = {.lo = predicate->rows, .hi = predicate->rows}};
    case OP_GATHER:
        fact = of_zone(&segment->whole[instr->integer], instr->kind);
        fact.fails = true;
        return fact;
    case OP_AND:
    case OP_OR:
    case OP_SELECT:
        return of_lazy(instr, args);
    default:
        return of_operation(code, instr, args);
    }
}

bool zone_predicate_of_rows(const struct zone_predicate *predicate)
{
    const struct code *code = &predicate->task->code;
    bool any = false;
    for (value v = 0; v < code->count; v++)
        any = any || (predicate->live[v] && code->at[v].op == OP_ROW);
    return any;
}

bool zone_predicate_exclude(struct zone_predicate *predicate, int64_t begin, int64_t end, const struct zone *inputs,
                            const struct zone *whole)
{
    const struct task *task = predicate->task;
    const struct segment segment = {.begin = begin, .end = end, .inputs = inputs, .whole = whole};
    for (value v = 0; v < task->code.count; v++) {
        if (predicate->live[v])
            predicate->at[v] = of_instruction(predicate, &task->code.at[v], &segment);
    }
    for (size_t i = 0; i < task->filter_count; i++) {
        const struct fact *keep = &predicate->at[task->filters[i].keep];
        if (keep->fails)
            return false;
        if (!keep->may_hold)
            return true;
    }
    return false;
}
