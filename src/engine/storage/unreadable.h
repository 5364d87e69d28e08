/* Columns that a file has and that cannot be read: their names and the reasons, for messages. */
#ifndef RQL_ENGINE_STORAGE_UNREADABLE_H
#define RQL_ENGINE_STORAGE_UNREADABLE_H

#include "base/diag.h"

/* A column of a file that is not among a reader's, since it cannot be read. */
struct unreadable_column {
    const char *name, *why; /* `u`, "union" */
};

struct unreadable_columns {
    struct unreadable_column *at;
    size_t count, capacity;
};

/* Appends a column, whose name is copied; `why` lives as long as the arena. */
void unreadable_add(struct unreadable_columns *columns, struct arena *arena, const char *name, const char *why);

/* The columns, as in "`u` (union), `iv` (interval)": the first of them if there are many. */
const char *unreadable_list(const struct unreadable_columns *columns, struct arena *arena);

/* Tells that these columns of a file are left out, if there are any. */
void unreadable_tell(const struct unreadable_columns *columns, const char *path, struct diags *diags);

#endif
