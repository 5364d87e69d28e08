/* Runs a program's kernels on no data. PoCL finishes compiling a kernel at its first launch with a work-group size; a
 * binary saved after that needs no compilation when loaded. */
#ifndef RQL_CL_COMPILE_WARM_UP_H
#define RQL_CL_COMPILE_WARM_UP_H

#include "cl/device/device.h"

/* The build option that warm_up needs, to query kernel arguments. */
extern const char warm_up_option[];

/* Whether warming up pays on this device. */
bool warm_up_pays(const struct device *device);

/* Launches each kernel once with one work-group, zeroes for numbers and a scratch buffer for all pointers, so that
 * kernels have no rows to process. Kernels that cannot be launched are skipped. */
void warm_up(cl_context context, const struct device *device, cl_program program);

#endif
