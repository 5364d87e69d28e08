/* zip: columns of several sources side by side, which have equally many rows. */
#include "engine/join/join_stages.h"

#include "engine/lower/lower.h"
#include "engine/source/bind_source.h"

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

/* Checks now that known row counts agree; running checks the others. at[0] is the pipeline before the stage. Returns
 * the known row count, or -1 if there is none or they differ. */
static int64_t check_rows(struct binder *binder, const struct stage *stage, const struct flow *at, size_t count)
{
    struct arena *arena = binder->arena;
    size_t first = 0;
    bool equal = true;
    const char *hint = stage->word->stage == STAGE_SCATTER ? "each row needs one position"
                                                           : "columns side by side must have the same length";
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

/* Takes the row count of the first source whose count is unknown; all others are compared with it at run time. */
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

void bind_zip(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const size_t count = stage->source_count + 1;
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
