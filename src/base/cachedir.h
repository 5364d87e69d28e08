/* Where rql keeps what it could find out again: $XDG_CACHE_HOME/rql, or ~/.cache/rql. */
#ifndef RQL_BASE_CACHEDIR_H
#define RQL_BASE_CACHEDIR_H

#include "base/strbuf.h"

/* Appends the directory's path and makes it, for the user alone, if it is missing. 0, or the errno that says why it
 * cannot be used; the path is there then too, unless the environment names no place (ENOENT). A directory that belongs
 * to somebody else is refused (EPERM): what is in it may be run. */
int cachedir_create(struct strbuf *path);

/* Makes a directory below it, the same way. */
int cachedir_create_subdir(const char *path);

#endif
