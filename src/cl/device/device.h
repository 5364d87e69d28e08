/* Devices of all platforms that the OpenCL loader finds, and their properties. */
#ifndef RQL_CL_DEVICE_DEVICE_H
#define RQL_CL_DEVICE_DEVICE_H

#include "cl/device/error.h"
#include "cl/device/kernel_config.h"

struct device {
    cl_platform_id platform;
    cl_device_id id;
    size_t number; /* as in --device and .devices, from 1 */
    char name[128];
    char driver[160]; /* the platform's name and the driver's version */
    cl_device_type type;
    cl_uint units;
    cl_ulong memory, largest_buffer, local; /* bytes: of all buffers, of one, of the local memory of a group */
    size_t group;                           /* maximum work-items per group */
    size_t parameters;                      /* maximum bytes of kernel parameters */
    bool doubles, compiler, available, little_endian;
    bool long_atomics; /* atomic min and max of 64 bits: cl_khr_int64_extended_atomics */
    bool warps;        /* NVIDIA warps of 32 work-items, with inline PTX and forward progress of started groups */
};

/* All devices in the order of their numbers, to be freed; *count may be 0. `failure` is the first call that failed: a
 * broken platform does not hide the others. */
struct device *devices_find(size_t *count, struct failure *failure);

/* Appends "1: NAME (CPU)". */
void device_title(const struct device *device, struct strbuf *out);

/* What the device lacks: "no double precision: ..." (some queries do without); NULL: nothing. */
const char *device_lacks(const struct device *device);

/* Whether it can run rql's kernels. */
bool device_usable(const struct device *device);

/* Whether `choice` is "auto", "cpu", "gpu" or a number; and the device it selects, or NULL. */
bool device_choice_valid(const char *choice);
const struct device *device_choose(const char *choice, const struct device *devices, size_t count);

const struct kernel_config *device_kernel_config(const struct device *device);

/* Whether the system has a file of a GPU's kernel driver. Loads nothing. */
bool device_files_exist(void);

#endif
