#include "engine/task/run_task.h"

#include "engine/storage/residency.h"
#include "engine/task/input_columns.h"
#include "engine/task/placement.h"

#include "engine/backend/backend_choice.h"
#include "engine/backend/memory_limit.h"
#include "engine/moving/moving.h"
#include "engine/operators/group_quantile.h"
#include "engine/plan/task_title.h"
#include "engine/task/run_repeat.h"

/* The input whose rows an output moves, or NULL. */
static const struct column *moved_input(const struct task *task, const struct output *output,
                                        struct column *const *inputs)
{
    return operator_carries(task->column_op) ? inputs[task->code.at[output->value].integer] : NULL;
}

/* A moved column is stored like its input; scatter sets rows to zero where none goes. */
static struct column *reserve_moved(const struct column *from, const struct operator_job *job, enum type type)
{
    struct column *column = column_reserve_like(job->pool, from, type, *job->result_rows);
    if (column && job->task->column_op->kind == OPERATOR_SCATTER) {
        column_set_range(column, from->range_known && from->rows > 0, from->lo > 0 ? 0 : from->lo,
                         from->hi < 0 ? 0 : from->hi);
    }
    return column;
}

/* The range of a scan of integers, if by the column's range it fits in 32 bits. */
static bool scan_range(const struct operator_job *job, int64_t *lo, int64_t *hi)
{
    const struct column_operator *column_op = job->task->column_op;
    const struct aggregate *aggregate = &job->task->aggregates[0];
    const struct column *from = job->inputs[column_op->keys[0]];
    const struct type_info *info = &type_table[from->store];
    const bool known = from->range_known && from->rows > 0;
    int128 low = known ? from->lo : info->lo, high = known ? from->hi : info->hi;
    const bool is_extreme = aggregate_table[aggregate->kind].extreme;
    int128 initial = aggregate->has_initial ? aggregate->initial.integer : 0;
    const int64_t chain = column_op->segment > 0 && column_op->segment < job->rows ? column_op->segment : job->rows;
    if (info->kind != KIND_INT || (aggregate->has_initial && !scalar_fits(&aggregate->initial)))
        return false;
    if (aggregate->kind == AGG_SUM) {
        low = min_int128(low * chain, 0) + initial;
        high = max_int128(high * chain, 0) + initial;
    } else if (is_extreme && aggregate->has_initial) {
        low = min_int128(low, initial);
        high = max_int128(high, initial);
    } else if (!is_extreme || column_op->exclusive) {
        return false; /* the minimum or maximum of no rows is the end of the 64-bit range */
    }
    if (low < INT32_MIN || high > INT32_MAX)
        return false;
    *lo = (int64_t)low;
    *hi = (int64_t)high;
    return true;
}

/* Sums, minima and maxima take 32 bits where all of them surely fit. */
static struct column *reserve_scan(const struct operator_job *job, enum type type)
{
    int64_t lo = 0, hi = 0;
    const bool narrow = type == TYPE_I64 && scan_range(job, &lo, &hi);
    struct column *column = column_reserve_from(job->pool, type, narrow ? TYPE_I32 : type, *job->result_rows);
    if (column && narrow) {
        column_set_range(column, true, lo, hi);
    }
    return column;
}

/* Row numbers take 32 bits where there are so few. */
static struct column *reserve_row_numbers(const struct operator_job *job, enum type type)
{
    const bool narrow = type == TYPE_I64 && *job->result_rows <= INT32_MAX;
    return column_reserve_from(job->pool, type, narrow ? TYPE_I32 : type, *job->result_rows);
}

static struct column *reserve(const struct operator_job *job, const struct output *output)
{
    const struct column *from = moved_input(job->task, output, job->inputs);
    if (from)
        return reserve_moved(from, job, output->type);
    if (job->task->column_op->kind == OPERATOR_SCAN)
        return reserve_scan(job, output->type);
    if (job->task->column_op->kind == OPERATOR_PARTITION)
        return reserve_row_numbers(job, output->type);
    /* Group ids are of 32 bits. */
    const enum type store = job->task->column_op->kind == OPERATOR_IDS ? TYPE_U32 : output->type;
    return column_reserve_from(job->pool, output->type, store, *job->result_rows);
}

/* Bytes a row that the host allocates for the operator beside its results. Sorts by digits check what they need
 * themselves. */
static int64_t working_row_bytes(const struct operator_job *job)
{
    const struct column_operator *column_op = job->task->column_op;
    const int64_t order = column_op->key_count > 1 ? (int64_t)sizeof(uint64_t) : 0;
    switch (column_op->kind) {
#define OPERATOR(kind, name, outputs, rows, words, host, exact, device, bytes, ...)                                    \
    case OPERATOR_##kind:                                                                                              \
        return bytes;
#include "engine/plan/operators.def"
    case OPERATOR_KINDS:
        break;
    }
    return 0;
}

/* Checks the memory limit, if the number of rows is known before. */
static enum status check_memory(const struct runner *runner, const struct operator_job *job)
{
    const struct task *task = job->task;
    int64_t bytes = 0;
    size_t needed = 0;
    for (size_t k = 0; k < task->output_count; k++) {
        const struct output *output = &task->outputs[k];
        const struct column *from = output->needed ? moved_input(task, output, job->inputs) : NULL;
        bytes += output->needed ? (int64_t)type_table[from ? from->store : output->type].size : 0;
        needed += output->needed;
    }
    /* Several columns are sorted through row numbers. What a sort needs beside that it checks itself. */
    bytes += task->column_op->kind == OPERATOR_SORT && needed > 1 ? (int64_t)sizeof(uint64_t) : 0;
    const int64_t rows = *job->result_rows > 0 ? *job->result_rows : 0;
    enum status status =
        memory_rows_check(runner->pool, rows, runs_on_host(runner) ? rows : 0, bytes, task->span, job->diags);
    const int64_t working = job->rows * working_row_bytes(job);
    if (status != STATUS_OK || working == 0)
        return status;
    return memory_work_check(runner->pool, rows * bytes + working, task->span, job->diags);
}

