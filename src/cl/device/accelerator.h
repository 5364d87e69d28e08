/* An opened device: the state shared by the OpenCL backend. */
#ifndef RQL_CL_DEVICE_ACCELERATOR_H
#define RQL_CL_DEVICE_ACCELERATOR_H

#include "cl/device/device.h"
#include "cl/device/signals.h"

#include <stdatomic.h>

struct cache;     /* program_cache.h */
struct compiler;  /* compile_client.h */
struct memory;    /* memory.h */
struct pocl_home; /* pocl_home.h */
struct programs;  /* program.h */

struct accelerator {
    struct device device;
    const struct kernel_config *config;
    struct signals signals; /* restored after compiling */
    cl_context context;
    cl_command_queue queue;     /* in order; one of: */
    cl_command_queue queues[2]; /* without and with profiling (queues[true]), which makes commands slower */
    struct failure failure;
    struct memory *memory;
    struct programs *programs;
    struct cache *cache;          /* the program cache, borrowed; may be NULL */
    const char *no_cache;         /* why there is none, reported when a program is compiled */
    const struct pocl_home *home; /* where a CPU's driver writes programs; NULL for other devices */
    struct compiler *compiler;    /* NULL: programs are compiled in this process */
    bool no_wait;                 /* do not wait for compilation; if false, a wait can be cancelled by: */
    const atomic_int *cancel;     /* or NULL */
};

#endif
