/* Names of files: their parts, links, and how they are shown. */
#ifndef RQL_BASE_PATH_H
#define RQL_BASE_PATH_H

#include "base/arena.h"

#include <stdbool.h>

/* The last part of a path; points into `path`. */
const char *path_base(const char *path);

/* The folder the path is in: "." or ends in a slash. */
const char *path_directory(const char *path, struct arena *arena);

/* The path with the user's own folder in place of a `~` that it begins with, if that is known. */
const char *path_expand_home(const char *path, struct arena *arena);

/* The path with symbolic links in its last part followed; NULL with errno if there are too many. */
const char *path_resolve(const char *path, struct arena *arena);

/* A name beside `path` that did not exist a moment ago. */
const char *path_temporary(const char *path, struct arena *arena);

/* The path as messages show it: very long ones without their middle. */
const char *path_display(const char *path, struct arena *arena);

/* Makes the names in the folder durable; false with errno. */
bool directory_sync(const char *folder);

#endif
