#include "engine/task/run_queue.h"

#include "engine/backend/deferred_rows.h"
#include "engine/exact/exact.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/result.h"
#include "engine/plan/row_count.h"
#include "engine/plan/task_title.h"
#include "engine/plan/text_order.h"
#include "engine/storage/file_errors.h"
#include "engine/task/run_repeat.h"
#include "engine/task/run_task.h"

#include <assert.h>

/* A queue that is running. */
struct queue_run {
    struct runner *runner;
    const struct queue *queue;
    struct arena *arena;
    struct outcome *outcomes; /* of each task */
    size_t *readers;          /* inputs of later tasks that each task's columns are still needed for */
    int64_t *rows;            /* of each task's result */
    enum defer_choice defer;  /* of the result */
    struct diags *diags;
};

static void add_readers(struct queue_run *run, const struct task *task)
{
    for (size_t k = 0; k < task->input_count; k++) {
        if (task->inputs[k].task)
            run->readers[task->inputs[k].task->number]++;
    }
}

/* The task has run: releases the columns that it was the last to read. */
static void drop_readers(struct queue_run *run, const struct task *task)
{
    for (size_t k = 0; k < task->input_count; k++) {
        const struct task *from = task->inputs[k].task;
        if (from && --run->readers[from->number] == 0)
            outcome_release(&run->outcomes[from->number], from);
    }
}

/* The columns that the task reads. */
static struct column **inputs_of(const struct queue_run *run, const struct task *task)
{
    struct column **inputs = arena_array(run->arena, task->input_count, sizeof(struct column *));
    for (size_t k = 0; k < task->input_count; k++) {
        const struct input *input = &task->inputs[k];
        inputs[k] = input->task ? run->outcomes[input->task->number].columns[input->output] : input->column;
    }
    return inputs;
}

static void add_trace(const struct queue_run *run, const struct task *task, int64_t rows_in, int64_t ns,
                      const struct phase_times *before)
{
    struct run_trace *trace = run->runner->trace;
    if (!trace)
        return;
    struct task_trace *added = trace_add(trace, task, ns, before, run->runner->timing);
    added->rows_in = rows_in;
    added->rows_out = task_is_scalar(task) ? -1 : run->rows[task->number];
}

static struct phase_times times_before(const struct queue_run *run)
{
    return trace_times(run->runner->trace ? run->runner->timing : NULL);
}

/* The group that is the next task and the only reader of this one's rows; NULL if there is none. It reads nothing else,
 * unless it is along an axis. */
static const struct task *group_of_rows(const struct queue_run *run, const struct task *task)
{
    if (task->sink != SINK_ROWS || task_has_window(task) || task->number + 1 >= run->queue->count)
        return NULL;
    const struct task *next = run->queue->tasks[task->number + 1];
    if (next->sink != SINK_OPERATOR || next->column_op->kind != OPERATOR_GROUP)
        return NULL;
    size_t reads = 0;
    for (size_t k = 0; k < next->input_count; k++)
        reads += next->inputs[k].task == task;
    if (reads < next->input_count && !is_along_axis(run->runner, task, next))
        return NULL;
    return run->readers[task->number] == reads ? next : NULL;
}

/* Runs the task and its group in one go. STATUS_UNABLE: they have to be run one after the other. */
static enum status run_grouped(struct queue_run *run, const struct task *task, const struct task *group)
{
    int64_t rows, passed = 0;
    enum status status = rows_read(task, run->rows, &rows, run->diags);
    if (status != STATUS_OK)
        return status;
    struct column *const *inputs = inputs_of(run, task);
    struct outcome *outcome = &run->outcomes[group->number];
    const int64_t began = now_ns();
    struct phase_times before = times_before(run);
    *outcome = (struct outcome){.columns = arena_array(run->arena, group->output_count, sizeof *outcome->columns)};
    run->outcomes[task->number].columns = arena_array(run->arena, task->output_count, sizeof *outcome->columns);
    status = is_along_axis(run->runner, task, group)
                 ? run_along_axis(run->runner, task, inputs, rows, group, inputs_of(run, group), &passed, outcome,
                                  run->diags)
                 : run_task_grouped(run->runner, task, inputs, rows, group, &passed, outcome, run->diags);
    if (status != STATUS_OK)
        return status;
    run->rows[task->number] = passed;
    run->rows[group->number] = outcome->rows;
    add_trace(run, task, rows, now_ns() - began, &before);
    before = times_before(run);
    add_trace(run, group, passed, 0, &before);
    drop_readers(run, task);
    for (size_t k = 0; k < group->input_count; k++) { /* of others: this one's rows were not kept */
        const struct task *from = group->inputs[k].task;
        if (from && from != task && --run->readers[from->number] == 0)
            outcome_release(&run->outcomes[from->number], from);
    }
    return STATUS_OK;
}

