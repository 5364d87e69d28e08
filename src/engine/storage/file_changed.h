/* Results computed from a file that changed while it was read. */
#ifndef RQL_ENGINE_STORAGE_FILE_CHANGED_H
#define RQL_ENGINE_STORAGE_FILE_CHANGED_H

#include "engine/storage/column.h"

/* The first column whose file was truncated or rewritten since it was mapped; NULL if none. */
const struct column *changed_column(struct column *const *columns, size_t count);

/* Records the error. Returns STATUS_FAILED. */
enum status file_changed_error(const struct column *column, struct span span, struct diags *diags);

#endif
