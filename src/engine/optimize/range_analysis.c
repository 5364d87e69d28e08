/* Interval analysis of typed code.
 *
 * An interval bounds a value if nothing it is computed from failed. After a failure, execution continues with arbitrary
 * values, and a division by zero would trap: an operation that can trap or is undefined for some arguments is only left
 * unchecked if no failure can reach its arguments. (A column's class always contains zero, which pages of a truncated
 * file read as.) */
#include "engine/optimize/passes.h"

#include "base/integer.h"

#include "engine/plan/code_loop.h"
#include "engine/plan/interval.h"

/* The smallest class that contains lo..hi: of one of the `count` numbers of bits, of one sign or both, or 64 bits. */
static struct interval class_of(const int *bits, size_t count, int128 lo, int128 hi)
{
    for (size_t k = 0; k < count; k++) {
        int128 half = power_of_two(bits[k] - 1);
        if (lo >= 0 && hi < half)
            return (struct interval){.lo = 0, .hi = half - 1};
        if (lo >= 0 && hi < 2 * half)
            return (struct interval){.lo = 0, .hi = 2 * half - 1};
        if (lo >= -half && hi < half)
            return (struct interval){.lo = -half, .hi = half - 1};
    }
    return (struct interval){.lo = lo >= 0 ? 0 : INT64_MIN, .hi = INT64_MAX};
}

static struct interval type_class(int128 lo, int128 hi)
{
    static const int bits[] = {8, 16, 32};
    return class_of(bits, sizeof bits / sizeof *bits, lo, hi);
}

/* Columns also have classes one bit below a lane's width: the sum of two such values fits the lane unchecked. */
static struct interval column_class(int128 lo, int128 hi)
{
    static const int bits[] = {8, 16, 31, 32, 63};
    return class_of(bits, sizeof bits / sizeof *bits, lo, hi);
}

/* A literal's class keeps its sign and whether it is zero, so that other literals give the same program. */
static struct interval literal_class(int64_t n)
{
    if (n == 0)
        return (struct interval){0};
    struct interval class = type_class(n, n);
    return (struct interval){.lo = n > 0 ? 1 : class.lo, .hi = n > 0 ? class.hi : -1};
}

static struct interval input_range(const struct input *input, const struct column *column)
{
    const struct type_info *info = &type_table[column ? column->store : input->type];
    int128 lo = info->lo, hi = info->hi;
    if (column && column->rows > 0 && column->range_known) {
        lo = max_int128(lo, column->lo);
        hi = min_int128(hi, column->hi);
    }
    if (input->range_known) {
        lo = max_int128(lo, input->lo);
        hi = min_int128(hi, input->hi);
    }
    return column_class(lo, hi);
}

/* 31 bits are enough for most queries; 47 leave room for unchecked arithmetic. The number of rows has the same
 * interval. */
static struct interval row_range(int64_t rows)
{
    const int bits = rows <= INT32_MAX ? 31 : rows < (int64_t)1 << 47 ? 47 : 63;
    return (struct interval){.lo = 0, .hi = power_of_two(bits) - 1};
}

/* The interval of argument i. Shift counts decide what fits, so a literal count is not widened. */
static struct interval argument_range(const struct code *code, const struct instr *instr, int i)
{
    if (instr->args[i] == NO_VALUE)
        return (struct interval){0};
    const struct instr *arg = &code->at[instr->args[i]];
    const bool count = i == 1 && (instr->op == OP_SHL || instr->op == OP_SHR);
    if (count && arg->op == OP_CONST)
        return (struct interval){.lo = arg->integer, .hi = arg->integer};
    return (struct interval){.lo = arg->lo, .hi = arg->hi};
}

/* Whether the operation would be undefined for arguments that are invalid after a failure. */
static bool relies_on_arguments(const struct code *code, const struct instr *instr, const bool *tainted)
{
    switch (instr->op) {
    case OP_DIV:
    case OP_MOD: {
        const struct instr *divisor = &code->at[instr->args[1]];
        const bool minus_one = divisor->lo <= -1 && divisor->hi >= -1;
        return tainted[instr->args[1]] || (tainted[instr->args[0]] && minus_one);
    }
    case OP_SHL:
    case OP_SHR:
        return tainted[instr->args[1]];
    default:
        return false;
    }
}

/* Intervals in loops.
 *
 * A STATE has the interval of its first and its next values, which are computed from it: the analysis is repeated, with
 * intervals widened to classes, until no STATE's grows. A STATE to which each round adds something, as a sum or a
 * counter does, grows by at most that in each of the rounds there can be. */
