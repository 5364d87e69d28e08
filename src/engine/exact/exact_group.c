/* Groups of rows, their aggregates, and their numbers. */
#include "engine/exact/exact_operator.h"
#include "engine/exact/failure.h"
#include "engine/plan/task_title.h"
#include "engine/values/moments.h"
#include "engine/values/quantile.h"
#include "engine/values/wide_moments.h"

#include <math.h>
#include <stdlib.h>

static int compare_scalars(const void *a, const void *b)
{
    const struct scalar *x = a, *y = b;
    if (x->kind == KIND_FLOAT)
        return exact_compare_floats(x->number, y->number, false);
    return (x->integer > y->integer) - (x->integer < y->integer);
}

/* The quantile of sorted values of a group; 0 of none. */
static struct scalar quantile_of(const struct aggregate *aggregate, const struct scalar *values, int64_t count)
{
    if (count == 0)
        return aggregate->lower ? scalar_int(0) : scalar_float(0);
    const struct quantile_place place = quantile_place(count, aggregate->quantile);
    const struct scalar *at = &values[place.lower], *next = place.fraction > 0 ? at + 1 : at;
    if (aggregate->lower)
        return *at;
    if (at->kind == KIND_FLOAT)
        return scalar_float(quantile_of_floats(at->number, next->number, place.fraction));
    return scalar_float(quantile_of_ints((int64_t)at->integer, (int64_t)next->integer, place.fraction));
}

/* What an aggregate reads; NULL: nothing. */
struct group_columns {
    struct column *values, *other, *where;
};

/* As aggregate_groups, for a quantile of the rows that `where` says. */
static enum status quantile_groups(struct exact *exact, struct lazy_task *lazy, size_t i,
                                   const struct group_columns *columns, const struct column *sorted,
                                   const struct column *ends)
{
    const struct column *values = columns->values, *where = columns->where;
    const struct aggregate *aggregate = &lazy->task->aggregates[i];
    const enum kind kind = type_table[values->type].kind;
    struct scalar *group_values = arena_array(exact->arena, (size_t)lazy->rows + 1, sizeof *group_values);
    int64_t at = 0;
    for (int64_t group = 0; group < lazy->count; group++) {
        int64_t count = 0;
        for (; at < column_get_int(ends, group); at++) {
            const int64_t row = column_get_int(sorted, at);
            if (!where || column_get_int(where, row))
                group_values[count++] = datum_scalar(column_get_datum(values, row), kind);
        }
        if (count > 0)
            qsort(group_values, (size_t)count, sizeof *group_values, compare_scalars);
        struct scalar result = quantile_of(aggregate, group_values, count);
        exact_set_output(lazy, lazy->task->column_op->key_count + i, group, &result, true);
        if (exact_cancelled(exact))
            return STATUS_CANCELLED;
    }
    return STATUS_OK;
}

/* Exact sums of a group, for its variance or correlation. */
struct sums {
    struct exact_sum x, y, xx, yy, xy;
    int64_t count;
    bool broken; /* by a value, or product, that is not finite */
};

static void add_product(struct sums *sums, struct exact_sum *sum, double a, double b)
{
    double high, low;
    moment_products(&a, &b, 1, &high, &low);
    sums->broken = sums->broken || !isfinite(low);
    exact_sum_add(sum, high);
    exact_sum_add(sum, low);
}

static struct scalar moment_result(const struct sums *sums, bool pairs)
{
    if (sums->count < 2)
        return scalar_float(0);
    if (sums->broken)
        return scalar_float(NAN);
    const double xx = moment_of_exact(sums->count, &sums->xx, &sums->x, &sums->x);
    if (!pairs)
        return scalar_float(variance_of(sums->count, xx));
    return scalar_float(correlation_of(xx, moment_of_exact(sums->count, &sums->xy, &sums->x, &sums->y),
                                       moment_of_exact(sums->count, &sums->yy, &sums->y, &sums->y)));
}

static bool is_float(const struct column *column)
{
    return column && column->type == TYPE_F64;
}

/* Of integers. */
static void int_moment_groups(struct lazy_task *lazy, size_t i, const struct group_columns *columns,
                              const struct column *sorted, const struct column *ends)
{
    int64_t at = 0;
    for (int64_t group = 0; group < lazy->count; group++) {
        struct wide_sums sums = {.count = 0};
        for (; at < column_get_int(ends, group); at++) {
            const int64_t row = column_get_int(sorted, at), x = column_get_int(columns->values, row);
            if (columns->where && !column_get_int(columns->where, row))
                continue;
            if (columns->other)
                wide_sums_add_pair(&sums, x, column_get_int(columns->other, row));
            else
                wide_sums_add(&sums, x);
        }
        const int scale = lazy->task->aggregates[i].scale;
        struct scalar result = scalar_float(columns->other ? wide_correlation(&sums) : wide_variance(&sums, scale));
        exact_set_output(lazy, lazy->task->column_op->key_count + i, group, &result, true);
    }
}

