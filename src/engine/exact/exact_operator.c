/* Sort, group and distinct order row numbers with a bottom-up merge sort, independent of engine/operators, which is
 * tested against it. */
#include "engine/exact/exact_operator.h"

#include "engine/exact/failure.h"
#include "engine/operators/moving.h"
#include "engine/operators/operator.h"
#include "engine/plan/task_title.h"

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
    enum status status = exact_input(exact, lazy, copied->input, row, &datum);
    if (status == STATUS_OK)
        column_set_datum(copied->column, row, datum);
    return status;
}

enum status exact_column(struct exact *exact, struct lazy_task *lazy, size_t input, struct column **column)
{
    const struct task *task = lazy->task;
    enum type type = type_of_kind(type_table[task->inputs[input].type].kind);
    struct column *from = lazy->columns[input];
    if (from && from->store == type && from->rows == lazy->rows && task->first == 0) {
        *column = column_ref(from);
        return STATUS_OK;
    }
    *column = column_reserve(type, type, lazy->rows);
    if (!*column)
        return exact_no_memory(exact, task, lazy->rows);
    const struct copied_input copied = {input, *column};
    enum status status = exact_for_rows(exact, lazy, 0, lazy->rows, copy_value, &copied);
    column_finish(*column, lazy->rows);
    return status;
}

enum status exact_reserve_output(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t rows)
{
    enum type type = lazy->task->outputs[k].type;
    struct output_values *kept = &lazy->outputs[k];
    kept->values = column_reserve(type, type, rows);
    kept->states = column_reserve(TYPE_U8, TYPE_U8, rows);
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

/* The columns by which rows are compared. */
struct order {
    struct column **keys;
    const bool *descending; /* NULL: none */
    size_t count;
};

/* NaN is last in either direction, and equals itself. */
static int compare_floats(double a, double b, bool descending)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    int order = (a > b) - (a < b);
    return descending ? -order : order;
}

static int compare_rows(const struct order *order, int64_t a, int64_t b)
{
    int result = 0;
    for (size_t i = 0; i < order->count && result == 0; i++) {
        const struct column *key = order->keys[i];
        bool descending = order->descending && order->descending[i];
        if (key->type == TYPE_F64) {
            result = compare_floats(column_get_float(key, a), column_get_float(key, b), descending);
        } else {
            int64_t x = column_get_int(key, a), y = column_get_int(key, b);
            result = descending ? (x < y) - (x > y) : (x > y) - (x < y);
        }
    }
    return result;
}

/* One pass of the merge sort: pairs of sorted runs become runs of twice as many rows. */
struct merge_pass {
    const struct order *order;
    const int64_t *from;
    int64_t *to;
    int64_t rows, run;
    int64_t pairs; /* in a part */
    const atomic_int *cancel;
};

/* Merges from[begin..middle) and from[middle..end) into `to`, stably. */
static void merge(const struct merge_pass *pass, int64_t begin, int64_t middle, int64_t end)
{
    enum { ROWS_BETWEEN_POLLS = 1 << 16 };
    int64_t left = begin, right = middle;
    for (int64_t i = begin; i < end; i++) {
        bool takes_left =
            left < middle && (right >= end || compare_rows(pass->order, pass->from[left], pass->from[right]) <= 0);
        pass->to[i] = takes_left ? pass->from[left++] : pass->from[right++];
        if (i % ROWS_BETWEEN_POLLS == 0 && pass->cancel && *pass->cancel)
            return;
    }
}

static void merge_pairs(void *context, int member, int64_t part)
{
    const struct merge_pass *pass = context;
    (void)member;
    for (int64_t pair = part * pass->pairs; pair < (part + 1) * pass->pairs; pair++) {
        int64_t begin = pair * 2 * pass->run;
        if (begin >= pass->rows)
            return;
        int64_t middle = pass->rows - begin > pass->run ? begin + pass->run : pass->rows;
        int64_t end = pass->rows - begin > 2 * pass->run ? begin + 2 * pass->run : pass->rows;
        merge(pass, begin, middle, end);
    }
}

