/* Assertions about values: the `assert` statement, and `assert` after a terminal. */
#ifndef RQL_ENGINE_BIND_BIND_CLAIM_H
#define RQL_ENGINE_BIND_BIND_CLAIM_H

#include "engine/bind/bind.h"

/* Runs the statement. */
enum status assertion_run(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs what is asserted of the pipeline's value. */
enum status assertion_run_checks(struct env *env, const struct bound *bound, const struct scalar *scalar,
                                 struct arena *arena, struct diags *diags);

#endif
