#include "cl/task/rounds.h"

#include "cl/device/wait.h"
#include "cl/task/round_steps.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>

struct backend_rounds *rounds_open(struct accelerator *accelerator, const struct rounds_job *job)
{
    struct arena *arena = arena_new();
    struct backend_rounds *rounds =
        ARENA_NEW(arena, struct backend_rounds, .accelerator = accelerator, .arena = arena, .job = *job, .batch = 1);
    rounds->steps = arena_array(arena, job->count + 1, sizeof *rounds->steps);
    accelerator->no_wait = false;
    accelerator->cancel = job->cancel;
    if (rounds_open_steps(rounds))
        return rounds;
    accelerator->failure = (struct failure){0}; /* no note: the rounds run otherwise */
    rounds_close(rounds);
    return NULL;
}

void rounds_close(struct backend_rounds *rounds)
{
    if (!rounds)
        return;
    rounds_close_steps(rounds);
    memory_done(rounds->accelerator->memory, rounds->job.timing);
    arena_free(rounds->arena);
}

static bool enqueue(struct backend_rounds *rounds, const struct round_step *step, const struct round_kernel *kernel,
                    size_t parity, size_t groups)
{
    struct accelerator *accelerator = rounds->accelerator;
    const size_t local = step->plan.config->group, global = groups * local;
    return cl_ok(
        &accelerator->failure, "clEnqueueNDRangeKernel",
        clEnqueueNDRangeKernel(accelerator->queue, kernel->kernels[parity], 1, NULL, &global, &local, 0, NULL, NULL));
}

/* The arguments that change with the round: its number in the batch, and which one it is of the loop. */
static bool set_round(struct backend_rounds *rounds, const struct round_step *step, const struct round_kernel *kernel,
                      size_t parity, cl_int number)
{
    struct failure *failure = &rounds->accelerator->failure;
    const bool combine = kernel->role == KERNEL_COMBINE;
    const struct round_task *task = combine ? step->tail : step->task;
    const struct emitter *emitter = combine ? &step->tail_plan.emitter : &step->plan.emitter;
    const cl_ulong at = (cl_ulong)number;
    bool set = cl_ok(failure, "clSetKernelArg",
                     clSetKernelArg(kernel->kernels[parity], kernel->round, sizeof number, &number));
    for (size_t k = 0; task && k < emitter->column_count && set; k++) {
        if (task->job->columns[emitter->inputs[k]] == rounds->job.step)
            set = cl_ok(failure, "clSetKernelArg",
                        clSetKernelArg(kernel->kernels[parity], kernel->columns + launch_first_argument(emitter, k),
                                       sizeof at, &at));
    }
    return set;
}

/* Enqueues the kernels of a step. */
static bool run_kernels(struct backend_rounds *rounds, const struct round_step *step, size_t parity, cl_int number,
                        int64_t rows)
{
    const struct launch launch = {.accelerator = rounds->accelerator, .plan = &step->plan, .rows = rows};
    const bool all = rows == step->task->job->rows;
    for (size_t k = 0; k < step->kernel_count; k++) {
        const struct round_kernel *kernel = &step->kernels[k];
        if (!set_round(rounds, step, kernel, parity, number) ||
            !enqueue(rounds, step, kernel, parity, all ? kernel->groups : launch_groups(&launch, kernel->role)))
            return false;
    }
    return true;
}

static bool set_rows(struct backend_rounds *rounds, const struct round_step *step, size_t parity, int64_t row,
                     int64_t rows)
{
    for (size_t k = 0; k < step->kernel_count; k++) {
        if (!rounds_set_arguments(rounds, step, &step->kernels[k], parity, row, rows))
            return false;
    }
    return true;
}

/* Runs the rows in ranges, and adapts their length where each is waited for, so that Ctrl-C ends them: those of kernels
 * with loops. */
static enum status run_ranges(struct backend_rounds *rounds, struct round_step *step, size_t parity, cl_int number)
{
    struct accelerator *accelerator = rounds->accelerator;
    const int64_t rows = step->task->job->rows;
    const bool waits = step->plan.emitter.loops;
    for (int64_t row = 0; row < rows;) {
        const int64_t count = min_int64(step->range, rows - row), began = now_ns();
        if (!set_rows(rounds, step, parity, row, count) || !run_kernels(rounds, step, parity, number, count))
            return STATUS_UNABLE;
        row += count;
        if (!waits)
            continue;
        if (!cl_ok(&accelerator->failure, "clFinish", wait_for_queue(accelerator->queue)))
            return STATUS_UNABLE;
        if (rounds->job.cancel && *rounds->job.cancel)
            return STATUS_CANCELLED;
        step->range = launch_next_range(&step->plan, step->range, now_ns() - began);
    }
    /* From now on all rows at once: */
    for (size_t k = 0; k < 2 && step->range >= rows; k++) {
        if (!set_rows(rounds, step, k, 0, rows))
            return STATUS_UNABLE;
    }
    return STATUS_OK;
}

static enum status run_round(struct backend_rounds *rounds, size_t parity, cl_int number)
{
    for (size_t t = 0; t < rounds->step_count; t++) {
        struct round_step *step = &rounds->steps[t];
        const int64_t rows = step->task->job->rows;
        const enum status status = step->range < rows ? run_ranges(rounds, step, parity, number)
                                   : run_kernels(rounds, step, parity, number, rows) ? STATUS_OK
                                                                                     : STATUS_UNABLE;
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

/* Says that no round has failed, and which ones the batch has. */
static bool begin_batch(struct backend_rounds *rounds, int64_t first, int64_t count)
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
    const bool done = cl_ok(&accelerator->failure, "clEnqueueWriteBuffer",
                            clEnqueueWriteBuffer(accelerator->queue, rounds->numbers, CL_TRUE, 0,
                                                 ((size_t)count + 1) * sizeof *numbers, numbers, 0, NULL, NULL));
    free(numbers);
    return done;
}

static enum status failed(const struct backend_rounds *rounds)
{
    struct accelerator *accelerator = rounds->accelerator;
    return cl_report(&accelerator->failure, accelerator->device.name, rounds->job.diags);
}

/* The rounds of the next batch, after one of `count` that took so long. A batch takes about BATCH_NS: long enough for
 * the wait at its end not to matter, short enough for Ctrl-C. */
static int64_t next_batch(int64_t count, int64_t took)
{
    enum { BATCH_NS = 30000000 };
    if (took >= BATCH_NS)
        return max_int64(count * BATCH_NS / took, 1);
    return took * 2 <= BATCH_NS ? count * 2 : count;
}

enum status rounds_run(struct backend_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end)
{
    struct accelerator *accelerator = rounds->accelerator;
    const int64_t began = now_ns();
    enum status status = STATUS_OK;
    cl_int flag = 0;
    *end = (struct rounds_end){0};
    count = min_int64(count, rounds->batch);
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
    rounds->batch = min_int64(next_batch(count, now_ns() - began), MOST_ROUNDS - 1);
    return STATUS_OK;
}

bool rounds_finish(struct backend_rounds *rounds)
{
    const struct rounds_job *job = &rounds->job;
    for (size_t k = 0; k < job->column_count; k++) {
        struct column *column = rounds->parity ? job->after[k] : job->state[k];
        if (job->state[k] != job->after[k] && !memory_keep(rounds->accelerator->memory, column, 0, column->rows,
                                                           rounds_view(rounds, column), job->timing))
            return false;
    }
    return true;
}
