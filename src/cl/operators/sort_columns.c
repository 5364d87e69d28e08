#include "cl/operators/sort_columns.h"

#include "cl/operators/operator.h"

enum status sort_columns(struct accelerator *accelerator, const struct operator_job *job,
                         const struct sorted_columns *what, struct column **sorted)
{
    struct arena *arena = job->diags->arena;
    struct task *task = arena_copy(arena, job->task, sizeof *task);
    struct column_operator *column_op = arena_alloc(arena, sizeof *column_op);
    struct operator_job sorting = *job;
    int64_t rows = what->rows;
    enum status status = STATUS_OK;
    *column_op =
        (struct column_operator){.kind = OPERATOR_SORT, .key_count = what->key_count, .descending = what->descending};
    column_op->keys = arena_array(arena, what->key_count + 1, sizeof *column_op->keys);
    for (size_t k = 0; k < what->key_count; k++)
        column_op->keys[k] = k;
    task->column_op = column_op;
    task->input_count = task->output_count = what->count;
    task->outputs = arena_array(arena, what->count + 1, sizeof *task->outputs);
    code_init(&task->code, arena);
    sorting.task = task;
    sorting.inputs = what->columns;
    sorting.rows = rows;
    sorting.result_rows = &rows;
    sorting.results = sorted;
    for (size_t k = 0; k < what->count; k++) {
        sorted[k] = NULL;
        if (!what->columns[k])
            continue;
        const enum type type = what->columns[k]->type;
        task->outputs[k] = (struct output){
            .value = code_input(&task->code, (int64_t)k, type_table[type].kind, task->span),
            .type = type,
            .needed = what->wanted[k],
        };
        if (what->wanted[k])
            sorted[k] = column_reserve_like(job->pool, what->columns[k], type, rows);
        status = what->wanted[k] && !sorted[k] ? STATUS_UNABLE : status;
    }
    bool flagged = false;
    if (status == STATUS_OK)
        status = cl_sort(accelerator, &sorting, &flagged);
    for (size_t k = 0; k < what->count; k++) {
        if (!sorted[k])
            continue;
        if (status == STATUS_OK) {
            column_finish(sorted[k], rows);
        } else {
            column_unref(sorted[k]);
            sorted[k] = NULL;
        }
    }
    return status;
}
