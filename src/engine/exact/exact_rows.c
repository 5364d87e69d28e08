#include "engine/exact/exact_lazy.h"

#include "engine/backend/user_reduce.h"
#include "engine/exact/failure.h"
#include "engine/plan/row_count.h"
#include "engine/storage/residency.h"

enum { BATCH_ROWS = 1 << 16 };

/* Rows that passed the filters, in order. */
struct batch {
    int64_t begin;   /* the first task row filtered */
    uint8_t *passed; /* for each task row from there on */
    int64_t *rows;   /* those that did; NULL: the result rows that exact_list_rows found */
    int64_t count;
    int64_t place; /* where the first one goes in exact->columns */
};

/* Processes entries from..to-1 of a batch. */
typedef enum status batch_fn(struct exact *exact, struct lazy_task *lazy, const struct batch *batch, int64_t from,
                             int64_t to);

static enum status filter_row(struct exact *exact, struct lazy_task *lazy, int64_t row, const void *context)
{
    const struct task *task = lazy->task;
    const struct batch *batch = context;
    bool passed = true;
    for (size_t i = 0; i < task->filter_count && passed; i++) {
        union datum keep;
        const enum status status = exact_value(exact, lazy, row, task->filters[i].keep, &keep);
        if (status != STATUS_OK)
            return status;
        passed = keep.integer != 0;
    }
    batch->passed[row - batch->begin] = passed;
    return STATUS_OK;
}

/* Filters task rows begin..end-1 and calls `use` for those that pass and lie in the window. *passed counts the rows
 * that passed; number `origin` of them is row 0 of the columns. */
static enum status filter_rows(struct exact *exact, struct lazy_task *lazy, int64_t begin, int64_t end, int64_t *passed,
                               int64_t origin, batch_fn *use)
{
    const struct window *window = &lazy->task->window;
    int64_t window_end;
    if (__builtin_add_overflow(window->skip, window->take, &window_end))
        window_end = INT64_MAX;
    struct batch batch = {.begin = begin};
    batch.passed = arena_array(exact->arena, BATCH_ROWS, sizeof *batch.passed);
    batch.rows = arena_array(exact->arena, BATCH_ROWS, sizeof *batch.rows);
    enum status status = STATUS_OK;
    while (batch.begin < end && status == STATUS_OK) {
        int64_t next = end - batch.begin > BATCH_ROWS ? batch.begin + BATCH_ROWS : end, failed;
        status = exact_find_failure(exact, lazy, batch.begin, next, filter_row, &batch, &failed);
        if (status != STATUS_OK)
            break;
        batch.count = 0;
        for (int64_t row = batch.begin; row < failed; row++) {
            if (batch.passed[row - batch.begin])
                batch.rows[batch.count++] = row;
        }
        batch.place = *passed - origin;
        const int64_t from = clamp_int64(window->skip - *passed, 0, batch.count);
        const int64_t to = clamp_int64(window_end - *passed, from, batch.count);
        status = use(exact, lazy, &batch, from, to);
        if (status == STATUS_OK && failed < next)
            status = filter_row(exact, lazy, failed, &batch);
        *passed += batch.count;
        batch.begin = next;
        exact_report(exact, lazy, next, lazy->rows);
    }
    return status;
}

static enum status list_batch(struct exact *exact, struct lazy_task *lazy, const struct batch *batch, int64_t from,
                              int64_t to)
{
    for (int64_t i = from; i < to; i++)
        *(int64_t *)column_at(lazy->kept, lazy->count++) = batch->rows[i];
    return exact_check_memory(exact, lazy->task, lazy->count, 0, sizeof(int64_t));
}

enum status exact_list_rows(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    int64_t end, passed = 0;
    if (task->filter_count == 0) {
        rows_kept(&task->window, lazy->rows, &lazy->begin, &end);
        lazy->count = end - lazy->begin;
        return STATUS_OK;
    }
    lazy->kept = exact_reserve(exact, TYPE_I64, lazy->rows);
    if (!lazy->kept)
        return exact_no_memory(exact, task, lazy->rows);
    const enum status status = filter_rows(exact, lazy, 0, lazy->rows, &passed, 0, list_batch);
    if (status != STATUS_OK || task->window.tail < 0)
        return status;
    rows_kept(&task->window, lazy->count, &lazy->begin, &end);
    for (int64_t i = lazy->begin; i < end && lazy->begin > 0; i++)
        *(int64_t *)column_at(lazy->kept, i - lazy->begin) = column_get_int(lazy->kept, i);
    lazy->count = end - lazy->begin;
    return STATUS_OK;
}

