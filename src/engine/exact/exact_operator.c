/* Operators, independent of engine/operators, which is tested against them. */
#include "engine/exact/exact_operator.h"

#include "engine/exact/failure.h"
#include "engine/moving/moving.h"
#include "engine/operators/operator.h"
#include "engine/storage/residency.h"

#include <math.h>
#include <string.h>

struct span exact_operator_span(const struct lazy_task *lazy)
{
    /* Stages before it only pass columns through. */
    const struct task *task = lazy->task;
    return task->stage_count > 0 ? task->stages[task->stage_count - 1].span : task->span;
}

struct copied_input {
    size_t input;
    struct column *column;
};

static enum status copy_value(struct exact *exact, struct lazy_task *lazy, int64_t row, const void *context)
{
    const struct copied_input *copied = context;
    union datum datum;
    const enum status status = exact_input(exact, lazy, copied->input, row, &datum);
    if (status == STATUS_OK)
        column_set_datum(copied->column, row, datum);
    return status;
}

enum status exact_column(struct exact *exact, struct lazy_task *lazy, size_t input, struct column **column)
{
    const struct task *task = lazy->task;
    const enum type type = type_of_kind(type_table[task->inputs[input].type].kind);
    struct column *from = lazy->columns[input];
    if (from && from->store == type && from->rows == lazy->rows && task->first == 0) {
        *column = column_ref(from);
        return STATUS_OK;
    }
    *column = exact_reserve(exact, type, lazy->rows);
    if (!*column)
        return exact_no_memory(exact, task, lazy->rows);
    const struct copied_input copied = {input, *column};
    const enum status status = exact_for_rows(exact, lazy, 0, lazy->rows, copy_value, &copied);
    column_finish(*column, lazy->rows);
    return status;
}

enum status exact_reserve_output(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t rows)
{
    const enum type type = lazy->task->outputs[k].type;
    struct output_values *kept = &lazy->outputs[k];
    kept->values = exact_reserve(exact, type, rows);
    kept->states = exact_reserve(exact, TYPE_U8, rows);
    return kept->values && kept->states ? STATUS_OK : exact_no_memory(exact, lazy->task, rows);
}

void exact_set_output(struct lazy_task *lazy, size_t k, int64_t row, const struct scalar *scalar, bool good)
{
    const struct output_values *kept = &lazy->outputs[k];
    good = good && (scalar->kind == KIND_FLOAT || scalar_fits(scalar));
    *(uint8_t *)column_at(kept->states, row) = good ? VALUE_THERE : VALUE_FAILED;
    if (!good)
        return;
    union datum datum = datum_of_scalar(scalar);
    if (type_table[kept->values->type].kind == KIND_FLOAT && scalar->kind != KIND_FLOAT)
        datum.number = (double)scalar->integer;
    column_set_datum(kept->values, row, datum);
}

static enum status exact_sort(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    struct order order = {.descending = column_op->descending, .count = column_op->key_count};
    enum status status = exact_read_keys(exact, lazy, column_op->keys, &order);
    if (status == STATUS_OK)
        status = exact_sort_rows(exact, lazy, &order, &lazy->kept);
    exact_release_keys(&order);
    lazy->count = lazy->rows;
    return status;
}

/* Lists the first of each set of equal rows. */
static enum status list_first(struct exact *exact, struct lazy_task *lazy, const struct order *order,
                              const struct column *sorted)
{
    struct column *first = exact_reserve(exact, TYPE_U8, lazy->rows);
    lazy->kept = exact_reserve(exact, TYPE_I64, lazy->rows);
    if (!first || !lazy->kept) {
        column_unref(first);
        return exact_no_memory(exact, lazy->task, lazy->rows);
    }
    for (int64_t i = 0; i < lazy->rows; i++) {
        const int64_t row = column_get_int(sorted, i);
        const bool again = i > 0 && exact_compare_rows(order, column_get_int(sorted, i - 1), row) == 0;
        *(uint8_t *)column_at(first, row) = !again;
    }
    for (int64_t row = 0; row < lazy->rows; row++) {
        if (column_get_int(first, row))
            *(int64_t *)column_at(lazy->kept, lazy->count++) = row;
    }
    column_unref(first);
    return STATUS_OK;
}

