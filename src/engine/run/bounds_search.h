/* Prunes the parts of a file, such as row groups, by the bounds of columns that the file states. */
#ifndef RQL_ENGINE_RUN_BOUNDS_SEARCH_H
#define RQL_ENGINE_RUN_BOUNDS_SEARCH_H

#include "engine/run/run.h"

/* Adds to `rows` the rows of all parts but those in which, by the bounds, a filter of the task is false for every row
 * and nothing evaluated before it can fail. of_file[k]: the task's input k is a column of the file. False: the file
 * states no bounds. */
bool rows_within_bounds(const struct env *env, const struct queue *queue, const struct task *task, const bool *of_file,
                        struct row_set *rows, struct arena *arena);

#endif