/* Tells the listener what follows the task. */
static void tell_later(const struct queue_run *run, const struct task *task)
{
    struct progress *progress = run->runner->progress;
    if (!progress)
        return;
    progress->later = 0;
    for (size_t i = task->number + 1; i < run->queue->count; i++)
        progress->later += task_passes(run->queue->tasks[i]);
}

static enum status run_next(struct queue_run *run, const struct task *task)
{
    int64_t rows;
    tell_later(run, task);
    struct column *const *inputs = inputs_of(run, task);
    enum status status = rows_read(task, run->rows, &rows, run->diags);
    if (status != STATUS_OK)
        return status;
    struct outcome *outcome = &run->outcomes[task->number];
    const int64_t began = now_ns();
    const struct phase_times before = times_before(run);
    const bool last = task->number + 1 == run->queue->count;
    status =
        run_task(run->runner, task, inputs, rows, last ? run->defer : DEFER_NEVER, run->arena, outcome, run->diags);
    run->rows[task->number] = outcome->rows;
    if (status == STATUS_OK)
        add_trace(run, task, rows, now_ns() - began, &before);
    if (!outcome->flagged)
        drop_readers(run, task);
    return status;
}

static void take_result(const struct queue_run *run, const struct task *last, struct result *result)
{
    const struct outcome *outcome = &run->outcomes[last->number];
    if (task_is_scalar(last)) {
        result->kind = RESULT_SCALAR;
        result->scalar = outcome->scalar;
        return;
    }
    result->kind = RESULT_RELATION;
    result->relation = relation_of_outputs(last, outcome->rows, outcome->columns);
    deferred_attach(outcome->deferred, result->relation);
}

/* Takes the columns of the last task over. */
static void take_columns(const struct queue_run *run, const struct task *last, struct column **columns, int64_t *rows)
{
    const struct outcome *outcome = &run->outcomes[last->number];
    *rows = outcome->rows;
    for (size_t k = 0; k < last->output_count; k++) {
        columns[k] = column_ref(outcome->columns[k]);
        if (columns[k]->logical.kind == LOGICAL_NUMBER && last->outputs[k].logical.kind != LOGICAL_NUMBER)
            column_set_logical(columns[k], last->outputs[k].logical);
    }
}

/* Runs the operator of a loop for the exact evaluator. */
static enum status repeat_exactly(void *context, const struct loop *loop, struct column *const *inputs, int64_t rows,
                                  struct column **results, int64_t *result_rows, struct diags *diags)
{
    return run_repeat(context, loop, inputs, rows, results, result_rows, diags);
}

/* Evaluates the fused queue exactly, from the columns of its first `done` tasks on. */
static enum status run_exactly(const struct queue_run *run, const struct queue *fused, size_t done,
                               struct result *result)
{
    const struct runner *runner = run->runner;
    const struct exact_options options = {
        .workers = {.threads = parallel_threads(),
                    .cancel = runner->cancel,
                    .progress = runner->progress,
                    .pool = runner->pool},
        .repeat = repeat_exactly,
        .repeat_context = run->runner,
    };
    struct column *const **columns = arena_array(run->arena, done, sizeof *columns);
    for (size_t t = 0; t < done; t++)
        columns[t] = run->outcomes[t].columns;
    if (runner->trace)
        runner->trace->exact = true;
    const int64_t began = now_ns();
    const struct exact_done tasks_done = {.count = done, .columns = columns, .rows = run->rows};
    const enum status status = exact_run(fused, &tasks_done, &options, result, run->diags);
    timing_add(runner->timing, PHASE_KERNEL, "exactly, row by row", now_ns() - began, 0);
    return status;
}

/* Runs the tasks one after another; if one is flagged, the exact evaluator takes over from there, or of a queue that is
 * not fused from the start. */
