#include "cl/task/rounds.h"

#include "cl/task/execute.h"
#include "cl/task/launch.h"
#include "cl/task/plan_program.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>

enum {
    MOST_ROUNDS = 16384, /* of a batch */
    MOST_KERNELS = 2,    /* of a task: the rows, or the aggregates and their combination */
    /* Kernels with loops may take long, and a running kernel cannot be cancelled: */
    FIRST_RANGE = 65536, /* rows of the first launch; then as many as take */
    LEAST_NS = 20000000,
    MOST_NS = 80000000,
    LEAST_RANGE = 4096
};

/* A column and its buffer. */
struct located {
    const struct column *column;
    struct view view;
};

/* A kernel for each of the two orders of the columns of the state. */
struct round_kernel {
    enum kernel_role role;
    cl_kernel kernels[2];
    size_t groups;
    cl_uint round; /* the number of its argument */
};

struct round_step {
    const struct round_task *task;
    struct kernel_plan plan;
    struct kernel_round round;
    struct program *program;
    struct round_kernel kernels[MOST_KERNELS];
    size_t kernel_count;
    cl_mem slots;
    size_t slot_bytes;
    bool *steps;   /* of each of the emitter's columns: it is the number of the round */
    int64_t range; /* rows of a launch; all: they are not waited for */
};

struct device_rounds {
    struct accelerator *accelerator;
    struct arena *arena;
    struct rounds_job job;
    struct round_step *steps;
    struct located *places;
    size_t place_count, place_capacity;
    cl_mem flag, numbers; /* numbers: of the rounds of a batch, in place of the column `step` */
    bool reads_step;
    size_t parity; /* 1: columns before and after the round have changed places */
};

/* ---- columns ---- */

static struct view *view_of(struct device_rounds *rounds, const struct column *column)
{
    for (size_t k = 0; k < rounds->place_count; k++)
        if (rounds->places[k].column == column)
            return &rounds->places[k].view;
    return NULL;
}

static void add_place(struct device_rounds *rounds, const struct column *column, struct view view)
{
    rounds->places = arena_reserve(rounds->arena, rounds->places, rounds->place_count, &rounds->place_capacity,
                                   sizeof *rounds->places);
    rounds->places[rounds->place_count++] = (struct located){column, view};
}

/* A column that the rounds write. */
static bool open_output(struct device_rounds *rounds, struct column *column)
{
    struct view view;

    if (view_of(rounds, column))
        return true;
    if (!memory_output(rounds->accelerator->memory, column, 0, column->rows, &view))
        return false;
    add_place(rounds, column, view);
    return true;
}

static bool upload(struct device_rounds *rounds, const struct column *column)
{
    struct accelerator *accelerator = rounds->accelerator;
    const size_t bytes = (size_t)column->rows * type_table[column->store].size;
    const int64_t began = now_ns();

    if (accelerator->config->host_memory)
        return true;
    if (!cl_ok(&accelerator->failure, "clEnqueueWriteBuffer",
               clEnqueueWriteBuffer(accelerator->queue, view_of(rounds, column)->buffer, CL_TRUE, 0, bytes,
                                    column->data, 0, NULL, NULL)))
        return false;
    timing_add(rounds->job.timing, PHASE_UPLOAD, type_table[column->store].name, now_ns() - began, (int64_t)bytes);
    return true;
}

static bool open_columns(struct device_rounds *rounds)
{
    const struct rounds_job *job = &rounds->job;

    for (size_t k = 0; k < job->column_count; k++)
        if (job->state[k] != job->after[k] && (!open_output(rounds, job->state[k]) ||
                                               !open_output(rounds, job->after[k]) || !upload(rounds, job->state[k])))
            return false;
    for (size_t t = 0; t < job->count; t++)
        for (size_t k = 0; k < job->tasks[t].job->task->output_count; k++)
            if (job->tasks[t].written[k] && !open_output(rounds, job->tasks[t].written[k]))
                return false;
    return true;
}

