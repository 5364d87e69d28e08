/* A task specialised for the columns and the number of rows of one run, among them narrow copies (column_stats.h). */
#ifndef RQL_ENGINE_RUN_INPUT_COLUMNS_H
#define RQL_ENGINE_RUN_INPUT_COLUMNS_H

#include "engine/run/run.h"

/* Returns a copy of the task for a run on `rows` rows of these inputs, some of which may be NULL. *columns are the
 * columns to read in their place: the inputs, or narrow copies. The copy's ranges, lanes, checks and guards hold for
 * those columns; the task itself, part of a plan, stays as it is. Both live in `arena`. */
const struct task *task_specialise(const struct runner *runner, const struct task *task, struct column *const *inputs,
                                   int64_t rows, struct arena *arena, struct column *const **columns);

/* Asks for statistics (column_stats.h) of the columns that a task reads at least half of. */
void inputs_collect_stats(const struct runner *runner, const struct task *task, struct column *const *inputs,
                          int64_t rows);

#endif
