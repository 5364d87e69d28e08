/* Hints of failed assertions: the values that were compared. */
#ifndef RQL_ENGINE_EXACT_ASSERT_FAILURE_H
#define RQL_ENGINE_EXACT_ASSERT_FAILURE_H

#include "base/strbuf.h"
#include "engine/plan/failure.h"
#include "parser/ast.h"

/* Adds a hint with the values that the failed ASSERT compared. */
void assertion_hint(const struct failure *failure, struct diags *diags);

/* The column, in the code's arena, of which an ASSERT that no stage `assert` wrote needs a value; NULL: it is another
 * one. */
const char *needed_column(const struct failure *failure);

/* The expression as it was written. */
const char *expr_text(const struct expr *expr, struct arena *arena);

/* Appends "`x` is 3" unless the text is that number, or is long. */
void append_value(struct strbuf *hint, const char *text, const struct scalar *scalar);

#endif
