#include "cl/device/kernel_arguments.h"

void kernel_argument(struct kernel_arguments *arguments, size_t size, const void *bytes)
{
    cl_ok(arguments->failure, "clSetKernelArg", clSetKernelArg(arguments->kernel, arguments->next++, size, bytes));
}
