/* A task specialised for the columns and the number of rows of one run. */
#ifndef RQL_ENGINE_RUN_SPECIALISE_H
#define RQL_ENGINE_RUN_SPECIALISE_H

#include "engine/run/run.h"

/* Returns a copy of the task for a run on `rows` rows of these inputs, some of which may be NULL. *columns are the
 * columns to read in their place: the inputs, or narrow copies. The copy's ranges, lanes, checks and guards hold for
 * those columns; the task itself, part of a plan, stays as it is. Both live in `arena`. */
const struct task *task_specialise(const struct runner *runner, const struct task *task, struct column *const *inputs,
                                   int64_t rows, struct arena *arena, struct column *const **columns);

#endif
