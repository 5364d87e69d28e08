/* What the process as a whole lends to its OpenCL backends; it outlives them and their threads. */
#ifndef RQL_CL_SITE_H
#define RQL_CL_SITE_H

#include "signals.h"

#include <stdatomic.h>

struct site {
    struct signals signals; /* handlers as they were before any driver */
    atomic_int starting;    /* threads inside a driver that starts. While there is one the process must end by _exit:
                               what runs at an ordinary exit would wait for it, or take the driver's libraries from it */
};

#endif
