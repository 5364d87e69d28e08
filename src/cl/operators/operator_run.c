#include "cl/operators/operator_run.h"

#include "base/heap.h"
#include "engine/plan/task_title.h"

#include <stdlib.h>

struct operator_run operator_begin(struct accelerator *accelerator, const struct operator_job *job, const char *text,
                                   const char *const *names, size_t count)
{
    int64_t began = now_ns();
    struct program *program = program_of_text(accelerator, text, names, count, job->diags);

    if (program)
        timing_add(job->timing, PHASE_BUILD, program->launched ? "cached" : stages_title(job->task, job->diags->arena),
                   now_ns() - began, 0);
    return (struct operator_run){
        .accelerator = accelerator,
        .job = job,
        .program = program,
        .title = stages_title(job->task, job->diags->arena),
        .unable = !program,
    };
}

static bool is_cancelled(const struct operator_run *run)
{
    return run->job->cancel && *run->job->cancel;
}

bool operator_stopped(const struct operator_run *run)
{
    return run->unable || run->accelerator->failure.call || is_cancelled(run);
}

cl_mem operator_buffer(struct operator_run *run, size_t bytes)
{
    cl_mem buffer = operator_stopped(run) ? NULL : memory_buffer(run->accelerator->memory, bytes);

    if (!buffer)
        return NULL;
    if (run->buffer_count == run->buffer_capacity) {
        run->buffer_capacity = run->buffer_capacity ? 2 * run->buffer_capacity : 8;
        run->buffers = heap_resize(run->buffers, run->buffer_capacity, sizeof *run->buffers);
    }
    run->buffers[run->buffer_count++] = (struct operator_buffer){buffer, bytes};
    return buffer;
}

static void add_timing(struct operator_run *run, const char *what, int64_t bytes, cl_event event)
{
    struct failure *failure = &run->accelerator->failure;
    struct timing *timing = run->job->timing;
    cl_ulong start = 0, end = 0;

    if (timing && run->accelerator->queue == run->accelerator->queues[true] &&
        cl_ok(failure, "clGetEventProfilingInfo",
              clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL)) &&
        cl_ok(failure, "clGetEventProfilingInfo",
              clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL)))
        timing_add(timing, PHASE_KERNEL, arena_printf(timing->arena, "%s: %s", run->title, what),
                   (int64_t)(end - start), bytes);
}

static bool set_arguments(struct operator_run *run, size_t kernel, const struct operator_argument *arguments,
                          size_t count)
{
    struct failure *failure = &run->accelerator->failure;

    for (size_t k = 0; k < count; k++)
        cl_ok(failure, "clSetKernelArg",
              clSetKernelArg(run->program->kernels[kernel], (cl_uint)k, arguments[k].size, arguments[k].bytes));
    return !failure->call;
}

/* Waits for the kernels that have been enqueued. */
static void settle(struct operator_run *run)
{
    for (size_t k = 0; k < run->launch_count; k++) {
        const struct operator_launch *launch = &run->launches[k];
        if (cl_ok(&run->accelerator->failure, "clWaitForEvents", clWaitForEvents(1, &launch->event)))
            add_timing(run, launch->what, launch->bytes, launch->event);
        clReleaseEvent(launch->event);
    }
    run->launch_count = 0;
}

static void enqueue(struct operator_run *run, cl_kernel kernel, size_t global, size_t local, const char *what,
                    int64_t bytes)
{
    cl_event event;

    if (!cl_ok(&run->accelerator->failure, "clEnqueueNDRangeKernel",
               clEnqueueNDRangeKernel(run->accelerator->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event)))
        return;
    if (run->launch_count == run->launch_capacity) {
        run->launch_capacity = run->launch_capacity ? 2 * run->launch_capacity : 8;
        run->launches = heap_resize(run->launches, run->launch_capacity, sizeof *run->launches);
    }
    run->launches[run->launch_count++] = (struct operator_launch){event, what, bytes};
}

void operator_enqueue(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                      const struct operator_argument *arguments, size_t count, const char *what, int64_t bytes)
{
    if (run->accelerator->config->host_memory || operator_stopped(run) || !run->program->launched) {
        operator_run(run, kernel, groups, local, arguments, count, what, bytes);
        return;
    }
    if (groups > 0 && set_arguments(run, kernel, arguments, count))
        enqueue(run, run->program->kernels[kernel], groups * local, local, what, bytes);
}

void operator_run(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                  const struct operator_argument *arguments, size_t count, const char *what, int64_t bytes)
{
    struct thread_signals before;

    if (operator_stopped(run) || groups == 0 || !set_arguments(run, kernel, arguments, count))
        return;
    /* Drivers finish compiling in the first launches of a program. */
    const bool first = !run->program->launched;
    if (first)
        signals_hold_interrupt(&before);
    enqueue(run, run->program->kernels[kernel], groups * local, local, what, bytes);
    settle(run);
    if (first) {
        signals_restore(&run->accelerator->signals);
        signals_release(&before);
    }
}

void operator_read(struct operator_run *run, cl_mem buffer, size_t offset, size_t bytes, void *host)
{
    if (!operator_stopped(run) && bytes > 0)
        cl_ok(&run->accelerator->failure, "clEnqueueReadBuffer",
              clEnqueueReadBuffer(run->accelerator->queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL));
}

void operator_write(struct operator_run *run, cl_mem buffer, size_t offset, size_t bytes, const void *host)
{
    if (!operator_stopped(run) && bytes > 0)
        cl_ok(&run->accelerator->failure, "clEnqueueWriteBuffer",
              clEnqueueWriteBuffer(run->accelerator->queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL));
}

enum status operator_end(struct operator_run *run)
{
    struct accelerator *accelerator = run->accelerator;

    settle(run);
    memory_done(accelerator->memory, run->job->timing);
    for (size_t k = 0; k < run->buffer_count; k++)
        memory_buffer_release(accelerator->memory, run->buffers[k].buffer, run->buffers[k].bytes);
    free(run->buffers);
    free(run->launches);
    if (accelerator->failure.call)
        return cl_report(&accelerator->failure, accelerator->device.name, run->job->diags);
    if (run->unable)
        return STATUS_UNABLE;
    run->program->launched = true;
    return is_cancelled(run) ? STATUS_CANCELLED : STATUS_OK;
}
