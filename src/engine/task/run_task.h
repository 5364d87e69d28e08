/* Running one task. */
#ifndef RQL_ENGINE_TASK_RUN_TASK_H
#define RQL_ENGINE_TASK_RUN_TASK_H

#include "engine/operators/group_stream.h"
#include "engine/run/run.h"

/* What a task produced. */
struct outcome {
    struct column **columns; /* of each output, one reference; NULL where nothing reads it */
    int64_t rows;
    struct deferred *deferred; /* what computes the rows that are deferred, or NULL; one reference */
    struct scalar scalar;      /* of its aggregate */
    bool flagged;              /* a value may have failed: nothing else is set */
};

/* Releases the columns and deferred rows. */
void outcome_release(struct outcome *outcome, const struct task *task);

/* Runs the task on `rows` rows of its inputs' columns (NULL for inputs that nothing needed reads). `defer` says whether
 * rows of the result may be deferred. `arena` holds the outcome's array. On an error, and when flagged, the outcome
 * holds no columns. Flagged and STATUS_FAILED: the error is that of the first value that failed, if all are read. */
enum status run_task(const struct runner *runner, const struct task *task, struct column *const *inputs, int64_t rows,
                     enum defer_choice defer, struct arena *arena, struct outcome *outcome, struct diags *diags);

/* Runs a task of rows whose only reader is `group`, the next task of the queue, and groups the rows while they are
 * computed: they are never stored. *passed receives their number. `outcome` is the group's; it has the array of
 * columns. STATUS_UNABLE: the two have to be run one after the other. */
enum status run_task_grouped(const struct runner *runner, const struct task *task, struct column *const *inputs,
                             int64_t rows, const struct task *group, int64_t *passed, struct outcome *outcome,
                             struct diags *diags);

/* make_room.c: drops columns that were read of files and that no statement uses, as far as the task has no memory. */
void make_room(const struct runner *runner, const struct task *task, int64_t rows);

/* run_operator.c: running an operator: on a device if it can, else on the evaluator. */

/* run_task of a task of SINK_OPERATOR; the caller sets up the outcome's array of columns. */
enum status run_operator(const struct runner *runner, const struct task *task, struct column *const *inputs,
                         int64_t rows, struct outcome *outcome, struct diags *diags);

/* along_axis.c: a group along an axis of a shape. Its key is a function of the row number, so it need not be computed
 * where only the aggregate is read (operators/axis_reduction.h). Measured, Xeon, squares summed along columns 1.7
 * to 2.8 times as fast as with keys, along rows 1.1 to 1.2. */

/* Whether `group` is such a group with one aggregate, whose key `task` computes, and the host is to run it. */
bool is_along_axis(const struct runner *runner, const struct task *task, const struct task *group);

/* Runs `task` on `rows` rows of `inputs`, if it computes the column that the group aggregates, and then the group,
 * whose other inputs are `others`. *passed receives the number of rows of the task's result. `outcome` receives the
 * group's result; the caller allocates its array of columns. STATUS_UNABLE: run the two one after the other. */
enum status run_along_axis(const struct runner *runner, const struct task *task, struct column *const *inputs,
                           int64_t rows, const struct task *group, struct column *const *others, int64_t *passed,
                           struct outcome *outcome, struct diags *diags);

/* grouped_rows.c: a group that takes rows while they are computed (group_stream.h). */

struct grouped_rows {
    struct operator_job job;
    struct column **inputs; /* of the group: types and ranges, without rows */
    struct group_stream *stream;
    int64_t rows; /* of the result */
};

/* Opens the stream for `group`, which aggregates the result rows of `job`, on the backend. False: the group needs whole
 * columns. Call grouped_rows_close in either case. */
bool grouped_rows_open(struct grouped_rows *grouped, const struct job *job, const struct task *group,
                       struct backend *backend, struct outcome *outcome);

/* Creates the group's result columns; *passed receives the number of rows grouped. STATUS_UNABLE: a sum overflowed, or
 * its rounding is uncertain. */
enum status grouped_rows_finish(struct grouped_rows *grouped, int64_t *passed, struct outcome *outcome);

void grouped_rows_close(struct grouped_rows *grouped);

/* host_backends.c: which backends write their results to host memory. */

/* Whether the backend's results are in host memory; false while that is unknown because it has not started. */
bool backend_on_host(struct backend *backend);

/* Whether backend_on_host holds for every backend that may run a task. */
bool runs_on_host(const struct runner *runner);

/* Whether the run may use a GPU that has started. */
bool runs_on_gpu(const struct runner *runner);

#endif
