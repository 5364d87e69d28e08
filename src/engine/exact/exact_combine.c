/* Rows combined by a user's function of two rows, from the first to the last. */
#include "engine/backend/user_reduce.h"
#include "engine/exact/exact_operator.h"
#include "engine/exact/failure.h"

#include <string.h>

/* The combination of the rows so far. */
struct progress_of_rows {
    bool any;
    union datum *pair; /* it, then the row that is added */
    union datum *result;
};

static void set_row(struct lazy_task *lazy, const struct progress_of_rows *rows, int64_t row, bool good)
{
    const struct task *task = lazy->task;
    for (size_t k = 0; k < task->output_count; k++) {
        const enum kind kind = type_table[task->outputs[k].type].kind;
        const struct scalar scalar = datum_scalar(rows->pair[k], kind);
        exact_set_output(lazy, k, row, &scalar, good);
    }
}

/* Adds a row; false if that fails, as all that follows does then. */
static bool add_row(struct exact *exact, struct lazy_task *lazy, struct column *const *inputs, int64_t row,
                    struct progress_of_rows *rows)
{
    const struct column_operator *column_op = lazy->task->column_op;
    const struct user_reduce *reducer = &column_op->combining->reducer;
    const size_t width = reducer->count;
    union datum *to = rows->any ? rows->pair + width : rows->pair;
    for (size_t k = 0; k < width; k++)
        to[k] = column_get_datum(inputs[column_op->keys[k]], row);
    if (rows->any && !user_reduce_rows(reducer, rows->pair, rows->result, NULL)) {
        lazy->uncombined = arena_array(exact->arena, 2 * width, sizeof *lazy->uncombined);
        memcpy(lazy->uncombined, rows->pair, 2 * width * sizeof *lazy->uncombined);
        lazy->uncombined_row = row;
        return false;
    }
    if (rows->any)
        memcpy(rows->pair, rows->result, width * sizeof *rows->pair);
    rows->any = true;
    return true;
}

static enum status combine_rows(struct exact *exact, struct lazy_task *lazy, struct column *const *inputs)
{
    const struct column_operator *column_op = lazy->task->column_op;
    const struct combining *how = column_op->combining;
    const size_t width = how->reducer.count;
    struct progress_of_rows rows = {
        .any = how->has_initial,
        .pair = arena_array(exact->arena, 2 * width, sizeof *rows.pair),
        .result = arena_array(exact->arena, width, sizeof *rows.result),
    };
    for (size_t k = 0; k < width && rows.any; k++)
        rows.pair[k] = datum_of_scalar(&how->initial[k]);
    bool good = true;
    for (int64_t row = 0; row < lazy->rows; row++) {
        if (exact_cancelled(exact))
            return STATUS_CANCELLED;
        if (column_op->exclusive)
            set_row(lazy, &rows, row, good && rows.any);
        good = good && add_row(exact, lazy, inputs, row, &rows);
        if (!how->reduces && !column_op->exclusive)
            set_row(lazy, &rows, row, good);
    }
    if (how->reduces)
        set_row(lazy, &rows, 0, good && rows.any);
    return STATUS_OK;
}

enum status exact_combine(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    const struct column_operator *column_op = task->column_op;
    struct column **inputs = arena_array(exact->arena, task->input_count, sizeof(struct column *));
    enum status status = exact_key_columns(exact, lazy, inputs);
    lazy->count = operator_result_rows(column_op, lazy->rows);
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++)
        status = exact_reserve_output(exact, lazy, k, lazy->count);
    if (status == STATUS_OK)
        status = combine_rows(exact, lazy, inputs);
    columns_unref(inputs, task->input_count);
    return status;
}

enum status exact_combine_failure(const struct exact *exact, const struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    const struct combining *how = task->column_op->combining;
    if (!lazy->uncombined) {
        diag_error(exact->diags, exact_operator_span(lazy),
                   how->reduces ? "reduce of no rows" : "there is no row before the first");
        return diag_hint(exact->diags, "start from a row with `from VALUE, ...`, a value for each column%s",
                         how->reduces ? ": it is also the result of no rows" : "");
    }
    union datum *unread = arena_array(exact->diags->arena, how->reducer.count, sizeof *unread);
    struct failure failure = {0};
    user_reduce_rows(&how->reducer, lazy->uncombined, unread, &failure);
    failure.task = task;
    failure.inputs = NULL; /* a column of a row is quoted as it is written */
    failure.row = task->first + lazy->uncombined_row;
    return fail_operation(&failure, exact->diags);
}
