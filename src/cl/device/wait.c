#include "cl/device/wait.h"

#include "base/timing.h"

#include <sched.h>

cl_int wait_for_command(const struct accelerator *accelerator, cl_event event)
{
    enum { PATIENCE_NS = 3000000 };
    cl_int status = CL_QUEUED, code = CL_SUCCESS;
    if (!accelerator->config->host_memory) {
        const int64_t began = now_ns();
        code = clFlush(accelerator->queue);
        while (code == CL_SUCCESS && status > CL_COMPLETE && now_ns() - began < PATIENCE_NS) {
            code = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
            sched_yield();
        }
    }
    if (code == CL_SUCCESS)
        code = clWaitForEvents(1, &event);
    if (code != CL_SUCCESS)
        (void)clFinish(accelerator->queue);
    return code;
}

cl_int wait_for_queue(cl_command_queue queue)
{
    const cl_int code = clFinish(queue);
    if (code != CL_SUCCESS)
        (void)clFinish(queue);
    return code;
}
