/* One task: analysed, its results' columns made ready, its rows run in ranges, its results finished. */
#include "engine/run/run_task.h"

#include "base/integer.h"
#include "engine/backend/cost_sample.h"
#include "engine/backend/deferred_rows.h"
#include "engine/backend/memory_limit.h"
#include "engine/backend/streamed_scan.h"
#include "engine/backend/zone_prune.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/row_count.h"
#include "engine/plan/task_title.h"
#include "engine/run/defer_policy.h"
#include "engine/run/host_backends.h"
#include "engine/run/input_columns.h"
#include "engine/run/output_columns.h"
#include "engine/run/run_operator.h"
#include "engine/storage/residency.h"

enum {
    RANGE_UNIT = 4096,
    FIRST_WINDOW_ROWS = 16 * RANGE_UNIT,
    BOUNDED_ROWS = 1 << 22,
    /* While a device gets ready: long enough that starting threads costs nothing, short enough to hand over soon. */
    SLICE_NS = 4000000,
    FIRST_SLICE = 64 * RANGE_UNIT,
    LEAST_SLICE = 4 * RANGE_UNIT
};

/* What a slice was, and took: of processors as well, which other processes do not make longer. */
struct slice {
    int64_t rows, ns, processor_ns;
};

/* A task on its way through the backends. */
struct task_run {
    const struct runner *runner;
    struct task *task;
    struct column *const *given; /* the inputs as the queue names them; those of `job` may be narrower */
    struct job job;              /* all rows */
    struct row_ranges ranges;
    struct streamed_scan stream;
    bool streams; /* what is read is more than memory holds: `stream` is set up */
    struct agg_state *states;
    struct row_sink sink;
    struct row_sink rest; /* takes the place of `sink` when that has all that the window keeps: no columns */
    bool full;
    bool leaves;               /* what `rest` would take, in place of a window, is left for later: */
    struct deferred_rows left; /* this */
    bool flagged;
    struct backend *awaited; /* gets ready while the evaluator runs slices of the rows; NULL usually */
    int64_t slice;           /* rows of the next */
    int64_t sliced_ns;       /* what the slices so far took, of processors */
    int64_t sliced_rows;
    struct cost_features work; /* with a chooser: what the task is, what it has taken, and where that is added up: */
    struct cost_sample measure;
    struct timing timing;
};

void outcome_release(struct outcome *outcome, const struct task *task)
{
    for (size_t k = 0; outcome->columns && k < task->output_count; k++) {
        column_unref(outcome->columns[k]);
        outcome->columns[k] = NULL;
    }
}

/* The backend that the user named, or the one expected to be quickest with the rows from `begin` on. */
static struct backend *wanted_backend(const struct task_run *run, int64_t begin)
{
    const struct runner *runner = run->runner;
    if (!runner->chooser)
        return runner->device ? runner->device : runner->evaluator;
    struct job rest = run->job;
    struct cost_features work;
    rest.begin = begin;
    cost_features_of_job(&work, &rest, &run->ranges);
    return chooser_pick(runner->chooser, &work);
}

/* Begins to make a backend ready. A chosen one that is unable gives way to the next best. */
static enum readiness begin_backend(const struct task_run *run, struct backend **wanted)
{
    struct chooser *chooser = run->runner->chooser;
    enum readiness readiness = (*wanted)->ops->begin(*wanted, &run->job);
    for (size_t k = 0; chooser && readiness == BACKEND_UNABLE && k < chooser_count(chooser); k++) {
        chooser_rule_out(chooser, *wanted, &run->work);
        *wanted = chooser_pick(chooser, &run->work);
        readiness = (*wanted)->ops->begin(*wanted, &run->job);
    }
    return readiness;
}

/* Makes a backend ready, and the evaluator if it cannot do the task. */
static enum status choose_backend(const struct task_run *run, struct backend *wanted, struct backend **backend)
{
    *backend = wanted;
    enum status status = wanted->ops->prepare(wanted, &run->job);
    if (status != STATUS_UNABLE || wanted == run->runner->evaluator)
        return status;
    diags_drop_repeated_note(run->job.diags);
    *backend = run->runner->evaluator;
    return (*backend)->ops->prepare(*backend, &run->job);
}