/* The column in whose place a task reads or writes in rounds of this parity. */
static const struct column *column_at_parity(const struct device_rounds *rounds, const struct column *column,
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

/* ---- programs ---- */

static struct kernel_round round_of(const struct rounds_job *job, size_t t)
{
    const struct task *task = job->tasks[t].job->task;
    const bool before = t + 1 == job->before, after = job->after_count > 0 && t + 1 == job->count;

    return (struct kernel_round){
        .stops = before || after, .before = before, .validity = before || after ? task->outputs[0].validity : 0};
}

static bool make_program(struct device_rounds *rounds, struct round_step *step)
{
    const struct job *job = step->task->job;
    const struct task *task = job->task;
    enum type *inputs = arena_array(rounds->arena, task->input_count + 1, sizeof *inputs);
    enum type *outputs = arena_array(rounds->arena, task->output_count + 1, sizeof *outputs);
    struct accelerator *accelerator = rounds->accelerator;

    for (size_t k = 0; k < task->input_count; k++)
        inputs[k] = job->columns[k] ? job->columns[k]->store : task->inputs[k].type;
    for (size_t k = 0; k < task->output_count; k++)
        outputs[k] = step->task->written[k] ? step->task->written[k]->store : TYPE_I64;
    if (!kernel_plan_make_round(&step->plan, task, accelerator->config, inputs, outputs, &step->round, rounds->arena))
        return false;
    const struct execution execution = {accelerator, &step->plan, NULL, job};
    if (!execute_fits(&execution) || plan_limit(&step->plan, &accelerator->device))
        return false;
    if (task->sink == SINK_AGGREGATE && job->rows > step->plan.rows)
        return false;
    const int64_t began = now_ns();
    step->program = program_for(accelerator, &step->plan, rounds->job.diags);
    timing_add(rounds->job.timing, PHASE_BUILD, "round", now_ns() - began, 0);
    return step->program != NULL;
}

/* ---- arguments ---- */

/* Sets the arguments of a kernel for rows row .. row+rows-1; false with the accelerator's failure. */
static bool set_arguments(struct device_rounds *rounds, const struct round_step *step,
                          const struct round_kernel *kernel, size_t parity, int64_t row, int64_t rows)
{
    const struct emitter *emitter = &step->plan.emitter;
    const struct job *job = step->task->job;
    struct launch_input *inputs = heap_array(emitter->column_count + 1, sizeof *inputs);
    struct view *outputs = heap_array(emitter->task->output_count + 1, sizeof *outputs);
    const struct launch launch = {.accelerator = rounds->accelerator,
                                  .plan = &step->plan,
                                  .program = step->program,
                                  .job = job,
                                  .row = row,
                                  .rows = rows,
                                  .inputs = inputs,
                                  .outputs = outputs};

    for (size_t k = 0; k < emitter->column_count; k++) {
        const struct column *column = job->columns[emitter->inputs[k]];
        const int64_t from = emitter->task->first + row;
        const bool any = emitter->access[k] == ACCESS_ANY;
        inputs[k].view = *view_of(rounds, column_at_parity(rounds, column, parity));
        inputs[k].view.first += any ? 0 : (cl_ulong)from;
        inputs[k].low = -from;
        inputs[k].high = any ? column->rows : column->rows - from;
    }
    for (size_t k = 0; k < emitter->task->output_count; k++) {
        if (!step->task->written[k])
            continue;
        outputs[k] = *view_of(rounds, column_at_parity(rounds, step->task->written[k], parity));
        outputs[k].first += (cl_ulong)row;
    }
    bool done = kernel->role == KERNEL_COMBINE
                    ? launch_set_combine(&launch, kernel->kernels[parity], step->slots, rounds->flag)
                    : launch_set_arguments(&launch, kernel->role, kernel->kernels[parity], step->slots, rounds->flag);
    free(inputs);
    free(outputs);
    return done;
}

/* Opens what a task reads that rounds do not change. */
static bool open_inputs(struct device_rounds *rounds, struct round_step *step)
{
    const struct emitter *emitter = &step->plan.emitter;

    step->steps = arena_array(rounds->arena, emitter->column_count + 1, sizeof *step->steps);
    for (size_t k = 0; k < emitter->column_count; k++) {
        struct column *column = step->task->job->columns[emitter->inputs[k]];
        struct view view = {.buffer = rounds->numbers};
        step->steps[k] = column == rounds->job.step;
        rounds->reads_step = rounds->reads_step || step->steps[k];
        if (view_of(rounds, column))
            continue;
        if (!step->steps[k] &&
            !memory_input(rounds->accelerator->memory, column, 0, column->rows, rounds->job.timing, &view))
            return false;
        add_place(rounds, column, view);
    }
    return true;
}

static bool open_kernel(struct device_rounds *rounds, struct round_step *step, enum kernel_role role)
{
    struct failure *failure = &rounds->accelerator->failure;
    const struct job *job = step->task->job;
    const struct launch launch = {.accelerator = rounds->accelerator, .plan = &step->plan, .rows = job->rows};
    struct round_kernel *kernel = &step->kernels[step->kernel_count++];
    cl_int code = CL_SUCCESS;

    *kernel = (struct round_kernel){.role = role, .groups = role == KERNEL_COMBINE ? 1 : launch_groups(&launch, role)};
    for (size_t parity = 0; parity < 2; parity++) {
        kernel->kernels[parity] = clCreateKernel(step->program->program, kernel_names[role], &code);
        if (!cl_ok(failure, "clCreateKernel", code) || !set_arguments(rounds, step, kernel, parity, 0, job->rows))
            return false;
    }
    cl_uint count = 0;
    code = clGetKernelInfo(kernel->kernels[0], CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL);
    kernel->round = count - 1;
    return cl_ok(failure, "clGetKernelInfo", code);
}

static bool open_step(struct device_rounds *rounds, size_t t)
{
    struct round_step *step = &rounds->steps[t];

    step->task = &rounds->job.tasks[t];
    step->round = round_of(&rounds->job, t);
    if (!make_program(rounds, step) || !open_inputs(rounds, step))
        return false;
    const struct job *job = step->task->job;
    if (job->task->sink == SINK_ROWS) {
        const int64_t most = step->plan.emitter.loops ? FIRST_RANGE : step->plan.rows;
        step->range = min_int64(job->rows, most);
        return !step->plan.roles[KERNEL_WRITE] || open_kernel(rounds, step, KERNEL_WRITE);
    }
    const struct launch launch = {.accelerator = rounds->accelerator, .plan = &step->plan, .rows = job->rows};
    step->range = job->rows;
    step->slot_bytes = (step->plan.aggregates.count * launch_groups(&launch, KERNEL_AGGREGATE) + 1) * sizeof(uint64_t);
    step->slots = memory_buffer(rounds->accelerator->memory, step->slot_bytes);
    return step->slots && (!step->plan.roles[KERNEL_AGGREGATE] || open_kernel(rounds, step, KERNEL_AGGREGATE)) &&
           open_kernel(rounds, step, KERNEL_COMBINE);
}

static bool open_all(struct device_rounds *rounds)
{
    struct memory *memory = rounds->accelerator->memory;

    rounds->flag = memory_buffer(memory, sizeof(cl_int));
    rounds->numbers = memory_buffer(memory, MOST_ROUNDS * sizeof(cl_long));
    if (!rounds->flag || !rounds->numbers || !open_columns(rounds))
        return false;
    for (size_t t = 0; t < rounds->job.count; t++)
        if (!open_step(rounds, t))
            return false;
    return true;
}

struct device_rounds *rounds_open(struct accelerator *accelerator, const struct rounds_job *job)
{
    struct arena *arena = arena_new();
    struct device_rounds *rounds = arena_alloc(arena, sizeof *rounds);

    *rounds = (struct device_rounds){.accelerator = accelerator, .arena = arena, .job = *job};
    rounds->steps = arena_array(arena, job->count + 1, sizeof *rounds->steps);
    accelerator->no_wait = false;
    accelerator->cancel = job->cancel;
    if (open_all(rounds))
        return rounds;
    accelerator->failure = (struct failure){0}; /* no note: the rounds run otherwise */
    rounds_close(rounds);
    return NULL;
}

void rounds_close(struct device_rounds *rounds)
{
    if (!rounds)
        return;
    struct memory *memory = rounds->accelerator->memory;
    clFinish(rounds->accelerator->queue);
    for (size_t t = 0; t < rounds->job.count; t++) {
        const struct round_step *step = &rounds->steps[t];
        for (size_t k = 0; k < step->kernel_count; k++)
            for (size_t parity = 0; parity < 2; parity++)
                if (step->kernels[k].kernels[parity])
                    clReleaseKernel(step->kernels[k].kernels[parity]);
        if (step->slots)
            memory_buffer_release(memory, step->slots, step->slot_bytes);
    }
    if (rounds->flag)
        memory_buffer_release(memory, rounds->flag, sizeof(cl_int));
    if (rounds->numbers)
        memory_buffer_release(memory, rounds->numbers, MOST_ROUNDS * sizeof(cl_long));
    memory_done(memory, rounds->job.timing);
    arena_free(rounds->arena);
}

/* ---- running ---- */

static bool enqueue(struct device_rounds *rounds, const struct round_step *step, const struct round_kernel *kernel,
                    size_t parity, size_t groups)
{
    struct accelerator *accelerator = rounds->accelerator;
    const size_t local = step->plan.config->group, global = groups * local;

    return cl_ok(
        &accelerator->failure, "clEnqueueNDRangeKernel",
        clEnqueueNDRangeKernel(accelerator->queue, kernel->kernels[parity], 1, NULL, &global, &local, 0, NULL, NULL));
}

/* The arguments that change with the round: its number in the batch, and which one it is of the loop. */
static bool set_round(struct device_rounds *rounds, const struct round_step *step, const struct round_kernel *kernel,
                      size_t parity, cl_int number)
{
    struct failure *failure = &rounds->accelerator->failure;
    const cl_ulong at = (cl_ulong)number;
    bool set = cl_ok(failure, "clSetKernelArg",
                     clSetKernelArg(kernel->kernels[parity], kernel->round, sizeof number, &number));

    for (size_t k = 0; k < step->plan.emitter.column_count && set && kernel->role != KERNEL_COMBINE; k++)
        if (step->steps[k])
            set = cl_ok(
                failure, "clSetKernelArg",
                clSetKernelArg(kernel->kernels[parity], launch_first_argument(&step->plan.emitter, k), sizeof at, &at));
    return set;
}

/* Runs the rows in ranges, and adapts their length where each is waited for, so that Ctrl-C ends them: those of kernels
 * with loops. */
static enum status run_ranges(struct device_rounds *rounds, struct round_step *step, const struct round_kernel *kernel,
                              size_t parity, cl_int number)
{
    struct accelerator *accelerator = rounds->accelerator;
    const int64_t rows = step->task->job->rows;
    const bool waits = step->plan.emitter.loops;

    for (int64_t row = 0; row < rows;) {
        const int64_t count = min_int64(step->range, rows - row), began = now_ns();
        const struct launch launch = {.accelerator = accelerator, .plan = &step->plan, .rows = count};
        if (!set_arguments(rounds, step, kernel, parity, row, count) ||
            !set_round(rounds, step, kernel, parity, number) ||
            !enqueue(rounds, step, kernel, parity, launch_groups(&launch, kernel->role)))
            return STATUS_UNABLE;
        row += count;
        if (!waits)
            continue;
        if (!cl_ok(&accelerator->failure, "clFinish", clFinish(accelerator->queue)))
            return STATUS_UNABLE;
        if (rounds->job.cancel && *rounds->job.cancel)
            return STATUS_CANCELLED;
        const int64_t took = now_ns() - began;
        if (took < LEAST_NS && count == step->range)
            step->range = min_int64(2 * step->range, step->plan.rows);
        else if (took > MOST_NS && step->range > LEAST_RANGE)
            step->range = step->range / 2;
    }
    /* From now on all rows at once: */
    for (size_t k = 0; k < 2 && step->range >= rows; k++)
        if (!set_arguments(rounds, step, kernel, k, 0, rows))
            return STATUS_UNABLE;
    return STATUS_OK;
}

static enum status run_round(struct device_rounds *rounds, size_t parity, cl_int number)
{
    for (size_t t = 0; t < rounds->job.count; t++) {
        struct round_step *step = &rounds->steps[t];
        for (size_t k = 0; k < step->kernel_count; k++) {
            const struct round_kernel *kernel = &step->kernels[k];
            enum status status = STATUS_OK;
            if (!set_round(rounds, step, kernel, parity, number))
                return STATUS_UNABLE;
            if (step->range < step->task->job->rows)
                status = run_ranges(rounds, step, kernel, parity, number);
            else if (!enqueue(rounds, step, kernel, parity, kernel->groups))
                status = STATUS_UNABLE;
            if (status != STATUS_OK)
                return status;
        }
    }
    return STATUS_OK;
}

/* Says that no round has failed, and which ones the batch has. */
static bool begin_batch(struct device_rounds *rounds, int64_t first, int64_t count)
{
    static const cl_int none = 0;
    struct accelerator *accelerator = rounds->accelerator;

    if (!cl_ok(&accelerator->failure, "clEnqueueWriteBuffer",
               clEnqueueWriteBuffer(accelerator->queue, rounds->flag, CL_TRUE, 0, sizeof none, &none, 0, NULL, NULL)))
        return false;
    if (!rounds->reads_step)
        return true;
    cl_long *numbers = heap_array((size_t)count + 1, sizeof *numbers);
    for (int64_t k = 0; k < count; k++)
        numbers[k + 1] = first + k; /* rounds of a batch are numbered from 1 on */
    bool done = cl_ok(&accelerator->failure, "clEnqueueWriteBuffer",
                      clEnqueueWriteBuffer(accelerator->queue, rounds->numbers, CL_TRUE, 0,
                                           ((size_t)count + 1) * sizeof *numbers, numbers, 0, NULL, NULL));
    free(numbers);
    return done;
}

static enum status failed(const struct device_rounds *rounds)
{
    struct accelerator *accelerator = rounds->accelerator;

    return cl_report(&accelerator->failure, accelerator->device.name, rounds->job.diags);
}

enum status rounds_run(struct device_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end)
{
    struct accelerator *accelerator = rounds->accelerator;
    enum status status = STATUS_OK;
    cl_int flag = 0;

    *end = (struct rounds_end){0};
    count = min_int64(count, MOST_ROUNDS - 1);
    if (!begin_batch(rounds, first, count))
        return failed(rounds);
    for (int64_t k = 0; k < count && status == STATUS_OK; k++)
        status = run_round(rounds, rounds->parity ^ (size_t)(k & 1), (cl_int)k + 1);
    if (status == STATUS_CANCELLED)
        return status;
    if (status != STATUS_OK ||
        !cl_ok(&accelerator->failure, "clEnqueueReadBuffer",
               clEnqueueReadBuffer(accelerator->queue, rounds->flag, CL_TRUE, 0, sizeof flag, &flag, 0, NULL, NULL)))
        return failed(rounds);
    end->done = flag == 0 ? count : flag > 0 ? flag - 1 : -flag - 1;
    end->ended = flag < 0;
    end->flagged = flag > 0;
    rounds->parity ^= (size_t)(end->done & 1);
    return STATUS_OK;
}

bool rounds_finish(struct device_rounds *rounds)
{
    const struct rounds_job *job = &rounds->job;

    for (size_t k = 0; k < job->column_count; k++) {
        struct column *column = rounds->parity ? job->after[k] : job->state[k];
        if (job->state[k] != job->after[k] &&
            !memory_keep(rounds->accelerator->memory, column, 0, column->rows, view_of(rounds, column), job->timing))
            return false;
    }
    return true;
}
