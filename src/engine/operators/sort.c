/* The sort operator: all rows, or only the first (top_n). */
#include "base/buffer_pool.h"
#include "engine/operators/operator.h"
#include "engine/sorting/sort_rows.h"
#include "engine/vector/elements.h"

#include "base/heap.h"

#include <stdlib.h>

enum { SORTED_ROWS = 1 << 16 };

struct sorting {
    const struct workers *workers;
    int64_t rows_read;
    struct keys keys;
    struct carried *carried;
    size_t carried_count;
};

struct sortedness {
    const struct keys *keys;
    _Atomic bool broken;
};

static void part_sorted(void *context, struct part part)
{
    struct sortedness *sorted = context;
    int64_t begin = part.begin, end = part.end;
    uint64_t codes[KEY_BLOCK + 1];
    /* A part.number is compared with the row before it as well. */
    keys_read(sorted->keys, 0, begin > 0 ? begin - 1 : 0, 1, codes);
    for (int64_t row = begin; row < end && !sorted->broken; row += KEY_BLOCK) {
        const int count = end - row < KEY_BLOCK ? (int)(end - row) : KEY_BLOCK;
        keys_read(sorted->keys, 0, row, count, codes + 1);
        bool descent = false;
        for (int i = 0; i < count; i++)
            descent |= codes[i + 1] < codes[i];
        if (descent)
            sorted->broken = true;
        codes[0] = codes[count];
    }
}

/* Whether the rows are in order already; the keys have one word. False if cancelled. */
static bool keys_sorted(const struct keys *keys, int64_t rows, const struct workers *workers, bool *sorted)
{
    struct sortedness state = {.keys = keys};
    const bool done = workers_run_rows(workers, rows, SORTED_ROWS, part_sorted, &state);
    *sorted = !state.broken;
    return done;
}

static enum status sort_columns(const struct sorting *sorting)
{
    bool sorted = false;
    if (sorting->keys.words <= 1 && !keys_sorted(&sorting->keys, sorting->rows_read, sorting->workers, &sorted))
        return STATUS_CANCELLED;
    if (!sorted)
        return sort_columns_by(&sorting->keys, sorting->rows_read, sorting->workers, sorting->carried,
                               sorting->carried_count);
    for (size_t k = 0; k < sorting->carried_count; k++)
        operator_copy(sorting->workers, sorting->carried[k].from, sorting->carried[k].to, sorting->rows_read);
    return workers_cancelled(sorting->workers) ? STATUS_CANCELLED : STATUS_OK;
}

/* Only the first rows: finds their numbers, then gathers their elements. */
static enum status select_first(const struct sorting *sorting, int64_t first)
{
    size_t got = 0;
    uint64_t *order = buffer_pool_alloc(sorting->workers->pool, (size_t)first * sizeof *order, &got);
    if (!order)
        return STATUS_FAILED;
    const enum status status = top_n(&sorting->keys, sorting->rows_read, sorting->workers, order, first);
    for (size_t k = 0; k < sorting->carried_count && status == STATUS_OK; k++) {
        const struct carried *carried = &sorting->carried[k];
        column_gather(carried->from, order, (int)first, column_at(carried->to, 0));
    }
    buffer_pool_release(sorting->workers->pool, order, got);
    return status;
}

/* Sorts or selects rows by the keys' codes. */
static enum status sort_by(struct sorting *sorting, struct key *at, const struct operator_job *job)
{
    const struct column_operator *column_op = job->task->column_op;
    enum status status = STATUS_CANCELLED;
    if (operator_selects(column_op, job->rows)) {
        *job->result_rows = column_op->first;
        keys_init_by_type(&sorting->keys, at, column_op->key_count);
        status = select_first(sorting, column_op->first);
    } else if (keys_init(&sorting->keys, at, column_op->key_count, job->rows, sorting->workers)) {
        status = sort_columns(sorting);
    }
    keys_free(&sorting->keys);
    return operator_report(job, status);
}

enum status operator_sort(const struct operator_job *job, const struct workers *workers, bool *flagged)
{
    (void)flagged; /* cannot fail */
    const struct task *task = job->task;
    const struct column_operator *column_op = task->column_op;
    struct sorting sorting = {.workers = workers, .rows_read = job->rows};
    struct key *at = heap_array(column_op->key_count, sizeof *at);
    for (size_t i = 0; i < column_op->key_count; i++)
        at[i] = (struct key){.column = job->inputs[column_op->keys[i]],
                             .descending = column_op->descending && column_op->descending[i]};
    sorting.carried = heap_array(task->output_count, sizeof *sorting.carried);
    for (size_t k = 0; k < task->output_count; k++) {
        if (job->results[k])
            sorting.carried[sorting.carried_count++] =
                (struct carried){.from = operator_input(job, task->outputs[k].value), .to = job->results[k]};
    }
    *job->result_rows = job->rows;
    enum status status = STATUS_OK;
    if (job->rows > 0 && sorting.carried_count > 0)
        status = sort_by(&sorting, at, job);
    free(at);
    free(sorting.carried);
    return status;
}
