#include "engine/task/task_sink.h"

#include "base/integer.h"
#include "engine/backend/datum.h"
#include "engine/backend/memory_limit.h"
#include "engine/exact/exact.h"
#include "engine/storage/residency.h"
#include "engine/task/run_task.h"

enum { FIRST_WINDOW_ROWS = 1 << 16 };

/* How many of the rows that pass the filters the window may keep. */
static int64_t rows_wanted(const struct task *task)
{
    const struct window *window = &task->window;
    int64_t wanted;
    if (task->filter_count == 0 || window->tail >= 0 || __builtin_add_overflow(window->skip, window->take, &wanted))
        return INT64_MAX;
    return wanted;
}

/* The size of a row in the columns being written, or in those of them that are not spilled. */
static int64_t stored_bytes(const struct task_sink *sink, bool spilled)
{
    int64_t bytes = 0;
    for (size_t k = 0; sink->stored.columns && !sink->counting && k < sink->task->output_count; k++) {
        const struct column *column = sink->stored.columns[k];
        if (column && (spilled || !buffer_pool_holds_spilled(column->pool, column->data)))
            bytes += (int64_t)type_table[column->store].size;
    }
    return bytes;
}

static enum status check_memory(const struct task_sink *sink, int64_t rows, int64_t more)
{
    return memory_limit_check(sink->runner->pool, rows, more, stored_bytes(sink, false), sink->task->span,
                              sink->job->diags);
}

/* Outputs that are rows of an input as they stand are not part of the run. */
static enum status open_rows(struct task_sink *sink, struct outcome *outcome)
{
    const struct runner *runner = sink->runner;
    struct job *job = sink->job;
    struct arena *arena = job->diags->arena;
    const bool filters = sink->task->filter_count > 0;
    sink->wanted = rows_wanted(sink->task);
    sink->stored.columns = arena_array(arena, sink->task->output_count, sizeof *sink->stored.columns);
    sink->counted.columns = arena_array(arena, sink->task->output_count, sizeof *sink->counted.columns);
    const enum status status = outputs_reserve(job, runner->pool, sink->inputs, sink->stored.columns, outcome);
    sink->computes = filters || task_sink_row_bytes(sink) > 0;
    if (status != STATUS_OK || !sink->computes)
        return status;
    job->task = task_writing(sink->task, sink->stored.columns, arena);
    sink->defers = can_defer(runner, sink->choice, job);
    if (filters)
        return STATUS_OK;
    if (sink->defers)
        job->end = min_int64(job->end, job->begin + deferred_first_rows(sink->choice));
    sink->deferred.begin = job->end;
    const int64_t rows = job->end - job->begin;
    return check_memory(sink, rows, runs_on_host(runner) ? rows : 0);
}

static void open_aggregates(struct task_sink *sink)
{
    const struct task *task = sink->task;
    sink->computes = true;
    sink->wanted = INT64_MAX;
    sink->states = arena_array(sink->job->diags->arena, task->aggregate_count, sizeof *sink->states);
    for (size_t i = 0; i < task->aggregate_count; i++) {
        agg_init(&sink->states[i], &task->aggregates[i], &task->code);
        if (aggregate_in_order(&task->aggregates[i], &task->code))
            agg_begin(&sink->states[i], &task->aggregates[i]);
    }
}

enum status task_sink_open(struct task_sink *sink, const struct runner *runner, struct job *job,
                           struct column *const *inputs, enum defer_choice choice, struct outcome *outcome)
{
    *sink = (struct task_sink){
        .runner = runner, .job = job, .inputs = inputs, .task = job->task, .end = job->end, .choice = choice};
    if (job->task->sink == SINK_ROWS)
        return open_rows(sink, outcome);
    open_aggregates(sink);
    return STATUS_OK;
}

bool task_sink_count_known(struct task_sink *sink)
{
    const struct task *task = sink->task;
    bool known = sink->states && task->filter_count == 0;
    for (size_t i = 0; i < task->aggregate_count && known; i++)
        known = task->aggregates[i].kind == AGG_COUNT && task->aggregates[i].value == NO_VALUE;
    for (size_t i = 0; i < task->aggregate_count && known; i++)
        sink->states[i].count = sink->job->end - sink->job->begin;
    return known;
}

void task_sink_open_groups(struct task_sink *sink, const struct runner *runner, struct job *job,
                           struct group_stream *stream)
{
    *sink = (struct task_sink){.runner = runner,
                               .job = job,
                               .task = job->task,
                               .computes = true,
                               .end = job->end,
                               .stream = stream,
                               .wanted = INT64_MAX};
}

int64_t task_sink_row_bytes(const struct task_sink *sink)
{
    return stored_bytes(sink, true);
}

int64_t task_sink_range_rows(const struct task_sink *sink, int64_t row)
{
    int64_t rows = INT64_MAX;
    if (sink->wanted != INT64_MAX && !sink->counting) /* twice as many each time */
        rows = max_int64(row, FIRST_WINDOW_ROWS);
    if (sink->defers && !sink->counting)
        rows = min_int64(rows, deferred_first_rows(sink->choice));
    return rows;
}

enum status task_sink_check_memory(const struct task_sink *sink, int64_t more)
{
    return check_memory(sink, sink->stored.rows, more);
}

static enum status run_rows(struct task_sink *sink, struct backend *backend, const struct job *range, bool *flagged)
{
    struct row_sink *rows = sink->counting ? &sink->counted : &sink->stored;
    const int64_t before = rows->rows;
    const enum status status = backend->ops->rows(backend, range, rows, flagged);
    if (status != STATUS_OK || *flagged) {
        rows->rows = before;
        columns_discard(rows->columns, sink->task->output_count, before);
    }
    return status;
}

