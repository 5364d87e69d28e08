/* Rounds of a loop whose tasks only compute values row by row, or aggregates, on the evaluator: their programs are made
 * once, and two sets of columns take turns. */
#ifndef RQL_ENGINE_RUN_KEPT_ROUNDS_H
#define RQL_ENGINE_RUN_KEPT_ROUNDS_H

#include "engine/plan/loop.h"
#include "engine/run/run_repeat.h"

struct kept_rounds;

/* The queues of a loop, optimised for the rows of the state, in the order of loop_queue. `resolve` gives the column
 * that stands in the place of one that the tasks read, unless it is of the loop itself. NULL: they cannot run so. */
struct kept_rounds *kept_rounds_new(const struct runner *runner, const struct loop *loop,
                                    const struct queue *const *queues, struct column *const *state, int64_t rows,
                                    const struct loop_frame *outer, struct diags *diags);

/* Runs rounds from number *round on, which is moved to the next. *done: there are no more, by the conditions of the
 * loop. STATUS_UNABLE: in round *round a value may have failed; the state is that before it. */
enum status kept_rounds_run(struct kept_rounds *kept, int64_t *round, bool *done, struct progress *progress);

/* Column k of the state; the caller gets a reference. */
struct column *kept_rounds_column(const struct kept_rounds *kept, size_t k);

void kept_rounds_free(struct kept_rounds *kept); /* NULL is allowed */

#endif
