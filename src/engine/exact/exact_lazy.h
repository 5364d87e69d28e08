/* Lazy evaluation of a queue's values, one at a time, and in parallel over rows.
 *
 * Each task has a memo: its values at one row. A value is computed when something reads it, after the values it depends
 * on, also those of earlier tasks. Pending values are on an explicit stack: expressions and chains of tasks may be far
 * longer than the C stack is deep. Reading a value of an earlier task moves that task to that row. Tasks only read
 * earlier ones, so no task is moved while it is being evaluated. */
#ifndef RQL_ENGINE_EXACT_EXACT_LAZY_H
#define RQL_ENGINE_EXACT_EXACT_LAZY_H

#include "engine/backend/backend.h"
#include "engine/backend/datum.h"
#include "engine/exact/exact.h"

/* An output's values in the task's result rows: computed by an operator, or cached because later tasks read them at
 * rows other than their own. */
struct output_values {
    struct column *values; /* NULL: each reader computes them again */
    struct column *states; /* an enum value_state for each row, a byte; NULL: all are VALUE_THERE */
};
enum value_state { VALUE_MISSING, VALUE_THERE, VALUE_FAILED, VALUE_WRITING };

/* A task. Evaluators on other threads have copies that differ in row, memo, computed and loops
 * only. */
struct lazy_task {
    const struct task *task;       /* NULL: its outputs are known columns */
    const char *title;             /* in progress reports */
    struct column *const *columns; /* of each input; NULL: the input's task is evaluated lazily */
    int64_t rows;                  /* that it reads */
    int64_t row;                   /* the task row whose values are being computed */
    union datum *memo;             /* of each value, */
    int64_t *computed;             /* and the row it was computed for, plus 1 */
    struct loop_run **loops;       /* of each value; exact_loop.c */

    /* Result row i is task row kept[i] (-1: a row of zeroes), or begin + i. */
    struct column *kept;
    int64_t begin;
    int64_t count;
    struct output_values *outputs; /* of each output */
    bool *random_access;           /* of each output: read at rows other than the reader's own */
    struct column *scanned;        /* a scan's input, for its errors */
    union datum *uncombined;       /* the first two rows that could not be combined, the right one of number */
    int64_t uncombined_row;        /* this; NULL: there are none */
};

struct frame {
    struct lazy_task *lazy;
    value value;
};

/* An evaluator: one for each thread. */
struct exact {
    struct arena *arena;
    struct lazy_task *tasks;
    size_t task_count;
    int64_t *row_counts; /* result rows of each task */
    struct frame *stack;
    size_t depth, capacity;
    uint32_t ticks;
    uint32_t failures; /* evaluations that ended with a failure: loops that were running then begin again */
    const atomic_int *cancel;
    struct diags *diags; /* NULL: failures are not reported, as on other threads */

    /* Set in the caller's evaluator only. */
    struct workers workers;
    struct progress *progress; /* or NULL */
    struct buffer_pool *pool;  /* or NULL */
    const struct exact_options *options;
    struct exact *members; /* the evaluator of each thread, created when first needed */

    /* Results: a thread's own states, or columns that all write. */
    struct agg_state *states;
    struct column **columns; /* NULL where the output is not needed */
};

/* An evaluator of `task_count` tasks, which the caller sets up with lazy_init. */
void exact_init(struct exact *exact, size_t task_count, const struct exact_options *options, struct diags *diags);
void exact_free(struct exact *exact);

void lazy_init(struct lazy_task *lazy, const struct task *task, struct column *const *columns, struct arena *arena);

/* Polled in long loops. */
bool exact_cancelled(struct exact *exact);
enum status exact_no_memory(const struct exact *exact, const struct task *task, int64_t rows);

/* A column under construction, which is zeroed; on the disk if memory has no room for it. NULL: no memory. */
struct column *exact_reserve(const struct exact *exact, enum type type, int64_t rows);

/* STATUS_FAILED if `rows` rows of `row_bytes` bytes, of which `unwritten` are still to be written, do not fit in
 * memory, nor on the disk. */
