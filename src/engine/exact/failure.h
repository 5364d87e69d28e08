/* Errors of operations that failed: what, in which stage, at which row, and a hint. */
#ifndef RQL_ENGINE_EXACT_FAILURE_H
#define RQL_ENGINE_EXACT_FAILURE_H

#include "engine/backend/datum.h"
#include "engine/plan/failure.h"

/* Records the error `what` at the row, in the task's stage that contains the span; returns STATUS_FAILED. */
enum status fail_row(const struct task *task, struct span span, int64_t row, const char *what, struct diags *diags);

/* "position 12 is outside 0..9", in the arena. */
const char *position_text(int64_t position, int64_t rows, struct arena *arena);

/* Hints for integers that are no dates or timestamps. */
extern const char integer_is_days[], integer_is_microseconds[];

/* Records the error; returns STATUS_FAILED. */
enum status fail_operation(const struct failure *failure, struct diags *diags);

#endif
