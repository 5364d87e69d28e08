/* Shows a result: prints or plots it, or lets the user scroll through it. */
#ifndef RQL_REPL_SESSION_SHOW_RESULT_H
#define RQL_REPL_SESSION_SHOW_RESULT_H

#include "repl/session/session.h"

/* Reads the rows that are shown where columns are unread (column.h), and shows them. Reports errors at `span`; `diags`
 * is cleared first. `browse` may leave another relation in the result; *browsed_ns is how long the user scrolled. */
enum exit_status show_result(struct session *session, struct result *result, struct span span, int64_t *browsed_ns,
                             struct diags *diags);

#endif
