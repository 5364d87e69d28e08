/* Operators in a fused queue. */
#include "engine/optimize/fusion_group.h"

/* Copies the inputs that are read; returns their numbers in the fused task. */
static size_t *make_inputs(struct task *made, const struct task *task, const struct input *inputs, const bool *reads,
                           struct queue *fused)
{
    size_t *numbers = arena_array(fused->arena, task->input_count + 1, sizeof *numbers);
    made->inputs = arena_array(fused->arena, task->input_count + 1, sizeof *made->inputs);
    for (size_t k = 0; k < task->input_count; k++) {
        if (!reads[k])
            continue;
        if (inputs[k].column)
            queue_hold(fused, column_ref(inputs[k].column));
        numbers[k] = made->input_count;
        made->inputs[made->input_count++] = inputs[k];
    }
    return numbers;
}

/* Copies a bare INPUT to the fused task; NO_VALUE if nothing needed reads it. */
static value move_input(struct task *made, const struct task *task, value v, const size_t *numbers, const bool *reads)
{
    if (v == NO_VALUE || task->code.at[v].op != OP_INPUT || !reads[task->code.at[v].integer])
        return NO_VALUE;
    const size_t number = numbers[task->code.at[v].integer];
    return input_value(&made->code, (int64_t)number, &made->inputs[number], task->code.at[v].span);
}

static void copy_operator(struct task *made, const struct task *task, const size_t *numbers, struct arena *arena)
{
    made->column_op = arena_alloc(arena, sizeof *made->column_op);
    *made->column_op = *task->column_op;
    made->column_op->keys = arena_array(arena, task->column_op->key_count + 1, sizeof *made->column_op->keys);
    for (size_t i = 0; i < task->column_op->key_count; i++)
        made->column_op->keys[i] = numbers[task->column_op->keys[i]];
}

/* Whether an output can be left out: sort and scatter only copy columns; the others distinguish, group or count rows by
 * them. */
static bool is_unneeded(const struct column_operator *column_op, const struct output *output)
{
    return !output->needed && (column_op->kind == OPERATOR_SORT || column_op->kind == OPERATOR_SCATTER);
}

/* Adds the fused task of the operator `task` to `fused`; the group has its rows and rows_from. `inputs` are the task's,
 * as the fused queue reads them; only those in `reads` are needed. */
static void operator_close(struct fusion_group *group, const struct task *task, const struct input *inputs,
                           const bool *reads, struct queue *fused)
{
    struct arena *arena = fused->arena;
    struct task *made = group->made = queue_add(fused);
    made->sink = group->sink = SINK_OPERATOR;
    made->rows = group->rows;
    made->rows_from = group->rows_from;
    made->equals = group->equals;
    made->equal_count = group->equal_count;
    size_t *numbers = make_inputs(made, task, inputs, reads, fused);
    copy_operator(made, task, numbers, arena);
    /* Keys have INPUTs even where no output is one. */
    for (size_t i = 0; i < made->column_op->key_count; i++) {
        const size_t number = made->column_op->keys[i];
        input_value(&made->code, (int64_t)number, &made->inputs[number], task->span);
    }
    group->numbers = arena_array(arena, task->output_count + 1, sizeof *group->numbers);
    made->outputs = arena_array(arena, task->output_count + 1, sizeof *made->outputs);
    for (size_t k = 0; k < task->output_count; k++) {
        struct output output = task->outputs[k];
        if (is_unneeded(task->column_op, &output))
            continue;
        output.value = move_input(made, task, output.value, numbers, reads);
        group->numbers[k] = made->output_count;
        made->outputs[made->output_count++] = output;
    }
    made->aggregates = arena_array(arena, task->aggregate_count + 1, sizeof *made->aggregates);
    made->aggregate_count = task->aggregate_count;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        made->aggregates[i] = task->aggregates[i];
        made->aggregates[i].value = move_input(made, task, task->aggregates[i].value, numbers, reads);
        if (!aggregate_table[made->aggregates[i].kind].operands)
            continue;
        made->aggregates[i].where = move_input(made, task, task->aggregates[i].where, numbers, reads);
        made->aggregates[i].other = move_input(made, task, task->aggregates[i].other, numbers, reads);
    }
}

/* Columns that the operator reads through their producer need not be computed if it is their only reader. */
static void drop_columns(const struct fusion *fusion, const struct task *task)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        if (!input->task || fusion->readers[input->task->number] > 1 || !column_read(fusion, input))
            continue;
        struct fusion_group *from = fusion->groups[input->task->number];
        from->outputs[input->output].needed = false;
    }
}

/* Sets the number of rows the operator reads, or the fused task that determines it, and the tasks with equal row
 * counts. */
static void count_rows(const struct fusion *fusion, struct fusion_group *group, const struct task *task)
{
    if (group->rows >= 0 || !task->rows_from)
        return;
    struct fusion_group *from = fusion_group_of(fusion, task->rows_from);
    if (!from->made && from->filter_count == 0 && fusion_group_keeps_all(from))
        group->rows = from->rows;
    if (group->rows >= 0 && task->equal_count == 0)
        return;
    fusion_group_close(from, fusion->fused);
    group->rows_from = from->made;
    for (size_t i = 0; i < task->equal_count; i++) {
        struct fusion_group *other = fusion_group_of(fusion, task->equals[i]);
        fusion_group_close(other, fusion->fused);
        fusion_group_equal(group, other->made);
    }
}

struct fusion_group *fuse_operator(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    struct fusion_group *group = fusion_group_new(fusion->arena, 0, task->rows, INT64_MAX);
    struct input *inputs =
        arena_grow(fusion->arena, task->inputs, task->input_count, task->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < task->column_op->key_count; i++)
        reading->reads[task->column_op->keys[i]] = true;
    drop_columns(fusion, task);
    for (size_t k = 0; k < task->input_count; k++) {
        if (!reading->reads[k])
            continue;
        if (!column_read(fusion, &inputs[k]))
            fusion_group_close(fusion_group_of(fusion, inputs[k].task), fusion->fused);
        inputs[k].whole = true; /* as if read whole: columns count from their first row to their last */
        inputs[k] = fused_input(fusion, group, inputs[k]);
        inputs[k].whole = false;
    }
    count_rows(fusion, group, task);
    operator_close(group, task, inputs, reading->reads, fusion->fused);
    return group;
}
