/* Whether a backend is ready to run a task. */
#ifndef RQL_ENGINE_BACKEND_READINESS_H
#define RQL_ENGINE_BACKEND_READINESS_H

/* How far a backend is with getting ready for a task. */
enum readiness {
    BACKEND_READY,   /* `prepare` will not wait */
    BACKEND_PENDING, /* it is at it, on other threads or in other processes: ask again later */
    BACKEND_UNABLE   /* it cannot run the task; `prepare` says why */
};

#endif
