/* Functions of text in each dialect. Strings are bytes on ClickHouse, and need not be UTF-8. */
#ifndef RQL_SQL_LOWER_DIALECT_TEXTS_H
#define RQL_SQL_LOWER_DIALECT_TEXTS_H

#include "engine/plan/task.h"
#include "sql/lower/dialect.h"

/* What the dialect makes of the strings `a` and, for two of them, `b`; *fails: where that may differ from what rql
 * makes of them, NULL: nowhere. NULL: it does not say it. */
const char *sql_text(const struct sql_dialect *dialect, const struct text_application *application, const char *a,
                     const char *b, const char **fails, struct arena *arena);

#endif