static enum status exact_distinct(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    struct order order = {.count = task->output_count};
    size_t *inputs = arena_array(exact->arena, order.count, sizeof *inputs);
    for (size_t k = 0; k < order.count; k++)
        inputs[k] = (size_t)task->code.at[task->outputs[k].value].integer;
    struct column *sorted = NULL;
    enum status status = exact_read_keys(exact, lazy, inputs, &order);
    if (status == STATUS_OK)
        status = exact_sort_rows(exact, lazy, &order, &sorted);
    if (status == STATUS_OK)
        status = list_first(exact, lazy, &order, sorted);
    column_unref(sorted);
    exact_release_keys(&order);
    return status;
}

static enum status place_row(struct exact *exact, struct lazy_task *lazy, int64_t row, int64_t position)
{
    struct arena *arena = exact->diags->arena;
    const char *what = NULL;
    if (position < 0 || position >= lazy->count)
        what = position_text(position, lazy->count, arena);
    else if (column_get_int(lazy->kept, position) >= 0)
        what = arena_printf(arena, "position %lld is already taken by row %lld", (long long)position,
                            (long long)column_get_int(lazy->kept, position));
    if (what)
        return fail_row(lazy->task, exact_operator_span(lazy), row, what, exact->diags);
    *(int64_t *)column_at(lazy->kept, position) = row;
    return STATUS_OK;
}

static enum status exact_scatter(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    const int64_t count = operator_result_rows(column_op, lazy->rows);
    lazy->kept = exact_reserve(exact, TYPE_I64, count);
    if (!lazy->kept)
        return exact_no_memory(exact, lazy->task, count);
    if (count > 0)
        memset(column_at(lazy->kept, 0), 0xff, (size_t)count * sizeof(int64_t)); /* -1 */
    lazy->count = count;
    enum status status = STATUS_OK;
    for (int64_t row = 0; row < lazy->rows && status == STATUS_OK; row++) {
        union datum position;
        if (exact_cancelled(exact))
            return STATUS_CANCELLED;
        status = exact_input(exact, lazy, column_op->keys[0], row, &position);
        if (status == STATUS_OK)
            status = place_row(exact, lazy, row, position.integer);
    }
    return status;
}

/* The column has no finite bounds: the error names the first row that is infinite or, without one, row 0. */
static enum status hist_failure(struct exact *exact, const struct lazy_task *lazy, const struct column *column)
{
    struct span span = exact_operator_span(lazy);
    int64_t row = 0;
    if (lazy->rows == 0)
        return diag_error(exact->diags, span, "a histogram of no rows has no bounds");
    while (row + 1 < lazy->rows && !isinf(column_get_float(column, row)))
        row++;
    row = isinf(column_get_float(column, row)) ? row : 0;
    struct strbuf text = {0};
    print_float(&text, column_get_float(column, row));
    const char *what = arena_printf(exact->diags->arena, "a histogram cannot have %s as a bound", text.text);
    strbuf_free(&text);
    (void)fail_row(lazy->task, span, row, what, exact->diags);
    const char *name = lazy->task->inputs[lazy->task->column_op->keys[0]].name;
    if (isinf(column_get_float(column, row)))
        diag_hint(exact->diags, "filter out infinite values first with `select abs(%s) < 1e308`", name);
    else
        diag_hint(exact->diags, "all values of `%s` are nan", name);
    return STATUS_FAILED;
}

enum status exact_key_columns(struct exact *exact, struct lazy_task *lazy, struct column **inputs)
{
    const struct column_operator *column_op = lazy->task->column_op;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < column_op->key_count && status == STATUS_OK; i++) {
        if (!inputs[column_op->keys[i]])
            status = exact_column(exact, lazy, column_op->keys[i], &inputs[column_op->keys[i]]);
    }
    return status;
}

