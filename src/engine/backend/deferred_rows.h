/* Rows of a result that are made when something reads them.
 *
 * Who looks at a long result on a terminal sees its first and last rows and how many there are. A task that gives such
 * a result makes the first rows, counts the others, and leaves them: they are away (residency.h) until somebody asks,
 * and then the evaluator runs the task on those rows. A query that goes on from the result binds the task once more in
 * the place of its columns, so that lines typed one after another fuse as the stages of one do. */
#ifndef RQL_ENGINE_BACKEND_DEFERRED_ROWS_H
#define RQL_ENGINE_BACKEND_DEFERRED_ROWS_H

#include "engine/backend/backend.h"

/* What is left of a task's result. */
struct deferred_rows {
    int64_t made, rows; /* results' rows made .. rows-1: */
    int64_t begin, end; /* those of the task's rows begin .. end-1 */
};

/* Leaves rows of columns[k], made for output k of the job's task and not finished yet; NULL is no column. `given` are
 * the task's inputs as the queue names them; references are taken to what will be read. The evaluator makes the rows,
 * with so much memory (memory_limit_check). */
void defer_rows(struct backend *evaluator, int64_t memory, const struct job *job, struct column *const *given,
                struct column *const *columns, const struct deferred_rows *left);

/* The task that gives the relation, if some rows have been left and its outputs are the relation's columns, in their
 * order; else NULL. Its inputs are columns; it lives as long as the relation. */
const struct task *deferred_task(const struct relation *relation);

/* Whether rows of the column have been left. */
bool column_is_deferred(const struct column *column);

#endif
