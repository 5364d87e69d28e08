/* An opened device: what the files of the OpenCL backend share. */
#ifndef RQL_CL_DEVICE_ACCELERATOR_H
#define RQL_CL_DEVICE_ACCELERATOR_H

#include "cl/device/device.h"
#include "cl/device/signals.h"

#include <stdatomic.h>

struct cache;    /* program_cache.h */
struct compiler; /* compile_client.h */
struct memory;   /* memory.h */
struct programs; /* program.h */

struct accelerator {
    struct device device;
    const struct kernel_config *shape;
    struct signals signals; /* to be put back after compiling; as they are when it is opened, unless they are set */
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    struct failure failure;
    struct memory *memory;
    struct programs *programs;
    struct cache *cache;       /* of programs on disk, borrowed; or NULL */
    const char *no_cache;      /* why there is none, to be told when a program is built */
    struct compiler *compiler; /* NULL: programs are compiled in this process */
    bool no_wait;              /* no program is waited for; and if one is, the user may interrupt: */
    const atomic_int *cancel;  /* or NULL */
};

#endif
