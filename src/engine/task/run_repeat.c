#include "engine/task/run_repeat.h"

#include "engine/backend/backend_choice.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/residency.h"
#include "engine/task/kept_rounds.h"
#include "engine/task/run_queue.h"
#include "engine/task/run_task.h"

/* A queue of the loop, optimised for a number of rows. Its tasks' inputs name the columns of the round. */
struct round_queue {
    struct arena *arena;
    struct queue bound, fused;
    struct column ***named; /* of each task of both, of each input: the column as it was bound */
};

struct repeat_run {
    struct runner runner; /* without what is not for single rounds */
    struct loop_frame frame;
    const struct loop *loop;
    struct round_queue queues[LOOP_QUEUES];
    struct column **state, **after; /* one reference each */
    struct column *step;
    int64_t rows;     /* of the state */
    int64_t prepared; /* the rows that the queues are optimised for; -1: none yet */
    int64_t round;
    int64_t batches, kept; /* on a device, in which it ran the rounds up to this one; 0: it did not */
    int64_t opening_ns;    /* making programs for that */
    struct diags *diags;
};

/* ---- preparing ---- */

static struct column **names_of(const struct task *task, struct arena *arena)
{
    struct column **names = arena_array(arena, task->input_count + 1, sizeof *names);
    for (size_t k = 0; k < task->input_count; k++)
        names[k] = task->inputs[k].column;
    return names;
}

/* Tasks that read the columns of the round have as many rows; copies are changed, not the loop's. */
static void copy_tasks(const struct queue *from, int64_t rows, struct queue *to)
{
    *to = *from;
    to->tasks = arena_array(to->arena, from->count + 1, sizeof *to->tasks);
    for (size_t t = 0; t < from->count; t++) {
        struct task *task = arena_copy(to->arena, from->tasks[t], sizeof *task);
        task->inputs =
            arena_grow(to->arena, task->inputs, task->input_count, task->input_count + 1, sizeof *task->inputs);
        for (size_t k = 0; k < task->input_count; k++) {
            if (task->inputs[k].task)
                task->inputs[k].task = to->tasks[task->inputs[k].task->number];
        }
        struct task **equals = arena_array(to->arena, task->equal_count + 1, sizeof *equals);
        for (size_t k = 0; k < task->equal_count; k++)
            equals[k] = to->tasks[task->equals[k]->number];
        task->equals = equals;
        if (task->rows_from)
            task->rows_from = to->tasks[task->rows_from->number];
        else if (task->rows < 0)
            task->rows = rows;
        to->tasks[t] = task;
    }
}

static void prepare_queue(const struct queue *queue, int64_t rows, struct round_queue *prepared)
{
    if (prepared->arena) {
        queue_release(&prepared->fused);
        arena_free(prepared->arena);
    }
    *prepared = (struct round_queue){.arena = arena_new()};
    struct queue source = *queue;
    source.arena = prepared->arena;
    copy_tasks(&source, rows, &prepared->bound);
    queue_init(&prepared->fused, prepared->arena);
    optimize_queue(&prepared->bound, &prepared->fused);
    const size_t count = prepared->bound.count + prepared->fused.count;
    prepared->named = arena_array(prepared->arena, count + 1, sizeof *prepared->named);
    for (size_t t = 0; t < prepared->bound.count; t++)
        prepared->named[t] = names_of(prepared->bound.tasks[t], prepared->arena);
    for (size_t t = 0; t < prepared->fused.count; t++)
        prepared->named[prepared->bound.count + t] = names_of(prepared->fused.tasks[t], prepared->arena);
}

static void prepare(struct repeat_run *run)
{
    for (size_t k = 0; k < run->loop->count; k++)
        run->loop->state[k]->rows = run->loop->after[k]->rows = run->rows;
    for (size_t q = 0; q < LOOP_QUEUES; q++)
        prepare_queue(loop_queue((struct loop *)run->loop, q), run->rows, &run->queues[q]);
    run->prepared = run->rows;
}

