/* Fuses the aggregates of `until`, the condition tested after a round, into the pass that computes the round. */
#ifndef RQL_ENGINE_RUN_FUSE_ROUNDS_H
#define RQL_ENGINE_RUN_FUSE_ROUNDS_H

#include "engine/plan/loop.h"

/* Returns `body`, the last task of a round, with the aggregates of `until`: a task of SINK_ROWS that has aggregates
 * too, in the arena. Neither has been through range analysis. NULL: `until` reads other rows of the columns after the
 * round than its own, or has filters, loops or a window. */
struct task *fuse_until(const struct loop *loop, const struct task *body, const struct task *until,
                        struct arena *arena);

#endif
