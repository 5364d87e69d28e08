/* Rounds of a loop whose tasks only compute values row by row, or aggregates, on the evaluator or a device: their
 * programs are made once, and two sets of columns take turns. */
#ifndef RQL_ENGINE_RUN_KEPT_ROUNDS_H
#define RQL_ENGINE_RUN_KEPT_ROUNDS_H

#include "engine/plan/loop.h"
#include "engine/run/run_repeat.h"

struct kept_rounds;

/* The queues of a loop, optimised for the rows of the state, in the order of loop_queue. NULL: they cannot run so on
 * this backend. */
struct kept_rounds *kept_rounds_new(const struct runner *runner, struct backend *backend, const struct loop *loop,
                                    const struct queue *const *queues, struct column *const *state, int64_t rows,
                                    const struct loop_frame *outer, struct diags *diags);

/* Whether a task of a round has such a form. */
bool kept_rounds_may_keep(const struct task *task);

/* Runs rounds from number *round on, which is moved to the next. *done: there are no more, by the conditions of the
 * loop. STATUS_UNABLE: in round *round a value may have failed; the state is that before it. */
enum status kept_rounds_run(struct kept_rounds *kept, int64_t *round, bool *done, struct progress *progress);

/* How often the host waited for the device; 0 on the evaluator. */
int64_t kept_rounds_batches(const struct kept_rounds *kept);

/* Column k of the state; the caller gets a reference. NULL: a device has lost the state, and the rounds start again
 * from the beginning, to which *round is set. */
struct column *kept_rounds_column(const struct kept_rounds *kept, size_t k);

void kept_rounds_free(struct kept_rounds *kept); /* NULL is allowed */

#endif
