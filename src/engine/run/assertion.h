#ifndef RQL_ENGINE_RUN_ASSERTION_H
#define RQL_ENGINE_RUN_ASSERTION_H

#include "engine/run/run.h"

/* Checks that the condition of an assert statement is not a float. */
enum status assertion_check(const struct stmt *stmt, const struct bound *bound, struct diags *diags);

/* Runs an assert statement. The error of a failed assertion shows the operands that were compared. */
enum status assertion_run(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Runs bound->checks on the value of the pipeline that was bound with these facts. */
enum status assertion_run_checks(struct runner *runner, const struct facts *of, const struct bound *bound,
                                 const struct scalar *scalar, struct arena *arena, struct diags *diags);

#endif
