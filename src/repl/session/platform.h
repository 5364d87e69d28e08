/* The process-wide state that main provides to a session, and access to devices. */
#ifndef RQL_REPL_SESSION_PLATFORM_H
#define RQL_REPL_SESSION_PLATFORM_H

#include "engine/backend/backend.h"
#include "engine/storage/mapped_file.h"

#include <stdatomic.h>

struct table_source; /* engine/formats/open_file.h */

struct platform {
    struct mappings *mappings;
    atomic_int *cancel;      /* set by Ctrl-C; cleared by the prompt */
    const atomic_int *leave; /* SIGTERM or SIGHUP if one was caught, else 0 */
    int signals;             /* a non-blocking pipe: one byte, the number, for each signal caught */
    struct backend *(*open_device)(const char *choice);
    void (*describe_devices)(struct strbuf *out);
    const struct table_source *tables; /* on servers; may be NULL */
    bool expects_gpu;                  /* the system seems to have a GPU; OpenCL has not been queried */
};

#endif
