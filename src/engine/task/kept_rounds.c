#include "engine/task/kept_rounds.h"

#include "engine/backend/memory_limit.h"
#include "engine/optimize/optimize.h"
#include "engine/plan/code_loop.h"
#include "engine/plan/row_count.h"
#include "engine/storage/residency.h"
#include "engine/task/kept_state.h"
#include "engine/task/run_task.h"

static void own(struct kept_rounds *kept, struct column *column)
{
    *ARENA_PUSH(kept->arena, kept->made, kept->made_count, kept->made_capacity) = column;
}

/* Whether the column differs from round to round. */
static bool varies(const struct kept_rounds *kept, struct column *column)
{
    struct loop_frame alone = kept->frame;
    alone.outer = NULL;
    return column_of_round(&alone, column) != column;
}

/* The task with what is the same in each round as columns of its own, which are computed now. */
static const struct task *hoist(struct kept_rounds *kept, const struct task *task, int64_t rows)
{
    enum { LEAST_ROUNDS = 8 };
    const size_t count = task->input_count;
    bool *varying = arena_array(kept->arena, count + 1, sizeof *varying);
    struct column **inputs = arena_array(kept->arena, count + 1, sizeof *inputs);
    struct invariants found;
    struct outcome outcome;
    struct diags diags;
    for (size_t k = 0; k < count; k++) {
        varying[k] = task->inputs[k].task || varies(kept, task->inputs[k].column);
        inputs[k] = varying[k] ? NULL : column_of_round(&kept->frame, task->inputs[k].column);
    }
    const struct task *computes =
        kept->loop->rounds < LEAST_ROUNDS ? NULL : invariants_find(task, varying, inputs, rows, &found, kept->arena);
    diags_init(&diags, kept->arena);
    if (!computes ||
        run_task(kept->runner, computes, inputs, rows, DEFER_NEVER, kept->arena, &outcome, &diags) != STATUS_OK ||
        outcome.flagged)
        return task;
    for (size_t k = 0; k < found.count; k++)
        own(kept, outcome.columns[k]);
    return invariants_read(task, &found, outcome.columns, kept->arena);
}

/* ---- preparing ---- */

/* The columns of an output: of the state after the round, or one that the tasks behind read. NULL: no memory. */
static struct column *column_of_output(struct kept_rounds *kept, const struct kept_task *of, size_t k, int64_t rows)
{
    const struct output *output = &of->task->outputs[k];
    const struct instr *instr = &of->task->code.at[output->value];
    const enum type store = of->task->sink == SINK_ROWS ? output_store(of->task, output, of->columns) : output->type;
    struct column *column = kept_column_new(kept, output->type, store, rows);
    if (!column)
        return NULL;
    if (store != output->type && instr->kind == KIND_INT) {
        column_set_range(column, true, instr->lo, instr->hi);
    }
    own(kept, column);
    return column;
}

/* Makes a task ready to be analysed: a copy that reads these columns. */
static bool copy_task(struct kept_rounds *kept, const struct kept_queue *queue, const struct task *from, int64_t rows,
                      struct kept_task *to)
{
    to->task = task_clone(from, kept->arena);
    to->columns = arena_array(kept->arena, from->input_count + 1, sizeof(struct column *));
    to->written = arena_array(kept->arena, from->output_count + 1, sizeof(struct column *));
    for (size_t k = 0; k < from->input_count; k++) {
        const struct input *input = &from->inputs[k];
        if (!input->needed)
            continue;
        to->columns[k] = input->task ? queue->tasks[input->task->number].written[input->output]
                                     : column_of_round(&kept->frame, input->column);
        if (!to->columns[k] || (!input->whole && to->columns[k]->rows < from->first + rows))
            return false;
    }
    to->job = (struct job){.task = to->task,
                           .columns = to->columns,
                           .rows = rows,
                           .end = rows,
                           .cancel = kept->runner->cancel,
                           .diags = kept->diags};
    optimize_task(to->task, to->columns, rows);
    return true;
}

