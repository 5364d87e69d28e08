/* Substitutes narrow copies (column_stats.h) for the columns that a task reads. */
#ifndef RQL_ENGINE_RUN_INPUT_COLUMNS_H
#define RQL_ENGINE_RUN_INPUT_COLUMNS_H

#include "engine/run/run.h"

/* Returns the columns to read in place of `inputs`, some of which may be NULL, in the arena, and sets the ranges of the
 * task's inputs that the statistics know. Returns `inputs` where the user has named a device, which has copies of the
 * columns themselves. */
struct column *const *inputs_narrow(const struct runner *runner, struct task *task, struct column *const *inputs,
                                    struct arena *arena);

/* Asks for statistics (column_stats.h) of the columns that a task reads at least half of. */
void inputs_collect_stats(const struct runner *runner, const struct task *task, struct column *const *inputs,
                          int64_t rows);

#endif
