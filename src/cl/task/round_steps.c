#include "cl/task/round_steps.h"

#include "cl/task/execute.h"
#include "cl/task/plan_program.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>

/* ---- columns ---- */

struct view *rounds_view(struct backend_rounds *rounds, const struct column *column)
{
    for (size_t k = 0; k < rounds->place_count; k++) {
        if (rounds->places[k].column == column)
            return &rounds->places[k].view;
    }
    return NULL;
}

static void add_place(struct backend_rounds *rounds, const struct column *column, struct view view)
{
    *ARENA_PUSH(rounds->arena, rounds->places, rounds->place_count, rounds->place_capacity) =
        (struct located){column, view};
}

/* A column that the rounds write. */
static bool open_output(struct backend_rounds *rounds, struct column *column)
{
    struct view view;
    if (rounds_view(rounds, column))
        return true;
    if (!memory_output(rounds->accelerator->memory, column, 0, column->rows, &view))
        return false;
    add_place(rounds, column, view);
    return true;
}

static bool open_columns(struct backend_rounds *rounds)
{
    const struct rounds_job *job = &rounds->job;
    for (size_t k = 0; k < job->column_count; k++) {
        if (job->state[k] != job->after[k] &&
            (!open_output(rounds, job->state[k]) || !open_output(rounds, job->after[k]) || !round_start(rounds, k)))
            return false;
    }
    for (size_t t = 0; t < job->count; t++) {
        for (size_t k = 0; k < job->tasks[t].job->task->output_count; k++) {
            if (job->tasks[t].written[k] && !open_output(rounds, job->tasks[t].written[k]))
                return false;
        }
    }
    for (size_t t = 0; t < job->count; t++) {
        for (size_t k = 0; job->tasks[t].aggregates && k < job->tasks[t].aggregates->output_count; k++) {
            if (job->tasks[t].elements[k] && !open_output(rounds, job->tasks[t].elements[k]))
                return false;
        }
    }
    return true;
}

/* The column in whose place a task reads or writes in rounds of this parity. */
static const struct column *column_at_parity(const struct backend_rounds *rounds, const struct column *column,
                                             size_t parity)
{
    for (size_t k = 0; k < rounds->job.column_count && parity == 1; k++) {
        if (column == rounds->job.state[k])
            return rounds->job.after[k];
        if (column == rounds->job.after[k])
            return rounds->job.state[k];
    }
    return column;
}

const struct view *rounds_view_at(struct backend_rounds *rounds, const struct column *column, size_t parity)
{
    return rounds_view(rounds, column_at_parity(rounds, column, parity));
}

bool rounds_open_input(struct backend_rounds *rounds, struct column *column)
{
    const bool is_step = column == rounds->job.step;
    struct view view = {.buffer = rounds->numbers};
    rounds->reads_step = rounds->reads_step || is_step;
    if (rounds_view(rounds, column))
        return true;
    if (!is_step && !memory_input(rounds->accelerator->memory, column, 0, column->rows, rounds->job.timing, &view))
        return false;
    add_place(rounds, column, view);
    return true;
}

/* ---- programs ---- */

static bool is_condition(const struct rounds_job *job, size_t t)
{
    return t + 1 == job->before || (job->after_count > 0 && t + 1 == job->count);
}

/* The task after this one, which has aggregates, if it is the condition that one row is computed of. */
static const struct round_task *tail_of(const struct rounds_job *job, size_t t)
{
    const struct round_task *next = &job->tasks[t + 1];
    const bool follows = t + 1 < job->count && is_condition(job, t + 1) && job->tasks[t].job->task->aggregate_count > 0;
    return follows && next->job->task->sink == SINK_ROWS && next->job->rows == 1 ? next : NULL;
}

static enum type *stores_of(struct column *const *columns, size_t count, struct arena *arena)
{
    enum type *stores = arena_array(arena, count + 1, sizeof *stores);
    for (size_t k = 0; k < count; k++)
        stores[k] = columns[k] ? columns[k]->store : TYPE_I64;
    return stores;
}

/* What its kernels do besides. */
static bool plan_round(struct backend_rounds *rounds, struct round_step *step, size_t t)
{
    const struct rounds_job *job = &rounds->job;
    const size_t last = step->tail ? t + 1 : t;
    const struct round_task *task = step->task;
    struct kernel_round *round = &step->round;
    *round = (struct kernel_round){
        .stops = is_condition(job, last), .before = last + 1 == job->before, .rows = task->job->rows};
    if (round->stops)
        round->validity = job->tasks[last].job->task->outputs[0].validity;
    round->elements = task->aggregates ? task->aggregates : task->job->task;
    round->stores =
        stores_of(task->aggregates ? task->elements : task->written, round->elements->output_count, rounds->arena);
    if (!step->tail)
        return true;
    const struct task *tail = step->tail->job->task;
    const enum type *inputs = stores_of(step->tail->job->columns, tail->input_count, rounds->arena);
    round->tail = &step->tail_plan.emitter;
    if (!emitter_init(&step->tail_plan.emitter, tail, inputs, 0, rounds->arena))
        return false;
    step->tail_plan.emitter.aliased = true;
    return true;
}

