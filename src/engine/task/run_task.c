/* One task: its rows run in ranges, each on the backend that is best for it (placement.h); rows that zone maps exclude
 * are skipped (input_rows.c); results are collected in a sink (task_sink.h). */
#include "engine/task/run_task.h"

#include "base/integer.h"
#include "engine/backend/deferred_rows.h"
#include "engine/plan/row_count.h"
#include "engine/plan/task_title.h"
#include "engine/task/input_columns.h"
#include "engine/task/placement.h"
#include "engine/task/task_sink.h"

/* Ranges of at most this many rows are evaluated exactly; longer ones are run again in shorter pieces. */
enum { EXACT_ROWS = 1 << 16 };

/* A task that is running. */
struct task_run {
    const struct runner *runner;
    struct job job; /* the whole task */
    struct input_rows input;
    struct placement placement;
    struct task_sink sink;
    int64_t most;   /* rows at once since a range was flagged */
    bool flagged;   /* the results are worthless */
    bool uncertain; /* but for their last bit they are right */
};

void outcome_release(struct outcome *outcome, const struct task *task)
{
    for (size_t k = 0; outcome->columns && k < task->output_count; k++) {
        column_unref(outcome->columns[k]);
        outcome->columns[k] = NULL;
    }
    deferred_unref(outcome->deferred);
    outcome->deferred = NULL;
}

/* The next range: from `row` on, and not beyond `end`. */
static enum status next_range(const struct task_run *run, int64_t row, int64_t end, struct job *range)
{
    int64_t rows = min_int64(placement_range_rows(&run->placement), task_sink_range_rows(&run->sink, row));
    rows = min_int64(rows, run->most);
    enum status status = STATUS_OK;
    if (run->input.bound < rows && backend_on_host(run->placement.backend)) {
        rows = min_int64(run->input.bound, end - row);
        status = task_sink_check_memory(&run->sink, rows);
    }
    *range = run->job;
    range->begin = row;
    range->end = end - row > rows ? row + rows : end;
    return status;
}

/* The range is done. */
static enum status end_range(struct task_run *run, const struct job *range)
{
    input_rows_done(&run->input, range->end);
    job_report(&run->job, range->end);
    const enum status status = task_sink_check_memory(&run->sink, 0);
    if (status != STATUS_OK || range->end == run->job.end)
        return status;
    return task_sink_stop_storing(&run->sink, range) ? placement_restart(&run->placement)
                                                     : placement_next(&run->placement, range->end);
}

/* The evaluator has flagged a range, of which the sink has kept nothing. *row is moved on if the range is done. */
static enum status resolve_flag(struct task_run *run, const struct job *range, int64_t *row)
{
    const bool narrow = range->end - range->begin > EXACT_ROWS;
    if (run->sink.stream) { /* which has some of its rows: the task has to be run without */
        run->flagged = true;
        return STATUS_OK;
    }
    run->most = EXACT_ROWS;
    if (narrow)
        return STATUS_OK;
    const enum status status = task_sink_run_exactly(&run->sink, range, &run->flagged);
    run->flagged = run->flagged || status == STATUS_FAILED;
    if (status != STATUS_OK || run->flagged)
        return status;
    *row = range->end;
    return end_range(run, range);
}

/* Runs a range; *row is moved to the row to go on from. */
static enum status run_range(struct task_run *run, const struct job *range, int64_t *row)
{
    struct placement *placement = &run->placement;
    bool flagged = false;
    placement_begin_range(placement);
    const enum status status = task_sink_run(&run->sink, placement->backend, range, &flagged);
    placement_end_range(placement, range, status, flagged);
    if ((status == STATUS_UNABLE || (status == STATUS_OK && flagged)) && placement->backend != run->runner->evaluator) {
        if (!task_sink_rescue(&run->sink))
            *row = run->job.begin;
        return placement_fall_back(placement);
    }
    if (status == STATUS_OK && flagged)
        return resolve_flag(run, range, row);
    if (status != STATUS_OK)
        return status;
    if (run->most < INT64_MAX / 2)
        run->most *= 2;
    *row = range->end;
    return end_range(run, range);
}

static enum status run_ranges(struct task_run *run)
{
    struct job range;
    int64_t row = run->job.begin, end;
    enum status status = placement_open(&run->placement, run->runner, &run->job, &run->input.ranges);
    while (status == STATUS_OK && !run->flagged && row_ranges_next(&run->input.ranges, &row, &end)) {
        if (run->job.cancel && *run->job.cancel)
            return STATUS_CANCELLED;
        status = next_range(run, row, end, &range);
        if (status == STATUS_OK)
            status = run_range(run, &range, &row);
    }
    /* Computing only the first rows says nothing of the time that all take. */
    placement_close(&run->placement, !run->sink.defers);
    return status;
}

static enum status run_all_ranges(struct task_run *run, struct column *const *inputs)
{
    if (!run->sink.computes || run->job.begin >= run->job.end || task_sink_count_known(&run->sink))
        return STATUS_OK;
    input_rows_open(&run->input, run->runner, &run->job, inputs, task_sink_row_bytes(&run->sink));
    return run->input.ranges.count > 0 ? run_ranges(run) : STATUS_OK;
}