static enum status reserve_results(const struct task *task, const struct operator_job *job)
{
    for (size_t k = 0; k < task->output_count && *job->result_rows >= 0; k++) {
        if (!task->outputs[k].needed)
            continue;
        job->results[k] = reserve(job, &task->outputs[k]);
        if (!job->results[k])
            return diag_no_memory(job->diags, task->span, "not enough memory for a column of %lld rows",
                                  (long long)*job->result_rows);
    }
    return STATUS_OK;
}

/* Runs it on the device, or on the evaluator if there is none or it is unable. *used is the one that ran it, and the
 * only one measured in `sample` (or NULL). */
static enum status run_backends(struct backend *device, struct backend *evaluator, const struct operator_job *job,
                                struct cost_sample *sample, struct backend **used, bool *flagged)
{
    *used = device;
    if (sample)
        cost_sample_begin(sample, job->timing);
    enum status status =
        device && device->ops->run_operator ? device->ops->run_operator(device, job, flagged) : STATUS_UNABLE;
    if (status == STATUS_UNABLE) {
        diags_drop_repeated_note(job->diags);
        /* The evaluator writes all rows, also those that the device has. */
        columns_discard(job->results, job->task->output_count, 0);
        *flagged = false;
        *used = evaluator;
        if (sample)
            cost_sample_begin(sample, job->timing);
        status = evaluator->ops->run_operator(evaluator, job, flagged);
    }
    return status;
}

/* Runs it on the backend that the chooser picked, and reports what that took. */
static enum status run_picked(const struct runner *runner, struct backend *picked, const struct cost_features *work,
                              const struct operator_job *job, bool *flagged)
{
    struct timing timing;
    struct cost_sample sample = {0};
    struct operator_job timed = *job;
    if (!timed.timing) {
        timing_init(&timing, job->diags->arena);
        timed.timing = &timing;
    }
    struct backend *used;
    const enum status status = run_backends(picked, runner->evaluator, &timed, &sample, &used, flagged);
    if (status != STATUS_OK || *flagged)
        return status;
    trace_ran(runner->trace, used->name);
    cost_sample_end(&sample, used, job->rows);
    cost_sample_report(&sample, runner->chooser, work);
    return status;
}

/* How many rows of results to reserve: for the first rows of a sort, the host finds those, devices sort all. */
static int64_t rows_reserved(const struct runner *runner, const struct backend *device, const struct operator_job *job)
{
    const struct column_operator *column_op = job->task->column_op;
    const bool on_device = device && device != runner->evaluator && device->ops->run_operator &&
                           (!device->ops->suits || device->ops->suits(device, column_op->kind));
    return !on_device && operator_selects(column_op, job->rows) ? column_op->first
                                                                : operator_result_rows(column_op, job->rows);
}

/* The loop's columns are its keys, the outputs its results. */
static enum status run_loop(const struct runner *runner, const struct task *task, struct column *const *inputs,
                            int64_t rows, struct outcome *outcome, struct diags *diags)
{
    const struct column_operator *column_op = task->column_op;
    struct column **state = arena_array(diags->arena, column_op->key_count + 1, sizeof *state);
    for (size_t k = 0; k < column_op->key_count; k++)
        state[k] = inputs[column_op->keys[k]];
    return run_repeat(runner, column_op->loop, state, rows, outcome->columns, &outcome->rows, diags);
}

enum status run_operator(const struct runner *runner, const struct task *task, struct column *const *inputs,
                         int64_t rows, struct outcome *outcome, struct diags *diags)
{
    if (task->column_op->kind == OPERATOR_REPEAT)
        return run_loop(runner, task, inputs, rows, outcome, diags);
    int64_t result_rows = -1;
    struct operator_job job = {
        .rows = rows,
        .results = outcome->columns,
        .result_rows = &result_rows,
        .pool = runner->pool,
        .no_wait = runner->no_wait,
        .timing = runner->timing,
        .progress = runner->progress,
        .cancel = runner->cancel,
        .diags = diags,
    };
    job.task = task = task_specialise(runner, task, inputs, rows, diags->arena, &job.inputs);
    struct cost_features work;
    struct backend *used = NULL, *device = runner->device;
    if (runner->chooser) {
        cost_features_of_operator(&work, &job);
        device = chooser_pick(runner->chooser, &work);
    } else if (stays_on_host(runner, task, job.inputs, rows)) {
        device = NULL;
    }
    const int64_t reserved = result_rows = rows_reserved(runner, device, &job);
    if (job.progress)
        job.whole = task_whole(task, inputs, rows, diags->arena);
    inputs_collect_stats(runner, task, inputs, rows);
    enum status status = check_memory(runner, &job);
    if (status == STATUS_OK)
        status = reserve_results(task, &job);
    if (status == STATUS_OK)
        status = runner->chooser ? run_picked(runner, device, &work, &job, &outcome->flagged)
                                 : run_backends(device, runner->evaluator, &job, NULL, &used, &outcome->flagged);
    if (status == STATUS_OK && !runner->chooser)
        trace_ran(runner->trace, used->name);
    outcome->rows = result_rows;
    for (size_t k = 0; k < task->output_count && reserved >= 0 && status == STATUS_OK; k++) {
        if (outcome->columns[k])
            column_finish(outcome->columns[k], result_rows);
    }
    return status;
}
