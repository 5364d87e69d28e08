/* File paths: parts, links and display. */
#ifndef RQL_BASE_PATH_H
#define RQL_BASE_PATH_H

#include "base/arena.h"
#include "base/strbuf.h"

#include <stdbool.h>

/* The last component; points into `path`. */
const char *path_base(const char *path);

/* The directory part: "." or ending in a slash. */
const char *path_directory(const char *path, struct arena *arena);

bool path_is_directory(const char *path);

/* Whether it is the address of a file elsewhere: http://, https:// or s3://. */
bool path_is_address(const char *path);

/* Whether it is one in a bucket of S3: s3://. */
bool path_is_bucket(const char *path);

/* The path without what follows the file's name in an address: `?...` and `#...` of http:// and https://. */
const char *path_of_file(const char *path, struct arena *arena);

/* The path with a leading `~` replaced by $HOME, if that is set. */
const char *path_expand_home(const char *path, struct arena *arena);

/* The path with symbolic links in its last component resolved; NULL with errno ELOOP. */
const char *path_resolve(const char *path, struct arena *arena);

/* An unused name in the directory of `path`, for a temporary file. */
const char *path_temporary(const char *path, struct arena *arena);

/* The path for messages: the middle of a very long one is left out. */
const char *path_display(const char *path, struct arena *arena);

/* The path as it is written in a query, in quotes if it has to be. */
const char *path_written(const char *path, struct arena *arena);

/* Appends `file` in the directory that `variable` names, or in `fallback` of $HOME; false if the environment has
 * neither. As the XDG specification says, relative directories are ignored. */
bool path_of_user(struct strbuf *path, const char *variable, const char *fallback, const char *file);

/* Creates missing parents of the path, private to the user. Errors are ignored: using the path reports them. */
void path_create_parents(char *path);

/* Syncs the directory so that its entries are durable; false with errno. */
bool directory_sync(const char *directory);

/* Syncs all that was written to the file system of the directory; false with errno. */
bool filesystem_sync(const char *directory);

#endif
