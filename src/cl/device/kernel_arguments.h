/* Arguments of a kernel, set one after another. */
#ifndef RQL_CL_DEVICE_KERNEL_ARGUMENTS_H
#define RQL_CL_DEVICE_KERNEL_ARGUMENTS_H

#include "cl/device/error.h"

struct kernel_arguments {
    cl_kernel kernel;
    cl_uint next;            /* the number of the argument that is set next */
    struct failure *failure; /* of the first that could not be set */
};

/* Sets the next one, of `size` bytes. */
void kernel_argument(struct kernel_arguments *arguments, size_t size, const void *bytes);

#endif