bool kept_rounds_may_keep(const struct task *task)
{
    return task->sink != SINK_OPERATOR && task->filter_count == 0 && !task_has_window(task) &&
           !(task->sink == SINK_AGGREGATE && task->output_count == 0);
}

bool kept_rounds_may_keep_group(const struct task *task)
{
    const struct column_operator *column_op = task->column_op;
    return task->sink == SINK_OPERATOR && column_op->kind == OPERATOR_GROUP && column_op->key_count == 1 &&
           column_op->segment == 0 && task->filter_count == 0 && !task_has_window(task);
}

/* Whether the device can keep the group: with as many groups in each round as the state has rows, or else the round
 * fails. */
static bool can_keep_group(const struct kept_rounds *kept, const struct kept_task *opened)
{
    const struct column *key = opened->columns[opened->task->column_op->keys[0]];
    return type_table[key->type].kind == KIND_INT && key->range_known && kept->rows <= INT32_MAX &&
           (uint64_t)key->hi - (uint64_t)key->lo >= (uint64_t)kept->rows - 1;
}

/* Copies and analyses the tasks of a queue. The outputs of the last one are columns of the state if `is_body`. */
static bool open_queue(struct kept_rounds *kept, const struct queue *queue, bool is_body, struct kept_queue *opened)
{
    int64_t *given = arena_array(kept->arena, queue->count + 1, sizeof *given);
    opened->tasks = arena_array(kept->arena, queue->count + 1, sizeof *opened->tasks);
    opened->count = queue->count;
    for (size_t t = 0; t < queue->count; t++) {
        const struct task *task = queue->tasks[t];
        const bool last = t + 1 == queue->count, groups = is_body && !last && kept_rounds_may_keep_group(task);
        int64_t rows;
        if ((!groups && !kept_rounds_may_keep(task)) || rows_read(task, given, &rows, kept->diags) != STATUS_OK)
            return false;
        if (!copy_task(kept, opened, is_body ? kept->hoisted[t] : task, rows, &opened->tasks[t]) ||
            (groups && !can_keep_group(kept, &opened->tasks[t])))
            return false;
        given[t] = groups ? kept->rows : task->sink == SINK_AGGREGATE ? 1 : rows;
        for (size_t k = 0; k < task->output_count; k++) {
            struct column **written = &opened->tasks[t].written[k];
            if (!task->outputs[k].needed || (last && is_body))
                continue;
            *written = column_of_output(kept, &opened->tasks[t], k, given[t]);
            if (!*written)
                return false;
        }
    }
    return !is_body || given[queue->count - 1] == kept->rows;
}

static void drop_made(struct kept_rounds *kept, size_t count)
{
    while (kept->made_count > count)
        column_unref(kept->made[--kept->made_count]);
}

/* Whether the tasks of a round could all be kept, as far as the plan tells. */
static bool may_keep_all(const struct kept_rounds *kept, const struct queue *queue)
{
    bool may = true;
    for (size_t t = 0; t < queue->count && may; t++) {
        const bool groups = t + 1 < queue->count && kept_rounds_may_keep_group(queue->tasks[t]);
        may = kept_rounds_may_keep(queue->tasks[t]) || (groups && kept->backend->ops->rounds_on_device);
    }
    return may;
}

/* Finds the form of the columns of the state: ranges that each round keeps. */
static bool open_body(struct kept_rounds *kept, const struct queue *queue, struct column *const *inputs)
{
    enum { ATTEMPTS = 7 };
    if (!may_keep_all(kept, queue))
        return false;
    kept->hoisted = arena_array(kept->arena, queue->count + 1, sizeof *kept->hoisted);
    for (size_t t = 0; t < queue->count; t++)
        kept->hoisted[t] = kept_rounds_may_keep(queue->tasks[t]) && queue->tasks[t]->rows >= 0
                               ? hoist(kept, queue->tasks[t], queue->tasks[t]->rows)
                               : queue->tasks[t];
    const size_t made = kept->made_count;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        drop_made(kept, made);
        if (!kept_state_make(kept, inputs) || !open_queue(kept, queue, true, &kept->queues[0]))
            return false;
        if (kept_ranges_hold(kept, attempt))
            return true;
    }
    return false;
}