/* Reserves the results, where their number of rows is known, and has the host operator compute them. */
static enum status run_on_host(struct exact *exact, struct lazy_task *lazy, struct column **inputs, bool *flagged)
{
    const struct task *task = lazy->task;
    struct column **results = arena_array(exact->arena, task->output_count, sizeof(struct column *));
    enum status status = STATUS_OK;
    lazy->count = operator_result_rows(task->column_op, lazy->rows);
    for (size_t k = 0; k < task->output_count && status == STATUS_OK && lazy->count >= 0; k++) {
        results[k] = lazy->outputs[k].values = exact_reserve(exact, task->outputs[k].type, lazy->count);
        if (!results[k])
            status = exact_no_memory(exact, task, lazy->count);
    }
    struct operator_job job = {
        .task = task,
        .inputs = inputs,
        .rows = lazy->rows,
        .results = results,
        .result_rows = &lazy->count,
        .cancel = exact->cancel,
        .diags = exact->diags,
    };
    if (status == STATUS_OK)
        status = host_operator_run(&job, flagged);
    for (size_t k = 0; k < task->output_count; k++)
        lazy->outputs[k].values = results[k]; /* which the operator reserves if it decides their rows */
    return status;
}

/* An operator that reads all its keys in any case, and whose results are small or like them: the host operator computes
 * it from these columns. */
static enum status exact_by_host(struct exact *exact, struct lazy_task *lazy)
{
    struct column **inputs = arena_array(exact->arena, lazy->task->input_count, sizeof(struct column *));
    bool flagged = false;
    enum status status = exact_key_columns(exact, lazy, inputs);
    if (status == STATUS_OK)
        status = run_on_host(exact, lazy, inputs, &flagged);
    if (status == STATUS_OK && flagged && lazy->task->column_op->kind == OPERATOR_HIST)
        status = hist_failure(exact, lazy, inputs[lazy->task->column_op->keys[0]]);
    columns_unref(inputs, lazy->task->input_count);
    return status;
}

/* The columns of the right are there as they are. */
static enum status exact_match(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    const struct match_operator *match = column_op->match;
    struct column **inputs = arena_array(exact->arena, lazy->task->input_count, sizeof(struct column *));
    bool flagged = false;
    for (size_t i = 0; i < column_op->key_count; i++) {
        const size_t input = column_op->keys[i];
        if ((i >= MATCH_KEY_INPUTS * match->key_count || i % MATCH_KEY_INPUTS >= MATCH_RIGHT) && !inputs[input])
            inputs[input] = column_ref(lazy->columns[input]);
    }
    enum status status = exact_key_columns(exact, lazy, inputs);
    if (status == STATUS_OK)
        status = run_on_host(exact, lazy, inputs, &flagged);
    columns_unref(inputs, lazy->task->input_count);
    return status;
}

static enum status exact_append(struct exact *exact, struct lazy_task *lazy)
{
    const struct input *input = &lazy->task->inputs[lazy->task->column_op->keys[1]];
    const struct column *column = lazy->columns[lazy->task->column_op->keys[1]];
    const int64_t second = column ? column->rows : exact->tasks[input->task->number].count;
    const enum status status = exact_reserve_output(exact, lazy, 0, lazy->rows + second);
    lazy->count = lazy->rows + second;
    for (int64_t row = 0; row < lazy->count && status == STATUS_OK; row++) {
        const struct scalar number = scalar_int(row < lazy->rows ? row : lazy->rows - 1 - row);
        exact_set_output(lazy, 0, row, &number, true);
    }
    return status;
}