static double float_at(const struct column *column, int64_t row)
{
    return is_float(column) ? column_get_float(column, row) : (double)column_get_int(column, row);
}

/* As aggregate_groups, for a variance or, with `other`, a correlation. */
static void moment_groups(struct lazy_task *lazy, size_t i, const struct group_columns *columns,
                          const struct column *sorted, const struct column *ends)
{
    int64_t at = 0;
    if (!is_float(columns->values) && !is_float(columns->other)) {
        int_moment_groups(lazy, i, columns, sorted, ends);
        return;
    }
    for (int64_t group = 0; group < lazy->count; group++) {
        struct sums sums = {.count = 0};
        struct exact_sum *const all[] = {&sums.x, &sums.y, &sums.xx, &sums.yy, &sums.xy};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            exact_sum_init(all[k]);
        for (; at < column_get_int(ends, group); at++) {
            const int64_t row = column_get_int(sorted, at);
            if (columns->where && !column_get_int(columns->where, row))
                continue;
            double x = float_at(columns->values, row), y = columns->other ? float_at(columns->other, row) : 0;
            sums.count++;
            exact_sum_add(&sums.x, x);
            exact_sum_add(&sums.y, y);
            add_product(&sums, &sums.xx, x, x);
            add_product(&sums, &sums.yy, y, y);
            add_product(&sums, &sums.xy, x, y);
        }
        struct scalar result = moment_result(&sums, columns->other);
        exact_set_output(lazy, lazy->task->column_op->key_count + i, group, &result, true);
    }
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
        const bool good = agg_value(&state, aggregate, &result, &certain);
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
            const int64_t first = group > 0 ? column_get_int(ends, group - 1) : 0;
            const enum kind kind = type_table[order->keys[k]->type].kind;
            struct scalar key = datum_scalar(column_get_datum(order->keys[k], column_get_int(sorted, first)), kind);
            exact_set_output(lazy, k, group, &key, true);
        }
    }
    return status;
}

/* Without keys all rows are one group, and so are none. */
static void find_groups(struct lazy_task *lazy, const struct order *order, const struct column *sorted,
                        struct column *ends)
{
    if (order->count == 0) {
        *(int64_t *)column_at(ends, lazy->count++) = lazy->rows;
        return;
    }
    for (int64_t i = 0; i < lazy->rows; i++) {
        const bool last = i + 1 == lazy->rows ||
                          exact_compare_rows(order, column_get_int(sorted, i), column_get_int(sorted, i + 1)) != 0;
        if (last)
            *(int64_t *)column_at(ends, lazy->count++) = i + 1;
    }
}

static enum status read_column(struct exact *exact, struct lazy_task *lazy, value v, struct column **column)
{
    if (v == NO_VALUE)
        return STATUS_OK;
    return exact_column(exact, lazy, (size_t)lazy->task->code.at[v].integer, column);
}

static enum status aggregate_one(struct exact *exact, struct lazy_task *lazy, size_t i, const struct column *sorted,
                                 const struct column *ends)
{
    const struct aggregate *aggregate = &lazy->task->aggregates[i];
    const bool operands = aggregate_table[aggregate->kind].operands;
    struct group_columns columns = {0};
    enum status status = exact_reserve_output(exact, lazy, lazy->task->column_op->key_count + i, lazy->count);
    if (status == STATUS_OK)
        status = read_column(exact, lazy, aggregate->value, &columns.values);
    if (status == STATUS_OK && operands)
        status = read_column(exact, lazy, aggregate->where, &columns.where);
    if (status == STATUS_OK && operands)
        status = read_column(exact, lazy, aggregate->other, &columns.other);
    if (status == STATUS_OK && aggregate->kind == AGG_QUANTILE)
        status = quantile_groups(exact, lazy, i, &columns, sorted, ends);
    else if (status == STATUS_OK && operands)
        moment_groups(lazy, i, &columns, sorted, ends);
    else if (status == STATUS_OK)
        aggregate_groups(lazy, i, columns.values, sorted, ends);
    column_unref(columns.values);
    column_unref(columns.where);
    column_unref(columns.other);
    return status;
}

static enum status aggregate_all(struct exact *exact, struct lazy_task *lazy, const struct column *sorted,
                                 const struct column *ends)
{
    const struct task *task = lazy->task;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < task->aggregate_count && status == STATUS_OK; i++) {
        if (task->outputs[task->column_op->key_count + i].needed)
            status = aggregate_one(exact, lazy, i, sorted, ends);
    }
    return status;
}

