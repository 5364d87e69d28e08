/* The OpenCL backend: devices of all platforms, each a struct backend. */
#ifndef RQL_CL_CL_H
#define RQL_CL_CL_H

#include "cl/compile/opencl_process.h"

#include "engine/backend/backend.h"

/* A backend for the device that `choice` names: "auto" (a GPU if there is one, else a CPU device), "cpu", "gpu", or a
 * number as listed by cl_describe. OpenCL starts at the first begin or prepare, on a thread of its own. If there is no
 * such device then, "auto" returns STATUS_UNABLE with a note, any other choice STATUS_FAILED with a list of devices.
 * NULL if `choice` is invalid. `process` is NULL in a process with one backend that ends by returning from main. */
struct backend *cl_open(const char *choice, struct opencl_process *process);

/* Writes the numbers of at most `most` usable devices and returns how many. Starts OpenCL. */
size_t cl_numbers(size_t *numbers, size_t most, struct opencl_process *process);

/* Appends a line for each device (number, name, kind, driver, memory, compute units, what it lacks), and what to
 * install if there is none. Starts OpenCL. */
void cl_describe(struct strbuf *out, struct opencl_process *process);

/* Whether the system seems to have a GPU, by its device files; OpenCL is not queried. */
bool cl_expects_gpu(void);

#endif
