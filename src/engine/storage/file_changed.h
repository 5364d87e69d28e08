/* Results that rest on a file which changed while it was read. */
#ifndef RQL_ENGINE_STORAGE_FILE_CHANGED_H
#define RQL_ENGINE_STORAGE_FILE_CHANGED_H

#include "engine/storage/column.h"

/* The first of the columns whose file was cut short or rewritten since it was mapped; NULL if there is none. */
const struct column *changed_column(struct column *const *columns, size_t count);

/* Records the error; returns STATUS_FAILED. */
enum status file_changed_error(const struct column *column, struct span span, struct diags *diags);

#endif