enum status exact_check_memory(const struct exact *exact, const struct task *task, int64_t rows, int64_t unwritten,
                               int64_t row_bytes);

/* A value at the task's row; NULL if it was not computed yet, and then it is pushed, to be computed first. */
const union datum *exact_demand(struct exact *exact, struct lazy_task *lazy, value v);

/* The error of an operation at the task's row, unless failures are not reported; STATUS_FAILED. */
enum status exact_fail(const struct exact *exact, const struct lazy_task *lazy, const struct instr *instr,
                       union datum a, union datum b);

/* The value of a task at one of its rows. */
enum status exact_value(struct exact *exact, struct lazy_task *lazy, int64_t row, value v, union datum *result);

/* An input's value at one of the task's rows. */
enum status exact_input(struct exact *exact, struct lazy_task *lazy, size_t input, int64_t row, union datum *result);

/* An output's value in one of the task's result rows. */
enum status exact_output(struct exact *exact, struct lazy_task *lazy, size_t k, int64_t row, union datum *result);

/* Called for row number i of a loop, on any thread. */
typedef enum status exact_row_fn(struct exact *exact, struct lazy_task *lazy, int64_t i, const void *context);

/* Calls fn for i = begin..end-1 on all threads; *failed is the first i for which it failed, `end` if none. The error is
 * not reported: fn has to be called for *failed again. STATUS_OK or STATUS_CANCELLED. */
enum status exact_find_failure(struct exact *exact, struct lazy_task *lazy, int64_t begin, int64_t end,
                               exact_row_fn *fn, const void *context, int64_t *failed);

/* Calls fn for i = begin..end-1 on all threads, with progress; the error is that of the first i for which it fails. */
enum status exact_for_rows(struct exact *exact, struct lazy_task *lazy, int64_t begin, int64_t end, exact_row_fn *fn,
                           const void *context);

/* Reports that `done` of `rows` rows are done. */
void exact_report(const struct exact *exact, const struct lazy_task *lazy, int64_t done, int64_t rows);

/* Creates the threads' evaluators if needed, and copies the results of the caller's evaluator to them. */
void exact_update_members(struct exact *exact);

/* exact_loop.c: loops and folds in the exact evaluator, a round at a time: a round's values are demanded like all
 * others, and forgotten before the next one. */

/* Continue the FOLD or LOOP `v` at the task's row; `ready` is false if a value has to be computed first. */
enum status exact_run_fold(struct exact *exact, struct lazy_task *lazy, value v, union datum *result, bool *ready);
enum status exact_run_loop(struct exact *exact, struct lazy_task *lazy, value v, bool *ready);
/* The number of the round of the LOOP that is running and that the instruction is of; -1: none. */
int64_t exact_round(const struct lazy_task *lazy, const struct instr *instr);

/* A FINAL of a LOOP that has been run. */
union datum exact_final(const struct lazy_task *lazy, const struct instr *final);

/* exact_rows.c: the rows of a task with code: filters, outputs, aggregates. */

/* Finds which task rows the result rows are (lazy->kept or lazy->begin, and lazy->count), without computing outputs. */
enum status exact_list_rows(struct exact *exact, struct lazy_task *lazy);

/* Computes exact->columns, reserved for all rows that the task reads, and sets lazy->count. The error is the first in
 * the order of rows, filters included; with a tail, filters come first. */
enum status exact_write_rows(struct exact *exact, struct lazy_task *lazy);

/* Aggregates the task's rows into exact->states, which are initialised. */
enum status exact_add_rows(struct exact *exact, struct lazy_task *lazy);

/* Bytes of a result row in these columns. */
int64_t exact_row_bytes(struct column *const *columns, size_t count);

/* exact_rows.c: the error of a user's function that failed for these values, of which row `row` gave the right one. */
enum status exact_reduce_failed(const struct exact *exact, const struct lazy_task *lazy,
                                const struct aggregate *aggregate, struct scalar left, struct scalar right,
                                int64_t row);

#endif