struct loop_ranges {
    struct interval *states; /* of each STATE so far, and of each next value that only adds to one */
    bool *bounded;           /* such next values */
    bool any;
};

/* The most rounds there can be. */
static int128 most_rounds(const struct code *code, value loop)
{
    const struct instr *index = &code->at[loop_index(code, loop)];
    const int128 rounds = (int128)index->hi - index->lo + 1;
    return rounds < 0 ? 0 : rounds;
}

static struct interval range_at(const struct code *code, value v)
{
    return (struct interval){.lo = code->at[v].lo, .hi = code->at[v].hi};
}

static bool contains(struct interval outer, struct interval inner)
{
    return outer.lo <= inner.lo && outer.hi >= inner.hi;
}

static value find_state(const struct code *code, int64_t level, int64_t slot, enum kind kind);

/* What `rounds` rounds add at most, that add any of `terms` each, or end early. */
static struct interval times(struct interval terms, int128 rounds)
{
    return (struct interval){.lo = min_int128(0, terms.lo * rounds), .hi = max_int128(0, terms.hi * rounds)};
}

/* Whether `next` is the state plus a value, in `terms`: at once, or in a loop that begins with the state. */
static bool is_sum(const struct code *code, value state, value next, struct interval *terms)
{
    const struct instr *instr = &code->at[next];
    if (instr->kind != KIND_INT || (instr->op != OP_ADD && instr->op != OP_FINAL))
        return false;
    for (int i = 0; i < 2 && instr->op == OP_ADD; i++) {
        *terms = range_at(code, instr->args[1 - i]);
        if (instr->args[i] == state && instr->args[1 - i] != state)
            return true;
    }
    if (instr->op == OP_ADD)
        return false;
    const value loop = instr->args[0];
    value chain = code->at[loop].args[0];
    for (int64_t k = 0; k < instr->offset; k++)
        chain = code->at[chain].args[2];
    const value inner = find_state(code, code->at[loop].integer, instr->offset, KIND_INT);
    if (code->at[chain].args[0] != state || inner == NO_VALUE || !is_sum(code, inner, code->at[chain].args[1], terms))
        return false;
    const int128 rounds = most_rounds(code, loop);
    if (rounds > INT32_MAX || terms->lo < INT64_MIN || terms->hi > INT64_MAX)
        return false;
    *terms = times(*terms, rounds);
    return true;
}

/* Widens a state to hold its first and next value; returns whether it grew. */
static bool widen_state(const struct code *code, struct loop_ranges *ranges, value loop, value state,
                        struct carry carry)
{
    struct interval range = interval_join(ranges->states[state], range_at(code, carry.first));
    struct interval terms;
    const int128 rounds = most_rounds(code, loop);
    const bool sum = rounds <= INT32_MAX && is_sum(code, state, carry.next, &terms) && terms.lo >= INT64_MIN &&
                     terms.hi <= INT64_MAX;
    if (sum) {
        const struct interval added = times(terms, rounds), first = range_at(code, carry.first);
        range = interval_join(range, (struct interval){.lo = first.lo + added.lo, .hi = first.hi + added.hi});
    } else {
        range = interval_join(range, range_at(code, carry.next));
    }
    range.lo = max_int128(range.lo, INT64_MIN);
    range.hi = min_int128(range.hi, INT64_MAX);
    const bool grew = !contains(ranges->states[state], range);
    if (grew)
        ranges->states[state] = column_class(range.lo, range.hi);
    /* Only as long as the sum fits: else its operation is checked. */
    const struct interval whole = ranges->states[state];
    ranges->bounded[carry.next] = sum && whole.lo > INT64_MIN && whole.hi < INT64_MAX;
    if (ranges->bounded[carry.next])
        ranges->states[carry.next] = whole;
    return grew;
}

/* The STATE of a level and number; NO_VALUE: nothing reads it. */
static value find_state(const struct code *code, int64_t level, int64_t slot, enum kind kind)
{
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if (instr->op == OP_STATE && instr->integer == level && instr->offset == slot && instr->kind == kind)
            return v;
    }
    return NO_VALUE;
}

