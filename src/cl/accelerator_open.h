/* An opened device: what all of this folder's files share. */
#ifndef RQL_CL_ACCELERATOR_OPEN_H
#define RQL_CL_ACCELERATOR_OPEN_H

#include "cl/compile/compile_client.h"
#include "cl/device/device.h"
#include "cl/device/signals.h"

struct memory;   /* memory.h */
struct programs; /* program.h */

struct accelerator {
    struct device device;
    const struct shape *shape;
    struct signals signals; /* to be put back after compiling; as they are when it is opened, unless they are set */
    cl_context context;
    cl_command_queue queue; /* in order, with profiling */
    struct failure failure;
    struct memory *memory;
    struct programs *programs;
    struct cache *cache;       /* of programs on disk, borrowed; or NULL */
    const char *no_cache;      /* why there is none, to be told when a program is built */
    struct compiler *compiler; /* NULL: programs are compiled in this process */
    bool hasty;                /* no program is waited for; and if one is, the user may interrupt: */
    const atomic_int *cancel;  /* or NULL */
};

/* Opens the device with this shape; NULL and the failure if that does not work. */
struct accelerator *accelerator_open(const struct device *device, const struct shape *shape, struct failure *failure);
void accelerator_close(struct accelerator *accelerator);

#endif
