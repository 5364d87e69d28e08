/* What main lends the shell: the pieces that need process-wide state, and the way to devices. */
#ifndef RQL_REPL_SESSION_PLATFORM_H
#define RQL_REPL_SESSION_PLATFORM_H

#include "engine/backend/backend.h"
#include "engine/storage/mapped_file.h"

#include <stdatomic.h>

struct platform {
    struct mappings *mappings;
    atomic_int *cancel;      /* set by Ctrl-C; cleared by the prompt */
    const atomic_int *leave; /* the signal (TERM, HUP) that asks the whole shell to end, else 0 */
    int signals;             /* non-blocking: gives the number of each signal caught, a byte each */
    struct backend *(*open_device)(const char *choice);
    void (*describe_devices)(struct strbuf *out);
};

#endif
