/* Moments are completed here from the exact sums that a server sends as text (sql/lower/moment.h). */
#ifndef RQL_SQL_MOMENT_COMPLETE_H
#define RQL_SQL_MOMENT_COMPLETE_H

#include "base/diag.h"
#include "base/text.h"
#include "engine/storage/column.h"
#include "sql/lower/moment.h"

/* The moment that the text has the sums of: as it is here of the same rows. False: it is no such text. */
bool moment_of_text(const struct sql_moment *moment, struct text text, double *result);

/* The answer of a server is none. */
enum status moment_report(const char *server, struct span span, struct diags *diags);

/* Replaces the column of texts by one of floats. */
enum status moment_complete(const struct sql_moment *moment, struct column **column, const char *server,
                            struct span span, struct diags *diags);

#endif