/* The task's rows, from the first range to the finished results. */
static enum status run_rows(struct task_run *run, struct column *const *inputs, enum defer_choice defer,
                            struct outcome *outcome)
{
    enum status status = task_sink_open(&run->sink, run->runner, &run->job, inputs, defer, outcome);
    if (status == STATUS_OK)
        status = run_all_ranges(run, inputs);
    if (status != STATUS_OK || run->flagged)
        return status;
    return task_sink_finish(&run->sink, outcome, &run->uncertain);
}

/* Makes the task ready for a run on these rows. */
static void open_run(struct task_run *run, const struct runner *runner, const struct task *task,
                     struct column *const *inputs, int64_t rows, struct diags *diags)
{
    *run = (struct task_run){.runner = runner, .most = INT64_MAX};
    run->job = (struct job){.rows = rows,
                            .end = rows,
                            .timing = runner->timing,
                            .progress = runner->progress,
                            .cancel = runner->cancel,
                            .diags = diags};
    if (task->filter_count == 0)
        rows_kept(&task->window, rows, &run->job.begin, &run->job.end);
    run->job.task = task_specialise(runner, task, inputs, rows, diags->arena, &run->job.columns);
    if (runner->progress)
        run->job.whole = task_whole(task, inputs, rows, diags->arena);
}

/* A device's float sum may be uncertain in its last bit, the evaluator's is not. */
static enum status run_on_host(const struct runner *runner, const struct task *task, struct column *const *inputs,
                               int64_t rows, enum defer_choice defer, struct arena *arena, struct outcome *outcome,
                               struct diags *diags)
{
    struct runner host = *runner;
    host.device = NULL;
    host.chooser = NULL;
    return run_task(&host, task, inputs, rows, defer, arena, outcome, diags);
}

enum status run_task(const struct runner *runner, const struct task *task, struct column *const *inputs, int64_t rows,
                     enum defer_choice defer, struct arena *arena, struct outcome *outcome, struct diags *diags)
{
    enum status status;
    *outcome = (struct outcome){.columns = arena_array(arena, task->output_count, sizeof *outcome->columns)};
    make_room(runner, task, rows);
    if (task->sink == SINK_OPERATOR) {
        status = run_operator(runner, task, inputs, rows, outcome, diags);
    } else {
        struct task_run run;
        open_run(&run, runner, task, inputs, rows, diags);
        status = run_rows(&run, inputs, defer, outcome);
        outcome->flagged = run.flagged || run.uncertain;
        if (status == STATUS_OK && run.uncertain && (runner->device || runner->chooser))
            return run_on_host(runner, task, inputs, rows, defer, arena, outcome, diags);
    }
    if (status != STATUS_OK || outcome->flagged)
        outcome_release(outcome, task);
    return status;
}

/* Whether the evaluator computes and groups the rows of the run: it is the fastest, or the device is not ready and the
 * rows would not take long. `both` receives what the choice learns of. */
static bool groups_on_host(const struct runner *runner, struct task_run *run, const struct task *group,
                           struct cost_features *both)
{
    enum { NOT_LONG_NS = 100000000 };
    struct chooser *chooser = runner->chooser;
    struct cost_features work;
    struct load then;
    double host_ns;
    const struct row_ranges all = {.begins = &run->job.begin, .ends = &run->job.end, .count = 1};
    cost_features_of_job(&work, &run->job, &all);
    cost_features_with_group(both, &work, group, &then);
    struct backend *picked = chooser_pick_grouped(chooser, &work, both, &then, &host_ns);
    if (picked == runner->evaluator)
        return true;
    run->job.left_ns = (int64_t)host_ns;
    const enum readiness readiness = picked->ops->begin(picked, &run->job);
    if (readiness == BACKEND_UNABLE)
        chooser_rule_out(chooser, picked, &work);
    return readiness == BACKEND_UNABLE || (readiness == BACKEND_PENDING && host_ns < NOT_LONG_NS);
}

enum status run_task_grouped(const struct runner *runner, const struct task *task, struct column *const *inputs,
                             int64_t rows, const struct task *group, int64_t *passed, struct outcome *outcome,
                             struct diags *diags)
{
    if (runner->device && runner->device != runner->evaluator)
        return STATUS_UNABLE;
    const bool chooses = rows > 0 && runs_on_gpu(runner);
    struct runner host = *runner;
    host.device = NULL;
    host.chooser = NULL;
    struct task_run run;
    struct grouped_rows grouped;
    enum status status = STATUS_UNABLE;
    struct cost_features both;
    const int64_t began = now_ns();
    open_run(&run, runner, task, inputs, rows, diags);
    run.runner = &host;
    if (grouped_rows_open(&grouped, &run.job, group, host.evaluator, outcome) &&
        (!chooses || groups_on_host(runner, &run, group, &both))) {
        task_sink_open_groups(&run.sink, &host, &run.job, grouped.stream);
        status = run_all_ranges(&run, inputs);
        if (status == STATUS_OK && run.flagged)
            status = STATUS_UNABLE;
        if (status == STATUS_OK)
            status = grouped_rows_finish(&grouped, passed, outcome);
        if (status == STATUS_OK && chooses)
            chooser_learn_grouped(runner->chooser, &both, *passed, now_ns() - began);
    }
    grouped_rows_close(&grouped);
    if (status != STATUS_OK)
        outcome_release(outcome, group);
    return status;
}
