/* The cache directory: $XDG_CACHE_HOME/rql, or ~/.cache/rql. */
#ifndef RQL_BASE_CACHEDIR_H
#define RQL_BASE_CACHEDIR_H

#include "base/strbuf.h"

/* Appends the directory's path and creates it with mode 0700 if missing. Returns 0, or an errno if it cannot be used;
 * the path is appended in either case unless the environment does not define it (ENOENT). A directory of another owner
 * is refused (EPERM), because files in it may be executed. */
int cachedir_create(struct strbuf *path);

/* Creates the subdirectory `path` with the same mode and checks. Returns 0 or an errno. */
int cachedir_create_subdir(const char *path);

#endif