static int64_t task_row(const struct lazy_task *lazy, const struct batch *batch, int64_t i)
{
    if (batch->rows)
        return batch->rows[i];
    return lazy->kept ? column_get_int(lazy->kept, i) : lazy->begin + i;
}

static enum status write_row(struct exact *exact, struct lazy_task *lazy, int64_t i, const void *context)
{
    const struct task *task = lazy->task;
    const struct batch *batch = context;
    const int64_t row = task_row(lazy, batch, i);
    for (size_t k = 0; k < task->output_count; k++) {
        union datum datum;
        if (!exact->columns[k])
            continue;
        const enum status status = exact_value(exact, lazy, row, task->outputs[k].value, &datum);
        if (status != STATUS_OK)
            return status;
        column_set_datum(exact->columns[k], batch->place + i, datum);
    }
    return STATUS_OK;
}

int64_t exact_row_bytes(struct column *const *columns, size_t count)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < count; k++)
        bytes += columns[k] ? (int64_t)type_table[columns[k]->store].size : 0;
    return bytes;
}

static enum status write_batch(struct exact *exact, struct lazy_task *lazy, const struct batch *batch, int64_t from,
                               int64_t to)
{
    lazy->count += to - from;
    return exact_for_rows(exact, lazy, from, to, write_row, batch);
}

static enum status write_batch_checked(struct exact *exact, struct lazy_task *lazy, const struct batch *batch,
                                       int64_t from, int64_t to)
{
    const enum status status = write_batch(exact, lazy, batch, from, to);
    if (status != STATUS_OK)
        return status;
    return exact_check_memory(exact, lazy->task, lazy->count, 0,
                              exact_row_bytes(exact->columns, lazy->task->output_count));
}

/* With a tail, all rows have to be filtered before it is known which ones are kept. */
static bool filters_first(const struct task *task)
{
    return task->filter_count == 0 || task->window.tail >= 0;
}

enum status exact_write_rows(struct exact *exact, struct lazy_task *lazy)
{
    const struct task *task = lazy->task;
    const struct batch all = {0};
    int64_t passed = 0;
    if (!filters_first(task))
        return filter_rows(exact, lazy, 0, lazy->rows, &passed, task->window.skip, write_batch_checked);
    enum status status = exact_list_rows(exact, lazy);
    if (status == STATUS_OK)
        status = exact_check_memory(exact, task, lazy->count, lazy->count,
                                    exact_row_bytes(exact->columns, task->output_count));
    return status == STATUS_OK ? exact_for_rows(exact, lazy, 0, lazy->count, write_row, &all) : status;
}

enum status exact_reduce_failed(const struct exact *exact, const struct lazy_task *lazy,
                                const struct aggregate *aggregate, struct scalar left, struct scalar right, int64_t row)
{
    struct scalar unread;
    struct failure failure = {0};
    user_reduce_explain(aggregate->reducer, left, right, &unread, &failure);
    failure.task = lazy->task;
    failure.row = lazy->task->first + row;
    return fail_operation(&failure, exact->diags);
}

static enum status add_row(struct exact *exact, struct lazy_task *lazy, int64_t i, const void *context)
{
    const struct task *task = lazy->task;
    const int64_t row = task_row(lazy, context, i);
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        struct agg_state *state = &exact->states[k];
        union datum datum = {0};
        enum status status =
            aggregate->value == NO_VALUE ? STATUS_OK : exact_value(exact, lazy, row, aggregate->value, &datum);
        if (status != STATUS_OK)
            return status;
        struct scalar scalar = datum_scalar(datum, state->type);
        agg_add(state, &scalar);
        if (state->failed)
            return exact_reduce_failed(exact, lazy, aggregate, state->folded, scalar, row);
    }
    return STATUS_OK;
}

/* Whether some aggregate has to be computed in the order of rows, by one thread. */
static bool adds_in_order(const struct task *task)
{
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        if (aggregate->kind == AGG_FOLD || aggregate_in_order(aggregate, &task->code))
            return true;
    }
    return false;
}

