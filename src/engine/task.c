/* The queue of tasks, and which of their values anyone reads. */
#include "task.h"

#include <string.h>

enum { FIRST_CAPACITY = 8 };

void queue_init(struct queue *queue, struct arena *arena)
{
    *queue = (struct queue){.arena = arena};
}

void queue_release(struct queue *queue)
{
    for (size_t i = 0; i < queue->held_count; i++)
        column_unref(queue->held[i]);
    queue->held_count = 0;
}

struct task *queue_add(struct queue *queue)
{
    if (queue->count == queue->capacity) {
        queue->capacity = queue->capacity == 0 ? FIRST_CAPACITY : queue->capacity * 2;
        queue->tasks = arena_grow(queue->arena, queue->tasks, queue->count, queue->capacity, sizeof(struct task *));
    }
    struct task *task = arena_alloc(queue->arena, sizeof *task);
    task->number = queue->count;
    task->rows = -1;
    task->limit = INT64_MAX;
    task->window = (struct window){.take = INT64_MAX, .tail = -1};
    code_init(&task->code, queue->arena);
    queue->tasks[queue->count++] = task;
    return task;
}

void queue_hold(struct queue *queue, struct column *column)
{
    if (queue->held_count == queue->held_capacity) {
        queue->held_capacity = queue->held_capacity == 0 ? FIRST_CAPACITY : queue->held_capacity * 2;
        queue->held =
            arena_grow(queue->arena, queue->held, queue->held_count, queue->held_capacity, sizeof(struct column *));
    }
    queue->held[queue->held_count++] = column;
}

/* Readers come after what they read, so one walk from the last task to the first settles everything. */
void queue_prune(const struct queue *queue)
{
    for (size_t t = 0; t < queue->count; t++) {
        for (size_t k = 0; k < queue->tasks[t]->output_count; k++)
            queue->tasks[t]->outputs[k].needed = t + 1 == queue->count;
    }
    int32_t largest = 0;
    for (size_t t = 0; t < queue->count; t++) {
        if (queue->tasks[t]->code.count > largest)
            largest = queue->tasks[t]->code.count;
    }
    bool *live = arena_array(queue->arena, (size_t)largest + 1, sizeof *live);
    for (size_t t = queue->count; t-- > 0;) {
        const struct task *task = queue->tasks[t];
        task_mark_live(task, live);
        for (value v = 0; v < task->code.count; v++) {
            if (!live[v] || task->code.at[v].op != OP_INPUT)
                continue;
            const struct input *input = &task->inputs[task->code.at[v].integer];
            if (input->task != NULL && input->output < input->task->output_count)
                input->task->outputs[input->output].needed = true;
        }
    }
}

value input_value(struct code *code, int64_t number, const struct input *input, struct span span)
{
    value v = code_input(code, number, type_table[input->type].kind, span);
    const struct task *from = input->task;
    if (from != NULL && input->output < from->output_count)
        code->at[v].fallible = from->code.at[from->outputs[input->output].value].fallible;
    return v;
}

bool task_has_window(const struct task *task)
{
    return task->window.skip != 0 || task->window.take != INT64_MAX || task->window.tail >= 0;
}

bool task_uses_row(const struct task *task)
{
    bool *live = arena_array(task->code.arena, (size_t)task->code.count + 1, sizeof *live);
    task_mark_live(task, live);
    for (value v = 0; v < task->code.count; v++) {
        if (live[v] && task->code.at[v].op == OP_ROW)
            return true;
    }
    return false;
}

void task_mark_live(const struct task *task, bool *live)
{
    const struct code *code = &task->code;
    memset(live, 0, (size_t)code->count * sizeof *live);
    for (size_t i = 0; i < task->filter_count; i++)
        live[task->filters[i].keep] = true;
    for (size_t i = 0; i < task->output_count && task->sink == SINK_ROWS; i++) {
        if (task->outputs[i].needed)
            live[task->outputs[i].value] = true;
    }
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (task->aggregates[i].value != NO_VALUE)
            live[task->aggregates[i].value] = true;
    }
    code_mark_all(code, live);

    bool guarded = false;
    for (value v = 0; v < code->count; v++) {
        if (live[v] && code->at[v].checked && code->at[v].guard != NO_VALUE)
            guarded = live[code->at[v].guard] = true;
    }
    if (guarded)
        code_mark_all(code, live);
}
