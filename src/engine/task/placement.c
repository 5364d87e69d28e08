#include "engine/task/placement.h"

#include "base/integer.h"

#include <math.h>

enum {
    RANGE_UNIT = 4096,
    /* Of the evaluator, before a hand-over: long enough to amortise starting threads. Each may take twice as long as
     * the one before, so that a hand-over is late by no more than was waited for it. */
    SLICE_NS = 4000000,
    MOST_SLICE_NS = 64000000,
    FIRST_SLICE = 64 * RANGE_UNIT,
    LEAST_SLICE = 4 * RANGE_UNIT
};

bool stays_on_host(const struct runner *runner, const struct task *task, struct column *const *inputs, int64_t rows)
{
    enum { FEW = 1 << 13 };
    if (runner->chooser || !runner->no_wait || rows > FEW)
        return false;
    bool near = true;
    for (size_t k = 0; k < task->input_count; k++)
        near = near && (!inputs[k] || !inputs[k]->residency || inputs[k]->rows <= FEW);
    return near;
}

/* The backend that the user named, or the one expected to be fastest with the rows from `row` on. */
static struct backend *best_backend(const struct placement *placement, int64_t row)
{
    const struct runner *runner = placement->runner;
    if (!runner->device && !runner->chooser)
        return runner->evaluator;
    if (!runner->chooser)
        return stays_on_host(runner, placement->job->task, placement->job->columns, placement->job->rows)
                   ? runner->evaluator
                   : runner->device;
    struct job rest = *placement->job;
    struct cost_features features;
    rest.begin = row;
    cost_features_of_job(&features, &rest, placement->ranges);
    return chooser_pick(runner->chooser, &features);
}

/* Starts to make a backend ready, without waiting. If a chosen one is unable, tries the next best. */
static enum readiness begin_backend(const struct placement *placement, struct backend **backend)
{
    struct chooser *chooser = placement->runner->chooser;
    enum readiness readiness = (*backend)->ops->begin(*backend, placement->job);
    for (size_t k = 0; chooser && readiness == BACKEND_UNABLE && k < chooser_count(chooser); k++) {
        chooser_rule_out(chooser, *backend, &placement->features);
        *backend = chooser_pick(chooser, &placement->features);
        readiness = (*backend)->ops->begin(*backend, placement->job);
    }
    return readiness;
}

/* Prepares a backend, or the evaluator if that one is unable. */
static enum status prepare(struct placement *placement, struct backend *backend)
{
    struct backend *evaluator = placement->runner->evaluator;
    placement->backend = backend;
    const enum status status = backend->ops->prepare(backend, placement->job);
    if (status != STATUS_UNABLE || backend == evaluator)
        return status;
    return placement_fall_back(placement);
}

/* Rows that take about SLICE_NS, where that is known. */
static int64_t first_slice(const struct placement *placement)
{
    const struct cost_features *work = &placement->features;
    const double ns = placement->runner->chooser ? chooser_host_time(placement->runner->chooser, work) : 0;
    const double rows = ns > 0 ? (double)work->rows * SLICE_NS / ns : 0;
    if (rows > (double)work->rows)
        return work->rows / RANGE_UNIT * RANGE_UNIT + RANGE_UNIT;
    return rows > FIRST_SLICE ? (int64_t)rows / RANGE_UNIT * RANGE_UNIT : FIRST_SLICE;
}

/* Places the remaining rows on a backend. A run that does not wait gives them to the evaluator until it is ready. */
static enum status place(struct placement *placement, struct backend *backend)
{
    placement->awaited = NULL;
    if (placement->runner->no_wait && begin_backend(placement, &backend) == BACKEND_PENDING) {
        placement->awaited = backend;
        placement->slice = first_slice(placement);
        placement->slice_ns = SLICE_NS;
        backend = placement->runner->evaluator;
    }
    return prepare(placement, backend);
}

enum status placement_open(struct placement *placement, const struct runner *runner, struct job *job,
                           const struct row_ranges *ranges)
{
    placement->runner = runner;
    placement->job = job;
    placement->ranges = ranges;
    if (runner->chooser) {
        if (!job->timing) {
            timing_init(&placement->timing, job->diags->arena);
            job->timing = &placement->timing;
        }
        cost_features_of_job(&placement->features, job, ranges);
    }
    return place(placement, best_backend(placement, job->begin));
}

int64_t placement_range_rows(const struct placement *placement)
{
    struct backend *backend = placement->backend;
    int64_t rows = backend->ops->range_rows(backend, placement->job);
    if (rows > RANGE_UNIT)
        rows = rows / RANGE_UNIT * RANGE_UNIT;
    return placement->awaited && placement->slice < rows ? placement->slice : rows;
}

void placement_begin_range(struct placement *placement)
{
    trace_ran(placement->runner->trace, placement->backend->name);
    placement->began_ns = now_ns();
    placement->spent_ns = placement->awaited ? processor_ns() : 0;
    if (placement->runner->chooser)
        cost_sample_begin(&placement->sample, placement->job->timing);
}

void placement_end_range(struct placement *placement, const struct job *range, enum status status, bool flagged)
{
    const int64_t rows = range->end - range->begin;
    struct chooser *chooser = placement->runner->chooser;
    placement->range_ns = now_ns() - placement->began_ns;
    if (placement->awaited) {
        placement->sliced_rows += rows;
        placement->sliced_ns += processor_ns() - placement->spent_ns;
    }
    if (chooser && status == STATUS_OK && !flagged)
        cost_sample_end(&placement->sample, placement->backend, rows);
    if (chooser && status == STATUS_UNABLE)
        chooser_rule_out(chooser, placement->backend, &placement->features);
}

enum status placement_next(struct placement *placement, int64_t row)
{
    struct backend *awaited = placement->awaited;
    if (!awaited)
        return STATUS_OK;
    const double row_ns = (double)placement->sliced_ns / (double)placement->sliced_rows;
    placement->job->left_ns = (int64_t)(row_ns * (double)row_ranges_rows(placement->ranges, row));
    if (awaited->ops->begin(awaited, placement->job) != BACKEND_PENDING)
        return place(placement, placement->runner->chooser ? best_backend(placement, row) : awaited);
    placement->slice_ns = min_int64(2 * placement->slice_ns, MOST_SLICE_NS);
    const double factor = (double)placement->slice_ns / (double)(placement->range_ns > 0 ? placement->range_ns : 1);
    /* No more than there are: a streamed range ends before its slice does. */
    const double rows = fmin((double)placement->slice * (factor < 4 ? factor : 4), (double)placement->job->rows);
    placement->slice = rows < LEAST_SLICE ? LEAST_SLICE : (int64_t)rows / RANGE_UNIT * RANGE_UNIT;
    return STATUS_OK;
}

enum status placement_restart(struct placement *placement)
{
    return place(placement, placement->awaited ? placement->awaited : placement->backend);
}

enum status placement_fall_back(struct placement *placement)
{
    struct backend *evaluator = placement->runner->evaluator;
    diags_drop_repeated_note(placement->job->diags);
    placement->backend = evaluator;
    return evaluator->ops->prepare(evaluator, placement->job);
}

void placement_close(struct placement *placement, bool learn)
{
    struct chooser *chooser = placement->runner->chooser;
    if (!chooser)
        return;
    if (learn)
        cost_sample_report(&placement->sample, chooser, &placement->features);
    struct backend *missing = chooser_missing_device(chooser);
    if (missing)
        (void)missing->ops->prepare(missing, placement->job);
}