struct column *column_of_round(const struct loop_frame *frame, struct column *column)
{
    for (; frame; frame = frame->outer) {
        if (column == frame->loop->step)
            return frame->step;
        for (size_t k = 0; k < frame->loop->count; k++) {
            if (column == frame->loop->state[k])
                return frame->state[k];
            if (column == frame->loop->after[k])
                return frame->after[k];
        }
    }
    return column;
}

static void set_columns(const struct repeat_run *run, struct queue *queue, struct column **const *named)
{
    for (size_t t = 0; t < queue->count; t++) {
        for (size_t k = 0; k < queue->tasks[t]->input_count; k++) {
            if (named[t][k])
                queue->tasks[t]->inputs[k].column = column_of_round(&run->frame, named[t][k]);
        }
    }
}

/* ---- rounds ---- */

static enum status run_columns(struct repeat_run *run, struct round_queue *queue, struct column **columns,
                               int64_t *rows, struct diags *diags)
{
    set_columns(run, &queue->bound, queue->named);
    set_columns(run, &queue->fused, queue->named + queue->bound.count);
    return run_queue_columns(&run->runner, run->runner.fusion ? &queue->fused : &queue->bound, &queue->fused, columns,
                             rows, diags);
}

/* Runs a queue of one row, a bool. */
static enum status run_test(struct repeat_run *run, struct round_queue *queue, bool *holds, struct diags *diags)
{
    const struct task *last = queue->fused.tasks[queue->fused.count - 1];
    struct column **columns = arena_array(diags->arena, last->output_count + 1, sizeof *columns);
    int64_t rows;
    enum status status = run_columns(run, queue, columns, &rows, diags);
    for (size_t k = 0; k < last->output_count && status == STATUS_OK; k++) {
        if (!column_fetch(columns[k], 0, 1))
            status = diag_error(diags, run->loop->span, "a device has lost the condition");
    }
    /* A condition that is not known does not hold. */
    if (status == STATUS_OK)
        *holds = column_get_int(columns[0], 0) != 0 &&
                 (last->outputs[0].validity == 0 || column_get_int(columns[last->outputs[0].validity], 0) != 0);
    columns_unref(columns, last->output_count);
    return status;
}

static enum status set_step(struct repeat_run *run)
{
    struct column *step = column_reserve_from(run->runner.pool, TYPE_I64, TYPE_I64, 1);
    if (!step)
        return diag_no_memory(run->diags, run->loop->span, "not enough memory for a row");
    column_set_int(step, 0, run->round);
    column_finish(step, 1);
    column_unref(run->step);
    run->frame.step = run->step = step;
    return STATUS_OK;
}

/* After the round, its result is the state. */
static void advance(struct repeat_run *run, int64_t rows)
{
    for (size_t k = 0; k < run->loop->count; k++) {
        column_unref(run->state[k]);
        run->state[k] = run->after[k];
        run->after[k] = NULL;
    }
    run->rows = rows;
    run->round++;
}

static enum status check_rows(const struct repeat_run *run, int64_t rows, struct diags *diags)
{
    if (!run->loop->compares || rows == run->rows)
        return STATUS_OK;
    return diag_error(diags, run->loop->span, "`before` compares rows, but a round makes %lld rows of %lld",
                      (long long)rows, (long long)run->rows);
}

/* Sets *done where no row has a round. */
static enum status run_active(struct repeat_run *run, bool *done, struct diags *diags)
{
    bool active = true;
    enum status status = STATUS_OK;
    if (run->prepared != run->rows)
        prepare(run);
    if (run->loop->active.count > 0)
        status = run_test(run, &run->queues[1], &active, diags);
    *done = !active;
    return status;
}

/* Runs a round; *done: there are no more. */
static enum status run_round(struct repeat_run *run, bool *done, struct diags *diags)
{
    const struct loop *loop = run->loop;
    int64_t rows = 0;
    enum status status = run_active(run, done, diags);
    if (status != STATUS_OK || *done)
        return status;
    status = run_columns(run, &run->queues[0], run->after, &rows, diags);
    if (status == STATUS_OK)
        status = check_rows(run, rows, diags);
    if (status == STATUS_OK && loop->until.count > 0)
        status = run_test(run, &run->queues[2], done, diags);
    if (status == STATUS_OK)
        advance(run, rows);
    return status;
}

