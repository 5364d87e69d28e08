/* zip: columns of several sources side by side. */
#include "engine/bind/bind_internal.h"

/* Joins the columns of all flows, visible ones first; false if there are too many. */
static bool join_columns(struct binder *binder, const struct stage *stage, const struct flow *at, size_t count,
                         struct flow *joined)
{
    size_t columns = 0, hidden = 0;
    for (size_t i = 0; i < count; i++) {
        columns += at[i].count;
        hidden += at[i].hidden;
        joined->open = joined->open || at[i].open;
    }
    if (too_many_columns(binder, columns, stage->span))
        return false;
    joined->columns = arena_array(binder->arena, columns + hidden, sizeof *joined->columns);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < at[i].count; k++) {
            struct slot *slot = &joined->columns[joined->count++];
            *slot = at[i].columns[k];
            if (slot->validity != 0)
                slot->validity += columns + joined->hidden - at[i].count;
        }
        for (size_t k = 0; k < at[i].hidden; k++)
            joined->columns[columns + joined->hidden++] = at[i].columns[at[i].count + k];
    }
    number_duplicates(binder, joined->columns, joined->count);
    return true;
}

/* Adds the inputs of the joined columns: `hidden` ones, or those that are visible. */
static void add_inputs(struct task *task, const struct flow *at, size_t count, const struct flow *joined, bool hidden)
{
    for (size_t i = 0; i < count; i++) {
        size_t first = hidden ? at[i].count : 0, end = hidden ? at[i].count + at[i].hidden : at[i].count;
        for (size_t k = first; k < end; k++) {
            struct input *input = &task->inputs[task->input_count];
            *input = (struct input){.task = at[i].task,
                                    .output = k,
                                    .type = at[i].columns[k].type,
                                    .name = joined->columns[task->input_count].name};
            input_value(&task->code, (int64_t)task->input_count++, input, task->span);
        }
    }
}

void bind_zip(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    size_t count = stage->source_count + 1;
    struct flow *at = arena_array(binder->arena, count, sizeof *at);
    at[0] = *flow;
    for (size_t i = 1; i < count; i++) {
        if (bind_gave_up(binder))
            return;
        bind_source(binder, &stage->sources[i - 1], &at[i]);
    }

    struct flow joined = {.rows = -1, .shape = at[0].shape};
    struct task *task = task_new(binder, stage->word->canonical, stage->span, &joined);
    if (!join_columns(binder, stage, at, count, &joined)) {
        flow->open = true;
        return;
    }
    task_reserve_inputs(task, joined.count + joined.hidden, binder->arena);
    add_inputs(task, at, count, &joined, false);
    add_inputs(task, at, count, &joined, true);
    bind_align(binder, stage, task, at, count);
    joined.rows = task->rows;
    task_pass_inputs(binder, task, &joined);
    *flow = joined;
}
