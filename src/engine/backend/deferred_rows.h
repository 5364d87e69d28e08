/* Deferred rows: rows of a result that are computed when something reads them.
 *
 * On a terminal a long result shows its first and last rows and its row count. Its task therefore computes the first
 * rows, counts the others and defers them: their residency (residency.h) runs the task on the evaluator when they are
 * fetched. The result's relation refers to the deferral, so that a query that continues from it can bind the task in
 * place of the columns, and lines typed one after another fuse like the stages of one pipeline.
 *
 * Who does what: defer_policy.c decides which results are deferred, task_sink.h defers them, the binder recomputes
 * them in queries that continue from them, and run_value in run.c falls back to fetching them if that query fails. */
#ifndef RQL_ENGINE_BACKEND_DEFERRED_ROWS_H
#define RQL_ENGINE_BACKEND_DEFERRED_ROWS_H

#include "engine/backend/backend.h"

/* Which rows are deferred. */
struct deferred_range {
    int64_t computed, rows; /* results' rows computed .. rows-1, */
    int64_t begin, end;     /* which come from the task's rows begin .. end-1 */
};

struct deferred; /* reference counted; each column with deferred rows has a reference */

/* Defers rows of columns[k], reserved for output k of the job's task and not finished; NULL is no column. `inputs` are
 * the task's inputs as the plan names them; references are taken to all columns that will be read. `pool` is as in
 * memory_limit_check. Returns a reference, or NULL if the range has no rows. */
struct deferred *defer_rows(struct backend *evaluator, struct buffer_pool *pool, const struct job *job,
                            struct column *const *inputs, struct column *const *columns,
                            const struct deferred_range *range);
void deferred_unref(struct deferred *deferred); /* NULL is allowed */

/* Takes a reference for a relation whose columns are the outputs of the deferred task; NULL is allowed. */
void deferred_attach(struct deferred *deferred, struct relation *relation);

/* The task that computes all rows of the relation, while some of them are deferred; NULL otherwise. Its inputs are
 * columns; it lives as long as the relation. */
const struct task *deferred_task(const struct relation *relation);

#endif
