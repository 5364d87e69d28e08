/* A directory of this process alone for PoCL, which writes down what it compiles and loads it from there as shared
 * libraries. A directory shared by processes is where its races are, and what a crash left damaged in it would end
 * every later process; rql's own cache (program_cache.h) makes it unnecessary to keep. */
#ifndef RQL_CL_DEVICE_POCL_HOME_H
#define RQL_CL_DEVICE_POCL_HOME_H

struct pocl_home {
    char *path; /* NULL: there is none */
    int lock;   /* held as long as the directory is in use */
};

/* Makes one below `base`, or below the directory for temporary files if `base` is NULL or cannot be written, and tells
 * PoCL through its environment variable: no other thread may read the environment now. Removes those that processes
 * now gone have left. */
void pocl_home_create(struct pocl_home *home, const char *base);
void pocl_home_remove(struct pocl_home *home);

#endif
