/* Running a program's kernels on nothing. PoCL finishes compiling a kernel when it is first launched, for the size of
 * its work-groups; a program saved after that need not be compiled by whoever loads it. */
#ifndef RQL_CL_COMPILE_WARM_UP_H
#define RQL_CL_COMPILE_WARM_UP_H

#include "cl/device/device.h"

/* The option that a program is to be built with so that its kernels can be rehearsed. */
extern const char rehearse_option[];

/* Whether that is of use for a device. */
bool warm_up_pays(const struct device *device);

/* Launches each kernel once, a group of its own size, with zeroes for numbers and a spare buffer for all pointers: none
 * of ours has any rows to work on then. What cannot be launched is passed over. */
void warm_up(cl_context context, const struct device *device, cl_program program);

#endif
