#include "engine/plan/row_count.h"

#include "engine/plan/task_title.h"

#include <string.h>

/* The text of the stages that the task's rows come through, its own and those of all tasks before it: the same with and
 * without fusion. */
static const char *origin_text(const struct task *task, struct arena *arena)
{
    /* Tasks only read earlier ones: one walk down the numbers finds them all. */
    const struct task **behind = arena_array(arena, task->number + 1, sizeof *behind);
    struct task all = {0};
    behind[task->number] = task;
    for (size_t number = task->number + 1; number-- > 0;) {
        const struct task *at = behind[number];
        if (!at)
            continue;
        all.stage_count += at->stage_count;
        if (at->rows_from)
            behind[at->rows_from->number] = at->rows_from;
        for (size_t k = 0; k < at->input_count; k++) {
            if (at->inputs[k].task)
                behind[at->inputs[k].task->number] = at->inputs[k].task;
        }
    }
    all.stages = arena_array(arena, all.stage_count, sizeof *all.stages);
    all.stage_count = 0;
    for (size_t number = 0; number <= task->number; number++) {
        for (size_t i = 0; behind[number] && i < behind[number]->stage_count; i++)
            all.stages[all.stage_count++] = behind[number]->stages[i];
    }
    return stages_text(&all, arena);
}

/* The stages that compare row counts, with their errors. */
static const struct comparing {
    const char *stage, *message, *hint;
} comparings[] = {
    {"zip", "only columns of equal length can be zipped", "`take` shortens the longer one"},
    {"scatter", "`scatter` takes one position for each row", "`take` shortens the longer one"},
    {"shape", "a shape must have a place for each row", "the product of the sizes must equal the number of rows"},
};

/* The task's first such stage: fusion stops at it, so it is the one that compares. */
static const struct comparing *find_comparing(const struct task *task, struct span *span)
{
    for (size_t i = 0; i < task->stage_count; i++) {
        const struct comparing *found = TABLE_ROW(comparings, task->stages[i].name);
        *span = task->stages[i].span;
        if (found)
            return found;
    }
    *span = task->span;
    return &comparings[0];
}

static enum status report_unequal(const struct task *task, const struct task *other, const int64_t *given,
                                  struct diags *diags)
{
    const struct task *from = task->rows_from;
    struct span span;
    const struct comparing *comparing = find_comparing(task, &span);
    return diag_error_hint(diags, span, comparing->hint, "%s: `%s` gives %lld rows, `%s` %lld", comparing->message,
                           origin_text(from, diags->arena), (long long)given[from->number],
                           origin_text(other, diags->arena), (long long)given[other->number]);
}

enum status rows_read(const struct task *task, const int64_t *given, int64_t *rows, struct diags *diags)
{
    for (size_t i = 0; task->rows_from && i < task->equal_count; i++) {
        if (given[task->equals[i]->number] != given[task->rows_from->number])
            return report_unequal(task, task->equals[i], given, diags);
    }
    *rows = task->rows;
    if (task->rows >= 0)
        return STATUS_OK;
    const int64_t all = given[task->rows_from->number];
    const int64_t left = all > task->first ? all - task->first : 0;
    *rows = left < task->limit ? left : task->limit;
    return STATUS_OK;
}

void rows_kept(const struct window *window, int64_t rows, int64_t *begin, int64_t *end)
{
    if (window->tail >= 0) {
        *begin = rows > window->tail ? rows - window->tail : 0;
        *end = rows;
        return;
    }
    *begin = window->skip < rows ? window->skip : rows;
    *end = window->take < rows - *begin ? *begin + window->take : rows;
}
