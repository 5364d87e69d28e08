#include "eval_lead.h"

#include "eval_probe.h"

#include <math.h>

/* Of equally many of each integer that x is within. */
static double part_of_probe(const struct code *code, const struct probe *probe)
{
    const struct instr *of = &code->at[probe->of];
    const double lo = (double)of->lo, width = (double)of->hi - lo + 1;
    double part = 0;
    switch (probe->kind) {
    case PROBE_BITS:
        part = probe->mask == -1 ? 1 / width : ldexp(1, -__builtin_popcountll((uint64_t)probe->mask));
        break;
    case PROBE_LESS:
        part = ((double)probe->against - lo) / width;
        break;
    case PROBE_MULTIPLE:
        part = 1 / (double)probe->against;
        break;
    }
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return probe->flip ? 1 - part : part;
}

static double part_of(const struct code *code, value condition)
{
    const double equal = 0.1, other = 1.0 / 3; /* guesses */
    struct probe probe;
    if (probe_of(code, condition, &probe))
        return part_of_probe(code, &probe);
    return code->at[condition].op == OP_EQ ? equal : other;
}

/* The condition that is asked first of all. */
static value first_of(const struct task *task)
{
    value first = task->filters[0].keep;
    while (task->code.at[first].op == OP_AND)
        first = task->code.at[first].args[0];
    return first;
}

/* Marks the conditions that && joins; whether any of them, or what it is computed from, can fail. */
static bool mark_conditions(const struct task *task, bool *conditions, struct arena *arena)
{
    const struct code *code = &task->code;
    bool *read = arena_array(arena, (size_t)code->count + 1, sizeof *read);
    bool fails = false;
    for (size_t i = 0; i < task->filter_count; i++)
        conditions[task->filters[i].keep] = read[task->filters[i].keep] = true;
    for (value v = code->count - 1; v >= 0; v--) {
        const struct instr *instr = &code->at[v];
        const bool both = conditions[v] && instr->op == OP_AND;
        fails = fails || (read[v] && instr->checked);
        for (int i = 0; i < op_table[instr->op].arity && read[v]; i++) {
            read[instr->args[i]] = true;
            conditions[instr->args[i]] = conditions[instr->args[i]] || both;
        }
        conditions[v] = conditions[v] && !both;
    }
    return fails;
}

value lead_of(const struct task *task)
{
    const struct code *code = &task->code;
    if (task->filter_count == 0)
        return NO_VALUE;
    struct arena *arena = arena_new();
    bool *conditions = arena_array(arena, (size_t)code->count + 1, sizeof *conditions);
    value best = NO_VALUE;
    double least = 2;
    const bool fails = mark_conditions(task, conditions, arena);
    for (value v = 0; v < code->count && !fails; v++) {
        const double part = conditions[v] ? part_of(code, v) : least;
        best = part < least ? v : best;
        least = part < least ? part : least;
    }
    arena_free(arena);
    return !fails ? best : code->at[first_of(task)].fallible ? NO_VALUE : first_of(task);
}
