/* The error of a failed assertion: the values that were compared. */
#ifndef RQL_ENGINE_EXACT_ASSERT_FAILURE_H
#define RQL_ENGINE_EXACT_ASSERT_FAILURE_H

#include "base/strbuf.h"
#include "engine/plan/failure.h"
#include "parser/ast.h"

/* Adds a hint with the values that the failed ASSERT compared. */
void assertion_hint(const struct failure *failure, struct diags *diags);

/* The expression as it was written. */
const char *text_of(const struct expr *expr, struct arena *arena);

/* "x is 3" for what is not written out anyway. */
void tell_value(struct strbuf *told, const char *text, const struct scalar *scalar);

#endif
