/* The aggregates of the condition after a round, computed by the pass that computes the round. */
#ifndef RQL_ENGINE_RUN_FUSE_ROUNDS_H
#define RQL_ENGINE_RUN_FUSE_ROUNDS_H

#include "engine/plan/loop.h"

/* `body`, the last task of a round, with the aggregates of `until`, which reads its rows: a task of SINK_ROWS with
 * aggregates. Neither is analysed yet. NULL: `until` reads other rows than its own after the round. */
struct task *fuse_until(const struct loop *loop, const struct task *body, const struct task *until,
                        struct arena *arena);

#endif