static enum status run_tasks(struct runner *runner, const struct queue *queue, const struct queue *fused,
                             enum defer_choice defer, struct column **columns, int64_t *rows, struct result *result,
                             struct diags *diags)
{
    struct queue_run run = {.runner = runner, .queue = queue, .arena = arena_new(), .defer = defer, .diags = diags};
    run.outcomes = arena_array(run.arena, queue->count, sizeof *run.outcomes);
    run.readers = arena_array(run.arena, queue->count, sizeof *run.readers);
    run.rows = arena_array(run.arena, queue->count, sizeof *run.rows);
    for (size_t t = 0; t < queue->count; t++)
        add_readers(&run, queue->tasks[t]);
    enum status status = STATUS_OK;
    bool flagged = false;
    size_t done = 0;
    while (done < queue->count && status == STATUS_OK && !flagged) {
        struct diags attempt;
        diags_init(&attempt, diags->arena);
        run.diags = &attempt;
        const struct task *group = queue == fused ? group_of_rows(&run, queue->tasks[done]) : NULL;
        status = group ? run_grouped(&run, queue->tasks[done], group) : STATUS_UNABLE;
        if (status == STATUS_UNABLE) {
            status = run_next(&run, queue->tasks[done]);
            flagged = run.outcomes[done].flagged;
            /* What fails in an earlier task may never be read; without fusion, rows have other numbers. */
            if (status == STATUS_FAILED && flagged && !(queue == fused && done + 1 == queue->count)) {
                status = STATUS_OK;
                continue;
            }
            group = NULL;
        }
        diags_append(diags, &attempt);
        done += status != STATUS_OK || flagged ? 0 : group ? 2 : 1;
    }
    run.diags = diags;
    if (status == STATUS_OK && flagged)
        status = run_exactly(&run, fused, queue == fused ? done : 0, result);
    else if (status == STATUS_OK && columns)
        take_columns(&run, queue->tasks[queue->count - 1], columns, rows);
    else if (status == STATUS_OK)
        take_result(&run, queue->tasks[queue->count - 1], result);
    for (size_t t = 0; t < queue->count; t++)
        outcome_release(&run.outcomes[t], queue->tasks[t]);
    arena_free(run.arena);
    return status;
}

/* Results from a file that changed meanwhile are worthless, errors included. */
static enum status check_files(const struct queue *queue, enum status status, const struct diags *attempt,
                               struct diags *diags)
{
    const struct column *column = status == STATUS_CANCELLED ? NULL : changed_column(queue->held, queue->held_count);
    if (column)
        return file_changed_error(column, queue->tasks[0]->span, diags);
    diags_append(diags, attempt);
    return status;
}

/* Wakes the evaluator's threads while the queue is fused, if there are rows for more than one. */
static void wake_evaluator(const struct runner *runner, const struct queue *queue)
{
    enum { ROWS_OF_ONE = 1 << 15 };
    for (size_t t = 0; t < queue->count; t++) {
        if (queue->tasks[t]->rows > ROWS_OF_ONE) {
            (void)runner->evaluator->ops->begin(runner->evaluator, NULL);
            return;
        }
    }
}

enum status run_queue(struct runner *runner, const struct queue *queue, enum defer_choice defer, struct result *result,
                      struct diags *diags)
{
    struct queue fused, folded;
    struct diags attempt;
    const int64_t began = now_ns();
    diags_init(&attempt, diags->arena);
    if (!text_order_is_kept(queue)) {
        assert(false);
        return diag_error(diags, queue->tasks[0]->span, "texts without an order would be compared: please report this");
    }
    wake_evaluator(runner, queue);
    const struct queue *best = optimize_and_fold(queue, &fused, &folded);
    if (runner->fusion)
        timing_add(runner->timing, PHASE_FUSE, "", now_ns() - began, 0);
    enum status status = run_tasks(runner, runner->fusion ? best : queue, &fused, defer, NULL, NULL, result, &attempt);
    status = check_files(queue, status, &attempt, diags);
    if (status != STATUS_OK)
        result_release(result);
    queue_release(&folded);
    queue_release(&fused);
    return status;
}

/* The columns of a relation that the exact evaluator has made, and of their validity. */
static void columns_of_relation(const struct relation *relation, const struct task *last, struct column **columns)
{
    for (size_t k = 0; k < last->output_count; k++)
        columns[k] = NULL;
    for (size_t k = 0; k < relation->count; k++) {
        const size_t validity = last->outputs[k].validity;
        columns[k] = column_ref(relation->columns[k]);
        if (validity != 0 && !columns[validity])
            columns[validity] = column_ref(relation->columns[k]->validity);
    }
}

enum status run_queue_columns(struct runner *runner, const struct queue *queue, const struct queue *fused,
                              struct column **columns, int64_t *rows, struct diags *diags)
{
    struct result result = {0};
    const enum status status = run_tasks(runner, queue, fused, DEFER_NEVER, columns, rows, &result, diags);
    if (status == STATUS_OK && result.relation) {
        *rows = result.relation->rows;
        columns_of_relation(result.relation, fused->tasks[fused->count - 1], columns);
    }
    result_release(&result);
    return status;
}