static enum status run_aggregates(struct task_sink *sink, struct backend *backend, const struct job *range,
                                  bool *flagged)
{
    const struct task *task = sink->task;
    struct agg_state *states = arena_array(range->diags->arena, task->aggregate_count, sizeof *states);
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (aggregate_in_order(&task->aggregates[i], &task->code))
            states[i] = sink->states[i];
        else
            agg_init(&states[i], &task->aggregates[i], &task->code);
    }
    const enum status status = backend->ops->aggregate(backend, range, states, flagged);
    for (size_t i = 0; i < task->aggregate_count && status == STATUS_OK && !*flagged; i++) {
        if (aggregate_in_order(&task->aggregates[i], &task->code))
            sink->states[i] = states[i];
        else
            agg_merge(&sink->states[i], &states[i]);
    }
    return status;
}

enum status task_sink_run(struct task_sink *sink, struct backend *backend, const struct job *range, bool *flagged)
{
    if (sink->stream)
        return backend->ops->group(backend, range, sink->stream, flagged);
    return sink->states ? run_aggregates(sink, backend, range, flagged) : run_rows(sink, backend, range, flagged);
}

enum status task_sink_run_exactly(struct task_sink *sink, const struct job *range, bool *flagged)
{
    const struct exact_options options = {
        .workers = {.threads = parallel_threads(), .cancel = range->cancel, .pool = sink->runner->pool},
    };
    const int64_t began = now_ns();
    enum status status;
    if (sink->states)
        status = exact_aggregate(range, &options, sink->states, flagged);
    else
        status = exact_rows(range, &options, sink->counting ? &sink->counted : &sink->stored, flagged);
    timing_add(range->timing, PHASE_KERNEL, "exactly, row by row", now_ns() - began, 0);
    if (sink->runner->trace)
        sink->runner->trace->exact = true;
    return status;
}

bool task_sink_stop_storing(struct task_sink *sink, const struct job *range)
{
    if (sink->counting || sink->task->filter_count == 0 || sink->stream)
        return false;
    if (sink->defers) {
        sink->defers = deferral_pays(sink->stored.rows, range->end - range->begin, sink->choice);
        sink->deferred.begin = range->end;
    }
    sink->counting = sink->defers || sink->stored.rows >= sink->wanted;
    if (sink->counting)
        sink->job->task = task_writing(sink->task, sink->counted.columns, sink->job->diags->arena);
    return sink->counting;
}

bool task_sink_rescue(struct task_sink *sink)
{
    bool home = true;
    if (sink->states)
        return true;
    for (size_t k = 0; k < sink->task->output_count; k++)
        home = home && (!sink->stored.columns[k] || column_fetch(sink->stored.columns[k], 0, sink->stored.rows));
    if (home)
        return true;
    columns_discard(sink->stored.columns, sink->task->output_count, 0);
    sink->stored.rows = sink->counted.rows = 0;
    sink->counting = false;
    sink->job->task = task_writing(sink->task, sink->stored.columns, sink->job->diags->arena);
    return false;
}

/* The sink has all rows from now on, though some are not computed yet. */
static void defer(struct task_sink *sink, struct outcome *outcome)
{
    const struct runner *runner = sink->runner;
    struct deferred_range *deferred = &sink->deferred;
    deferred->computed = sink->stored.rows;
    deferred->end = sink->job->end;
    sink->stored.rows += sink->task->filter_count > 0 ? sink->counted.rows : deferred->end - deferred->begin;
    deferred->rows = sink->stored.rows;
    outcome->deferred =
        defer_rows(runner->evaluator, runner->pool, sink->job, sink->inputs, sink->stored.columns, deferred);
}

/* Writes the aggregates as columns of one row. */
static enum status finish_row(const struct task_sink *sink, struct outcome *outcome, bool *certain)
{
    const struct task *task = sink->task;
    struct diags *diags = sink->job->diags;
    outcome->rows = 1;
    for (size_t k = 0; k < task->output_count; k++) {
        struct scalar scalar;
        bool known = true;
        if (!task->outputs[k].needed)
            continue;
        const struct agg_state state = agg_derived(sink->states, task->aggregates, k);
        const enum status status = agg_element(&state, &task->aggregates[k], &scalar, &known, diags);
        if (status != STATUS_OK)
            return status;
        *certain = *certain && known;
        const enum type type = task->outputs[k].type;
        struct column *column = outcome->columns[k] = column_reserve_from(sink->runner->pool, type, type, 1);
        if (!column)
            return diag_no_memory(diags, task->span, "not enough memory for a row");
        column_set_datum(column, 0, datum_of_scalar(&scalar));
        column_finish(column, 1);
    }
    return STATUS_OK;
}

enum status task_sink_finish(struct task_sink *sink, struct outcome *outcome, bool *flagged)
{
    struct job *job = sink->job;
    job->task = sink->task;
    job->end = sink->end;
    if (!sink->states) {
        if (sink->defers)
            defer(sink, outcome);
        return outputs_finish(job, sink->runner->pool, &sink->stored, outcome);
    }
    bool certain = true;
    enum status status = STATUS_OK;
    if (sink->task->output_count == 0) {
        const struct agg_state state = agg_derived(sink->states, sink->task->aggregates, 0);
        status = agg_finish(&state, &sink->task->aggregates[0], &outcome->scalar, &certain, job->diags);
    } else {
        status = finish_row(sink, outcome, &certain);
    }
    *flagged = !certain;
    return status;
}
