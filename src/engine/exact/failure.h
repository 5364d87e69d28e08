/* Errors of operations that failed: what, in which stage, at which row, and a hint. */
#ifndef RQL_ENGINE_EXACT_FAILURE_H
#define RQL_ENGINE_EXACT_FAILURE_H

#include "base/strbuf.h"
#include "engine/backend/datum.h"
#include "engine/plan/failure.h"
#include "parser/ast.h"

/* Records the error `what` at the row, in the task's stage that contains the span; returns STATUS_FAILED. */
enum status fail_row(const struct task *task, struct span span, int64_t row, const char *what, struct diags *diags);

/* "position 12 is outside 0..9", in the arena. */
const char *position_text(int64_t position, int64_t rows, struct arena *arena);

/* Hints for integers that are no dates or timestamps. */
extern const char integer_is_days[], integer_is_microseconds[];

/* Records the error; returns STATUS_FAILED. */
enum status fail_operation(const struct failure *failure, struct diags *diags);

/* assert_failure.c: hints of failed assertions: the values that were compared. */

/* Adds a hint with the values that the failed ASSERT compared. */
void assertion_hint(const struct failure *failure, struct diags *diags);

/* Whether it is an ASSERT that no stage `assert` wrote: a value that has to be there is missing. */
bool needs_value(const struct failure *failure);

/* The column, in the code's arena, whose value is missing then; NULL: it was computed. */
const char *needed_column(const struct failure *failure);

/* The expression as it was written. */
const char *expr_text(const struct expr *expr, struct arena *arena);

/* Makes an integer what it stands for, of text the string; false if that is no text of its dictionary. */
bool scalar_stand_for(struct scalar *scalar, struct logical_type logical);

/* Appends "`x` is 3" unless the text is that number, or is long. */
void append_value(struct strbuf *hint, const char *text, const struct scalar *scalar);

#endif
