/* The result columns of a task that ends in rows: reserved before it runs, finished afterwards. */
#ifndef RQL_ENGINE_RUN_OUTPUT_COLUMNS_H
#define RQL_ENGINE_RUN_OUTPUT_COLUMNS_H

#include "engine/run/run_task.h"

/* Sets the outcome's column of each needed output: rows of an input as they stand (`inputs` are those that the plan
 * names), or a column reserved for all rows of the job in memory of `pool`, which is put in written[k] too and has to
 * be written. */
enum status outputs_reserve(const struct job *job, struct buffer_pool *pool, struct column *const *inputs,
                            struct column **written, struct outcome *outcome);

/* All rows have been written to the sink: applies the task's window to those that passed filters, and sets the
 * outcome's rows. */
enum status outputs_finish(const struct job *job, struct buffer_pool *pool, const struct row_sink *sink,
                           struct outcome *outcome);

#endif
