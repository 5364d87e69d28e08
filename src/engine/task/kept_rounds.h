/* Rounds of a loop whose tasks are row-wise or aggregate, on the evaluator or a device: each program is compiled once,
 * and the state is double-buffered. */
#ifndef RQL_ENGINE_TASK_KEPT_ROUNDS_H
#define RQL_ENGINE_TASK_KEPT_ROUNDS_H

#include "engine/plan/loop.h"
#include "engine/task/run_repeat.h"

struct kept_rounds;

/* Prepares the rounds. `queues` are those of the loop, optimised for `rows` rows, in the order of loop_queue; `state`
 * are the columns at the start. NULL: not of this form, or the backend cannot. */
struct kept_rounds *kept_rounds_new(const struct runner *runner, struct backend *backend, const struct loop *loop,
                                    const struct queue *const *queues, struct column *const *state, int64_t rows,
                                    const struct loop_frame *outer, struct diags *diags);

/* Whether a task of a round has this form: rows or aggregates, without filters or window. */
bool kept_rounds_may_keep(const struct task *task);
/* Whether a device may keep a group of a round, where it has as many groups as the state has rows: by one key. */
bool kept_rounds_may_keep_group(const struct task *task);

/* Runs rounds from number *round on, and advances *round to the next one. *done: a condition of the loop has ended it.
 * STATUS_UNABLE: a value may have failed in round *round; the state is that before the round. */
enum status kept_rounds_run(struct kept_rounds *kept, int64_t *round, bool *done, struct progress *progress);

/* The number of times that the host synchronised with the device; 0 on the evaluator. */
int64_t kept_rounds_batches(const struct kept_rounds *kept);

/* Column k of the state; the caller gets a reference. NULL: a device has failed and the state is lost;
 * kept_rounds_run has set *round back to where it began. */
struct column *kept_rounds_column(const struct kept_rounds *kept, size_t k);

void kept_rounds_free(struct kept_rounds *kept); /* NULL is allowed */

#endif
