/* `race PIPELINE`. */
#ifndef RQL_REPL_SESSION_RACE_H
#define RQL_REPL_SESSION_RACE_H

#include "repl/session/session.h"

/* Runs the pipeline on the evaluator and on every device, checks that the results are identical and prints how the
 * times compare. */
enum status race_run(struct session *session, const struct stmt *stmt, struct arena *arena, struct diags *diags);

#endif
