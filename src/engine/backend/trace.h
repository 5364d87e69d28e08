/* What each task of a queue took, for `explain run`. */
#ifndef RQL_ENGINE_BACKEND_TRACE_H
#define RQL_ENGINE_BACKEND_TRACE_H

#include "base/timing.h"
#include "engine/plan/task.h"

struct phase_times {
    int64_t ns[PHASE_COUNT];
    int64_t bytes;          /* read and written while kernels ran */
    int64_t zones, skipped; /* as in struct timing */
};

struct task_trace {
    const char *title;         /* its stages */
    const char *where;         /* the backends that ran it: "host", "gpu", "host, gpu"; "" if nothing had to run */
    int64_t rows_in, rows_out; /* rows_out -1: one value */
    int64_t ns;
    struct phase_times times;
};

struct run_trace {
    struct arena *arena;
    struct task_trace *tasks;
    size_t count, capacity;
    bool exact;         /* a task was flagged, and the exact evaluator took over */
    const char *ran[4]; /* the backends of the task that is running */
    size_t ran_count;
};

/* The times of all phases so far; `timing` may be NULL. */
struct phase_times trace_times(const struct timing *timing);

/* Notes that a backend runs rows of the current task; `trace` may be NULL. */
void trace_ran(struct run_trace *trace, const char *name);

/* Adds a task that took `ns` and what was added to the timing since `before`. The caller sets its rows. */
struct task_trace *trace_add(struct run_trace *trace, const struct task *task, int64_t ns,
                             const struct phase_times *before, const struct timing *timing);

#endif
