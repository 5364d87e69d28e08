/* The queue: its tasks in order, and what they hold. */
#include "engine/plan/loop.h"
#include "engine/plan/task.h"
#include "engine/values/dictionary.h"

#include <assert.h>

void queue_init(struct queue *queue, struct arena *arena)
{
    *queue = (struct queue){.arena = arena};
}

void queue_release(struct queue *queue)
{
    columns_unref(queue->held, queue->held_count);
    for (size_t i = 0; i < queue->dictionary_count; i++)
        dictionary_unref(queue->dictionaries[i]);
    for (size_t i = 0; i < queue->loop_count; i++)
        loop_release(queue->loops[i]);
    queue->held_count = queue->dictionary_count = queue->loop_count = 0;
}

struct task *queue_add(struct queue *queue)
{
    queue->tasks = arena_reserve(queue->arena, queue->tasks, queue->count, &queue->capacity, sizeof(struct task *));
    struct task *task = arena_alloc(queue->arena, sizeof *task);
    task->number = queue->count;
    task->rows = -1;
    task->limit = INT64_MAX;
    task->window = (struct window){.take = INT64_MAX, .tail = -1};
    code_init(&task->code, queue->arena);
    queue->tasks[queue->count++] = task;
    return task;
}

struct task *queue_insert(struct queue *queue, size_t number)
{
    struct task *task = queue_add(queue);
    for (; task->number > number; task->number--) {
        queue->tasks[task->number] = queue->tasks[task->number - 1];
        queue->tasks[task->number]->number++;
    }
    queue->tasks[number] = task;
    return task;
}

void queue_remove(struct queue *queue, const struct task *task)
{
    for (size_t k = 0; k < queue->count; k++) {
        for (size_t i = 0; i < queue->tasks[k]->input_count; i++)
            assert(queue->tasks[k]->inputs[i].task != task);
    }
    queue->count--;
    for (size_t k = task->number; k < queue->count; k++) {
        queue->tasks[k] = queue->tasks[k + 1];
        queue->tasks[k]->number = k;
    }
}

void queue_hold(struct queue *queue, struct column *column)
{
    *ARENA_PUSH(queue->arena, queue->held, queue->held_count, queue->held_capacity) = column;
}

void queue_hold_dictionary(struct queue *queue, struct dictionary *dictionary)
{
    *ARENA_PUSH(queue->arena, queue->dictionaries, queue->dictionary_count, queue->dictionary_capacity) = dictionary;
}

void queue_add_loop(struct queue *queue, struct loop *loop)
{
    const size_t count = queue->loop_count++;
    queue->loops = arena_grow(queue->arena, queue->loops, count, count + 1, sizeof(struct loop *));
    queue->loops[count] = loop;
}

int64_t queue_unknown_code(struct queue *queue, struct text text)
{
    size_t k = 0;
    while (k < queue->text_count && text_compare(queue->texts[k], text) != 0)
        k++;
    if (k == queue->text_count) {
        *ARENA_PUSH(queue->arena, queue->texts, queue->text_count, queue->text_capacity) = text;
    }
    return unknown_code + 2 * (int64_t)k;
}

static bool same_application(const struct text_application *a, const struct text_application *b)
{
    bool same = a->function == b->function && a->count == b->count && a->found == b->found;
    for (int i = 0; i < a->count && same; i++)
        same = a->args[i].integer == b->args[i].integer && text_compare(a->args[i].text, b->args[i].text) == 0;
    return same;
}

int64_t queue_text_application(struct queue *queue, const struct text_application *application)
{
    size_t k = 0;
    while (k < queue->text_application_count && !same_application(&queue->text_applications[k], application))
        k++;
    if (k == queue->text_application_count) {
        *ARENA_PUSH(queue->arena, queue->text_applications, queue->text_application_count,
                    queue->text_application_capacity) = *application;
    }
    return (int64_t)k;
}

void queue_add_recomputed(struct queue *queue, const struct relation *relation)
{
    const size_t count = queue->recomputed_count++;
    queue->recomputed = arena_grow(queue->arena, queue->recomputed, count, count + 1, sizeof(struct relation *));
    queue->recomputed[count] = relation;
}
