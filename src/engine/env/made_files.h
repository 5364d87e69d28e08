/* In a check: the files that the statements so far may make when they run. */
#ifndef RQL_ENGINE_ENV_MADE_FILES_H
#define RQL_ENGINE_ENV_MADE_FILES_H

#include <stdbool.h>
#include <stddef.h>

struct made_files {
    char **paths; /* absolute; malloc'd */
    size_t count, capacity;
};

void made_files_add(struct made_files *made, const char *path);
void made_files_free(struct made_files *made);

/* Whether the path, a folder or a pattern may then stand for other files than now. */
bool made_files_have(const struct made_files *made, const char *path);

#endif
