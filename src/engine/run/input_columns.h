/* The columns that a task reads: its inputs, or narrow copies of them. */
#ifndef RQL_ENGINE_RUN_INPUT_COLUMNS_H
#define RQL_ENGINE_RUN_INPUT_COLUMNS_H

#include "engine/run/run.h"

/* The columns to read in place of `inputs`, some of which may be NULL; sets the ranges of the task's inputs where the
 * statistics know them. Where the user has named a device, which has the columns themselves, these are `inputs`. */
struct column *const *inputs_narrow(const struct runner *runner, struct task *task, struct column *const *inputs,
                                    struct arena *arena);

/* Asks for statistics (column_stats.h) of the columns that a task reads at least half of. */
void inputs_collect_stats(const struct runner *runner, const struct task *task, struct column *const *inputs,
                          int64_t rows);

#endif
