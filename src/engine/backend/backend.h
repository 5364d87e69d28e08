/* A backend runs a task on a range of rows. The evaluator is one, each OpenCL device is one; no caller depends on
 * which. The engine splits work into ranges so that it can cancel, show progress and change backends between them. */
#ifndef RQL_ENGINE_BACKEND_BACKEND_H
#define RQL_ENGINE_BACKEND_BACKEND_H

#include "base/progress.h"
#include "base/timing.h"
#include "engine/backend/aggregate.h"
#include "engine/backend/index_tables.h"
#include "engine/plan/task.h"

#include <stdatomic.h>

/* A task about to run, analysed (optimize_task) for the columns it reads. */
struct job {
    const struct task *task;
    struct column *const *columns; /* the task's inputs in order; element 0 of the task is row task->first of each */
    int64_t rows;                  /* of the whole task: ROWS */
    int64_t begin, end; /* rows of the task to read: inputs' rows first+begin .. first+end-1; ROW is begin.. */
    int64_t until;      /* other backends run the rows from here on; 0: no rows */
    int64_t left_ns;    /* for `begin`: processor time that the remaining rows take on the evaluator; 0: unknown */
    struct timing *timing;
    struct progress *progress;  /* or NULL; a backend that splits a range reports its pieces */
    struct progress_step whole; /* the task, of which row r is part r / rows */
    const atomic_int *cancel;   /* becomes non-zero when the user interrupts */
    struct diags *diags;
    bool keeps; /* the job runs repeatedly and the elements of its columns change: rely on their known ranges alone */
};

/* Reports that the rows before this one are done. */
static inline void job_report(const struct job *job, int64_t row)
{
    struct progress_step step = job->whole;
    step.part = (double)row / (double)job->rows;
    progress_report(job->progress, &step);
}

/* The destination of rows that pass the filters: columns[k] is output k (NULL if not needed), reserved for as many rows
 * as the task reads, of which `rows` have been written. Values are stored as columns[k]->store. */
struct row_sink {
    struct column **columns;
    int64_t rows;
};

/* An operator about to run, on whole columns. */
struct operator_job {
    const struct task *task;
    struct column *const *inputs; /* of the task, in order; all of `rows` rows */
    int64_t rows;
    /* The column of each output, NULL where not needed. The caller reserves them where the number of rows is known
     * before (scan, sort, scatter, hist); group, distinct and expand create them. A sort of which few rows are read
     * (operator_selects) may return only those, and the host reserves no more. */
    struct column **results;
    int64_t *result_rows;
    struct buffer_pool *pool; /* for results and scratch memory, or NULL */
    bool no_wait; /* STATUS_UNABLE, without a note, rather than wait for a device to start or a program to be built */
    struct timing *timing;
    struct progress *progress;  /* or NULL */
    struct progress_step whole; /* the task */
    const atomic_int *cancel;
    struct diags *diags;
};

/* The column that a value of an operator's code is, which holds INPUTs only. */
static inline struct column *operator_input(const struct operator_job *job, value bare)
{
    return job->inputs[job->task->code.at[bare].integer];
}

/* What the backend choice (backend_choice.h) needs to know of a backend. */
enum backend_class { CLASS_EVALUATOR, CLASS_CPU, CLASS_GPU };
struct profile {
    enum backend_class class;
    const char *identity; /* device and driver: the key of its cost model on disk */
    int units;            /* threads or compute units */
};

/* A task of a round, of SINK_ROWS, SINK_AGGREGATE or OPERATOR_GROUP, without filters or windows; it reads columns of
 * the state before the round or after it, or those that an earlier task has written. */
struct round_task {
    const struct job *job;
    struct column *const *written; /* of its outputs, NULL: not needed; the aggregates' are of one row */
    /* A task of SINK_ROWS may have aggregates too: then this is the task whose outputs they are, and its columns; else
     * NULL. */
    const struct task *aggregates;
    struct column *const *elements;
    /* Of OPERATOR_GROUP, by one integer whose range is known: the number of groups. Their keys are consecutive from the
     * least of that range; the round fails if there is another key, or a key without rows. */
    int64_t groups;
};

/* The tasks of a round: first those of the condition under which it runs, if any, then its body, then those of the
 * condition that ends the loop after it, if any. The last task of a condition has one row, and the condition is its
 * output 0. */
struct rounds_job {
    const struct round_task *tasks;
    size_t count, before, after_count; /* of all tasks, and of those of either condition */
    /* The double-buffered state, exchanged after each round; state[k] == after[k]: a round does not change it. */
    struct column *const *state, *const *after;
    struct column *const *start; /* the values of state[] before the first round; may have another storage type */
    size_t column_count;
    struct column *step; /* of one row, the number of the round */
    struct timing *timing;
    const atomic_int *cancel;
    struct diags *diags;
};

