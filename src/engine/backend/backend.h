/* A backend runs one task over a range of rows. The evaluator is one, every OpenCL device is one; nothing above asks
 * which. The engine splits work into ranges, so that it can cancel, show progress and change backends between them. */
#ifndef RQL_ENGINE_BACKEND_BACKEND_H
#define RQL_ENGINE_BACKEND_BACKEND_H

#include "base/progress.h"
#include "base/timing.h"
#include "engine/backend/aggregate.h"
#include "engine/backend/readiness.h"
#include "engine/plan/task.h"

#include <stdatomic.h>

/* A task about to run: analysed (range_analysis.h, guard.h) and with its inputs at hand. */
struct job {
    const struct task *task;
    struct column *const *columns; /* the task's inputs in order; element 0 of the task is row task->first of each */
    int64_t rows;                  /* that the task reads in all: ROWS */
    int64_t begin, end; /* rows of the task to read: inputs' rows first+begin .. first+end-1; ROW is begin.. */
    int64_t until;      /* other backends have the rows from here on; 0: none of them */
    int64_t left_ns;    /* asked to get ready: of processors, what the rest would take without; 0: not known yet */
    struct timing *timing;
    struct progress *progress;  /* or NULL; told of pieces of a range by whoever cuts it into such */
    struct progress_step whole; /* the task, of which row r is part r / rows */
    const atomic_int *cancel;   /* becomes non-zero when the user interrupts */
    struct diags *diags;
};

/* Where the rows that pass go: columns[k] is output k (NULL if not needed), reserved for as many rows as the task
 * reads, `rows` of them written so far. Values are stored in columns[k]->store. */
struct row_sink {
    struct column **columns;
    int64_t rows;
};

/* A breaker about to run, on whole columns. */
struct operator_job {
    const struct task *task;
    struct column *const *inputs; /* of the task, in order; all of `rows` rows */
    int64_t rows;
    /* Of each output, NULL where not needed. Reserved by the caller where the number of rows is known before (scan,
     * sort, scatter, hist); of group and distinct made by the backend. A sort of which few rows are read
     * (operator_selects) may give no more than those, and that is what the host reserves. */
    struct column **results;
    int64_t *result_rows;
    struct buffer_pool *pool; /* for results and for memory that is used meanwhile, or NULL */
    bool hasty; /* STATUS_UNABLE, without a note, rather than wait for a device or a program to get ready */
    struct timing *timing;
    struct progress *progress;  /* or NULL */
    struct progress_step whole; /* the task */
    const atomic_int *cancel;
    struct diags *diags;
};

/* What the choice between backends (backend_choice.h) has to know of one. */
enum backend_class { CLASS_EVALUATOR, CLASS_CPU, CLASS_GPU };
struct profile {
    enum backend_class class;
    const char *identity; /* its device and driver: what has been measured is remembered under this */
    int units;            /* threads or compute units */
};

struct backend;

struct backend_ops {
    /* Begins to get ready for the task, never waiting for anything, and says how far that is; adds no notes. Another
     * task may be begun or prepared meanwhile. Without a job it gets ready for tasks in general: a device starts. */
    enum readiness (*begin)(struct backend *backend, const struct job *job);
    /* Gets ready for the task (builds its program), waiting as long as that takes; STATUS_UNABLE if this backend
     * cannot run it. */
    enum status (*prepare)(struct backend *backend, const struct job *job);
    /* The most rows it takes at once, at least 1; every range but the last should be a multiple of 4096 rows. */
    int64_t (*range_rows)(struct backend *backend, const struct job *job);
    /* Aggregates the range into states[0..aggregate_count-1], freshly initialised, or holding all rows before it where
     * aggregate_in_order says so. *flagged is set if some checked
     * operation may have failed: the states are then worthless. */
    enum status (*aggregate)(struct backend *backend, const struct job *job, struct agg_state *states, bool *flagged);
    /* Appends the rows of the range that pass the filters, in order. */
    enum status (*rows)(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged);
    /* Runs a breaker; NULL or STATUS_UNABLE: the evaluator does it. *flagged is set if something may have failed. */
    enum status (*operator)(struct backend *backend, const struct operator_job *job, bool *flagged);
    /* Once it has started: whether breakers of this kind are ever worth running on it. NULL: all. */
    bool (*suits)(const struct backend *backend, enum operator_kind kind);
    /* The program for the task as text, in the job's diags' arena; NULL if there is none. */
    const char *(*source)(struct backend *backend, const struct job *job);
    /* BACKEND_PENDING while the backend has not started, which `wait` waits for; BACKEND_UNABLE if it never will. */
    enum readiness (*profile)(struct backend *backend, bool wait, struct profile *profile);
    /* How many bytes of rows begin .. end-1 of a column would have to be moved before the backend can read them. NULL:
     * none ever. */
    int64_t (*absent)(struct backend *backend, const struct column *column, int64_t begin, int64_t end);
    /* Lets go of copies of columns that nobody else refers to. */
    void (*sweep)(struct backend *backend);
    void (*close)(struct backend *backend);
};

/* The first member of every backend's own struct. */
struct backend {
    const struct backend_ops *ops;
    const char *name; /* as in --device and .devices */
};

#endif
