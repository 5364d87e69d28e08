/* Parts of a file that a task's filters exclude by the bounds that the file tells of their columns. */
#ifndef RQL_ENGINE_RUN_BOUNDS_SEARCH_H
#define RQL_ENGINE_RUN_BOUNDS_SEARCH_H

#include "engine/run/run.h"

/* Adds to `rows` the rows of the parts in which the filters may hold, or something may fail that is computed before
 * they are known not to. of_file[k] says whether the task's input k is a column of the file. False: there are no bounds
 * to go by. */
bool rows_within_bounds(const struct env *env, const struct queue *queue, const struct task *task, const bool *of_file,
                        struct row_set *rows, struct arena *arena);

#endif