static bool make_program(struct backend_rounds *rounds, struct round_step *step)
{
    const struct job *job = step->task->job;
    const struct task *task = job->task;
    const enum type *inputs = stores_of(job->columns, task->input_count, rounds->arena);
    const enum type *outputs = stores_of(step->task->written, task->output_count, rounds->arena);
    struct accelerator *accelerator = rounds->accelerator;
    if (!kernel_plan_make_round(&step->plan, task, accelerator->config, inputs, outputs, &step->round, rounds->arena))
        return false;
    const struct execution execution = {accelerator, &step->plan, NULL, job};
    if (!execute_fits(&execution) || plan_limit(&step->plan, &accelerator->device))
        return false;
    if (task->aggregate_count > 0 && job->rows > step->plan.rows)
        return false;
    const int64_t began = now_ns();
    step->program = program_for(accelerator, &step->plan, rounds->job.diags);
    timing_add(rounds->job.timing, PHASE_BUILD, "round", now_ns() - began, 0);
    return step->program;
}

/* ---- arguments ---- */

/* The rows of the columns that a task reads for row .. row+rows-1; to be freed. */
static struct launch_input *inputs_of(struct backend_rounds *rounds, const struct round_task *task,
                                      const struct emitter *emitter, size_t parity, int64_t row)
{
    const int64_t from = emitter->task->first + row;
    struct launch_input *inputs = heap_array(emitter->column_count + 1, sizeof *inputs);
    for (size_t k = 0; k < emitter->column_count; k++) {
        const struct column *column = task->job->columns[emitter->inputs[k]];
        const bool any = emitter->access[k] == ACCESS_ANY;
        inputs[k].view = *rounds_view_at(rounds, column, parity);
        inputs[k].view.first += any ? 0 : (cl_ulong)from;
        inputs[k].low = -from;
        inputs[k].high = any ? column->rows : column->rows - from;
    }
    return inputs;
}

/* Those that it writes, from row `row` on; to be freed. */
static struct view *views_of(struct backend_rounds *rounds, struct column *const *columns, size_t count, size_t parity,
                             int64_t row)
{
    struct view *views = heap_array(count + 1, sizeof *views);
    for (size_t k = 0; k < count; k++) {
        if (!columns[k])
            continue;
        views[k] = *rounds_view_at(rounds, columns[k], parity);
        views[k].first += (cl_ulong)row;
    }
    return views;
}

static bool set_combine(struct backend_rounds *rounds, const struct round_step *step, const struct launch *launch,
                        cl_kernel kernel, size_t parity)
{
    const struct round_task *task = step->task;
    struct launch_input *inputs =
        step->tail ? inputs_of(rounds, step->tail, &step->tail_plan.emitter, parity, 0) : NULL;
    struct view *elements =
        views_of(rounds, task->aggregates ? task->elements : task->written, step->round.elements->output_count, 0, 0);
    struct launch tail = {.accelerator = rounds->accelerator, .plan = &step->tail_plan, .inputs = inputs, .rows = 1};
    if (step->tail)
        tail.job = step->tail->job;
    const bool done =
        launch_set_combine(launch, step->tail ? &tail : NULL, elements, kernel, step->slots, rounds->flag);
    free(inputs);
    free(elements);
    return done;
}

bool rounds_set_arguments(struct backend_rounds *rounds, const struct round_step *step,
                          const struct round_kernel *kernel, size_t parity, int64_t row, int64_t rows)
{
    const struct task *task = step->plan.emitter.task;
    struct launch_input *inputs = inputs_of(rounds, step->task, &step->plan.emitter, parity, row);
    struct view *outputs = views_of(rounds, step->task->written, task->output_count, parity, row);
    const struct launch launch = {.accelerator = rounds->accelerator,
                                  .plan = &step->plan,
                                  .program = step->program,
                                  .job = step->task->job,
                                  .row = row,
                                  .rows = rows,
                                  .inputs = inputs,
                                  .outputs = outputs};
    const bool done =
        kernel->role == KERNEL_COMBINE
            ? set_combine(rounds, step, &launch, kernel->kernels[parity], parity)
            : launch_set_arguments(&launch, kernel->role, kernel->kernels[parity], step->slots, rounds->flag);
    free(inputs);
    free(outputs);
    return done;
}

/* Opens what a task reads that rounds do not change. */
static bool open_inputs(struct backend_rounds *rounds, const struct round_task *task, const struct emitter *emitter)
{
    for (size_t k = 0; k < emitter->column_count; k++) {
        if (!rounds_open_input(rounds, task->job->columns[emitter->inputs[k]]))
            return false;
    }
    return true;
}

