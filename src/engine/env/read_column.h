/* Reading a column of a file at once, for a value that is needed while a statement is bound. */
#ifndef RQL_ENGINE_ENV_READ_COLUMN_H
#define RQL_ENGINE_ENV_READ_COLUMN_H

#include "engine/env/env.h"

/* If the column is unread, replaces it, with its reference, by the one that it stands for. */
enum status read_column(const struct env *env, struct column **column, struct span span, struct diags *diags);

#endif