/* A column of the row numbers in order; stable. */
static enum status sort_rows(struct exact *exact, const struct lazy_task *lazy, const struct order *order,
                             struct column **sorted)
{
    enum { PART_ROWS = 1 << 12 };
    int64_t rows = lazy->rows;
    struct column *spare = column_reserve(TYPE_I64, TYPE_I64, rows);
    *sorted = column_reserve(TYPE_I64, TYPE_I64, rows);
    enum status status = *sorted && spare ? STATUS_OK : exact_no_memory(exact, lazy->task, rows);
    for (int64_t row = 0; row < rows && status == STATUS_OK; row++)
        *(int64_t *)column_at(*sorted, row) = row;
    for (int64_t run = 1; run < rows && status == STATUS_OK; run *= 2) {
        struct merge_pass pass = {order, column_at(*sorted, 0), column_at(spare, 0), rows, run, 1, exact->cancel};
        pass.pairs = run < PART_ROWS ? PART_ROWS / run : 1;
        int64_t part_rows = 2 * run * pass.pairs;
        bool whole = workers_run(&exact->workers, (rows + part_rows - 1) / part_rows, merge_pairs, &pass);
        struct column *swapped = *sorted;
        *sorted = spare;
        spare = swapped;
        if (!whole || (exact->cancel && *exact->cancel))
            status = STATUS_CANCELLED;
        exact_report(exact, lazy, run, rows);
    }
    column_unref(spare);
    return status;
}

static enum status read_keys(struct exact *exact, struct lazy_task *lazy, const size_t *inputs, struct order *order)
{
    enum status status = STATUS_OK;
    order->keys = arena_array(exact->arena, order->count, sizeof(struct column *));
    for (size_t i = 0; i < order->count && status == STATUS_OK; i++)
        status = exact_column(exact, lazy, inputs[i], &order->keys[i]);
    return status;
}

static void release_keys(const struct order *order)
{
    for (size_t i = 0; i < order->count; i++)
        column_unref(order->keys[i]);
}

static enum status operator_sort(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    struct order order = {.descending = column_op->descending, .count = column_op->key_count};
    enum status status = read_keys(exact, lazy, column_op->keys, &order);
    if (status == STATUS_OK)
        status = sort_rows(exact, lazy, &order, &lazy->kept);
    release_keys(&order);
    lazy->count = lazy->rows;
    return status;
}

/* Lists the first of each set of equal rows. */
static enum status list_first(struct exact *exact, struct lazy_task *lazy, const struct order *order,
                              const struct column *sorted)
{
    struct column *first = column_reserve(TYPE_U8, TYPE_U8, lazy->rows);
    lazy->kept = column_reserve(TYPE_I64, TYPE_I64, lazy->rows);
    if (!first || !lazy->kept) {
        column_unref(first);
        return exact_no_memory(exact, lazy->task, lazy->rows);
    }
    for (int64_t i = 0; i < lazy->rows; i++) {
        int64_t row = column_get_int(sorted, i);
        bool again = i > 0 && compare_rows(order, column_get_int(sorted, i - 1), row) == 0;
        *(uint8_t *)column_at(first, row) = !again;
    }
    for (int64_t row = 0; row < lazy->rows; row++) {
        if (column_get_int(first, row))
            *(int64_t *)column_at(lazy->kept, lazy->count++) = row;
    }
    column_unref(first);
    return STATUS_OK;
}

static enum status operator_distinct(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    struct order order = {.count = task->output_count};
    size_t *inputs = arena_array(exact->arena, order.count, sizeof *inputs);
    for (size_t k = 0; k < order.count; k++)
        inputs[k] = (size_t)task->code.at[task->outputs[k].value].integer;
    struct column *sorted = NULL;
    enum status status = read_keys(exact, lazy, inputs, &order);
    if (status == STATUS_OK)
        status = sort_rows(exact, lazy, &order, &sorted);
    if (status == STATUS_OK)
        status = list_first(exact, lazy, &order, sorted);
    column_unref(sorted);
    release_keys(&order);
    return status;
}

/* Computes aggregate i of each group; the rows of group g end at ends[g] of `sorted`. */
static void aggregate_groups(struct lazy_task *lazy, size_t i, const struct column *values, const struct column *sorted,
                             const struct column *ends)
{
    const struct aggregate *aggregate = &lazy->task->aggregates[i];
    int64_t at = 0;
    for (int64_t group = 0; group < lazy->count; group++) {
        struct agg_state state;
        agg_init(&state, aggregate, &lazy->task->code);
        agg_begin(&state, aggregate);
        for (; at < column_get_int(ends, group); at++) {
            struct scalar v = scalar_int(0);
            if (values)
                v = datum_scalar(column_get_datum(values, column_get_int(sorted, at)), state.type);
            agg_add(&state, &v);
        }
        struct scalar result;
        bool certain;
        bool good = agg_value(&state, aggregate, &result, &certain);
        exact_set_output(lazy, lazy->task->column_op->key_count + i, group, &result, good && certain);
    }
}

