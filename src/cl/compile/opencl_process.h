/* Process-wide state of the OpenCL backends; outlives them and their threads. */
#ifndef RQL_CL_COMPILE_OPENCL_PROCESS_H
#define RQL_CL_COMPILE_OPENCL_PROCESS_H

#include "cl/compile/program_cache.h"
#include "cl/device/pocl_home.h"
#include "cl/device/signals.h"

#include <stdatomic.h>

enum { COMPILE_LIMIT_SECONDS = 60 };

struct opencl_process {
    struct signals signals; /* handlers before any driver was loaded */
    atomic_int starting;    /* threads inside a driver that starts. While there is one the process must end by _exit:
                               what runs at an ordinary exit would wait for it, or take the driver's libraries from it */
    const char *executable; /* compiles programs when run with compile_role; NULL: this process compiles */

    /* Created before the first device is started. */
    bool prepared;
    char *directory;     /* the cache directory; NULL: */
    char *no_directory;  /* why there is none, reported when a program is compiled */
    struct cache *cache; /* of programs, or NULL */
    struct pocl_home home;
};

/* Only records the signal handlers. */
void opencl_process_open(struct opencl_process *process, const char *executable);

/* Creates the directories once, on the main thread before a driver is loaded. */
void opencl_process_prepare(struct opencl_process *process);

/* The program cache in a subdirectory; NULL with the errno. */
struct cache *opencl_process_open_cache(const char *directory, int *problem);

/* Removes temporary files. All backends are closed; a driver may still be starting. */
void opencl_process_close(struct opencl_process *process);

#endif
