/* A bottom-up merge sort of row numbers, independent of engine/operators, which is tested against it. */

#include "engine/exact/exact_operator.h"

#include <math.h>

int exact_compare_floats(double a, double b, bool descending)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    const int order = (a > b) - (a < b);
    return descending ? -order : order;
}

int exact_compare_rows(const struct order *order, int64_t a, int64_t b)
{
    int result = 0;
    for (size_t i = 0; i < order->count && result == 0; i++) {
        const struct column *key = order->keys[i];
        const bool descending = order->descending && order->descending[i];
        if (key->type == TYPE_F64) {
            result = exact_compare_floats(column_get_float(key, a), column_get_float(key, b), descending);
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
        const bool takes_left = left < middle && (right >= end || exact_compare_rows(pass->order, pass->from[left],
                                                                                     pass->from[right]) <= 0);
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
        const int64_t begin = pair * 2 * pass->run;
        if (begin >= pass->rows)
            return;
        const int64_t middle = pass->rows - begin > pass->run ? begin + pass->run : pass->rows;
        const int64_t end = pass->rows - begin > 2 * pass->run ? begin + 2 * pass->run : pass->rows;
        merge(pass, begin, middle, end);
    }
}

enum status exact_sort_rows(struct exact *exact, const struct lazy_task *lazy, const struct order *order,
                            struct column **sorted)
{
    enum { PART_ROWS = 1 << 12 };
    const int64_t rows = lazy->rows;
    struct column *spare = exact_reserve(exact, TYPE_I64, rows);
    *sorted = exact_reserve(exact, TYPE_I64, rows);
    enum status status = *sorted && spare ? STATUS_OK : exact_no_memory(exact, lazy->task, rows);
    for (int64_t row = 0; row < rows && status == STATUS_OK; row++)
        *(int64_t *)column_at(*sorted, row) = row;
    for (int64_t run = 1; run < rows && status == STATUS_OK; run *= 2) {
        struct merge_pass pass = {order, column_at(*sorted, 0), column_at(spare, 0), rows, run, 1, exact->cancel};
        pass.pairs = run < PART_ROWS ? PART_ROWS / run : 1;
        const int64_t part_rows = 2 * run * pass.pairs;
        const bool whole = workers_run(&exact->workers, (rows + part_rows - 1) / part_rows, merge_pairs, &pass);
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

enum status exact_read_keys(struct exact *exact, struct lazy_task *lazy, const size_t *inputs, struct order *order)
{
    enum status status = STATUS_OK;
    order->keys = arena_array(exact->arena, order->count, sizeof(struct column *));
    for (size_t i = 0; i < order->count && status == STATUS_OK; i++)
        status = exact_column(exact, lazy, inputs[i], &order->keys[i]);
    return status;
}

void exact_release_keys(const struct order *order)
{
    columns_unref(order->keys, order->count);
}