static enum status add_in_order(struct exact *exact, struct lazy_task *lazy, const struct batch *batch, int64_t from,
                                int64_t to)
{
    enum status status = STATUS_OK;
    for (int64_t i = from; i < to && status == STATUS_OK; i++) {
        status = exact_cancelled(exact) ? STATUS_CANCELLED : add_row(exact, lazy, i, batch);
        if (i % BATCH_ROWS == 0 && !batch->rows)
            exact_report(exact, lazy, i, to);
    }
    return status;
}

/* Each thread has its own states, merged at the end. */
static enum status add_batch(struct exact *exact, struct lazy_task *lazy, const struct batch *batch, int64_t from,
                             int64_t to)
{
    const struct task *task = lazy->task;
    if (adds_in_order(task))
        return add_in_order(exact, lazy, batch, from, to);
    exact_update_members(exact);
    for (int m = 0; m < exact->workers.threads; m++) {
        struct exact *member = &exact->members[m];
        member->states = arena_array(member->arena, task->aggregate_count, sizeof *member->states);
        for (size_t k = 0; k < task->aggregate_count; k++)
            agg_init(&member->states[k], &task->aggregates[k], &task->code);
    }
    const enum status status = exact_for_rows(exact, lazy, from, to, add_row, batch);
    for (int m = 0; m < exact->workers.threads; m++) {
        for (size_t k = 0; k < task->aggregate_count; k++)
            agg_merge(&exact->states[k], &exact->members[m].states[k]);
    }
    return status;
}

enum status exact_add_rows(struct exact *exact, struct lazy_task *lazy)
{
    const struct batch all = {0};
    int64_t passed = 0;
    if (!filters_first(lazy->task))
        return filter_rows(exact, lazy, 0, lazy->rows, &passed, 0, add_batch);
    const enum status status = exact_list_rows(exact, lazy);
    return status == STATUS_OK ? add_batch(exact, lazy, &all, 0, lazy->count) : status;
}

/* An evaluator of the job's task alone. */
static enum status begin_range(struct exact *exact, const struct job *job, const struct exact_options *options,
                               struct diags *diags)
{
    exact_init(exact, 1, options, diags);
    struct lazy_task *lazy = &exact->tasks[0];
    lazy_init(lazy, job->task, job->columns, exact->arena);
    lazy->rows = job->rows;
    lazy->begin = job->begin;
    return columns_fetch(job->columns, job->task->input_count, exact->cancel, job->task->span, job->diags);
}

/* Calls `use` for the range's rows that pass the filters; *passed counts them. */
static enum status run_range(struct exact *exact, const struct job *job, int64_t *passed, batch_fn *use)
{
    if (job->task->filter_count > 0)
        return filter_rows(exact, &exact->tasks[0], job->begin, job->end, passed, 0, use);
    const struct batch all = {.place = *passed};
    *passed += job->end - job->begin;
    return use(exact, &exact->tasks[0], &all, 0, job->end - job->begin);
}

/* The job with the task as it was before its folds became loops. */
static struct job job_unlowered(const struct job *job)
{
    struct job plain = *job;
    plain.task = job->task->unlowered ? job->task->unlowered : job->task;
    return plain;
}

enum status exact_rows(const struct job *job, const struct exact_options *options, struct row_sink *sink,
                       bool *undecided)
{
    const struct job plain = job_unlowered(job);
    job = &plain;
    struct exact exact;
    const bool tail = job->task->window.tail >= 0;
    enum status status = begin_range(&exact, job, options, tail ? NULL : job->diags);
    if (status == STATUS_OK) {
        exact.columns = sink->columns;
        status = run_range(&exact, job, &sink->rows, write_batch);
        *undecided = tail && status == STATUS_FAILED;
    }
    exact_free(&exact);
    return *undecided ? STATUS_OK : status;
}

enum status exact_aggregate(const struct job *job, const struct exact_options *options, struct agg_state *states,
                            bool *undecided)
{
    const struct job plain = job_unlowered(job);
    job = &plain;
    struct exact exact;
    int64_t passed = 0;
    for (size_t k = 0; k < job->task->aggregate_count; k++)
        *undecided = *undecided || job->task->aggregates[k].kind == AGG_FOLD;
    if (*undecided)
        return STATUS_OK;
    enum status status = begin_range(&exact, job, options, job->diags);
    if (status == STATUS_OK) {
        exact.states = states;
        status = run_range(&exact, job, &passed, add_batch);
    }
    exact_free(&exact);
    return status;
}