/* Sets the keys of each group, those of its first row. */
static enum status set_keys(struct exact *exact, struct lazy_task *lazy, const struct order *order,
                            const struct column *sorted, const struct column *ends)
{
    enum status status = STATUS_OK;
    for (size_t k = 0; k < order->count && status == STATUS_OK; k++) {
        status = exact_reserve_output(exact, lazy, k, lazy->count);
        for (int64_t group = 0; group < lazy->count && status == STATUS_OK; group++) {
            int64_t first = group > 0 ? column_get_int(ends, group - 1) : 0;
            enum kind kind = type_table[order->keys[k]->type].kind;
            struct scalar key = datum_scalar(column_get_datum(order->keys[k], column_get_int(sorted, first)), kind);
            exact_set_output(lazy, k, group, &key, true);
        }
    }
    return status;
}

static void find_groups(struct lazy_task *lazy, const struct order *order, const struct column *sorted,
                        struct column *ends)
{
    for (int64_t i = 0; i < lazy->rows; i++) {
        bool last =
            i + 1 == lazy->rows || compare_rows(order, column_get_int(sorted, i), column_get_int(sorted, i + 1)) != 0;
        if (last)
            *(int64_t *)column_at(ends, lazy->count++) = i + 1;
    }
}

static enum status aggregate_all(struct exact *exact, struct lazy_task *lazy, const struct column *sorted,
                                 const struct column *ends)
{
    const struct task *task = lazy->task;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < task->aggregate_count && status == STATUS_OK; i++) {
        size_t k = task->column_op->key_count + i;
        struct column *values = NULL;
        if (!task->outputs[k].needed)
            continue;
        status = exact_reserve_output(exact, lazy, k, lazy->count);
        if (status == STATUS_OK && task->aggregates[i].value != NO_VALUE)
            status = exact_column(exact, lazy, (size_t)task->code.at[task->aggregates[i].value].integer, &values);
        if (status == STATUS_OK)
            aggregate_groups(lazy, i, values, sorted, ends);
        column_unref(values);
    }
    return status;
}

static enum status operator_group(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    struct order order = {.count = column_op->key_count};
    struct column *sorted = NULL;
    struct column *ends = column_reserve(TYPE_I64, TYPE_I64, lazy->rows);
    enum status status = ends ? STATUS_OK : exact_no_memory(exact, lazy->task, lazy->rows);
    if (status == STATUS_OK)
        status = read_keys(exact, lazy, column_op->keys, &order);
    if (status == STATUS_OK)
        status = sort_rows(exact, lazy, &order, &sorted);
    if (status == STATUS_OK) {
        find_groups(lazy, &order, sorted, ends);
        status = set_keys(exact, lazy, &order, sorted, ends);
    }
    if (status == STATUS_OK)
        status = aggregate_all(exact, lazy, sorted, ends);
    column_unref(ends);
    column_unref(sorted);
    if (order.keys)
        release_keys(&order);
    return status;
}

