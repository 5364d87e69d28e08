/* The task before a pipeline breaker that computes its operands, and the breaker itself. */
#include "engine/bind/bind_internal.h"

void front_begin(struct binder *binder, const struct stage *stage, const struct flow *flow, struct front *front)
{
    *front = (struct front){.binder = binder, .stage = stage, .flow = flow};
    front->task = task_part(binder, "map", stage->span, flow);
    /* The head of scan and reduce is that of their function. */
    bool function = stage->word->stage == STAGE_SCAN || stage->word->stage == STAGE_REDUCE;
    front->scope = scope_of_stage(binder, front->task, flow, function ? NULL : stage->head);
}

/* Whether the value is a column of the flow as it is, and of which number. */
static bool is_bare(const struct front *front, value v, size_t *index)
{
    if (v == NO_VALUE || front->task->code.at[v].op != OP_INPUT)
        return false;
    *index = (size_t)front->task->code.at[v].integer;
    return *index < front->flow->count;
}

size_t front_add(struct front *front, value v, struct slot slot)
{
    struct arena *arena = front->binder->arena;
    for (size_t k = 0; v != NO_VALUE && k < front->count; k++) {
        if (front->values[k] == v)
            return k;
    }
    if (front->count == front->capacity) {
        size_t capacity = front->capacity == 0 ? 8 : 2 * front->capacity;
        front->slots = arena_grow(arena, front->slots, front->count, capacity, sizeof *front->slots);
        front->values = arena_grow(arena, front->values, front->count, capacity, sizeof *front->values);
        front->capacity = capacity;
    }
    size_t index;
    slot.known = v != NO_VALUE;
    if (is_bare(front, v, &index)) {
        slot.type = front->flow->columns[index].type;
        if (slot.name == NULL)
            slot.name = front->flow->columns[index].name;
    } else {
        slot.type = slot.known ? type_of_kind(front->task->code.at[v].kind) : TYPE_I64;
    }
    front->slots[front->count] = slot;
    front->values[front->count] = v;
    return front->count++;
}

size_t front_item(struct front *front, const struct item *item)
{
    return front_add(front, bind_value(&front->scope, item->expr), (struct slot){.name = item->name.text});
}

struct task *new_breaker(struct front *front, const char *name, const struct flow *flow, enum operator_kind kind,
                         size_t key_count)
{
    struct binder *binder = front->binder;
    struct task *task = task_part(binder, name, front->stage->span, flow);
    struct operator* operator= arena_alloc(binder->arena, sizeof *operator);
    *operator=(struct operator){.kind = kind, .key_count = key_count, .stride = 1, .into = -1};
    operator->keys = arena_array(binder->arena, key_count + 1, sizeof *operator->keys);
    operator->descending = arena_array(binder->arena, key_count + 1, sizeof *operator->descending);
    task->sink = SINK_OPERATOR;
    task->operator= operator;
    return task;
}

struct task *front_end(struct front *front, const char *name, enum operator_kind kind, size_t key_count,
                       size_t *operand)
{
    size_t index;
    bool bare = true;
    for (size_t k = 0; k < front->count; k++)
        bare = is_bare(front, front->values[k], &index) && bare;
    if (bare) {
        /* Nothing has come to read it, so the task made last is taken back. */
        front->binder->queue->count--;
        for (size_t k = 0; k < front->count; k++) {
            is_bare(front, front->values[k], &index);
            operand[k] = index;
        }
        return new_breaker(front, name, front->flow, kind, key_count);
    }
    struct flow ready = *front->flow;
    name_columns(front->binder, front->slots, front->count);
    task_give(front->binder, front->task, &ready, front->slots, front->values, front->count);
    for (size_t k = 0; k < front->count; k++)
        operand[k] = k;
    return new_breaker(front, name, &ready, kind, key_count);
}
