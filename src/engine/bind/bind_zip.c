/* zip: columns of several sources side by side. */
#include "engine/bind/bind_internal.h"

/* Joins the columns of all flows; false if there are too many. */
static bool join_columns(struct binder *binder, const struct stage *stage, const struct flow *at, size_t count,
                         struct flow *joined)
{
    size_t columns = 0;
    for (size_t i = 0; i < count; i++) {
        columns += at[i].count;
        joined->open = joined->open || at[i].open;
    }
    if (too_many_columns(binder, columns, stage->span))
        return false;
    joined->columns = arena_array(binder->arena, columns, sizeof *joined->columns);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < at[i].count; k++)
            joined->columns[joined->count++] = at[i].columns[k];
    }
    number_duplicates(binder, joined->columns, joined->count);
    return true;
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
    task_reserve_inputs(binder, task, joined.count);
    for (size_t i = 0; i < count; i++)
        task_add_inputs(task, &at[i]);
    for (size_t i = 0; i < joined.count; i++)
        task->inputs[i].name = joined.columns[i].name;
    bind_align(binder, stage, task, at, count);
    joined.rows = task->rows;
    task_pass_inputs(binder, task, &joined);
    *flow = joined;
}