/* That there is no device is no reason to fail, but explains how long things take. */
static void tell_lack(const struct task_run *run)
{
    struct chooser *chooser = run->runner->chooser;
    struct backend *lacking = chooser ? chooser_lacking(chooser) : NULL;
    if (lacking)
        (void)lacking->ops->prepare(lacking, &run->job);
}

/* Gives the rows that are left to a backend. A hasty run does not wait for it: the evaluator has them until it is
 * ready. */
static enum status give_to(struct task_run *run, struct backend *wanted, struct backend **backend)
{
    run->awaited = NULL;
    if (run->runner->hasty && begin_backend(run, &wanted) == BACKEND_PENDING) {
        run->awaited = wanted;
        run->slice = FIRST_SLICE;
        wanted = run->runner->evaluator;
    }
    return choose_backend(run, wanted, backend);
}

/* After a slice, which ended before row `begin`: hands over if the backend awaited is ready, else sees
 * to it that the next takes as long as it should. */
static enum status end_slice(struct task_run *run, int64_t begin, const struct slice *slice, struct backend **backend)
{
    run->sliced_ns += slice->processor_ns;
    run->sliced_rows += slice->rows;
    double row_ns = (double)run->sliced_ns / (double)run->sliced_rows;
    run->job.left_ns = (int64_t)(row_ns * (double)row_ranges_rows(&run->ranges, begin));
    if (run->awaited->ops->begin(run->awaited, &run->job) != BACKEND_PENDING)
        return give_to(run, run->runner->chooser ? wanted_backend(run, begin) : run->awaited, backend);
    double factor = (double)SLICE_NS / (double)(slice->ns > 0 ? slice->ns : 1);
    double rows = (double)run->slice * (factor < 4 ? factor : 4);
    run->slice = rows < LEAST_SLICE ? LEAST_SLICE : (int64_t)rows / RANGE_UNIT * RANGE_UNIT;
    return STATUS_OK;
}

static int64_t rows_at_once(struct backend *backend, const struct job *job)
{
    int64_t rows = backend->ops->range_rows(backend, job);
    return rows > RANGE_UNIT ? rows / RANGE_UNIT * RANGE_UNIT : rows;
}

/* Rows before `end` are done. */
static void tell_rows(const struct job *job, int64_t end)
{
    struct progress_step advance = job->whole;
    advance.part = (double)end / (double)job->rows;
    progress_report(job->progress, &advance);
}

static int64_t result_bytes(const struct task_run *run)
{
    int64_t bytes = 0;
    for (size_t k = 0; run->sink.columns && !run->full && k < run->task->output_count; k++)
        bytes += run->sink.columns[k] ? (int64_t)type_table[run->sink.columns[k]->store].size : 0;
    return bytes;
}

/* Refuses `rows` rows, or `left` more of them that are about to be written, if there is no memory for them. */
static enum status check_room(const struct task_run *run, int64_t rows, int64_t left)
{
    return memory_limit_check(run->runner->memory, rows, left, result_bytes(run), run->task->span, run->job.diags);
}

/* One range on one backend. When that is unable, nothing of the range is kept. */
static enum status run_range(struct task_run *run, struct backend *backend, const struct job *range)
{
    const struct task *task = run->task;
    if (task->sink == SINK_ROWS) {
        struct row_sink *sink = run->full ? &run->rest : &run->sink;
        int64_t before = sink->rows;
        enum status status = backend->ops->rows(backend, range, sink, &run->flagged);
        if (status != STATUS_OK) {
            sink->rows = before;
            columns_discard(sink->columns, task->output_count, before);
        }
        return status;
    }
    struct agg_state *states = arena_array(range->diags->arena, task->aggregate_count, sizeof *states);
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (aggregate_in_order(&task->aggregates[i], &task->code))
            states[i] = run->states[i];
        else
            agg_init(&states[i], &task->aggregates[i], &task->code);
    }
    enum status status = backend->ops->aggregate(backend, range, states, &run->flagged);
    for (size_t i = 0; i < task->aggregate_count && status == STATUS_OK; i++) {
        if (aggregate_in_order(&task->aggregates[i], &task->code))
            run->states[i] = states[i];
        else
            agg_merge(&run->states[i], &states[i]);
    }
    return status;
}

