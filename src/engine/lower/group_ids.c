/* The number of each row's group as a column. */
#include "engine/lower/aggregates.h"

/* A task that reads the flow, the operator's result and the operands, row by row; `add` inputs at most. */
static struct task *beside(struct binder *binder, const struct stage *stage, const struct flow *flow, size_t add)
{
    struct task *task = task_new(binder, "group ids", stage->span, NULL);
    task_reserve_inputs(task, flow->count + flow->hidden + add, binder->arena);
    task_add_inputs(task, flow);
    task->rows = flow->rows;
    if (flow->rows < 0)
        task->rows_from = flow->task;
    return task;
}

/* Adds an input beside the flow's as a hidden column; returns its number. */
static size_t add_column(struct binder *binder, struct task *task, struct flow *flow, const struct input *input,
                         struct slot slot)
{
    const size_t number = task_add_input(task, input, binder->arena);
    input_value(&task->code, (int64_t)number, &task->inputs[number], task->span);
    if (number < flow->count + flow->hidden)
        return number; /* one of the flow's own */
    slot.name = arena_printf(binder->arena, "%s key", slot.name ? slot.name : "group");
    slot.validity = 0;
    flow->columns[flow->count + flow->hidden++] = slot;
    return number;
}

size_t group_ids_add(struct binder *binder, const struct stage *stage, const struct item *items, size_t count,
                     struct flow *flow, struct key_operands *keys)
{
    struct arena *arena = binder->arena;
    struct operands operands;
    size_t *numbers = arena_array(arena, 2 * count + 1, sizeof *numbers), columns = 0;
    operands_begin(binder, stage, flow, &operands);
    for (size_t i = 0; i < count; i++) {
        keys[i] = operands_add_key(&operands, &items[i]);
        if (keys[i].nullable)
            numbers[columns++] = keys[i].missing;
        numbers[columns++] = keys[i].value;
    }
    size_t *inputs = arena_array(arena, operands.count + 1, sizeof *inputs);
    struct task *ids = operands_end(&operands, "group ids", OPERATOR_IDS, columns, inputs);
    for (size_t i = 0; i < columns; i++)
        ids->column_op->keys[i] = inputs[numbers[i]];
    const struct slot slot = {.name = "group", .type = TYPE_I64, .known = true};
    struct flow numbered = *flow;
    task_set_slot(binder, ids, &numbered, slot, task_input(ids, ids->column_op->keys[0]));

    size_t all = flow->count + flow->hidden, added = columns + 1;
    struct task *task = beside(binder, stage, flow, added);
    flow->columns = arena_grow(arena, flow->columns, all, all + added, sizeof *flow->columns);
    for (size_t i = 0; i < count; i++) {
        if (keys[i].nullable)
            keys[i].missing = add_column(binder, task, flow, &ids->inputs[inputs[keys[i].missing]],
                                         (struct slot){.name = "missing", .type = TYPE_BOOL, .known = true});
        keys[i].value = add_column(binder, task, flow, &ids->inputs[inputs[keys[i].value]], keys[i].slot);
    }
    const struct input input = {.task = ids, .type = TYPE_I64, .name = "group"};
    const size_t number = add_column(binder, task, flow, &input, slot);
    struct flow whole = *flow;
    task_pass_inputs(binder, task, &whole);
    flow->task = task;
    return number;
}
