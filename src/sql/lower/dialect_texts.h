/* Functions of text in each dialect. Strings are bytes on ClickHouse, and need not be UTF-8. */
#ifndef RQL_SQL_LOWER_DIALECT_TEXTS_H
#define RQL_SQL_LOWER_DIALECT_TEXTS_H

#include "engine/plan/task.h"
#include "sql/lower/dialect.h"

/* The function of the strings `a` and, for two of them, `b`, in the dialect; *fails: the condition that its result may
 * differ from rql's, NULL: never. NULL: the dialect has no equivalent. */
const char *sql_text(const struct sql_dialect *dialect, const struct text_application *application, const char *a,
                     const char *b, const char **fails, struct arena *arena);

#endif