/* The same; with a chooser, what it took is noted. */
static enum status run_measured(struct task_run *run, struct backend *backend, const struct job *range)
{
    trace_ran(run->runner->trace, backend->name);
    if (!run->runner->chooser)
        return run_range(run, backend, range);
    cost_sample_begin(&run->measure, run->job.timing);
    enum status status = run_range(run, backend, range);
    if (status == STATUS_OK && !run->flagged)
        cost_sample_end(&run->measure, backend, range->end - range->begin);
    if (status == STATUS_UNABLE)
        chooser_rule_out(run->runner->chooser, backend, &run->work);
    return status;
}

/* Of how many rows that pass the filters the window can still keep some. */
static int64_t rows_wanted(const struct task *task)
{
    const struct window *window = &task->window;
    int64_t wanted;
    if (task->sink != SINK_ROWS || task->filter_count == 0 || window->tail >= 0 ||
        __builtin_add_overflow(window->skip, window->take, &wanted))
        return INT64_MAX;
    return wanted;
}

/* The window has its rows. Of those behind, only the filters are looked at, for failures: nothing is stored, and memory
 * for it is never asked for. */
static enum status pass_over_rest(struct task_run *run, struct backend **backend)
{
    struct task *task = run->task;
    for (size_t k = 0; k < task->output_count; k++)
        task->outputs[k].needed = false;
    run->rest.columns = arena_array(run->job.diags->arena, task->output_count, sizeof *run->rest.columns);
    run->full = true;
    return give_to(run, run->awaited ? run->awaited : *backend, backend);
}

/* Whether the rows from `begin` on are left for later, so many of those in the first range having passed. */
static bool leaves_rest(struct task_run *run, int64_t begin, int64_t rows)
{
    if (!run->leaves || run->full || run->task->filter_count == 0)
        return false;
    run->leaves = deferral_pays(run->sink.rows, rows, run->runner->defer);
    run->left.begin = begin;
    return run->leaves;
}

/* After a range, of which the rows from `begin` on are left: what becomes of those. */
static enum status end_range(struct task_run *run, int64_t begin, const struct slice *slice, int64_t wanted,
                             struct backend **backend)
{
    if (leaves_rest(run, begin, slice->rows) || (!run->full && run->sink.rows >= wanted))
        return pass_over_rest(run, backend);
    return run->awaited ? end_slice(run, begin, slice, backend) : STATUS_OK;
}

static void find_survivors(struct task_run *run)
{
    struct job wide = run->job;
    wide.columns = run->given;
    /* What does not stay in memory is not read once more, from the disk, to find out about it. */
    if (!run->streams)
        inputs_note(run->runner, run->task, run->given, run->job.end - run->job.begin);
    zone_prune(&run->ranges, &wide, run->runner->collector, run->job.diags->arena);
    timing_add_zones(run->job.timing, run->ranges.zones, run->ranges.skipped);
}

/* A backend has failed after some ranges: their results come home while they can. If they are lost with the device, the
 * task begins anew. */
static void rescue_results(struct task_run *run, struct job *range)
{
    struct task *task = run->task;
    struct row_sink *sink = &run->sink;
    bool home = true;
    for (size_t k = 0; k < task->output_count && task->sink == SINK_ROWS; k++)
        home = home && (!sink->columns[k] || column_fetch(sink->columns[k], 0, sink->rows));
    if (home)
        return;
    sink->rows = 0;
    columns_discard(sink->columns, task->output_count, 0);
    range->begin = run->job.begin;
    run->full = false;
    run->rest.rows = 0;
    for (size_t k = 0; k < task->output_count; k++)
        task->outputs[k].needed = sink->columns[k] != NULL;
}

