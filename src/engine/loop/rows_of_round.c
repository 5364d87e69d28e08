#include "engine/loop/loop_stages.h"

#include "engine/plan/loop.h"

#include <string.h>

const char ROWS_BEFORE_ROUND[] = " before", ROWS_AFTER_ROUND[] = " after";

/* What the name of a column before the round is in the relation that `until` reads. */
static const char BEFORE[] = "before(%s)";

static void add_columns(const struct slot *slots, struct column *const *columns, size_t count, struct task *task)
{
    for (size_t k = 0; k < count; k++) {
        struct input *input = &task->inputs[task->input_count];
        *input = (struct input){.column = columns[k], .type = columns[k]->type, .name = slots[k].name};
        input_value(&task->code, (int64_t)task->input_count++, input, task->span);
    }
}

static void begin_source(struct binder *binder, const struct rounds *rounds, struct span span, struct flow *flow)
{
    struct task *task = task_new(binder, "round", span, flow);
    task_reserve_inputs(task, 2 * rounds->loop->count, binder->arena);
    task->rows = rounds->rows;
    *flow = (struct flow){.task = task, .rows = rounds->rows, .shape = rounds->shape, .nameless = rounds->nameless};
}

void bind_rows_before(struct binder *binder, const struct rounds *rounds, struct span span, struct flow *flow)
{
    begin_source(binder, rounds, span, flow);
    add_columns(rounds->columns, rounds->loop->state, rounds->loop->count, flow->task);
    flow->columns = rounds->columns;
    flow->count = rounds->count;
    flow->hidden = rounds->loop->count - rounds->count;
    task_pass_inputs(binder, flow->task, flow);
}

/* The columns after the round and, hidden, those before it: [after][validity][before][validity]. */
static void bind_rows_after(struct binder *binder, const struct rounds *rounds, struct span span, struct flow *flow)
{
    const size_t count = rounds->loop->count;
    struct slot *slots = arena_array(binder->arena, 2 * count + 1, sizeof *slots);
    begin_source(binder, rounds, span, flow);
    for (size_t k = 0; k < count; k++) {
        slots[k] = slots[count + k] = rounds->columns[k];
        slots[count + k].name = arena_printf(binder->arena, BEFORE, rounds->columns[k].name);
        if (slots[k].validity != 0)
            slots[count + k].validity += count;
    }
    add_columns(slots, rounds->loop->after, count, flow->task);
    add_columns(slots + count, rounds->loop->state, count, flow->task);
    flow->columns = slots;
    flow->count = rounds->count;
    flow->hidden = 2 * count - rounds->count;
    task_pass_inputs(binder, flow->task, flow);
}

bool bind_rows_of_round(struct binder *binder, const struct name *name, struct flow *flow)
{
    for (const struct rounds *rounds = binder->rounds; rounds; rounds = rounds->outer) {
        const bool innermost = rounds == binder->rounds;
        if ((innermost && name->text == ROWS_BEFORE_ROUND) ||
            (rounds->name.text && strcmp(rounds->name.text, name->text) == 0)) {
            bind_rows_before(binder, rounds, name->span, flow);
            return true;
        }
        if (innermost && name->text == ROWS_AFTER_ROUND) {
            bind_rows_after(binder, rounds, name->span, flow);
            return true;
        }
    }
    return false;
}
