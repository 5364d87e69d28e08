/* Errors for missing files. */
#ifndef RQL_ENGINE_STORAGE_FILE_NOT_FOUND_H
#define RQL_ENGINE_STORAGE_FILE_NOT_FOUND_H

#include "base/diag.h"

/* Whether no file of this name exists. False if the path cannot be accessed. */
bool file_is_missing(const char *path);

/* Records that there is no such file, with that hint. Returns STATUS_FAILED. */
enum status file_not_found(const char *path, struct span span, struct diags *diags);

#endif