struct rounds_end {
    int64_t done; /* rounds that have run */
    bool ended;   /* by a condition of the loop */
    bool flagged; /* a value may have failed in the next round; the state is that before it */
};

struct backend;
struct backend_rounds; /* each backend defines its own */
struct group_stream;

/* Whether a backend is ready to run a task. */
enum readiness {
    BACKEND_READY,   /* `prepare` will not wait */
    BACKEND_PENDING, /* being prepared by other threads or processes: query again later */
    BACKEND_UNABLE   /* it cannot run the task; `prepare` says why */
};

struct backend_ops {
    /* Starts to prepare the task without waiting, and returns the state of that; adds no notes. Other tasks may be
     * begun or prepared meanwhile. With a NULL job, only starts the device. */
    enum readiness (*begin)(struct backend *backend, const struct job *job);
    /* Prepares the task: builds its program and waits for it. STATUS_UNABLE if this backend cannot run the task. */
    enum status (*prepare)(struct backend *backend, const struct job *job);
    /* The most rows of a range, at least 1; all ranges but the last should be multiples of 4096 rows. */
    int64_t (*range_rows)(struct backend *backend, const struct job *job);
    /* Aggregates the range into states[0..aggregate_count-1], freshly initialised, or holding all rows before the
     * range where aggregate_in_order says so. Sets *flagged if a checked operation may have failed: the states are then
     * worthless. */
    enum status (*aggregate)(struct backend *backend, const struct job *job, struct agg_state *states, bool *flagged);
    /* Appends the rows of the range that pass the filters, in order. */
    enum status (*rows)(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged);
    /* Group rows as they are computed (group_stream.h): open_group opens a stream, NULL if it cannot; group adds the
     * rows of the range that pass the filters. NULL members: not supported. */
    struct group_stream *(*open_group)(struct backend *backend, const struct operator_job *job);
    enum status (*group)(struct backend *backend, const struct job *job, struct group_stream *stream, bool *flagged);
    /* Prepares rounds of a loop; the state at the start is copied. Everything that the job points to must outlive the
     * result. NULL: a task has no such form. NULL members: not supported. */
    struct backend_rounds *(*open_rounds)(struct backend *backend, const struct rounds_job *job);
    bool rounds_on_device; /* whether a group may be among the tasks of a round, and a task of rows have aggregates */
    /* Runs at least one of the next `count` rounds, the first of which is round `first`, unless a condition ends the
     * loop or a value may fail. Returns often enough for progress to be shown. */
    enum status (*run_rounds)(struct backend_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end);
    /* After the last round: makes the state readable, in state[], or in after[] if the number of all rounds was odd.
     * False: the device failed. */
    bool (*finish_rounds)(struct backend_rounds *rounds);
    void (*close_rounds)(struct backend_rounds *rounds); /* NULL is allowed */
    /* Runs an operator; NULL or STATUS_UNABLE: the evaluator does. Sets *flagged if something may have failed. */
    enum status (*run_operator)(struct backend *backend, const struct operator_job *job, bool *flagged);
    /* Of the keys of a job of OPERATOR_IDS, all of which are present: their ranges, and tables of an index over them.
     * STATUS_UNABLE, without a note: the host makes these. NULL: not supported. */
    enum status (*index_ranges)(struct backend *backend, const struct operator_job *job, struct index_tables *tables);
    enum status (*index_rows)(struct backend *backend, const struct operator_job *job, struct index_tables *tables);
    /* Once started: whether operators of this kind are ever worth running on it. NULL: all. */
    bool (*suits)(const struct backend *backend, enum operator_kind kind);
    /* The program for the task as text, in the job's diags' arena; NULL if there is none. */
    const char *(*source)(struct backend *backend, const struct job *job);
    /* BACKEND_PENDING until the backend has started, which `wait` waits for; BACKEND_UNABLE if it never will. */
    enum readiness (*profile)(struct backend *backend, bool wait, struct profile *profile);
    /* The bytes to move before the backend can read rows begin .. end-1 of a column. NULL: always 0. */
    int64_t (*absent)(struct backend *backend, const struct column *column, int64_t begin, int64_t end);
    /* Releases copies of columns that have no other references. */
    void (*sweep)(struct backend *backend);
    void (*close)(struct backend *backend);
};

/* The first member of every backend's own struct. */
struct backend {
    const struct backend_ops *ops;
    const char *name; /* as in --device and .devices */
};

#endif
