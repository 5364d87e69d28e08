/* Running a loop (plan/loop.h): its queues are optimised once, and run round after round on whole columns. */
#ifndef RQL_ENGINE_TASK_RUN_REPEAT_H
#define RQL_ENGINE_TASK_RUN_REPEAT_H

#include "engine/plan/loop.h"
#include "engine/run/run.h"

/* The columns of the loops that are running, innermost first. */
struct loop_frame {
    const struct loop *loop;
    struct column *const *state, *const *after; /* in place of those of the loop */
    struct column *step;
    const struct loop_frame *outer;
};

/* The column of the current round for the placeholder that a task was bound with; any other column itself. */
struct column *column_of_round(const struct loop_frame *frame, struct column *column);

/* Reports that `round` rounds are done. */
void repeat_report(const struct loop *loop, int64_t round, struct progress *progress);

/* Runs the loop on these columns, `rows` rows each. The caller gets a reference to each of results[], which have
 * *result_rows rows. Errors name the round. */
enum status run_repeat(const struct runner *runner, const struct loop *loop, struct column *const *inputs, int64_t rows,
                       struct column **results, int64_t *result_rows, struct diags *diags);

#endif
