/* Errors of files: there is none, or results were computed from one that changed while it was read. */
#ifndef RQL_ENGINE_STORAGE_FILE_ERRORS_H
#define RQL_ENGINE_STORAGE_FILE_ERRORS_H

#include "base/diag.h"
#include "engine/storage/column.h"

/* Whether no file of this name exists. False if the path cannot be accessed. */
bool file_is_missing(const char *path);

/* Records that there is no such file, with a hint at what is there. Returns STATUS_FAILED. */
enum status file_not_found(const char *path, struct span span, struct diags *diags);

/* The first column whose file was truncated or rewritten since it was mapped; NULL if none. */
const struct column *changed_column(struct column *const *columns, size_t count);

/* Records the error. Returns STATUS_FAILED. */
enum status file_changed_error(const struct column *column, struct span span, struct diags *diags);

#endif
