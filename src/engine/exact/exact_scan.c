/* Scans, one chain of rows after another. */
#include "engine/backend/user_reduce.h"
#include "engine/exact/exact_operator.h"
#include "engine/exact/failure.h"

/* Whether the row is the first of its chain. */
static bool begins(const struct column_operator *column_op, int64_t row)
{
    const int64_t before = row - column_op->stride;
    return before < 0 || (column_op->segment > 0 && row / column_op->segment != before / column_op->segment);
}

static void begin_chain(struct agg_state *state, const struct task *task)
{
    agg_init(state, &task->aggregates[0], &task->code);
    if (task->aggregates[0].has_initial)
        agg_add(state, &task->aggregates[0].initial);
}

/* Sets the row's value to that of the state. */
static void set_running(struct lazy_task *lazy, const struct agg_state *state, int64_t row)
{
    /* The initial value is in the state already. */
    struct aggregate plain = lazy->task->aggregates[0];
    plain.has_initial = false;
    struct scalar scalar;
    bool certain;
    const bool good = agg_value(state, &plain, &scalar, &certain);
    exact_set_output(lazy, 0, row, &scalar, good && certain);
}

enum status exact_scan(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    const struct column_operator *column_op = task->column_op;
    const enum kind kind = type_table[task->inputs[column_op->keys[0]].type].kind;
    lazy->count = lazy->rows;
    enum status status = exact_column(exact, lazy, column_op->keys[0], &lazy->scanned);
    if (status != STATUS_OK || !task->outputs[0].needed)
        return status;
    status = exact_reserve_output(exact, lazy, 0, lazy->rows);
    struct agg_state state;
    for (int64_t chain = 0; chain < column_op->stride && chain < lazy->rows && status == STATUS_OK; chain++) {
        for (int64_t row = chain; row < lazy->rows; row += column_op->stride) {
            if (begins(column_op, row))
                begin_chain(&state, task);
            if (exact_cancelled(exact))
                return STATUS_CANCELLED;
            struct scalar v = datum_scalar(column_get_datum(lazy->scanned, row), kind);
            if (column_op->exclusive)
                set_running(lazy, &state, row);
            agg_add(&state, &v);
            if (!column_op->exclusive)
                set_running(lazy, &state, row);
        }
    }
    return status;
}

static struct scalar scalar_at(const struct column *column, int64_t row)
{
    return datum_scalar(column_get_datum(column, row), type_table[column->type].kind);
}

/* The user's function failed at the first failed value of the chain; later ones depend on it. */
static enum status function_failure(struct exact *exact, const struct lazy_task *lazy, int64_t row)
{
    const struct column_operator *column_op = lazy->task->column_op;
    const struct aggregate *aggregate = &lazy->task->aggregates[0];
    const struct output_values *kept = &lazy->outputs[0];
    while (!begins(column_op, row) && column_get_int(kept->states, row - column_op->stride) == VALUE_FAILED)
        row -= column_op->stride;
    const int64_t at = column_op->exclusive ? row - column_op->stride : row;
    struct scalar left = aggregate->initial, right = scalar_at(lazy->scanned, at);
    if (column_op->exclusive)
        left = scalar_at(kept->values, at);
    else if (!begins(column_op, at))
        left = scalar_at(kept->values, at - column_op->stride);
    return exact_reduce_failed(exact, lazy, aggregate, left, right, at);
}

enum status exact_scan_failure(struct exact *exact, const struct lazy_task *lazy, int64_t row)
{
    const struct aggregate *aggregate = &lazy->task->aggregates[0];
    const struct column_operator *column_op = lazy->task->column_op;
    const bool empty = column_op->exclusive && begins(column_op, row);
    if (aggregate->kind == AGG_FOLD && !empty)
        return function_failure(exact, lazy, row);
    const bool wide = aggregate->kind == AGG_SUM || aggregate->kind == AGG_PRODUCT;
    const char *what = wide ? arena_printf(exact->diags->arena, "the running %s does not fit in 64 bits",
                                           aggregate_table[aggregate->kind].word)
                            : "there is no value before the first";
    fail_row(lazy->task, exact_operator_span(lazy), lazy->task->first + row, what, exact->diags);
    if (wide)
        diag_hint(exact->diags, "`map float(x)` before gives a rounded result");
    else
        diag_hint(exact->diags, "`from VALUE` sets the initial value");
    return STATUS_FAILED;
}
