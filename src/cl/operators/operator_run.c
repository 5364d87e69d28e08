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

enum status operator_end(struct operator_run *run)
{
    struct accelerator *accelerator = run->accelerator;

    memory_done(accelerator->memory, run->job->timing);
    for (size_t k = 0; k < run->buffer_count; k++)
        memory_buffer_release(accelerator->memory, run->buffers[k].buffer, run->buffers[k].bytes);
    free(run->buffers);
    if (accelerator->failure.call)
        return cl_report(&accelerator->failure, accelerator->device.name, run->job->diags);
    if (run->unable)
        return STATUS_UNABLE;
    run->program->launched = true;
    return is_cancelled(run) ? STATUS_CANCELLED : STATUS_OK;
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

/* Runs a kernel to its end. Drivers finish compiling in the first launches of a program. */
static bool enqueue(struct operator_run *run, cl_kernel kernel, size_t global, size_t local, cl_event *event)
{
    struct failure *failure = &run->accelerator->failure;
    struct thread_signals before;
    bool first = !run->program->launched;

    if (first)
        signals_hold_interrupt(&before);
    bool enqueued =
        cl_ok(failure, "clEnqueueNDRangeKernel",
              clEnqueueNDRangeKernel(run->accelerator->queue, kernel, 1, NULL, &global, &local, 0, NULL, event));
    bool done = enqueued && cl_ok(failure, "clWaitForEvents", clWaitForEvents(1, event));
    if (first) {
        signals_restore(&run->accelerator->signals);
        signals_release(&before);
    }
    if (enqueued && !done)
        clReleaseEvent(*event);
    return done;
}

void operator_run(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                  const struct operator_argument *arguments, size_t count, const char *what, int64_t bytes)
{
    struct failure *failure = &run->accelerator->failure;
    cl_event event;

    if (operator_stopped(run) || groups == 0)
        return;
    for (size_t k = 0; k < count; k++)
        cl_ok(failure, "clSetKernelArg",
              clSetKernelArg(run->program->kernels[kernel], (cl_uint)k, arguments[k].size, arguments[k].bytes));
    if (failure->call || !enqueue(run, run->program->kernels[kernel], groups * local, local, &event))
        return;
    add_timing(run, what, bytes, event);
    clReleaseEvent(event);
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
