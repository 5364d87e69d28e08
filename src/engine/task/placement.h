/* Which backend runs the next range of a task.
 *
 * That is the device the user named, or the one that the cost model expects to finish first. While it starts or builds
 * its program, the evaluator runs slices of the rows, then hands over what remains. A backend that turns out to be
 * unable is replaced by the evaluator. What the ranges took is reported to the cost model. */
#ifndef RQL_ENGINE_TASK_PLACEMENT_H
#define RQL_ENGINE_TASK_PLACEMENT_H

#include "engine/backend/backend_choice.h"
#include "engine/run/run.h"

struct placement {
    const struct runner *runner;
    struct job *job; /* the whole task */
    const struct row_ranges *ranges;
    struct backend *backend;       /* prepared; runs the next range */
    struct backend *awaited;       /* being prepared while the evaluator runs slices, or NULL */
    int64_t slice;                 /* rows of the next slice, */
    int64_t slice_ns;              /* which is to take this long */
    int64_t sliced_rows;           /* all slices so far, */
    int64_t sliced_ns;             /* and the processor time they took, which other processes do not lengthen */
    int64_t began_ns, spent_ns;    /* when the current range began: the clock, and processor time */
    int64_t range_ns;              /* how long the last range took */
    struct cost_features features; /* with a chooser: of the whole task, */
    struct cost_sample sample;     /* what its ranges took, */
    struct timing timing;          /* and where backends report that if the user has not asked for timing */
};

/* Whether the evaluator runs a task of so few rows though the user named a device, which need not run all: a launch for
 * each column takes longer than to compute them, and a program that is not built yet is one less to be built. */
bool stays_on_host(const struct runner *runner, const struct task *task, struct column *const *inputs, int64_t rows);

/* Prepares a backend for the first of the ranges. `job` and `ranges` must outlive the placement. */
enum status placement_open(struct placement *placement, const struct runner *runner, struct job *job,
                           const struct row_ranges *ranges);

/* The most rows the backend may be given next. */
int64_t placement_range_rows(const struct placement *placement);

/* Around each range: they measure it. */
void placement_begin_range(struct placement *placement);
void placement_end_range(struct placement *placement, const struct job *range, enum status status, bool flagged);

/* Rows before `row` are done: prepares the backend for the next range, which may be another one. */
enum status placement_next(struct placement *placement, int64_t row);

/* The job's task has changed: prepares a backend for that. */
enum status placement_restart(struct placement *placement);

/* The backend was unable to run a range: the evaluator takes over. */
enum status placement_fall_back(struct placement *placement);

/* Reports to the cost model if `learn`, and notes once that there is no device. */
void placement_close(struct placement *placement, bool learn);

#endif
