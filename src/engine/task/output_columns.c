#include "engine/task/task_sink.h"

#include "engine/plan/row_count.h"
#include "engine/storage/residency.h"

#include <string.h>

enum { COPIED_ROWS = 1 << 20 };

/* Copies rows begin .. end-1 of a column. */
static struct column *copy_rows(struct buffer_pool *pool, struct column *column, int64_t begin, int64_t end)
{
    if (!column_fetch(column, begin, end))
        return NULL;
    struct column *copy = column_reserve_like(pool, column, column->type, end - begin);
    if (!copy)
        return NULL;
    const size_t size = type_table[column->store].size;
    if (end > begin)
        memcpy(column_at(copy, 0), (const char *)column->data + (size_t)begin * size, (size_t)(end - begin) * size);
    column_finish(copy, end - begin);
    return copy;
}

/* An output that is rows of an input as they stand: the whole column, or a copy of a part too small to be worth a
 * program. NULL: it has to be computed. */
static struct column *rows_of_input(struct buffer_pool *pool, const struct job *job, struct column *const *inputs,
                                    const struct output *output)
{
    const struct task *task = job->task;
    const struct instr *instr = &task->code.at[output->value];
    if (instr->op != OP_INPUT || instr->offset != 0 || task->filter_count > 0)
        return NULL;
    struct column *column = inputs[instr->integer];
    int64_t begin = task->first + job->begin, end = task->first + job->end;
    if (column->type != output->type || !logical_is_same(&column->logical, &output->logical))
        return NULL;
    if (begin == 0 && end == column->rows)
        return column_ref(column);
    return end - begin <= COPIED_ROWS ? copy_rows(pool, column, begin, end) : NULL;
}

/* A column stored narrower than its type has a known range. */
static void note_range(struct column *column, const struct instr *instr)
{
    if (column->store == column->type || instr->kind != KIND_INT)
        return;
    column_set_range(column, true, instr->lo, instr->hi);
}

enum status outputs_reserve(const struct job *job, struct buffer_pool *pool, struct column *const *inputs,
                            struct column **written, struct outcome *outcome)
{
    const struct task *task = job->task;
    const int64_t rows = job->end - job->begin;
    for (size_t k = 0; k < task->output_count; k++) {
        const struct output *output = &task->outputs[k];
        if (!output->needed)
            continue;
        outcome->columns[k] = rows_of_input(pool, job, inputs, output);
        if (outcome->columns[k])
            continue;
        const enum type store = output_store(task, output, job->columns);
        struct column *column = column_reserve_from(pool, output->type, store, rows);
        if (!column)
            return diag_no_memory(job->diags, task->span, "not enough memory for a column of %lld rows",
                                  (long long)rows);
        note_range(column, &task->code.at[output->value]);
        outcome->columns[k] = written[k] = column;
    }
    return STATUS_OK;
}

/* Applies the window to the rows that passed the filters. */
static enum status apply_window(const struct job *job, struct buffer_pool *pool, struct outcome *outcome)
{
    const struct task *task = job->task;
    const int64_t rows = outcome->rows;
    int64_t begin, end;
    rows_kept(&task->window, rows, &begin, &end);
    outcome->rows = end - begin;
    if (begin == 0 && end == rows)
        return STATUS_OK;
    const enum status status =
        columns_fetch_rows(outcome->columns, task->output_count, begin, end, task->span, job->diags);
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++) {
        if (!outcome->columns[k])
            continue;
        struct column *kept = copy_rows(pool, outcome->columns[k], begin, end);
        if (!kept)
            return diag_no_memory(job->diags, task->span, "not enough memory for a column of %lld rows",
                                  (long long)outcome->rows);
        column_unref(outcome->columns[k]);
        outcome->columns[k] = kept;
    }
    return status;
}

enum status outputs_finish(const struct job *job, struct buffer_pool *pool, const struct row_sink *sink,
                           struct outcome *outcome)
{
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (sink->columns[k])
            column_finish(sink->columns[k], sink->rows);
    }
    if (job->task->filter_count == 0) {
        outcome->rows = job->end - job->begin;
        return STATUS_OK;
    }
    outcome->rows = sink->rows;
    return apply_window(job, pool, outcome);
}
