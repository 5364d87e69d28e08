/* Reads the rows of a result that are shown, where its columns are unread (column.h). */
#ifndef RQL_REPL_SESSION_SHOWN_ROWS_H
#define RQL_REPL_SESSION_SHOWN_ROWS_H

#include "repl/print/print.h"
#include "repl/session/session.h"

/* The result's relation, one reference, with at least the rows and columns that are shown. NULL: *status says why. */
struct relation *shown_rows(const struct session *session, const struct result *result, const struct print_style *style,
                            struct span span, enum status *status, struct diags *diags);

#endif
