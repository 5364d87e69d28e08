/* Values that are the same in each round of a loop: computed once. */
#ifndef RQL_ENGINE_RUN_HOIST_ROUNDS_H
#define RQL_ENGINE_RUN_HOIST_ROUNDS_H

#include "engine/run/run.h"

/* A copy of `task` that reads, in place of what does not depend on inputs with varies[k], columns: the borders of a
 * stencil, above all. The columns are computed from `inputs`, those that do not vary, and added to `made`, with room
 * for as many as the code has instructions; *count is their number. The task itself if there is nothing to gain. */
const struct task *hoist_from_rounds(const struct runner *runner, const struct task *task, const bool *varies,
                                     struct column *const *inputs, int64_t rows, struct arena *arena,
                                     struct column **made, size_t *count);

#endif