/* Adds the errors of a round, with its number. */
static void report_round(const struct repeat_run *run, const struct diags *round)
{
    for (size_t i = 0; i < round->count; i++) {
        struct diag diag = round->at[i];
        if (diag.severity == SEVERITY_ERROR)
            diag.message = arena_printf(run->diags->arena, "%s, round %lld", diag.message, (long long)run->round);
        diags_add(run->diags, &diag);
    }
}

void repeat_report(const struct loop *loop, int64_t round, struct progress *progress)
{
    const bool known = loop->stated && loop->rounds < INT64_MAX && loop->rounds > 0;
    const struct progress_step step = {.what = "repeat",
                                       .rounds = round,
                                       .rows = known ? loop->rounds : 0,
                                       .part = known ? (double)round / (double)loop->rounds : 0,
                                       .passes = known ? 1 : 0};
    progress_report(progress, &step);
}

/* A column like the one that a task of the round reads; NULL: none is known. */
static struct column *column_like(const struct repeat_run *run, const struct input *input)
{
    if (input->column == run->loop->step)
        return input->column;
    if (!input->task)
        return column_of_round(&run->frame, input->column);
    for (size_t k = 0; k < run->loop->count; k++) {
        if (run->state[k]->type == input->type)
            return run->state[k];
    }
    return NULL;
}

/* The backend for all rounds: where there is a choice, the one that is expected to be the fastest with the last task of
 * a round. NULL: not known. */
static struct backend *backend_of_rounds(const struct repeat_run *run, const struct runner *runner, struct diags *diags)
{
    const struct queue *body = &run->queues[0].fused;
    if (!runner->chooser || !runs_on_gpu(runner))
        return runner->device ? runner->device : runner->evaluator;
    struct task *task = task_clone(body->tasks[body->count - 1], diags->arena);
    struct column **columns = arena_array(diags->arena, task->input_count + 1, sizeof(struct column *));
    for (size_t k = 0; k < task->input_count; k++) {
        columns[k] = task->inputs[k].needed ? column_like(run, &task->inputs[k]) : NULL;
        if (task->inputs[k].needed && !columns[k])
            return NULL;
    }
    if (task->sink != SINK_ROWS)
        return NULL;
    optimize_task(task, columns, run->rows);
    struct job job = {.task = task, .columns = columns, .rows = run->rows, .end = run->rows, .diags = diags};
    struct row_ranges ranges = {0};
    struct cost_features work;
    zone_prune(&ranges, &job, runner->collector, diags->arena);
    cost_features_of_job(&work, &job, &ranges);
    return chooser_pick(runner->chooser, &work);
}

/* Runs as many rounds as possible by programs that are made once. */
static enum status run_kept(struct repeat_run *run, const struct runner *runner, bool *done)
{
    if (!runner->fusion)
        return STATUS_UNABLE;
    struct diags diags;
    struct arena *arena = arena_new();
    diags_init(&diags, arena);
    prepare(run);
    const int64_t began = now_ns();
    struct queue elements;
    queue_init(&elements, arena);
    const struct queue *const queues[LOOP_QUEUES] = {
        fold_elements(&run->queues[0].fused, &elements) ? &elements : &run->queues[0].fused, &run->queues[1].fused,
        &run->queues[2].fused};
    struct backend *backend = backend_of_rounds(run, runner, &diags);
    struct kept_rounds *kept =
        backend ? kept_rounds_new(runner, backend, run->loop, queues, run->state, run->rows, run->frame.outer, &diags)
                : NULL;
    run->opening_ns = now_ns() - began;
    const enum status status = kept ? kept_rounds_run(kept, &run->round, done, runner->progress) : STATUS_UNABLE;
    for (size_t k = 0; k < run->loop->count && kept; k++) {
        struct column *column = kept_rounds_column(kept, k);
        if (!column)
            continue;
        column_unref(run->state[k]);
        run->state[k] = column;
    }
    run->batches = kept ? kept_rounds_batches(kept) : 0;
    run->kept = run->round;
    kept_rounds_free(kept);
    arena_free(arena);
    return status;
}

