/* The columns of a task that ends in rows: made ready before its run, finished behind it. Private to run*.c. */
#ifndef RQL_ENGINE_RUN_OUTPUT_COLUMNS_H
#define RQL_ENGINE_RUN_OUTPUT_COLUMNS_H

#include "engine/run/run_task.h"

/* Sets the outcome's column of each output that is needed: rows of an input as they stand (`given` are the inputs as
 * the queue names them), or one with room for all rows of the job, in memory of `pool`, which is in made[k] as well
 * and is to be written. */
enum status results_make(const struct job *job, struct buffer_pool *pool, struct column *const *given,
                         struct column **made, struct outcome *outcome);

/* All rows are written, as many as the sink says: of those that passed filters the outcome has from now on what the
 * task's window keeps. */
enum status results_finish(const struct job *job, struct buffer_pool *pool, const struct row_sink *sink,
                           struct outcome *outcome);

#endif
