/* A group that takes rows while they are computed (group_stream.h). */
#ifndef RQL_ENGINE_RUN_GROUPED_ROWS_H
#define RQL_ENGINE_RUN_GROUPED_ROWS_H

#include "engine/operators/group_stream.h"
#include "engine/run/run_task.h"

struct grouped_rows {
    struct operator_job job;
    struct column **inputs; /* of the group: types and ranges, without rows */
    struct group_stream *stream;
    int64_t rows; /* of the result */
};

/* Opens the stream for `group`, which aggregates the result rows of `job`, on the backend. False: the group needs whole
 * columns. Call grouped_rows_close in either case. */
bool grouped_rows_open(struct grouped_rows *grouped, const struct job *job, const struct task *group,
                       struct backend *backend, struct outcome *outcome);

/* Creates the group's result columns; *passed receives the number of rows grouped. STATUS_UNABLE: a sum overflowed, or
 * its rounding is uncertain. */
enum status grouped_rows_finish(struct grouped_rows *grouped, int64_t *passed, struct outcome *outcome);

void grouped_rows_close(struct grouped_rows *grouped);

#endif