static bool widen_states(const struct code *code, struct loop_ranges *ranges, struct carry *carries)
{
    bool grew = false;
    for (value v = 0; v < code->count; v++) {
        const size_t count = loop_carries(code, v, carries);
        for (size_t k = 0; k < count; k++) {
            const enum kind kind = code->at[carries[k].first].kind;
            const value state = kind == KIND_INT ? find_state(code, code->at[v].integer, (int64_t)k, kind) : NO_VALUE;
            if (state != NO_VALUE)
                grew |= widen_state(code, ranges, v, state, carries[k]);
        }
    }
    return grew;
}

/* The STATE's interval after its LOOP. */
static struct interval final_range(const struct code *code, const struct instr *final)
{
    const struct instr *loop = &code->at[final->args[0]];
    value chain = loop->args[0];
    for (int64_t k = 0; k < final->offset; k++)
        chain = code->at[chain].args[2];
    const value first = code->at[chain].args[0], next = code->at[chain].args[1];
    return interval_join(range_at(code, first), range_at(code, next));
}

static struct interval index_range(const struct code *code, const struct instr *index)
{
    const int128 lo = code->at[index->args[0]].lo, hi = code->at[index->args[1]].hi;
    return (struct interval){.lo = lo, .hi = max_int128(lo, hi)};
}

static struct interval int_range(const struct task *task, const struct loop_ranges *ranges, value v,
                                 struct column *const *columns, int64_t rows)
{
    const struct instr *instr = &task->code.at[v];
    switch (instr->op) {
    case OP_COUNTER:
        return index_range(&task->code, instr);
    case OP_STATE:
        return ranges->states[v];
    case OP_FINAL:
        return final_range(&task->code, instr);
    case OP_FOLD:
        return (struct interval){.lo = INT64_MIN, .hi = INT64_MAX, .fails = true};
    case OP_INPUT:
        return input_range(&task->inputs[instr->integer], columns[instr->integer]);
    case OP_ROW:
    case OP_ROWS:
        return row_range(rows);
    case OP_GATHER: {
        struct interval elements = input_range(&task->inputs[instr->integer], columns[instr->integer]);
        elements.fails = !instr->exact;
        return elements;
    }
    case OP_CONST:
        if (!instr->exact)
            return literal_class(instr->integer);
        return (struct interval){.lo = instr->integer, .hi = instr->integer};
    default:
        return interval_of(instr->op, argument_range(&task->code, instr, 0), argument_range(&task->code, instr, 1),
                           argument_range(&task->code, instr, 2));
    }
}

/* One pass over the code; intervals of STATEs are those of `ranges`. */
static void analyse(struct task *task, const struct loop_ranges *ranges, bool *tainted, struct column *const *columns,
                    int64_t rows)
{
    const struct code *code = &task->code;
    for (value v = 0; v < code->count; v++) {
        struct instr *instr = &code->at[v];
        instr->guard = NO_VALUE;
        instr->checked = code_can_fail(instr);
        if (instr->kind == KIND_INT) {
            struct interval range = int_range(task, ranges, v, columns, rows);
            if (ranges->bounded[v])
                range = ranges->states[v];
            instr->lo = (int64_t)min_int128(max_int128(range.lo, INT64_MIN), INT64_MAX);
            instr->hi = (int64_t)min_int128(max_int128(range.hi, INT64_MIN), INT64_MAX);
            instr->lane = instr->lo >= INT32_MIN && instr->hi <= INT32_MAX ? LANE_I32 : LANE_I64;
            instr->checked = range.fails || range.lo != instr->lo || range.hi != instr->hi ||
                             relies_on_arguments(code, instr, tainted);
        }
        /* A state may hold what failed in an earlier round. */
        tainted[v] = instr->checked || instr->op == OP_STATE;
        for (int i = 0; i < op_table[instr->op].arity; i++)
            tainted[v] = tainted[v] || tainted[instr->args[i]];
    }
}

void range_analyse(struct task *task, struct column *const *columns, int64_t rows)
{
    const struct code *code = &task->code;
    const size_t count = (size_t)code->count + 1;
    bool *tainted = arena_array(code->arena, count, sizeof *tainted); /* arbitrary after a failure */
    struct loop_ranges ranges = {.any = code_has_loops(code)};
    ranges.bounded = arena_array(code->arena, count, sizeof *ranges.bounded);
    ranges.states = arena_array(code->arena, count, sizeof *ranges.states);
    struct carry *carries = ranges.any ? arena_array(code->arena, LOOP_STATES, sizeof *carries) : NULL;
    do
        analyse(task, &ranges, tainted, columns, rows);
    while (ranges.any && widen_states(code, &ranges, carries));
}