static enum status group_failure(struct exact *exact, const struct lazy_task *lazy, size_t k, int64_t group)
{
    static const char *const words[] = {[AGG_SUM] = "sum", [AGG_PRODUCT] = "product"};
    const struct task *task = lazy->task;
    const struct aggregate *aggregate = &task->aggregates[k - task->column_op->key_count];
    struct strbuf key = {0};
    for (size_t i = 0; i < task->column_op->key_count; i++) {
        struct scalar part = column_get(lazy->outputs[i].values, group);
        strbuf_puts(&key, i > 0 ? ", " : "");
        scalar_print(&key, &part);
    }
    const char *quoted = arena_text(exact->diags->arena, key.text ? key.text : "", key.length);
    strbuf_free(&key);
    struct span span = exact_operator_span(lazy);
    const struct stage_mark *stage = stage_of_span(task, span);
    const char *where = stage ? arena_printf(exact->diags->arena, " in `%s`", stage->text) : "";
    const char *word = task->column_op->key ? task->column_op->key : "key";
    if (aggregate->kind == AGG_FOLD)
        return diag_error(exact->diags, span, "the function has no result for %s %s%s", word, quoted, where);
    diag_error(exact->diags, span, "the %s of %s %s does not fit in 64 bits%s", words[aggregate->kind], word, quoted,
               where);
    diag_hint(exact->diags, "`float(x)` gives a rounded result");
    return STATUS_FAILED;
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

static enum status operator_scatter(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    int64_t count = operator_result_rows(column_op, lazy->rows);
    lazy->kept = column_reserve(TYPE_I64, TYPE_I64, count);
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

/* An operator that reads all its keys in any case, and whose results are small or like them: the host operator computes
 * it from these columns. */
static enum status run_on_host(struct exact *exact, struct lazy_task *lazy, struct column **inputs, bool *flagged)
{
    const struct task *task = lazy->task;
    struct column **results = arena_array(exact->arena, task->output_count, sizeof(struct column *));
    enum status status = STATUS_OK;
    lazy->count = operator_result_rows(task->column_op, lazy->rows);
    for (size_t k = 0; k < task->output_count && status == STATUS_OK && lazy->count >= 0; k++) {
        results[k] = lazy->outputs[k].values =
            column_reserve(task->outputs[k].type, task->outputs[k].type, lazy->count);
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

static enum status operator_hist(struct exact *exact, struct lazy_task *lazy)
{
    const size_t key = lazy->task->column_op->keys[0];
    struct column **inputs = arena_array(exact->arena, lazy->task->input_count, sizeof(struct column *));
    bool flagged = false;
    enum status status = exact_column(exact, lazy, key, &inputs[key]);
    if (status == STATUS_OK)
        status = run_on_host(exact, lazy, inputs, &flagged);
    if (status == STATUS_OK && flagged)
        status = hist_failure(exact, lazy, inputs[key]);
    column_unref(inputs[key]);
    return status;
}

static enum status operator_expand(struct exact *exact, struct lazy_task *lazy)
{
    const size_t *keys = lazy->task->column_op->keys;
    struct column **inputs = arena_array(exact->arena, lazy->task->input_count, sizeof(struct column *));
    bool flagged = false;
    enum status status = exact_column(exact, lazy, keys[0], &inputs[keys[0]]);
    if (status == STATUS_OK)
        status = exact_column(exact, lazy, keys[1], &inputs[keys[1]]);
    if (status == STATUS_OK)
        status = run_on_host(exact, lazy, inputs, &flagged);
    column_unref(inputs[keys[0]]);
    column_unref(inputs[keys[1]]);
    return status;
}

/* Sums that do not fit 64 bits fail where they are read. */
static enum status operator_moving(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    const struct column_operator *column_op = task->column_op;
    struct column **inputs = arena_array(exact->arena, task->input_count, sizeof(struct column *));
    struct column **results = arena_array(exact->arena, task->output_count, sizeof(struct column *));
    enum status status = STATUS_OK;
    lazy->count = lazy->rows;
    for (size_t i = 0; i < column_op->key_count && status == STATUS_OK; i++) {
        if (!inputs[column_op->keys[i]])
            status = exact_column(exact, lazy, column_op->keys[i], &inputs[column_op->keys[i]]);
    }
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
    for (size_t k = 0; k < task->input_count; k++)
        column_unref(inputs[k]);
    return status;
}

static enum status moving_failure(struct exact *exact, const struct lazy_task *lazy, int64_t row)
{
    fail_row(lazy->task, exact_operator_span(lazy), row, "the sum of its window does not fit in 64 bits", exact->diags);
    diag_hint(exact->diags, "`float(x)` gives a rounded result");
    return STATUS_FAILED;
}

enum status exact_run_operator(struct exact *exact, struct lazy_task *lazy)
{
    static enum status (*const table[])(struct exact *, struct lazy_task *) = {
        [OPERATOR_SCAN] = exact_scan,          [OPERATOR_SORT] = operator_sort,
        [OPERATOR_GROUP] = operator_group,     [OPERATOR_DISTINCT] = operator_distinct,
        [OPERATOR_SCATTER] = operator_scatter, [OPERATOR_MOVING] = operator_moving,
        [OPERATOR_EXPAND] = operator_expand,   [OPERATOR_HIST] = operator_hist,
    };
    /* Columns of keys and values, and two of row numbers. */
    const struct task *task = lazy->task;
    int64_t row_bytes = (int64_t)((task->input_count + 2) * sizeof(int64_t));
    enum status status = exact_check_memory(exact, task, lazy->rows, lazy->rows, row_bytes);
    return status == STATUS_OK ? table[task->column_op->kind](exact, lazy) : status;
}

enum status exact_operator_failure(struct exact *exact, const struct lazy_task *lazy, size_t k, int64_t row)
{
    if (lazy->task->column_op->kind == OPERATOR_SCAN)
        return exact_scan_failure(exact, lazy, row);
    if (lazy->task->column_op->kind == OPERATOR_MOVING)
        return moving_failure(exact, lazy, row);
    return group_failure(exact, lazy, k, row);
}