/* The tasks' jobs. */
static void set_written(struct kept_rounds *kept, struct kept_queue *queue, bool is_body)
{
    const struct kept_task *last = queue->count > 0 ? &queue->tasks[queue->count - 1] : NULL;
    for (size_t k = 0; last && is_body && k < last->task->output_count; k++)
        last->written[k] = kept->carried[k] ? NULL : kept->after[k];
    for (size_t t = 0; t < queue->count; t++)
        queue->tasks[t].job.task = task_writing(queue->tasks[t].task, queue->tasks[t].written, kept->arena);
}

/* The last task of the body with the aggregates of the first one of `until`, where the backend can and that works. */
static bool fuse_condition(struct kept_rounds *kept, const struct queue *body, const struct queue *until,
                           struct kept_task *fused)
{
    const struct kept_queue *first = &kept->queues[0];
    /* Folds may take long: their rows are run in ranges. */
    if (!kept->backend->ops->rounds_on_device || until->count < 2 ||
        code_has_loops(&kept->hoisted[body->count - 1]->code))
        return false;
    const struct task *task = fuse_until(kept->loop, kept->hoisted[body->count - 1], until->tasks[0], kept->arena);
    if (!task || kept->queues[2].tasks[0].job.rows != kept->rows || !copy_task(kept, first, task, kept->rows, fused))
        return false;
    fused->written = first->tasks[body->count - 1].written;
    fused->job.task = task_writing(fused->task, fused->written, kept->arena);
    return true;
}

/* In the order in which a round runs them. */
static bool open_rounds(struct kept_rounds *kept, const struct queue *const *queues, struct column *const *start)
{
    static const size_t order[LOOP_QUEUES] = {1, 0, 2};
    const size_t count = kept->queues[0].count + kept->queues[1].count + kept->queues[2].count;
    struct round_task *tasks = arena_array(kept->arena, count + 1, sizeof *tasks);
    struct kept_task *fused = arena_alloc(kept->arena, sizeof *fused);
    const bool fuses = fuse_condition(kept, queues[0], queues[2], fused);
    struct rounds_job job = {.tasks = tasks,
                             .before = kept->queues[1].count,
                             .after_count = kept->queues[2].count - fuses,
                             .state = kept->state,
                             .after = kept->after,
                             .start = start,
                             .column_count = kept->loop->count,
                             .step = kept->step,
                             .timing = kept->runner->timing,
                             .cancel = kept->runner->cancel,
                             .diags = kept->diags};
    for (size_t i = 0; i < LOOP_QUEUES; i++) {
        const struct kept_queue *queue = &kept->queues[order[i]];
        for (size_t t = 0; t < queue->count; t++) {
            const struct kept_task *task = &queue->tasks[t];
            if (fuses && order[i] == 2 && t == 0)
                continue;
            tasks[job.count++] = (struct round_task){.job = &task->job, .written = task->written, .groups = kept->rows};
            if (fuses && order[i] == 0 && t + 1 == queue->count)
                tasks[job.count - 1] = (struct round_task){.job = &fused->job,
                                                           .written = fused->written,
                                                           .aggregates = kept->queues[2].tasks[0].job.task,
                                                           .elements = kept->queues[2].tasks[0].written};
        }
    }
    kept->rounds = kept->backend->ops->open_rounds(kept->backend, &job);
    return kept->rounds;
}

/* Computes columns of the state whose rows have been deferred. */
static bool fetch_deferred(struct column *const *state, size_t count)
{
    bool good = true;
    for (size_t k = 0; k < count && good; k++)
        good = !column_is_deferred(state[k]) || column_fetch(state[k], 0, state[k]->rows);
    return good;
}

/* Whether there is memory for two sets of the state's columns, and for what the tasks of a round pass on. If not,
 * rounds run as others do, whose tasks tell what does not fit. */