enum status exact_group(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    struct order order = {.count = column_op->key_count};
    struct column *sorted = NULL;
    struct column *ends = exact_reserve(exact, TYPE_I64, lazy->rows + 1);
    enum status status = ends ? STATUS_OK : exact_no_memory(exact, lazy->task, lazy->rows);
    if (status == STATUS_OK)
        status = exact_read_keys(exact, lazy, column_op->keys, &order);
    if (status == STATUS_OK)
        status = exact_sort_rows(exact, lazy, &order, &sorted);
    if (status == STATUS_OK) {
        find_groups(lazy, &order, sorted, ends);
        status = set_keys(exact, lazy, &order, sorted, ends);
    }
    if (status == STATUS_OK)
        status = aggregate_all(exact, lazy, sorted, ends);
    column_unref(ends);
    column_unref(sorted);
    if (order.keys)
        exact_release_keys(&order);
    return status;
}

enum status exact_ids(struct exact *exact, struct lazy_task *lazy)
{
    const struct column_operator *column_op = lazy->task->column_op;
    struct order order = {.count = column_op->key_count};
    struct column *sorted = NULL;
    enum status status = exact_read_keys(exact, lazy, column_op->keys, &order);
    if (status == STATUS_OK)
        status = exact_sort_rows(exact, lazy, &order, &sorted);
    if (status == STATUS_OK)
        status = exact_reserve_output(exact, lazy, 0, lazy->rows);
    lazy->count = lazy->rows;
    int64_t id = 0;
    for (int64_t i = 0; i < lazy->rows && status == STATUS_OK; i++) {
        const int64_t row = column_get_int(sorted, i);
        id += i > 0 && exact_compare_rows(&order, column_get_int(sorted, i - 1), row) != 0;
        const struct scalar scalar = scalar_int(id);
        exact_set_output(lazy, 0, row, &scalar, true);
    }
    column_unref(sorted);
    if (order.keys)
        exact_release_keys(&order);
    return status;
}

/* A group's key as it is written: of several the parts, with commas. */
static const char *key_text(const struct lazy_task *lazy, int64_t group, struct arena *arena)
{
    const struct task *task = lazy->task;
    const struct column_operator *column_op = task->column_op;
    struct strbuf text = {0};
    for (size_t i = 0; i < column_op->key_count; i++) {
        struct scalar part = column_get(lazy->outputs[i].values, group);
        if (column_op->roles && column_op->roles[i] == ROLE_MISSING && part.integer == 0)
            continue;
        strbuf_puts(&text, text.length > 0 ? ", " : "");
        if (column_op->roles && column_op->roles[i] == ROLE_MISSING) {
            strbuf_puts(&text, "missing");
            i++;
            continue;
        }
        scalar_stand_for(&part, task->outputs[i].logical);
        strbuf_puts(&text, part.logical.kind == LOGICAL_TEXT ? "\"" : "");
        scalar_print(&text, &part);
        strbuf_puts(&text, part.logical.kind == LOGICAL_TEXT ? "\"" : "");
    }
    return strbuf_take(&text, arena);
}

/* What the user knows a group by: "key 7", or its first row where the key is only its number. */
static enum status group_text(struct exact *exact, struct lazy_task *lazy, int64_t group, const char **text)
{
    const struct column_operator *column_op = lazy->task->column_op;
    struct arena *arena = exact->diags->arena;
    const char *word = column_op->key ? column_op->key : "key";
    *text = arena_printf(arena, "%s %s", word, key_text(lazy, group, arena));
    if (!column_op->roles || column_op->roles[0] != ROLE_NUMBER)
        return STATUS_OK;
    struct column *numbers = NULL;
    const enum status status = exact_column(exact, lazy, column_op->keys[0], &numbers);
    int64_t row = 0;
    while (status == STATUS_OK && row < lazy->rows &&
           column_get_int(numbers, row) != column_get_int(lazy->outputs[0].values, group))
        row++;
    *text = arena_printf(arena, "the group of row %lld", (long long)row);
    column_unref(numbers);
    return status;
}

enum status exact_group_failure(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t group)
{
    const struct task *task = lazy->task;
    const struct aggregate *aggregate = &task->aggregates[k - task->column_op->key_count];
    const char *of;
    const enum status status = group_text(exact, lazy, group, &of);
    if (status != STATUS_OK)
        return status;
    struct span span = exact_operator_span(lazy);
    const struct stage_mark *stage = stage_of_span(task, span);
    const char *where = stage ? arena_printf(exact->diags->arena, " in `%s`", stage->text) : "";
    if (aggregate->kind == AGG_FOLD)
        return diag_error(exact->diags, span, "the function has no result for %s%s", of, where);
    diag_error(exact->diags, span, "the %s of %s does not fit in 64 bits%s", aggregate_table[aggregate->kind].word, of,
               where);
    return diag_hint(exact->diags, task->outputs[k].logical.kind == LOGICAL_DECIMAL
                                       ? "`round(x, 2)` has fewer digits; `float(x)` gives a rounded result"
                                       : "`float(x)` gives a rounded result");
}