static bool open_kernel(struct backend_rounds *rounds, struct round_step *step, enum kernel_role role)
{
    struct failure *failure = &rounds->accelerator->failure;
    const struct job *job = step->task->job;
    const struct launch launch = {.accelerator = rounds->accelerator, .plan = &step->plan, .rows = job->rows};
    struct round_kernel *kernel = &step->kernels[step->kernel_count++];
    cl_int code = CL_SUCCESS;
    *kernel = (struct round_kernel){.role = role, .groups = role == KERNEL_COMBINE ? 1 : launch_groups(&launch, role)};
    for (size_t parity = 0; parity < 2; parity++) {
        kernel->kernels[parity] = clCreateKernel(step->program->program, kernel_names[role], &code);
        if (!cl_ok(failure, "clCreateKernel", code) ||
            !rounds_set_arguments(rounds, step, kernel, parity, 0, job->rows))
            return false;
    }
    cl_uint count = 0;
    code = clGetKernelInfo(kernel->kernels[0], CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    kernel->round = count - 1;
    for (size_t k = 0; role == KERNEL_COMBINE && k < step->round.elements->output_count; k++)
        kernel->columns += step->round.elements->outputs[k].needed ? 2 : 0;
    kernel->columns += role == KERNEL_COMBINE ? 3 : 0; /* slots, groups, rows */
    return cl_ok(failure, "clGetKernelInfo", code);
}

/* Opens task t, with the one that it computes too. */
static bool open_step(struct backend_rounds *rounds, size_t t)
{
    struct round_step *step = &rounds->steps[rounds->step_count++];
    step->task = &rounds->job.tasks[t];
    if (step->task->job->task->sink == SINK_OPERATOR)
        return round_group_open(rounds, step);
    step->tail = tail_of(&rounds->job, t);
    if (!plan_round(rounds, step, t) || !make_program(rounds, step) ||
        !open_inputs(rounds, step->task, &step->plan.emitter) ||
        (step->tail && !open_inputs(rounds, step->tail, &step->tail_plan.emitter)))
        return false;
    const struct job *job = step->task->job;
    if (job->task->aggregate_count == 0) {
        step->range = min_int64(job->rows, launch_first_range(&step->plan));
        step->slot_bytes = launch_list_bytes(&step->plan, job->rows);
        step->slots = step->slot_bytes > 0 ? memory_buffer(rounds->accelerator->memory, step->slot_bytes) : NULL;
        return (step->slot_bytes == 0 || step->slots) &&
               launch_clear_list(rounds->accelerator, step->slots, step->slot_bytes) &&
               (!step->plan.roles[KERNEL_WRITE] || open_kernel(rounds, step, KERNEL_WRITE)) &&
               (!step->plan.roles[KERNEL_TERMS] || open_kernel(rounds, step, KERNEL_TERMS));
    }
    const struct launch launch = {.accelerator = rounds->accelerator, .plan = &step->plan, .rows = job->rows};
    step->range = job->rows;
    step->slot_bytes = (step->plan.aggregates.count * launch_groups(&launch, KERNEL_AGGREGATE) + 1) * sizeof(uint64_t);
    step->slots = memory_buffer(rounds->accelerator->memory, step->slot_bytes);
    return step->slots && (!step->plan.roles[KERNEL_AGGREGATE] || open_kernel(rounds, step, KERNEL_AGGREGATE)) &&
           open_kernel(rounds, step, KERNEL_COMBINE);
}

bool rounds_open_steps(struct backend_rounds *rounds)
{
    struct memory *memory = rounds->accelerator->memory;
    rounds->flag = memory_buffer(memory, sizeof(cl_int));
    rounds->numbers = memory_buffer(memory, MOST_ROUNDS * sizeof(cl_long));
    if (!rounds->flag || !rounds->numbers || !open_columns(rounds))
        return false;
    for (size_t t = 0; t < rounds->job.count; t += rounds->steps[rounds->step_count - 1].tail ? 2 : 1) {
        if (!open_step(rounds, t))
            return false;
    }
    return true;
}

void rounds_close_steps(struct backend_rounds *rounds)
{
    struct memory *memory = rounds->accelerator->memory;
    clFinish(rounds->accelerator->queue);
    for (size_t t = 0; t < rounds->step_count; t++) {
        const struct round_step *step = &rounds->steps[t];
        for (size_t k = 0; k < step->kernel_count; k++) {
            for (size_t parity = 0; parity < 2; parity++) {
                if (step->kernels[k].kernels[parity])
                    clReleaseKernel(step->kernels[k].kernels[parity]);
            }
        }
        if (step->slots)
            memory_buffer_release(memory, step->slots, step->slot_bytes);
    }
    if (rounds->flag)
        memory_buffer_release(memory, rounds->flag, sizeof(cl_int));
    if (rounds->numbers)
        memory_buffer_release(memory, rounds->numbers, MOST_ROUNDS * sizeof(cl_long));
}
