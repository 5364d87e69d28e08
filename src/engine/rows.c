#include "rows.h"

#include "stages.h"

static enum status unequal(const struct task *task, const struct task *other, const int64_t *given, struct diags *diags)
{
    const struct task *from = task->rows_from;
    diag_error(diags, task->span, "only columns of equal length can be zipped: `%s` gives %lld rows, `%s` %lld",
               stages_text(from, diags->arena), (long long)given[from->number], stages_text(other, diags->arena),
               (long long)given[other->number]);
    diag_hint(diags, "`take` shortens the longer one");
    return STATUS_FAILED;
}

enum status rows_read(const struct task *task, const int64_t *given, int64_t *rows, struct diags *diags)
{
    for (size_t i = 0; task->rows_from && i < task->equal_count; i++) {
        if (given[task->equals[i]->number] != given[task->rows_from->number])
            return unequal(task, task->equals[i], given, diags);
    }
    *rows = task->rows;
    if (task->rows >= 0)
        return STATUS_OK;
    int64_t all = given[task->rows_from->number];
    int64_t left = all > task->first ? all - task->first : 0;
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
