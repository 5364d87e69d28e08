/* Whether a backend is ready to run a task. */
#ifndef RQL_ENGINE_BACKEND_READINESS_H
#define RQL_ENGINE_BACKEND_READINESS_H

enum readiness {
    BACKEND_READY,   /* `prepare` will not wait */
    BACKEND_PENDING, /* being prepared by other threads or processes: query again later */
    BACKEND_UNABLE   /* it cannot run the task; `prepare` says why */
};

#endif
