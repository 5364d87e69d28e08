#include "cl/operators/operator_run.h"

#include "base/heap.h"
#include "engine/plan/task_title.h"

#include <stdlib.h>

struct tool tool_begin(struct accelerator *accelerator, const struct break_job *job, const char *text,
                       const char *const *names, size_t count)
{
    int64_t began = now_ns();
    struct program *program = program_of_text(accelerator, text, names, count, job->diags);

    if (program)
        timing_add(job->timing, PHASE_BUILD, program->launched ? "cached" : stages_title(job->task, job->diags->arena),
                   now_ns() - began, 0);
    return (struct tool){
        .accelerator = accelerator,
        .job = job,
        .program = program,
        .title = stages_title(job->task, job->diags->arena),
        .unable = !program,
    };
}

static bool is_cancelled(const struct tool *tool)
{
    return tool->job->cancel && *tool->job->cancel;
}

bool tool_stopped(const struct tool *tool)
{
    return tool->unable || tool->accelerator->failure.call || is_cancelled(tool);
}

enum status tool_end(struct tool *tool)
{
    struct accelerator *accelerator = tool->accelerator;

    memory_done(accelerator->memory, tool->job->timing);
    for (size_t k = 0; k < tool->buffer_count; k++)
        memory_buffer_release(accelerator->memory, tool->buffers[k].buffer, tool->buffers[k].bytes);
    free(tool->buffers);
    if (accelerator->failure.call)
        return cl_report(&accelerator->failure, accelerator->device.name, tool->job->diags);
    if (tool->unable)
        return STATUS_UNABLE;
    tool->program->launched = true;
    return is_cancelled(tool) ? STATUS_CANCELLED : STATUS_OK;
}

cl_mem tool_buffer(struct tool *tool, size_t bytes)
{
    cl_mem buffer = tool_stopped(tool) ? NULL : memory_buffer(tool->accelerator->memory, bytes);

    if (!buffer)
        return NULL;
    if (tool->buffer_count == tool->buffer_capacity) {
        tool->buffer_capacity = tool->buffer_capacity ? 2 * tool->buffer_capacity : 8;
        tool->buffers = heap_resize(tool->buffers, tool->buffer_capacity, sizeof *tool->buffers);
    }
    tool->buffers[tool->buffer_count++] = (struct tool_buffer){buffer, bytes};
    return buffer;
}

static void add_timing(struct tool *tool, const char *what, int64_t bytes, cl_event event)
{
    struct failure *failure = &tool->accelerator->failure;
    struct timing *timing = tool->job->timing;
    cl_ulong start = 0, end = 0;

    if (timing &&
        cl_ok(failure, "clGetEventProfilingInfo",
              clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL)) &&
        cl_ok(failure, "clGetEventProfilingInfo",
              clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL)))
        timing_add(timing, PHASE_KERNEL, arena_printf(timing->arena, "%s: %s", tool->title, what),
                   (int64_t)(end - start), bytes);
}

/* Whether the kernel ran to its end. The first launches of a program are when drivers finish compiling. */
static bool enqueue(struct tool *tool, cl_kernel kernel, size_t global, size_t local, cl_event *event)
{
    struct failure *failure = &tool->accelerator->failure;
    struct thread_signals before;
    bool first = !tool->program->launched;

    if (first)
        signals_hold_interrupt(&before);
    bool enqueued =
        cl_ok(failure, "clEnqueueNDRangeKernel",
              clEnqueueNDRangeKernel(tool->accelerator->queue, kernel, 1, NULL, &global, &local, 0, NULL, event));
    bool done = enqueued && cl_ok(failure, "clWaitForEvents", clWaitForEvents(1, event));
    if (first) {
        signals_put_back(&tool->accelerator->signals);
        signals_release(&before);
    }
    if (enqueued && !done)
        clReleaseEvent(*event);
    return done;
}

void tool_run(struct tool *tool, size_t kernel, size_t groups, size_t local, const struct tool_argument *arguments,
              size_t count, const char *what, int64_t bytes)
{
    struct failure *failure = &tool->accelerator->failure;
    cl_event event;

    if (tool_stopped(tool) || groups == 0)
        return;
    for (size_t k = 0; k < count; k++)
        cl_ok(failure, "clSetKernelArg",
              clSetKernelArg(tool->program->kernels[kernel], (cl_uint)k, arguments[k].size, arguments[k].bytes));
    if (failure->call || !enqueue(tool, tool->program->kernels[kernel], groups * local, local, &event))
        return;
    add_timing(tool, what, bytes, event);
    clReleaseEvent(event);
}

void tool_read(struct tool *tool, cl_mem buffer, size_t offset, size_t bytes, void *host)
{
    if (!tool_stopped(tool) && bytes > 0)
        cl_ok(&tool->accelerator->failure, "clEnqueueReadBuffer",
              clEnqueueReadBuffer(tool->accelerator->queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL));
}

void tool_write(struct tool *tool, cl_mem buffer, size_t offset, size_t bytes, const void *host)
{
    if (!tool_stopped(tool) && bytes > 0)
        cl_ok(&tool->accelerator->failure, "clEnqueueWriteBuffer",
              clEnqueueWriteBuffer(tool->accelerator->queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL));
}
