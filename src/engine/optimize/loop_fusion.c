/* Loop fusion: the aggregates of `until`, the condition tested after a round, in the pass that computes the round. */
#include "engine/optimize/optimize.h"
#include "engine/plan/code_loop.h"

/* The column of the state that an input is after the round; the number of columns: none. */
static size_t column_after(const struct loop *loop, const struct input *input)
{
    size_t k = 0;
    while (k < loop->count && (input->task || input->column != loop->after[k]))
        k++;
    return k;
}

/* Whether rows of the one are rows of the other, and only those are read of what it computes. */
static bool reads_own_rows(const struct loop *loop, const struct task *body, const struct task *until)
{
    const struct code *code = &until->code;
    bool own = body->sink == SINK_ROWS && until->sink == SINK_AGGREGATE &&
               body->filter_count + until->filter_count == 0 && body->first == 0 && until->first == 0 &&
               !code_has_loops(code) && !task_has_window(until);
    for (value v = 0; v < code->count && own; v++) {
        const struct instr *instr = &code->at[v];
        if (instr->op != OP_INPUT && instr->op != OP_GATHER)
            continue;
        const struct input *input = &until->inputs[instr->integer];
        const bool after = column_after(loop, input) < loop->count;
        own = !input->task && (!after || (instr->op == OP_INPUT && instr->offset == 0));
    }
    return own;
}

static size_t find_input(struct task *task, const struct input *input, struct arena *arena)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *other = &task->inputs[k];
        if (!other->task && other->column == input->column && other->whole == input->whole && other->needed)
            return k;
    }
    task->inputs = arena_grow(arena, task->inputs, task->input_count, task->input_count + 1, sizeof *task->inputs);
    task->inputs[task->input_count] = *input;
    return task->input_count++;
}

struct task *fuse_until(const struct loop *loop, const struct task *body, const struct task *until, struct arena *arena)
{
    const struct code *code = &until->code;
    if (!reads_own_rows(loop, body, until))
        return NULL;
    struct task *fused = task_clone(body, arena);
    value *map = code_map(arena, code), *wholes = arena_array(arena, until->input_count + 1, sizeof *wholes);
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        if (instr->op != OP_INPUT && instr->op != OP_GATHER)
            continue;
        const struct input *input = &until->inputs[instr->integer];
        const size_t k = column_after(loop, input);
        if (k < loop->count) {
            map[v] = fused->outputs[k].value;
            continue;
        }
        const int64_t number = (int64_t)find_input(fused, input, arena);
        const int64_t offset = instr->op == OP_INPUT ? instr->offset : 0;
        wholes[instr->integer] = input_value_at(&fused->code, number, offset, input, instr->span);
        if (instr->op == OP_INPUT)
            map[v] = wholes[instr->integer];
    }
    fused->aggregate_count = until->aggregate_count;
    fused->aggregates = arena_grow(arena, until->aggregates, until->aggregate_count, until->aggregate_count + 1,
                                   sizeof *fused->aggregates);
    for (size_t k = 0; k < until->aggregate_count; k++) {
        struct aggregate *aggregate = &fused->aggregates[k];
        if (aggregate_table[aggregate->kind].operands)
            return NULL;
        if (aggregate->value != NO_VALUE)
            aggregate->value = code_inline(&fused->code, code, aggregate->value, wholes, NO_VALUE, map);
    }
    return fused;
}
