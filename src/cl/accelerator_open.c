#include "cl/accelerator_open.h"

#include "cl/compile/compile_client.h"
#include "cl/compile/program.h"
#include "cl/memory/memory.h"

#include "base/heap.h"

#include <stdlib.h>

struct accelerator *accelerator_open(const struct device *device, const struct kernel_config *config,
                                     struct failure *failure)
{
    struct accelerator *accelerator = heap_array(1, sizeof *accelerator);
    cl_int code;
    accelerator->device = *device;
    accelerator->config = config;
    signals_record(&accelerator->signals);
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform, 0};
    accelerator->context = clCreateContext(properties, 1, &device->id, NULL, NULL, &code);
    if (cl_ok(failure, "clCreateContext", code)) {
        for (int timed = 0; timed < 2; timed++) {
            accelerator->queues[timed] =
                clCreateCommandQueue(accelerator->context, device->id, timed ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
            cl_ok(failure, "clCreateCommandQueue", code);
        }
        accelerator->queue = accelerator->queues[true];
    }
    accelerator->memory = memory_new(accelerator);
    accelerator->programs = programs_new();
    if (failure->call) {
        accelerator_close(accelerator);
        return NULL;
    }
    return accelerator;
}

void accelerator_set_timed(struct accelerator *accelerator, bool timed)
{
    if (accelerator->queue == accelerator->queues[timed])
        return;
    /* A failure comes again with the next command. */
    (void)clFinish(accelerator->queue);
    accelerator->queue = accelerator->queues[timed];
}

void accelerator_close(struct accelerator *accelerator)
{
    if (!accelerator)
        return;
    if (accelerator->queue)
        clFinish(accelerator->queue);
    programs_free(accelerator->programs);
    compiler_free(accelerator->compiler);
    memory_free(accelerator->memory);
    for (int timed = 0; timed < 2; timed++) {
        if (accelerator->queues[timed])
            clReleaseCommandQueue(accelerator->queues[timed]);
    }
    if (accelerator->context)
        clReleaseContext(accelerator->context);
    free(accelerator);
}
