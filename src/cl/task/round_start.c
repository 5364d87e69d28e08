#include "cl/task/round_steps.h"

#include "cl/codegen/round_text.h"

#include "engine/storage/residency.h"

/* The host converts few bytes that it has, since a program would have to be built, and sends very few as they are,
 * since a buffer of their own and a copy would take longer. */
enum { FEW_BYTES = 1 << 20, VERY_FEW_BYTES = 1 << 16 };

static bool copy(struct backend_rounds *rounds, const struct view *from, const struct view *to, size_t size,
                 int64_t rows)
{
    struct accelerator *accelerator = rounds->accelerator;
    return cl_ok(&accelerator->failure, "clEnqueueCopyBuffer",
                 clEnqueueCopyBuffer(accelerator->queue, from->buffer, to->buffer, from->first * size, to->first * size,
                                     (size_t)rows * size, 0, NULL, NULL));
}

static bool convert(struct backend_rounds *rounds, enum type from, const struct view *in, enum type to,
                    const struct view *out, int64_t rows)
{
    static const char *const names[] = {"convert"};
    struct accelerator *accelerator = rounds->accelerator;
    struct failure *failure = &accelerator->failure;
    const cl_ulong count = (cl_ulong)rows;
    const size_t local = accelerator->config->group,
                 global = local * accelerator->config->groups * accelerator->device.units;
    struct program *program = program_of_text(
        accelerator, round_convert(type_table[from].cl, type_table[to].cl, rounds->arena), names, 1, rounds->job.diags);
    if (!program)
        return false;
    cl_kernel kernel = program->kernels[0];
    return cl_ok(failure, "clSetKernelArg", clSetKernelArg(kernel, 0, sizeof in->buffer, &in->buffer)) &&
           cl_ok(failure, "clSetKernelArg", clSetKernelArg(kernel, 1, sizeof in->first, &in->first)) &&
           cl_ok(failure, "clSetKernelArg", clSetKernelArg(kernel, 2, sizeof out->buffer, &out->buffer)) &&
           cl_ok(failure, "clSetKernelArg", clSetKernelArg(kernel, 3, sizeof out->first, &out->first)) &&
           cl_ok(failure, "clSetKernelArg", clSetKernelArg(kernel, 4, sizeof count, &count)) &&
           cl_ok(failure, "clEnqueueNDRangeKernel",
                 clEnqueueNDRangeKernel(accelerator->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
}

static bool copy_on_host(struct backend_rounds *rounds, struct column *from, struct column *to, const struct view *view)
{
    struct accelerator *accelerator = rounds->accelerator;
    const size_t size = type_table[to->store].size, bytes = (size_t)to->rows * size;
    const int64_t began = now_ns();
    column_copy(to, from, to->rows);
    if (accelerator->config->host_memory)
        return true;
    if (!cl_ok(&accelerator->failure, "clEnqueueWriteBuffer",
               clEnqueueWriteBuffer(accelerator->queue, view->buffer, CL_FALSE, view->first * size, bytes, to->data, 0,
                                    NULL, NULL)))
        return false;
    timing_add(rounds->job.timing, PHASE_UPLOAD, type_table[to->store].name, now_ns() - began, (int64_t)bytes);
    return true;
}

bool round_start(struct backend_rounds *rounds, size_t k)
{
    struct column *from = rounds->job.start[k], *to = rounds->job.state[k];
    const struct view *out = rounds_view(rounds, to);
    const size_t size = type_table[to->store].size;
    const size_t bytes = (size_t)to->rows * size;
    const bool few = from->store == to->store ? bytes < VERY_FEW_BYTES && from->copies == 0 : bytes < FEW_BYTES;
    struct view in;
    if (few && !from->residency && !from->lost)
        return copy_on_host(rounds, from, to, out);
    if (!memory_input(rounds->accelerator->memory, from, 0, to->rows, rounds->job.timing, &in))
        return false;
    return from->store == to->store ? copy(rounds, &in, out, size, to->rows)
                                    : convert(rounds, from->store, &in, to->store, out, to->rows);
}
