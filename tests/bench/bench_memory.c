/* Measures device memory bandwidth in GB/s, best of ten: of a copy between two buffers (read and written) and of a
 * read-only kernel. bench_gpu.sh compares rql's kernels with these.
 *
 *   bench_memory [MEGABYTES]      size of each buffer, default 4000; uses the first GPU
 */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10, MOST_PLATFORMS = 16, GROUP = 512, GROUPS_A_UNIT = 64 };

/* Fastest read measured on an H200: 16 bytes per load, four loads in flight, work-groups of 512. */
static const char reader[] = "__kernel __attribute__((reqd_work_group_size(512, 1, 1)))\n"
                             "void read(__global const uint4 *a, __global const uint4 *b, ulong count,\n"
                             "          __global uint *out)\n"
                             "{\n"
                             "    uint4 seen = 0;\n"
                             "    ulong i = get_group_id(0) * 2048ul + get_local_id(0);\n"
                             "    for (; i + 1536 < count; i += get_num_groups(0) * 2048ul)\n"
                             "        for (uint j = 0; j < 2048; j += 512)\n"
                             "            seen ^= a[i + j] ^ b[i + j];\n"
                             "    if ((seen.x ^ seen.y ^ seen.z ^ seen.w) == 1)\n"
                             "        *out = 1;\n"
                             "}\n";

static void need(cl_int code, const char *call)
{
    if (code != CL_SUCCESS) {
        fprintf(stderr, "bench_memory: %s gave %d\n", call, code);
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
    fprintf(stderr, "bench_memory: there is no GPU\n");
    exit(1);
}

/* Waits for the command; returns its device seconds. */
static double seconds_of(cl_event event)
{
    cl_ulong start, end;
    need(clWaitForEvents(1, &event), "clWaitForEvents");
    need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL),
         "clGetEventProfilingInfo");
    need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "clGetEventProfilingInfo");
    clReleaseEvent(event);
    return (double)(end - start) * 1e-9;
}

static double copy_seconds(cl_command_queue queue, cl_mem from, cl_mem to, size_t bytes)
{
    cl_event event;
    need(clEnqueueCopyBuffer(queue, from, to, 0, 0, bytes, 0, NULL, &event), "clEnqueueCopyBuffer");
    return seconds_of(event);
}

static cl_kernel make_reader(cl_context context, cl_device_id device, cl_mem a, cl_mem b, size_t bytes)
{
    const char *text = reader;
    cl_ulong count = bytes / 16;
    cl_int code;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &code);
    need(code, "clCreateProgramWithSource");
    need(clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "read", &code);
    need(code, "clCreateKernel");
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_uint), NULL, &code);
    need(code, "clCreateBuffer");
    need(clSetKernelArg(kernel, 0, sizeof a, &a), "clSetKernelArg");
    need(clSetKernelArg(kernel, 1, sizeof b, &b), "clSetKernelArg");
    need(clSetKernelArg(kernel, 2, sizeof count, &count), "clSetKernelArg");
    need(clSetKernelArg(kernel, 3, sizeof out, &out), "clSetKernelArg");
    return kernel;
}

static double read_seconds(cl_command_queue queue, cl_kernel kernel, cl_uint units)
{
    size_t local = GROUP, global = (size_t)units * GROUPS_A_UNIT * GROUP;
    cl_event event;
    need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, &event), "clEnqueueNDRangeKernel");
    return seconds_of(event);
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

    cl_uint units;
    need(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL), "clGetDeviceInfo");
    cl_kernel kernel = make_reader(context, device, from, to, bytes);
    double copied = copy_seconds(queue, from, to, bytes), read = read_seconds(queue, kernel, units);
    for (int round = 1; round < ROUNDS; round++) {
        double copying = copy_seconds(queue, from, to, bytes), reading = read_seconds(queue, kernel, units);
        copied = copying < copied ? copying : copied;
        read = reading < read ? reading : read;
    }
    printf("%.1f %.1f\n", 2.0 * (double)bytes / copied / 1e9, 2.0 * (double)bytes / read / 1e9);
    return 0;
}
