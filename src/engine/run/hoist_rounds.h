/* Loop-invariant code motion: values that are the same in each round of a loop are computed once. */
#ifndef RQL_ENGINE_RUN_HOIST_ROUNDS_H
#define RQL_ENGINE_RUN_HOIST_ROUNDS_H

#include "engine/run/run.h"

/* Returns a copy of `task` in which invariant values, above all the borders of a stencil, are inputs. varies[k]: input
 * k changes from round to round; inputs[k] is the column of an input that does not. The columns of the invariant values
 * are computed now and appended to `made`, one reference each, at most one for each instruction; *count becomes their
 * number. Returns `task` itself if there is nothing to gain. */
const struct task *hoist_from_rounds(const struct runner *runner, const struct task *task, const bool *varies,
                                     struct column *const *inputs, int64_t rows, struct arena *arena,
                                     struct column **made, size_t *count);

#endif