/* Runs a round, or what begins one, and reports its errors with its number. */
static enum status run_reporting(struct repeat_run *run, bool *done,
                                 enum status (*part)(struct repeat_run *run, bool *done, struct diags *diags))
{
    struct diags diags;
    struct arena *arena = arena_new();
    diags_init(&diags, arena);
    enum status status = set_step(run);
    if (status == STATUS_OK)
        status = part(run, done, &diags);
    report_round(run, &diags);
    arena_free(arena);
    return status;
}

static enum status run_rounds(struct repeat_run *run, const struct runner *runner)
{
    bool done = false;
    enum status status = STATUS_OK;
    /* After rounds within rows no row may be left, so that the state need not be copied. */
    if (run->loop->first > 0)
        status = run_reporting(run, &done, run_active);
    if (status == STATUS_OK && !done)
        status = run_kept(run, runner, &done);
    if (status == STATUS_UNABLE)
        status = STATUS_OK;
    while (!done && status == STATUS_OK && run->round < run->loop->rounds) {
        if (runner->cancel && *runner->cancel)
            return STATUS_CANCELLED;
        status = run_reporting(run, &done, run_round);
        repeat_report(run->loop, run->round, runner->progress);
    }
    if (status != STATUS_OK || done || run->loop->stated)
        return status;
    return diag_error_hint(run->diags, run->loop->span,
                           "state how many it may take: `repeat N while ...`, `repeat N until ...`",
                           "the loop has not ended after %lld rounds", (long long)run->round);
}

static void add_timing(const struct repeat_run *run, struct timing *timing, int64_t ns)
{
    const int64_t rounds = run->round - run->loop->first;
    if (!timing || rounds == 0)
        return;
    const char *text = arena_printf(timing->arena, "repeat: %lld rounds of %.3g us", (long long)rounds,
                                    (double)ns / 1e3 / (double)rounds);
    if (run->batches > 0 && run->kept == run->round)
        text = arena_printf(timing->arena, "%s, in %lld batches without transfers", text, (long long)run->batches);
    timing_add(timing, PHASE_KERNEL, text, ns, 0);
}

enum status run_repeat(const struct runner *runner, const struct loop *loop, struct column *const *inputs, int64_t rows,
                       struct column **results, int64_t *result_rows, struct diags *diags)
{
    struct arena *arena = arena_new();
    struct repeat_run run = {
        .runner = *runner, .loop = loop, .rows = rows, .round = loop->first, .prepared = -1, .diags = diags};
    run.state = arena_array(arena, loop->count + 1, sizeof *run.state);
    run.after = arena_array(arena, loop->count + 1, sizeof *run.after);
    run.frame = (struct loop_frame){.loop = loop, .state = run.state, .after = run.after, .outer = runner->frame};
    run.runner.frame = &run.frame;
    run.runner.trace = NULL;
    run.runner.progress = NULL;
    run.runner.collector = NULL;
    run.runner.timing = NULL;
    for (size_t k = 0; k < loop->count; k++)
        run.state[k] = column_ref(inputs[k]);
    const int64_t began = now_ns();
    const enum status status = run_rounds(&run, runner);
    add_timing(&run, runner->timing, now_ns() - began - run.opening_ns);
    *result_rows = run.rows;
    for (size_t k = 0; k < loop->count; k++) {
        column_unref(run.after[k]);
        if (status == STATUS_OK)
            results[k] = run.state[k];
        else
            column_unref(run.state[k]);
    }
    column_unref(run.step);
    for (size_t q = 0; q < LOOP_QUEUES; q++) {
        if (run.queues[q].arena) {
            queue_release(&run.queues[q].fused);
            arena_free(run.queues[q].arena);
        }
    }
    arena_free(arena);
    return status;
}
