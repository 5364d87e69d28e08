#include "engine/plan/loop.h"

static struct column *placeholder(enum type type, struct logical_type logical)
{
    struct column *column = column_without_rows(type, type);
    if (column)
        column_set_logical(column, logical);
    return column;
}

struct loop *loop_new(struct queue *queue, const enum type *types, const struct logical_type *logical, size_t count)
{
    struct arena *arena = queue->arena;
    struct loop *loop = arena_alloc(arena, sizeof *loop);
    loop->state = arena_array(arena, count + 1, sizeof *loop->state);
    loop->after = arena_array(arena, count + 1, sizeof *loop->after);
    for (size_t k = 0; k < LOOP_QUEUES; k++)
        queue_init(loop_queue(loop, k), arena);
    queue_add_loop(queue, loop);
    bool made = true;
    for (size_t k = 0; k < count && made; k++) {
        loop->count = k + 1;
        loop->state[k] = placeholder(types[k], logical[k]);
        loop->after[k] = placeholder(types[k], logical[k]);
        made = loop->state[k] && loop->after[k];
    }
    loop->step = placeholder(TYPE_I64, (struct logical_type){0});
    if (!made || !loop->step)
        return NULL;
    loop->step->rows = 1;
    return loop;
}

struct queue *loop_queue(struct loop *loop, size_t k)
{
    struct queue *const queues[LOOP_QUEUES] = {&loop->body, &loop->active, &loop->until};
    return queues[k];
}

void loop_release(struct loop *loop)
{
    for (size_t k = 0; k < LOOP_QUEUES; k++)
        queue_release(loop_queue(loop, k));
    for (size_t k = 0; k < loop->count; k++) {
        column_unref(loop->state[k]);
        column_unref(loop->after[k]);
    }
    column_unref(loop->step);
    loop->count = 0;
    loop->step = NULL;
}