static bool fits_memory(const struct runner *runner, const struct loop *loop, const struct queue *const *queues,
                        int64_t rows, struct diags *diags)
{
    size_t columns = 2 * loop->count;
    for (size_t t = 0; t + 1 < queues[0]->count; t++)
        columns += queues[0]->tasks[t]->output_count;
    int64_t bytes;
    return !__builtin_mul_overflow((int64_t)(columns * sizeof(int64_t)), rows, &bytes) &&
           memory_work_check(runner->pool, bytes, loop->span, diags) == STATUS_OK;
}

struct kept_rounds *kept_rounds_new(const struct runner *runner, struct backend *backend, const struct loop *loop,
                                    const struct queue *const *queues, struct column *const *state, int64_t rows,
                                    const struct loop_frame *outer, struct diags *diags)
{
    const size_t count = loop->count;
    struct arena *arena = arena_new();
    struct kept_rounds *kept = ARENA_NEW(arena, struct kept_rounds, .arena = arena, .runner = runner, .loop = loop,
                                         .rows = rows, .diags = diags);
    kept->backend = backend;
    kept->state = arena_array(arena, count + 1, sizeof(struct column *));
    kept->after = arena_array(arena, count + 1, sizeof(struct column *));
    kept->ranges = arena_array(arena, count + 1, sizeof *kept->ranges);
    kept->carried = arena_array(arena, count + 1, sizeof *kept->carried);
    kept->step = kept_column_new(kept, TYPE_I64, TYPE_I64, 1);
    kept->frame = (struct loop_frame){
        .loop = loop, .state = kept->state, .after = kept->after, .step = kept->step, .outer = outer};
    kept_ranges_init(kept, state);
    bool good = fits_memory(runner, loop, queues, rows, diags) && backend->ops->open_rounds && kept->step && rows > 0 &&
                open_body(kept, queues[0], state) && fetch_deferred(state, count);
    for (size_t q = 1; q < LOOP_QUEUES && good; q++)
        good = open_queue(kept, queues[q], false, &kept->queues[q]);
    for (size_t q = 0; q < LOOP_QUEUES && good; q++)
        set_written(kept, &kept->queues[q], q == 0);
    good = good && open_rounds(kept, queues, state);
    if (good)
        return kept;
    kept_rounds_free(kept);
    return NULL;
}

enum status kept_rounds_run(struct kept_rounds *kept, int64_t *round, bool *done, struct progress *progress)
{
    const struct backend_ops *ops = kept->backend->ops;
    const int64_t first = *round;
    struct rounds_end end = {0};
    enum status status = STATUS_OK;
    while (status == STATUS_OK && !end.ended && !end.flagged && *round < kept->loop->rounds) {
        if (kept->runner->cancel && *kept->runner->cancel)
            return STATUS_CANCELLED;
        status = ops->run_rounds(kept->rounds, *round, kept->loop->rounds - *round, &end);
        *round += end.done;
        kept->runs++;
        repeat_report(kept->loop, *round, progress);
    }
    if (status == STATUS_CANCELLED)
        return status;
    kept->odd = (*round - first) % 2 != 0;
    kept->lost = status != STATUS_OK || !ops->finish_rounds(kept->rounds);
    *done = end.ended && !kept->lost;
    if (kept->lost)
        *round = first;
    return kept->lost || end.flagged ? STATUS_UNABLE : STATUS_OK;
}

int64_t kept_rounds_batches(const struct kept_rounds *kept)
{
    return kept->backend->ops->rounds_on_device ? kept->runs : 0;
}

struct column *kept_rounds_column(const struct kept_rounds *kept, size_t k)
{
    return kept->lost ? NULL : column_ref(kept->odd ? kept->after[k] : kept->state[k]);
}

void kept_rounds_free(struct kept_rounds *kept)
{
    if (!kept)
        return;
    if (kept->rounds)
        kept->backend->ops->close_rounds(kept->rounds);
    for (size_t k = 0; k < kept->loop->count; k++) {
        column_unref(kept->state[k]);
        column_unref(kept->after[k]);
    }
    drop_made(kept, 0);
    column_unref(kept->step);
    arena_free(kept->arena);
}
