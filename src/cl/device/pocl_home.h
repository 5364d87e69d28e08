/* A private directory for PoCL, which stores what it compiles as shared libraries and loads them from there. PoCL has
 * races on a directory shared by processes, and a file damaged by a crash ends every later process. The directory is
 * not kept: rql has its own cache (program_cache.h). */
#ifndef RQL_CL_DEVICE_POCL_HOME_H
#define RQL_CL_DEVICE_POCL_HOME_H

#include <stdbool.h>
#include <stddef.h>

struct pocl_home {
    char *path; /* NULL: there is none */
    int lock;   /* held while the directory is in use */
};

/* Creates a directory in `base`, or in that for temporary files if `base` is NULL, cannot be written or has no room,
 * and sets PoCL's environment variable: no other thread may read the environment now. Removes directories that dead
 * processes left. */
void pocl_home_create(struct pocl_home *home, const char *base);

/* Whether the files of a program can be written there: PoCL ends the process at the launch of a kernel whose file it
 * could not write. */
bool pocl_home_has_room(const struct pocl_home *home, size_t program_bytes);
void pocl_home_remove(struct pocl_home *home);

#endif