/* Sums that do not fit 64 bits fail where they are read. */
static enum status exact_moving(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    struct column **inputs = arena_array(exact->arena, task->input_count, sizeof(struct column *));
    struct column **results = arena_array(exact->arena, task->output_count, sizeof(struct column *));
    enum status status = exact_key_columns(exact, lazy, inputs);
    lazy->count = lazy->rows;
    for (size_t k = 0; k < task->output_count && status == STATUS_OK; k++) {
        status = exact_reserve_output(exact, lazy, k, lazy->rows);
        results[k] = lazy->outputs[k].values;
    }
    bool flagged = false;
    struct operator_job job = {.task = task,
                               .inputs = inputs,
                               .rows = lazy->rows,
                               .results = results,
                               .result_rows = &lazy->count,
                               .cancel = exact->cancel,
                               .diags = exact->diags};
    uint8_t *failed = status == STATUS_OK && lazy->rows > 0 ? column_at(lazy->outputs[0].states, 0) : NULL;
    if (failed)
        memset(failed, 0, (size_t)lazy->rows);
    if (status == STATUS_OK)
        status = moving_run(&job, &exact->workers, failed, &flagged);
    for (int64_t row = 0; row < lazy->rows && failed; row++)
        failed[row] = failed[row] ? VALUE_FAILED : VALUE_THERE;
    if (status == STATUS_OK && task->output_count > 1 && lazy->rows > 0)
        memset(column_at(lazy->outputs[1].states, 0), VALUE_THERE, (size_t)lazy->rows);
    columns_unref(inputs, task->input_count);
    return status;
}

/* A loop computes all rows of each round. */
static enum status exact_repeat(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    const struct column_operator *column_op = task->column_op;
    struct column **inputs = arena_array(exact->arena, task->input_count, sizeof(struct column *));
    struct column **state = arena_array(exact->arena, column_op->key_count + 1, sizeof *state);
    struct column **results = arena_array(exact->arena, column_op->key_count + 1, sizeof *results);
    enum status status = exact_key_columns(exact, lazy, inputs);
    for (size_t k = 0; k < column_op->key_count; k++)
        state[k] = inputs[column_op->keys[k]];
    const struct exact_options *options = exact->options;
    if (status == STATUS_OK)
        status = options->repeat(options->repeat_context, column_op->loop, state, lazy->rows, results, &lazy->count,
                                 exact->diags);
    for (size_t k = 0; k < column_op->key_count && status == STATUS_OK; k++) {
        lazy->outputs[k].values = results[k];
        if (!column_fetch(results[k], 0, lazy->count))
            status = exact_no_memory(exact, task, lazy->count);
    }
    columns_unref(inputs, task->input_count);
    return status;
}

static enum status moving_failure(struct exact *exact, const struct lazy_task *lazy, int64_t row)
{
    const char *what = lazy->task->column_op->moving.from_first ? "the running sum does not fit in 64 bits"
                                                                : "the sum of its window does not fit in 64 bits";
    fail_row(lazy->task, exact_operator_span(lazy), row, what, exact->diags);
    diag_hint(exact->diags, "`float(x)` gives a rounded result");
    return STATUS_FAILED;
}

enum status exact_run_operator(struct exact *exact, struct lazy_task *lazy)
{
    static enum status (*const functions[])(struct exact *, struct lazy_task *) = {
#define OPERATOR(kind, name, outputs, rows, words, host, exact, ...) [OPERATOR_##kind] = exact,
#include "engine/plan/operators.def"
    };
    /* Columns of keys and values, and two of row numbers. */
    const struct task *task = lazy->task;
    const int64_t row_bytes = (int64_t)((task->input_count + 2) * sizeof(int64_t));
    const enum status status = exact_check_memory(exact, task, lazy->rows, lazy->rows, row_bytes);
    return status == STATUS_OK ? functions[task->column_op->kind](exact, lazy) : status;
}

enum status exact_operator_failure(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t row)
{
    if (lazy->task->column_op->kind == OPERATOR_SCAN)
        return exact_scan_failure(exact, lazy, row);
    if (lazy->task->column_op->kind == OPERATOR_MOVING)
        return moving_failure(exact, lazy, row);
    if (lazy->task->column_op->kind == OPERATOR_COMBINE)
        return exact_combine_failure(exact, lazy);
    return exact_group_failure(exact, lazy, k, row);
}
