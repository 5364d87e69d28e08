/* Running what was bound. */
#ifndef RQL_ENGINE_RUN_RUN_BOUND_H
#define RQL_ENGINE_RUN_RUN_BOUND_H

#include "engine/run/run.h"

/* Runs the queue and the checks of its value, and does with the result what its last stage says. `stmt` NULL: it is
 * part of a statement. */
enum status run_bound(struct runner *runner, const struct facts *facts, const struct stmt *stmt, struct bound *bound,
                      struct arena *arena, struct result *result, struct diags *diags);

/* Makes of the result's rows the relation that `describe` gives, of all or of each group. */
enum status describe_as_relation(const struct runner *runner, const struct evaluated *evaluated, struct arena *arena,
                                 struct result *result, struct diags *diags);

/* Checks that the condition of an assert statement is not a float. */
enum status assertion_check(const struct stmt *stmt, const struct bound *bound, struct diags *diags);

/* Runs an assert statement. The error of a failed assertion shows the operands that were compared. */
enum status assertion_run(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs bound->checks on the value of the pipeline that was bound with these facts. */
enum status assertion_run_checks(struct runner *runner, const struct facts *of, const struct bound *bound,
                                 const struct scalar *scalar, struct arena *arena, struct diags *diags);

#endif
