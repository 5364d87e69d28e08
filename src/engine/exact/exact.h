/* The exact evaluator: the authority on what a query means.
 *
 * Evaluates a fused queue lazily: a value is computed only when something reads it, so exactly the failures that matter
 * are found, in the order of rows. Slow; used where a backend raised its conservative flag. */
#ifndef RQL_ENGINE_EXACT_EXACT_H
#define RQL_ENGINE_EXACT_EXACT_H

#include "base/parallel.h"
#include "engine/backend/backend.h"

struct result; /* result.h */

/* What an evaluation may use. */
struct exact_options {
    struct workers workers; /* threads, cancel, progress and pool; `whole` is ignored */
    /* Runs a loop (run_repeat); NULL: there is none. */
    enum status (*repeat)(void *context, const struct loop *loop, struct column *const *inputs, int64_t rows,
                          struct column **results, int64_t *result_rows, struct diags *diags);
    void *repeat_context;
};

/* The first tasks of a queue, which a backend has run without a flag: all values in their columns were computed. */
struct exact_done {
    size_t count;
    struct column *const *const *columns; /* the outputs of each task; NULL where no later task reads them */
    const int64_t *rows;                  /* of each task */
};

/* The result of the queue, or its error: the failing operation's span, its stage and the smallest failing 0-based row.
 * `done` NULL: no task has been run; `options` NULL: on one thread. */
enum status exact_run(const struct queue *fused, const struct exact_done *done, const struct exact_options *options,
                      struct result *result, struct diags *diags);

/* Run one range of a task of SINK_ROWS or SINK_AGGREGATE again, after all earlier ranges; parameters as for a backend's
 * functions. The error is the first in the order of rows, assuming that all outputs are read. *undecided is set, and
 * the results are invalid, where only exact_run can decide: a window keeps the last rows, or a user's function must be
 * applied in the order of all rows. */
enum status exact_rows(const struct job *job, const struct exact_options *options, struct row_sink *sink,
                       bool *undecided);
enum status exact_aggregate(const struct job *job, const struct exact_options *options, struct agg_state *states,
                            bool *undecided);

/* The value of code without inputs (a let expression, take's argument); stage names it in errors. */
enum status exact_constant(const struct code *code, value root, const atomic_int *cancel, struct scalar *result,
                           struct diags *diags);

#endif
