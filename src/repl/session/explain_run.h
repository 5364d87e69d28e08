/* `explain run PIPELINE`. */
#ifndef RQL_REPL_SESSION_EXPLAIN_RUN_H
#define RQL_REPL_SESSION_EXPLAIN_RUN_H

#include "repl/session/session.h"

/* Runs the pipeline and prints a table of its tasks instead of the result. */
enum status explain_run(struct session *session, const struct stmt *stmt, struct arena *arena, struct diags *diags);

#endif