/* How many rows are run at once where what is read or written may be more than memory holds. */
static int64_t rows_bound(struct task_run *run, int64_t memory)
{
    const int64_t rows = run->job.end - run->job.begin;
    run->streams = streamed_scan_open(&run->stream, run->task, run->job.columns, run->job.begin, run->job.end, memory,
                                      run->job.diags->arena);
    if (run->streams)
        return run->stream.rows;
    return result_bytes(run) > 0 && rows > memory / 2 / result_bytes(run) ? BOUNDED_ROWS : INT64_MAX;
}

static enum status run_ranges(struct task_run *run)
{
    const int64_t bound = rows_bound(run, memory_limit_bytes(run->runner->memory));
    find_survivors(run);
    if (run->ranges.count == 0)
        return STATUS_OK;
    struct backend *backend;
    struct backend *evaluator = run->runner->evaluator;
    if (run->runner->chooser)
        cost_features_of_job(&run->work, &run->job, &run->ranges);
    enum status status = give_to(run, wanted_backend(run, run->job.begin), &backend);
    const int64_t wanted = rows_wanted(run->task);
    struct job range = run->job;
    int64_t end; /* of the rows that the filters may keep */
    while (status == STATUS_OK && !run->flagged && row_ranges_next(&run->ranges, &range.begin, &end)) {
        if (range.cancel && *range.cancel)
            return STATUS_CANCELLED;
        int64_t most = rows_at_once(backend, &run->job);
        if (wanted != INT64_MAX && !run->full) { /* not many more than it takes: twice as many each time */
            int64_t done = range.begin > FIRST_WINDOW_ROWS ? range.begin : FIRST_WINDOW_ROWS;
            most = done < most ? done : most;
        }
        if (run->leaves && !run->full)
            most = min_int64(most, deferred_first_rows(run->runner->defer));
        if (run->awaited)
            most = run->slice < most ? run->slice : most;
        if (bound < most && backend_on_host(backend)) {
            most = bound;
            status = check_room(run, run->sink.rows, most);
            if (status != STATUS_OK)
                break;
        }
        const int64_t began = now_ns(), spent = processor_ns();
        range.end = end - range.begin > most ? range.begin + most : end;
        status = run_measured(run, backend, &range);
        if (status == STATUS_UNABLE && backend != evaluator) {
            diags_drop_repeated_note(range.diags);
            rescue_results(run, &range);
            status = choose_backend(run, evaluator, &backend);
            continue;
        }
        const struct slice slice = {range.end - range.begin, now_ns() - began, processor_ns() - spent};
        range.begin = range.end;
        if (run->streams)
            streamed_scan_release(&run->stream, range.begin);
        tell_rows(&run->job, range.end);
        if (status == STATUS_OK && run->task->sink == SINK_ROWS)
            status = check_room(run, run->sink.rows, 0);
        if (status == STATUS_OK && range.begin < run->job.end)
            status = end_range(run, range.begin, &slice, wanted, &backend);
    }
    if (run->runner->chooser && !run->leaves) /* which takes less than such work does */
        cost_sample_report(&run->measure, run->runner->chooser, &run->work);
    tell_lack(run);
    return status;
}

/* The sink has all rows from now on, though some of them are to be made yet. */
static void leave_rows(struct task_run *run)
{
    struct deferred_rows *left = &run->left;
    left->made = run->sink.rows;
    left->end = run->job.end;
    run->sink.rows += run->task->filter_count > 0 ? run->rest.rows : left->end - left->begin;
    left->rows = run->sink.rows;
    defer_rows(run->runner->evaluator, run->runner->memory, &run->job, run->given, run->sink.columns, left);
}

