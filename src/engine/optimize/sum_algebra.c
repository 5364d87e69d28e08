/* Sums of linear functions of one value, as `sum(x), sum(x + 1), sum(2 * x), mean(x)`, need one sum and the number of
 * rows: sum(a * x + b) is a * sum(x) + b * count.
 *
 * The result is the same, to the bit, and fails where the original would:
 * - Only operations that cannot fail on the values at hand are taken apart (range analysis), so no row has an error of
 *   its own.
 * - Sums of integers are added up in 128 bits and must fit 64 only at the end, so that sum(x) may exceed 64 bits where
 *   sum(x - 7) does not.
 * - Sums of floats are shared only where the values are the same: x + k is rounded.
 * - Where values may be missing, what is summed is a choice between x + k and 0, which is not linear: it is left. */
#include "engine/optimize/optimize.h"

/* The value scale * base + offset. */
struct linear {
    value base;
    int64_t scale, offset;
};

static bool is_constant(const struct code *code, value v)
{
    return code->at[v].op == OP_CONST;
}

/* Whether no product of the scale and the value exceeds 64 bits, so that sums of them do not exceed 128. */
static bool scales(const struct instr *base, int64_t scale)
{
    int64_t least, most;
    return !__builtin_mul_overflow(base->lo, scale, &least) && !__builtin_mul_overflow(base->hi, scale, &most);
}

/* Takes x + k, x - k, k - x or x * k apart, x by sign * x. */
static bool take_apart(const struct code *code, struct linear *linear, value x, value k, int64_t sign)
{
    const struct instr *instr = &code->at[linear->base];
    const int64_t constant = code->at[k].integer;
    struct linear inner = {.base = x};
    int64_t moved;
    if (!is_constant(code, k))
        return false;
    if (instr->op == OP_MUL) {
        if (__builtin_mul_overflow(linear->scale, constant, &inner.scale))
            return false;
        inner.offset = linear->offset;
    } else {
        const bool subtracted = instr->op == OP_SUB && sign > 0;
        if (__builtin_mul_overflow(linear->scale, constant, &moved) ||
            (subtracted ? __builtin_sub_overflow(linear->offset, moved, &inner.offset)
                        : __builtin_add_overflow(linear->offset, moved, &inner.offset)) ||
            __builtin_mul_overflow(linear->scale, sign, &inner.scale))
            return false;
    }
    if (!scales(&code->at[x], inner.scale))
        return false;
    *linear = inner;
    return true;
}

/* Takes the outermost operation of the base apart; false if it is none of these. */
static bool step(const struct code *code, struct linear *linear)
{
    const struct instr *instr = &code->at[linear->base];
    if (instr->checked)
        return false;
    if (instr->op == OP_ADD || instr->op == OP_MUL)
        return take_apart(code, linear, instr->args[0], instr->args[1], 1) ||
               take_apart(code, linear, instr->args[1], instr->args[0], 1);
    return instr->op == OP_SUB && (take_apart(code, linear, instr->args[0], instr->args[1], 1) ||
                                   take_apart(code, linear, instr->args[1], instr->args[0], -1));
}

static struct linear linear_of(const struct code *code, value v)
{
    struct linear linear = {.base = v, .scale = 1};
    while (code->at[v].kind == KIND_INT && step(code, &linear))
        continue;
    return linear;
}

static bool is_sum(const struct aggregate *aggregate)
{
    return (aggregate->kind == AGG_SUM || aggregate->kind == AGG_MEAN) && aggregate->value != NO_VALUE &&
           !aggregate->has_initial;
}

void derive_sums(struct task *task, const struct pass_watch *watch)
{
    struct arena *arena = task->code.arena;
    const size_t count = task->aggregate_count;
    if (task->sink != SINK_AGGREGATE)
        return;
    struct aggregate *aggregates = arena_grow(arena, task->aggregates, count, count, sizeof *aggregates);
    /* Of each value, one more than the first aggregate that has its sum. */
    size_t *summed = arena_array(arena, (size_t)task->code.count + 1, sizeof *summed);
    for (size_t i = 0; i < count; i++) {
        struct aggregate *aggregate = &aggregates[i];
        if (!is_sum(aggregate))
            continue;
        const struct linear linear = linear_of(&task->code, aggregate->value);
        if (summed[linear.base] == 0)
            summed[linear.base] = i + 1;
        const size_t of = summed[linear.base] - 1;
        if (of == i && linear.base == aggregate->value)
            continue; /* it stays as it is */
        const struct derived_sum derived = {.kind = aggregate->kind,
                                            .type = task->code.at[aggregate->value].kind,
                                            .of = of,
                                            .scale = linear.scale,
                                            .offset = linear.offset};
        aggregate->derived = arena_copy(arena, &derived, sizeof derived);
        aggregate->kind = of == i ? AGG_SUM : AGG_COUNT;
        aggregate->value = of == i ? linear.base : NO_VALUE;
    }
    task->aggregates = aggregates;
    if (watch)
        watch->task(watch->context, "derive_sums", task);
}
