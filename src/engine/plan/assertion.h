/* Assertions: conditions that stop a query where they do not hold, as a stage and as a statement. */
#ifndef RQL_ENGINE_PLAN_ASSERTION_H
#define RQL_ENGINE_PLAN_ASSERTION_H

#include "engine/bind/bind.h"
#include "engine/exact/failure.h"

/* Adds a filter that is true where the condition holds and fails where it does not. It is made of operations that every
 * backend has and checks: 1 << (condition ? 0 : 64), which is 1 or a shift too far. */
value assertion_add(struct code *code, value condition, struct span span);

/* The condition of such a filter; NO_VALUE if the value is none. */
value assertion_condition(const struct code *code, value filter);

/* Whether what failed is the assertion itself, and a hint with the values that were compared. */
bool assertion_failed(const struct failure *failure);
void assertion_hint(const struct failure *failure, struct diags *diags);

/* An error if an expression whose value is of this kind is no condition. */
enum status assertion_check(const struct expr *expr, enum kind kind, struct diags *diags);

/* Runs the statement. */
enum status assertion_run(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs what is asserted of the pipeline's value. */
enum status assertion_run_checks(struct env *env, const struct bound *bound, const struct scalar *scalar,
                                 struct arena *arena, struct diags *diags);

#endif