/* Rows: what passes as it is, or need not be made, is left out of the run. */
static enum status run_rows(struct task_run *run, struct outcome *outcome)
{
    struct task *task = run->task;
    struct arena *arena = run->job.diags->arena;
    bool *needed = arena_array(arena, task->output_count, sizeof *needed);
    run->sink.columns = arena_array(arena, task->output_count, sizeof *run->sink.columns);
    bool computes = task->filter_count > 0;
    enum status status = results_make(&run->job, run->runner->pool, run->given, run->sink.columns, outcome);
    for (size_t k = 0; k < task->output_count; k++) {
        needed[k] = task->outputs[k].needed;
        task->outputs[k].needed = run->sink.columns[k] != NULL;
        computes = computes || run->sink.columns[k] != NULL;
    }
    const int64_t end = run->job.end;
    run->leaves = status == STATUS_OK && computes && can_defer(run->runner, &run->job);
    if (run->leaves && task->filter_count == 0)
        run->job.end = min_int64(end, run->job.begin + deferred_first_rows(run->runner->defer));
    run->left.begin = run->job.end;
    if (status == STATUS_OK && computes && task->filter_count == 0)
        status = check_room(run, run->job.end - run->job.begin,
                            runs_on_host(run->runner) ? run->job.end - run->job.begin : 0);
    if (status == STATUS_OK && computes && run->job.begin < run->job.end)
        status = run_ranges(run);
    for (size_t k = 0; k < task->output_count; k++)
        task->outputs[k].needed = needed[k];
    run->job.end = end;
    if (status != STATUS_OK || run->flagged)
        return status;
    if (run->leaves)
        leave_rows(run);
    return results_finish(&run->job, run->runner->pool, &run->sink, outcome);
}

static enum status run_aggregates(struct task_run *run, struct outcome *outcome)
{
    const struct task *task = run->task;
    struct diags *diags = run->job.diags;
    run->states = arena_array(diags->arena, task->aggregate_count, sizeof *run->states);
    for (size_t i = 0; i < task->aggregate_count; i++)
        agg_init(&run->states[i], &task->aggregates[i], &task->code);
    for (size_t i = 0; i < task->aggregate_count; i++) {
        if (aggregate_in_order(&task->aggregates[i], &task->code))
            agg_begin(&run->states[i], &task->aggregates[i]);
    }
    enum status status = run->job.begin < run->job.end ? run_ranges(run) : STATUS_OK;
    if (status != STATUS_OK || run->flagged)
        return status;
    bool certain = true;
    status = agg_finish(&run->states[0], &task->aggregates[0], &outcome->scalar, &certain, diags);
    run->flagged = !certain;
    return status;
}

enum status run_task(const struct runner *runner, struct task *task, struct column *const *inputs, int64_t rows,
                     struct arena *arena, struct outcome *outcome, struct diags *diags)
{
    struct task_run run = {
        .runner = runner,
        .task = task,
        .given = inputs,
        .job = {.task = task,
                .columns = inputs,
                .rows = rows,
                .end = rows,
                .timing = runner->timing,
                .progress = runner->progress,
                .cancel = runner->cancel,
                .diags = diags},
    };
    *outcome = (struct outcome){.columns = arena_array(arena, task->output_count, sizeof *outcome->columns)};
    if (task->sink == SINK_OPERATOR) {
        enum status status = run_operator(runner, task, inputs, rows, outcome, diags);
        if (status != STATUS_OK || outcome->flagged)
            outcome_release(outcome, task);
        return status;
    }
    if (task->filter_count == 0)
        rows_kept(&task->window, rows, &run.job.begin, &run.job.end);
    if (runner->chooser && !runner->timing) {
        timing_init(&run.timing, diags->arena);
        run.job.timing = &run.timing;
    }
    run.job.columns = inputs_narrow(runner, task, inputs, diags->arena);
    optimize_task(task, run.job.columns, rows);
    if (runner->progress)
        run.job.whole = task_whole(task, inputs, rows, diags->arena);
    enum status status = task->sink == SINK_ROWS ? run_rows(&run, outcome) : run_aggregates(&run, outcome);
    outcome->flagged = run.flagged;
    if (status != STATUS_OK || run.flagged)
        outcome_release(outcome, task);
    return status;
}
