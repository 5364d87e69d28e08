/* What a device's memory can do: the GB/s, read and written, of its own copy from one buffer to another, best of ten.
 * The figure that rql's kernels on a GPU are measured against (bench_gpu.sh).
 *
 *   bench_copy [MEGABYTES]      4000 by default; the first GPU found
 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10, MOST_PLATFORMS = 16 };

static void need(cl_int code, const char *call)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "bench_copy: %s gave %d\n", call, code);
        exit(1);
    }
}

static cl_device_id first_gpu(void)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint count = 0;
    need(clGetPlatformIDs(MOST_PLATFORMS, platforms, &count), "clGetPlatformIDs");
    for (cl_uint k = 0; k < count && k < MOST_PLATFORMS; k++) {
        cl_device_id device;
        if (clGetDeviceIDs(platforms[k], CL_DEVICE_TYPE_GPU, 1, &device, NULL) == CL_SUCCESS)
            return device;
    }
    fprintf(stderr, "bench_copy: there is no GPU\n");
    exit(1);
}

static double copy_seconds(cl_command_queue queue, cl_mem from, cl_mem to, size_t bytes)
{
    cl_event event;
    cl_ulong start, end;
    need(clEnqueueCopyBuffer(queue, from, to, 0, 0, bytes, 0, NULL, &event), "clEnqueueCopyBuffer");
    need(clWaitForEvents(1, &event), "clWaitForEvents");
    need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
         "clGetEventProfilingInfo");
    need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "clGetEventProfilingInfo");
    clReleaseEvent(event);
    return (double)(end - start) * 1e-9;
}

int main(int argc, char **argv)
{
    size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 4000) * 1000000;
    cl_device_id device = first_gpu();
    cl_int code;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    need(code, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &code);
    need(code, "clCreateCommandQueue");
    cl_mem from = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    need(code, "clCreateBuffer");
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    need(code, "clCreateBuffer");
    static const cl_uint pattern = 0x2a;
    need(clEnqueueFillBuffer(queue, from, &pattern, sizeof pattern, 0, bytes, 0, NULL, NULL), "clEnqueueFillBuffer");

    double best = copy_seconds(queue, from, to, bytes);
    for (int round = 1; round < ROUNDS; round++) {
        double seconds = copy_seconds(queue, from, to, bytes);
        best = seconds < best ? seconds : best;
    }
    printf("%.1f\n", 2.0 * (double)bytes / best / 1e9);
    return 0;
}
