#include "engine/evaluator/program.h"

#include "engine/vector/compare_const.h"

#include <math.h>

/* The share of rows that pass if all integers in the operand's interval are equally frequent. */
static double compare_share(const struct code *code, const struct compare_const *compare)
{
    const struct instr *of = &code->at[compare->of];
    const double lo = (double)of->lo, width = (double)of->hi - lo + 1;
    double part = 0;
    switch (compare->kind) {
    case COMPARE_BITS:
        part = compare->mask == -1 ? 1 / width : ldexp(1, -__builtin_popcountll((uint64_t)compare->mask));
        break;
    case COMPARE_LESS:
        part = ((double)compare->against - lo) / width;
        break;
    case COMPARE_MULTIPLE:
        part = 1 / (double)compare->against;
        break;
    }
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return compare->flip ? 1 - part : part;
}

static double condition_share(const struct code *code, value condition)
{
    const double equal = 0.1, other = 1.0 / 3; /* guesses */
    struct compare_const compare;
    if (compare_const_of(code, condition, &compare))
        return compare_share(code, &compare);
    return code->at[condition].op == OP_EQ ? equal : other;
}

value filter_order_first(const struct task *task)
{
    const struct code *code = &task->code;
    struct arena *arena = arena_new();
    size_t count;
    const value *conditions = task_conditions(task, arena, &count);
    bool *read = arena_array(arena, (size_t)code->count + 1, sizeof *read);
    for (size_t i = 0; i < count; i++)
        read[conditions[i]] = true;
    code_mark_all(code, read);
    value best = NO_VALUE;
    double least = 2;
    if (code_any_checked(code, read)) { /* a failure hides the conditions after it: only the first may lead */
        best = code->at[conditions[0]].fallible ? NO_VALUE : conditions[0];
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        const double part = condition_share(code, conditions[i]);
        best = part < least ? conditions[i] : best;
        least = part < least ? part : least;
    }
    arena_free(arena);
    return best;
}
