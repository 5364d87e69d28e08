/* What the process as a whole lends to its OpenCL backends; it outlives them and their threads. */
#ifndef RQL_CL_COMPILE_OPENCL_PROCESS_H
#define RQL_CL_COMPILE_OPENCL_PROCESS_H

#include "cl/compile/program_cache.h"
#include "cl/device/pocl_home.h"
#include "cl/device/signals.h"

#include <stdatomic.h>

enum { COMPILE_LIMIT_SECONDS = 60 };

struct opencl_process {
    struct signals signals; /* handlers as they were before any driver */
    atomic_int starting;    /* threads inside a driver that starts. While there is one the process must end by _exit:
                               what runs at an ordinary exit would wait for it, or take the driver's libraries from it */
    const char *executable; /* compiles programs when run with compile_role; NULL: this process does */

    /* Made when the first device is to be started. */
    bool prepared;
    char *directory;     /* of what is kept; NULL: */
    char *no_directory;  /* why there is none, to be told when something would have been kept */
    struct cache *cache; /* of programs, or NULL */
    struct pocl_home home;
};

/* Handlers are recorded, and nothing else. */
void opencl_process_open(struct opencl_process *process, const char *executable);

/* Makes the directories, once, on the main thread and before a driver is loaded. */
void opencl_process_prepare(struct opencl_process *process);

/* The cache of programs below a directory; NULL with the errno. */
struct cache *opencl_process_open_cache(const char *directory, int *problem);

/* Removes what is not to be kept. All backends are closed; a driver may still be starting. */
void opencl_process_close(struct opencl_process *process);

#endif
