/* Files that are not there. */
#ifndef RQL_ENGINE_STORAGE_FILE_NOT_FOUND_H
#define RQL_ENGINE_STORAGE_FILE_NOT_FOUND_H

#include "base/diag.h"

/* Whether there is nothing at all of this name. What may not be looked at may well be there. */
bool file_is_missing(const char *path);

/* Hints, for the error made last, at files of the same folder whose names are near, or says that there is no folder. */
void hint_similar_files(const char *path, struct diags *diags);

/* The error that there is no such file, with that hint. */
enum status file_not_found(const char *path, struct span span, struct diags *diags);

#endif
