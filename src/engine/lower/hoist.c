#include "engine/lower/lower.h"

void hoist_values(struct scope *scope, struct span span, struct slot *slots, const value *values, size_t count,
                  struct flow *computed)
{
    struct binder *binder = scope->binder;
    struct task view = *scope->task;
    view.sink = SINK_ROWS;
    view.filter_count = view.aggregate_count = 0;
    view.output_count = count;
    view.outputs = arena_array(binder->arena, count + 1, sizeof *view.outputs);
    for (size_t k = 0; k < count; k++)
        view.outputs[k] = (struct output){.value = values[k],
                                          .name = slots[k].name,
                                          .type = slots[k].type,
                                          .logical = slots[k].logical,
                                          .needed = true};
    struct task *task = task_new(binder, "map", span, NULL);
    task_copy(task, &view, span, arena_array(binder->arena, view.input_count + 1, sizeof(size_t)));
    task->rows_from = view.rows_from;
    task->limit = view.limit;
    task->equals = view.equals;
    task->equal_count = view.equal_count;
    *computed = (struct flow){.task = task, .columns = slots, .count = count, .rows = view.rows};
}

void hoist_finish(struct scope *scope)
{
    struct queue *queue = scope->binder->queue;
    struct task *task = scope->task;
    for (size_t t = task->number; t + 1 < queue->count; t++) {
        queue->tasks[t] = queue->tasks[t + 1];
        queue->tasks[t]->number = t;
    }
    task->number = queue->count - 1;
    queue->tasks[task->number] = task;
}

value hoist_input(struct scope *scope, struct task *from, size_t k, struct span span)
{
    const struct input input = input_of_output(from, k);
    return task_read(scope->task, &input, span);
}
