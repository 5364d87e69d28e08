/* Breakers in a fused queue. */
#include "engine/optimize/fuse_internal.h"

/* The numbers that inputs have in the fused task. */
static size_t *make_inputs(struct task *made, const struct task *task, const struct input *inputs, const bool *reads,
                           struct queue *fused)
{
    size_t *numbers = arena_array(fused->arena, task->input_count + 1, sizeof *numbers);
    made->inputs = arena_array(fused->arena, task->input_count + 1, sizeof *made->inputs);
    for (size_t k = 0; k < task->input_count; k++) {
        if (!reads[k])
            continue;
        if (inputs[k].column != NULL)
            queue_hold(fused, column_ref(inputs[k].column));
        numbers[k] = made->input_count;
        made->inputs[made->input_count++] = inputs[k];
    }
    return numbers;
}

/* A bare INPUT of the task in the fused one; NO_VALUE if nothing needed reads it. */
static value move_input(struct task *made, const struct task *task, value v, const size_t *numbers, const bool *reads)
{
    if (v == NO_VALUE || task->code.at[v].op != OP_INPUT || !reads[task->code.at[v].integer])
        return NO_VALUE;
    size_t number = numbers[task->code.at[v].integer];
    return input_value(&made->code, (int64_t)number, &made->inputs[number], task->code.at[v].span);
}

static void make_breaker(struct task *made, const struct task *task, const size_t *numbers, struct arena *arena)
{
    made->breaker = arena_alloc(arena, sizeof *made->breaker);
    *made->breaker = *task->breaker;
    made->breaker->keys = arena_array(arena, task->breaker->key_count + 1, sizeof *made->breaker->keys);
    for (size_t i = 0; i < task->breaker->key_count; i++)
        made->breaker->keys[i] = numbers[task->breaker->keys[i]];
}

/* Rows are told apart, grouped and counted by what has its place among the outputs: only columns that are just carried
 * along can be left out. */
static bool leaves_out(const struct breaker *breaker, const struct output *output)
{
    return !output->needed && (breaker->kind == BREAK_SORT || breaker->kind == BREAK_SCATTER);
}

/* Makes the fused task of a bundle that stands for the breaker `task`; its rows and rows_from are set. `inputs` are the
 * task's, as the fused queue has them; those that `reads` leaves out are read by nothing needed. */
static void break_close(struct bundle *bundle, const struct task *task, const struct input *inputs, const bool *reads,
                        struct queue *fused)
{
    struct arena *arena = fused->arena;
    struct task *made = bundle->made = queue_add(fused);
    made->sink = bundle->sink = SINK_BREAK;
    made->rows = bundle->rows;
    made->rows_from = bundle->rows_from;
    made->equals = bundle->equals;
    made->equal_count = bundle->equal_count;
    size_t *numbers = make_inputs(made, task, inputs, reads, fused);
    make_breaker(made, task, numbers, arena);
    /* Keys have their INPUTs even where no output is one. */
    for (size_t i = 0; i < made->breaker->key_count; i++) {
        size_t number = made->breaker->keys[i];
        input_value(&made->code, (int64_t)number, &made->inputs[number], task->span);
    }
    bundle->numbers = arena_array(arena, task->output_count + 1, sizeof *bundle->numbers);
    made->outputs = arena_array(arena, task->output_count + 1, sizeof *made->outputs);
    for (size_t k = 0; k < task->output_count; k++) {
        struct output output = task->outputs[k];
        if (leaves_out(task->breaker, &output))
            continue;
        output.value = move_input(made, task, output.value, numbers, reads);
        bundle->numbers[k] = made->output_count;
        made->outputs[made->output_count++] = output;
    }
    made->aggregates = arena_array(arena, task->aggregate_count + 1, sizeof *made->aggregates);
    made->aggregate_count = task->aggregate_count;
    for (size_t i = 0; i < task->aggregate_count; i++) {
        made->aggregates[i] = task->aggregates[i];
        made->aggregates[i].value = move_input(made, task, task->aggregates[i].value, numbers, reads);
    }
}

/* Columns that the breaker reads through their producer need not be made, if it alone would read them. */
static void unneed_columns(const struct fusion *fusion, const struct task *task)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        if (input->task == NULL || fusion->readers[input->task->number] > 1 || !column_read(fusion, input))
            continue;
        struct bundle *from = fusion->bundles[input->task->number];
        from->outputs[input->output].needed = false;
    }
}

/* How many rows the breaker reads, or the fused task that will tell, and those that must have given as many. */
static void count_rows(const struct fusion *fusion, struct bundle *bundle, const struct task *task)
{
    if (bundle->rows >= 0 || task->rows_from == NULL)
        return;
    struct bundle *from = bundle_of(fusion, task->rows_from);
    if (from->made == NULL && from->filter_count == 0 && bundle_keeps_all(from))
        bundle->rows = from->rows;
    if (bundle->rows >= 0 && task->equal_count == 0)
        return;
    bundle_close(from, fusion->fused);
    bundle->rows_from = from->made;
    for (size_t i = 0; i < task->equal_count; i++) {
        struct bundle *other = bundle_of(fusion, task->equals[i]);
        bundle_close(other, fusion->fused);
        bundle_equal(bundle, other->made);
    }
}

struct bundle *fuse_break(const struct fusion *fusion, const struct reading *reading)
{
    const struct task *task = reading->task;
    struct bundle *bundle = bundle_new(fusion->arena, 0, task->rows, INT64_MAX);
    struct input *inputs =
        arena_grow(fusion->arena, task->inputs, task->input_count, task->input_count + 1, sizeof *inputs);
    for (size_t i = 0; i < task->breaker->key_count; i++)
        reading->reads[task->breaker->keys[i]] = true;
    unneed_columns(fusion, task);
    for (size_t k = 0; k < task->input_count; k++) {
        if (!reading->reads[k])
            continue;
        if (!column_read(fusion, &inputs[k]))
            bundle_close(bundle_of(fusion, inputs[k].task), fusion->fused);
        inputs[k].whole = true; /* it reads columns, but from their first row to their last */
        inputs[k] = fused_input(fusion, bundle, inputs[k]);
        inputs[k].whole = false;
    }
    count_rows(fusion, bundle, task);
    break_close(bundle, task, inputs, reading->reads, fusion->fused);
    return bundle;
}
