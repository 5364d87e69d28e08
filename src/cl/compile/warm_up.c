#include "cl/compile/warm_up.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

const char warm_up_option[] = " -cl-kernel-arg-info";

enum {
    SCRATCH_BYTES = 1 << 20, /* more than a kernel writes for no rows */
    LOCAL_BYTES = 1 << 12,   /* likewise */
    LARGEST_SCALAR = 128     /* sixteen numbers of eight bytes */
};

bool warm_up_pays(const struct device *device)
{
    return (device->type & CL_DEVICE_TYPE_CPU) != 0;
}

/* The size of a scalar or vector type; 0 for others. */
static size_t size_of_type(const char *name)
{
    static const struct {
        const char *name;
        size_t size;
    } scalars[] = {{"char", 1},   {"short", 2}, {"int", 4},    {"long", 8}, {"float", 4},
                   {"double", 8}, {"half", 2},  {"size_t", 8}, {"bool", 1}};

    name += name[0] == 'u' ? 1 : 0;
    for (size_t k = 0; k < sizeof scalars / sizeof *scalars; k++) {
        const size_t length = strlen(scalars[k].name);
        if (strncmp(name, scalars[k].name, length) != 0)
            continue;
        const unsigned long lanes = name[length] ? strtoul(name + length, NULL, 10) : 1;
        return lanes <= 16 ? scalars[k].size * (lanes == 3 ? 4 : lanes) : 0;
    }
    return 0;
}

static bool set_argument(cl_kernel kernel, cl_uint k, cl_mem scratch)
{
    static const char zeroes[LARGEST_SCALAR];
    cl_kernel_arg_address_qualifier space;
    char type[64] = "";
    if (clGetKernelArgInfo(kernel, k, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, NULL) != CL_SUCCESS ||
        clGetKernelArgInfo(kernel, k, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, NULL) != CL_SUCCESS)
        return false;
    if (space == CL_KERNEL_ARG_ADDRESS_GLOBAL || space == CL_KERNEL_ARG_ADDRESS_CONSTANT)
        return clSetKernelArg(kernel, k, sizeof scratch, &scratch) == CL_SUCCESS;
    if (space == CL_KERNEL_ARG_ADDRESS_LOCAL)
        return clSetKernelArg(kernel, k, LOCAL_BYTES, NULL) == CL_SUCCESS;
    const size_t size = space == CL_KERNEL_ARG_ADDRESS_PRIVATE ? size_of_type(type) : 0;
    return size > 0 && clSetKernelArg(kernel, k, size, zeroes) == CL_SUCCESS;
}

static void warm_up_kernel(cl_command_queue queue, cl_kernel kernel, const struct device *device, cl_mem scratch)
{
    size_t group[3] = {0};
    cl_uint count = 0;
    bool set = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, NULL) == CL_SUCCESS &&
               clGetKernelWorkGroupInfo(kernel, device->id, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof group, group,
                                        NULL) == CL_SUCCESS &&
               group[0] > 0;
    for (cl_uint k = 0; k < count && set; k++)
        set = set_argument(kernel, k, scratch);
    if (set && clEnqueueNDRangeKernel(queue, kernel, 1, NULL, group, group, 0, NULL, NULL) == CL_SUCCESS)
        clFinish(queue);
}

void warm_up(cl_context context, const struct device *device, cl_program program)
{
    cl_int code;
    cl_uint count = 0;
    cl_command_queue queue = clCreateCommandQueue(context, device->id, 0, &code);
    cl_mem scratch = queue ? clCreateBuffer(context, CL_MEM_READ_WRITE, SCRATCH_BYTES, NULL, &code) : NULL;
    if (scratch && clCreateKernelsInProgram(program, 0, NULL, &count) == CL_SUCCESS && count > 0) {
        cl_kernel *kernels = heap_array(count, sizeof(cl_kernel));
        if (clCreateKernelsInProgram(program, count, kernels, NULL) == CL_SUCCESS) {
            for (cl_uint k = 0; k < count; k++) {
                warm_up_kernel(queue, kernels[k], device, scratch);
                clReleaseKernel(kernels[k]);
            }
        }
        free(kernels);
    }
    if (scratch)
        clReleaseMemObject(scratch);
    if (queue)
        clReleaseCommandQueue(queue);
}
