/* zip: columns of several sources side by side. */
#include "engine/bind/bind_internal.h"

/* Sources whose row counts are known must agree now; the others are left for the run. `at[0]` is the pipeline before
 * zip. Gives the known row count, or -1 if there is none or they differ. */
static int64_t check_rows(struct binder *binder, const struct stage *stage, const struct flow *at, size_t count)
{
    struct arena *arena = binder->arena;
    size_t first = 0;
    bool equal = true;
    const char *hint = stage->word->stage == STAGE_SCATTER ? "there is one position for each row"
                                                           : "columns side by side must be equally long";
    while (first < count && at[first].rows < 0)
        first++;
    for (size_t i = first + 1; i < count; i++) {
        if (at[i].rows < 0 || at[i].rows == at[first].rows)
            continue;
        struct span other = first == 0 ? at[0].task->span : stage->sources[first - 1].span;
        struct span span = stage->sources[i - 1].span;
        bind_error_second(binder, span, other, text_of_count(arena, at[first].rows, "row"), hint,
                          "`%s` has %s, but `%s` has %s", text_of_span(arena, span, 40),
                          text_of_count(arena, at[i].rows, "row"), text_of_span(arena, other, 40),
                          text_of_count(arena, at[first].rows, "row"));
        equal = false;
    }
    return equal && first < count ? at[first].rows : -1;
}

/* The row count is the first source's of which it is not known; all others are compared with it when they have run. */
static void compare_when_run(struct binder *binder, struct task *task, const struct flow *at, size_t count)
{
    size_t first = 0;
    while (first < count && at[first].rows >= 0)
        first++;
    if (first == count)
        return;
    task->rows = -1;
    task->rows_from = at[first].task;
    task->equals = arena_array(binder->arena, count, sizeof(struct task *));
    for (size_t i = 0; i < count; i++) {
        if (i != first)
            task->equals[task->equal_count++] = at[i].task;
    }
}

void bind_align(struct binder *binder, const struct stage *stage, struct task *task, const struct flow *at,
                size_t count)
{
    task->rows = check_rows(binder, stage, at, count);
    compare_when_run(binder, task, at, count);
}

/* The columns of all flows as one; false if they are too many. */
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
        if (bind_hopeless(binder))
            return;
        bind_source(binder, &stage->sources[i - 1], &at[i]);
    }

    struct flow joined = {.rows = -1, .shape = at[0].shape};
    struct task *task = task_begin(binder, stage->word->canonical, stage->span, &joined);
    if (!join_columns(binder, stage, at, count, &joined)) {
        flow->open = true;
        return;
    }
    task_reserve(binder, task, joined.count);
    for (size_t i = 0; i < count; i++)
        task_read(task, &at[i]);
    for (size_t i = 0; i < joined.count; i++)
        task->inputs[i].name = joined.columns[i].name;
    bind_align(binder, stage, task, at, count);
    joined.rows = task->rows;
    task_pass(binder, task, &joined);
    *flow = joined;
}
