/* Hints of failed assertions: the values that were compared. */
#ifndef RQL_ENGINE_EXACT_ASSERT_FAILURE_H
#define RQL_ENGINE_EXACT_ASSERT_FAILURE_H

#include "base/strbuf.h"
#include "engine/plan/failure.h"
#include "parser/ast.h"

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
