#include "cl/operators/operator_run.h"

#include "cl/device/wait.h"

#include "base/heap.h"
#include "engine/plan/task_title.h"

#include <stdlib.h>
#include <string.h>

struct operator_run operator_begin(struct accelerator *accelerator, const struct operator_job *job, const char *text,
                                   const char *const *names, size_t count)
{
    const int64_t began = now_ns();
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
    *HEAP_PUSH(run->buffers, run->buffer_count, run->buffer_capacity) = (struct operator_buffer){buffer, bytes};
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

struct operator_argument {
    size_t size;
    const void *bytes;
};

void argument_add(struct arguments *arguments, size_t size, const void *bytes)
{
    arguments->at =
        arena_reserve(arguments->arena, arguments->at, arguments->count, &arguments->capacity, sizeof *arguments->at);
    void *copy = NULL;
    if (bytes) {
        copy = arena_alloc(arguments->arena, size);
        memcpy(copy, bytes, size);
    }
    arguments->at[arguments->count++] = (struct operator_argument){size, copy};
}

void argument_buffer(struct arguments *arguments, cl_mem buffer)
{
    argument_add(arguments, sizeof buffer, &buffer);
}

void argument_uint(struct arguments *arguments, uint64_t number)
{
    cl_uint bits = (cl_uint)number;
    argument_add(arguments, sizeof bits, &bits);
}

void argument_ulong(struct arguments *arguments, uint64_t number)
{
    cl_ulong bits = number;
    argument_add(arguments, sizeof bits, &bits);
}

struct arguments arguments_copy(const struct arguments *arguments)
{
    struct arguments copy = *arguments;
    copy.at = arena_grow(copy.arena, copy.at, copy.count, copy.capacity, sizeof *copy.at);
    return copy;
}

void argument_view(struct arguments *arguments, const struct view *view)
{
    argument_buffer(arguments, view->buffer);
    argument_ulong(arguments, view->first);
}

static bool set_arguments(struct operator_run *run, size_t kernel, const struct arguments *arguments)
{
    struct failure *failure = &run->accelerator->failure;
    for (size_t k = 0; k < arguments->count; k++)
        cl_ok(failure, "clSetKernelArg",
              clSetKernelArg(run->program->kernels[kernel], (cl_uint)k, arguments->at[k].size, arguments->at[k].bytes));
    return !failure->call;
}

/* Waits for the last kernel that has been enqueued, and thereby for all. */
static void settle(struct operator_run *run)
{
    struct failure *failure = &run->accelerator->failure;
    bool done =
        run->launch_count > 0 && cl_ok(failure, "clWaitForEvents",
                                       wait_for_command(run->accelerator, run->launches[run->launch_count - 1].event));
    for (size_t k = 0; k < run->launch_count; k++) {
        const struct operator_launch *launch = &run->launches[k];
        if (done)
            add_timing(run, launch->what, launch->bytes, launch->event);
        clReleaseEvent(launch->event);
    }
    if (run->uploading)
        cl_ok(failure, "clFinish", wait_for_queue(run->accelerator->queue));
    run->uploading = false;
    run->launch_count = 0;
}

static void enqueue(struct operator_run *run, cl_kernel kernel, size_t global, size_t local, const char *what,
                    int64_t bytes)
{
    cl_event event;
    if (!cl_ok(&run->accelerator->failure, "clEnqueueNDRangeKernel",
               clEnqueueNDRangeKernel(run->accelerator->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event)))
        return;
    *HEAP_PUSH(run->launches, run->launch_count, run->launch_capacity) = (struct operator_launch){event, what, bytes};
    run->uploading = false; /* who waits for the kernel waits for what precedes it */
}

void operator_enqueue(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                      const struct arguments *arguments, const char *what, int64_t bytes)
{
    if (run->accelerator->config->host_memory || operator_stopped(run) || !run->program->launched) {
        operator_run(run, kernel, groups, local, arguments, what, bytes);
        return;
    }
    if (groups > 0 && set_arguments(run, kernel, arguments))
        enqueue(run, run->program->kernels[kernel], groups * local, local, what, bytes);
}

void operator_run(struct operator_run *run, size_t kernel, size_t groups, size_t local,
                  const struct arguments *arguments, const char *what, int64_t bytes)
{
    struct thread_signals before;
    if (operator_stopped(run) || groups == 0 || !set_arguments(run, kernel, arguments))
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

/* Through pinned memory, which a read need not wait for. */
static cl_int read_pinned(const struct accelerator *accelerator, cl_mem buffer, size_t bytes, void *host)
{
    void *pinned = memory_pinned(accelerator->memory, bytes);
    cl_event event;
    cl_int code = clEnqueueReadBuffer(accelerator->queue, buffer, CL_FALSE, 0, bytes, pinned, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return code;
    code = wait_for_command(accelerator, event);
    clReleaseEvent(event);
    if (code == CL_SUCCESS)
        memcpy(host, pinned, bytes);
    return code;
}

void operator_read(struct operator_run *run, cl_mem buffer, size_t bytes, void *host)
{
    enum { MOST_PINNED = 1 << 20 };
    struct accelerator *accelerator = run->accelerator;
    if (operator_stopped(run) || bytes == 0)
        return;
    cl_ok(&accelerator->failure, "clEnqueueReadBuffer",
          bytes <= MOST_PINNED
              ? read_pinned(accelerator, buffer, bytes, host)
              : clEnqueueReadBuffer(accelerator->queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
}

uint32_t operator_sum_exclusive(struct operator_run *run, cl_mem buffer, size_t count)
{
    cl_uint *counts = heap_array(count, sizeof *counts), sum = 0;
    operator_read(run, buffer, count * sizeof *counts, counts);
    for (size_t k = 0; k < count; k++) {
        const cl_uint own = counts[k];
        counts[k] = sum;
        sum += own;
    }
    operator_write(run, buffer, count * sizeof *counts, counts);
    free(counts);
    return operator_stopped(run) ? 0 : sum;
}

bool operator_raised(struct operator_run *run, cl_mem flag)
{
    static const cl_int none = 0;
    cl_int raised = 0;
    operator_read(run, flag, sizeof raised, &raised);
    if (raised)
        operator_write(run, flag, sizeof none, &none);
    return raised != 0;
}

void operator_upload(struct operator_run *run, cl_mem buffer, size_t bytes, const void *host)
{
    if (operator_stopped(run) || bytes == 0)
        return;
    run->uploading = true;
    cl_ok(&run->accelerator->failure, "clEnqueueWriteBuffer",
          clEnqueueWriteBuffer(run->accelerator->queue, buffer, CL_FALSE, 0, bytes, host, 0, NULL, NULL));
}

void operator_write(struct operator_run *run, cl_mem buffer, size_t bytes, const void *host)
{
    if (!operator_stopped(run) && bytes > 0)
        cl_ok(&run->accelerator->failure, "clEnqueueWriteBuffer",
              clEnqueueWriteBuffer(run->accelerator->queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL));
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
