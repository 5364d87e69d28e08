/* Where the results of a task go while its ranges run: rows to columns, values to the states of aggregates.
 *
 * Once nothing more needs storing, because a window has its rows or the rest is deferred (deferred_rows.h), further
 * rows are only counted: their filters are still computed, as they may fail. */
#ifndef RQL_ENGINE_TASK_TASK_SINK_H
#define RQL_ENGINE_TASK_TASK_SINK_H

#include "engine/backend/deferred_rows.h"
#include "engine/run/run.h"
#include "engine/task/run_task.h"

struct task_sink {
    const struct runner *runner;
    struct job *job;              /* the whole task */
    struct column *const *inputs; /* as the plan names them; the job's may be narrow copies */
    const struct task *task;      /* as specialised; the job's task is this one with fewer outputs needed */
    bool computes;                /* something has to be run at all */
    int64_t end;                  /* of the job: only some of its rows may be run */
    struct agg_state *states;     /* of aggregates */
    struct group_stream *stream;  /* groups the rows; NULL: they are stored */
    struct row_sink stored;       /* rows in columns */
    struct row_sink counted;      /* and those behind that are only counted: no columns */
    bool counting;
    int64_t wanted; /* rows that pass the filters and that the window may keep */
    enum defer_choice choice;
    bool defers; /* rows are deferred, or may be: */
    struct deferred_range deferred;
};

/* Whether the task only counts rows and no filter changes their number; if so, they are counted now. */
bool task_sink_count_known(struct task_sink *sink);

/* Reserves the result columns or states, and reduces the job's task and rows to what has to be run. */
enum status task_sink_open(struct task_sink *sink, const struct runner *runner, struct job *job,
                           struct column *const *inputs, enum defer_choice choice, struct outcome *outcome);

/* Opens a sink for rows that are grouped as they are computed. */
void task_sink_open_groups(struct task_sink *sink, const struct runner *runner, struct job *job,
                           struct group_stream *stream);

/* The size of a row in the columns being written; 0: nothing is stored. */
int64_t task_sink_row_bytes(const struct task_sink *sink);

/* The most rows to run at once from `row` on, so that not many more are stored than the window keeps. */
int64_t task_sink_range_rows(const struct task_sink *sink, int64_t row);

/* STATUS_FAILED, with an error, if memory does not hold the rows stored so far and `more`, about to be written. */
enum status task_sink_check_memory(const struct task_sink *sink, int64_t more);

/* Runs a range on a backend. Unless it is OK and not flagged, nothing of the range is kept. */
enum status task_sink_run(struct task_sink *sink, struct backend *backend, const struct job *range, bool *flagged);

/* Runs a range on the exact evaluator. STATUS_FAILED with the first error in row order; *flagged: the result depends on
 * other tasks, so the whole queue has to be evaluated exactly. */
enum status task_sink_run_exactly(struct task_sink *sink, const struct job *range, bool *flagged);

/* After a range: returns whether later rows are only counted. If so, replaces the job's task. */
bool task_sink_stop_storing(struct task_sink *sink, const struct job *range);

/* After a backend has failed: fetches the rows that it holds. False: they are lost, and the sink is empty again. */
bool task_sink_rescue(struct task_sink *sink);

/* Call when all rows have been run: moves the results to the outcome. *flagged: the rounding of a sum is uncertain. */
enum status task_sink_finish(struct task_sink *sink, struct outcome *outcome, bool *flagged);

/* output_columns.c: the result columns of a task that ends in rows: reserved before it runs, finished afterwards. */

/* Sets the outcome's column of each needed output: rows of an input as they stand (`inputs` are those that the plan
 * names), or a column reserved for all rows of the job in memory of `pool`, which is put in written[k] too and has to
 * be written. */
enum status outputs_reserve(const struct job *job, struct buffer_pool *pool, struct column *const *inputs,
                            struct column **written, struct outcome *outcome);

/* All rows have been written to the sink: applies the task's window to those that passed filters, and sets the
 * outcome's rows. */
enum status outputs_finish(const struct job *job, struct buffer_pool *pool, const struct row_sink *sink,
                           struct outcome *outcome);

/* defer_policy.c: which results have deferred rows (deferred_rows.h): those of tasks that cannot fail, cost no more
 * operations than fusion would compute again, and keep at least one row in eight. Other formats than tables, output
 * that is no terminal, named devices and machines with a GPU compute all rows at once. */

/* Whether rows of the job's task may be deferred: they cannot fail, and recomputing them costs little more than reading
 * them. A GPU, or a device that the user has named, computes all rows. */
bool can_defer(const struct runner *runner, enum defer_choice choice, const struct job *job);

/* The number of input rows on which such a task runs before it may defer the others; a multiple of 4096. */
int64_t deferred_first_rows(enum defer_choice choice);

/* Whether to defer the remaining rows, after `passed` of the `read` rows have passed the filters. */
bool deferral_pays(int64_t passed, int64_t read, enum defer_choice choice);

#endif
