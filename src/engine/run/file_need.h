/* Which rows of a file a statement needs: those that pass the filters of the only task that reads it. */
#ifndef RQL_ENGINE_RUN_FILE_NEED_H
#define RQL_ENGINE_RUN_FILE_NEED_H

#include "engine/run/run.h"

/* The `find_rows` of a source_runner whose context is a runner. Bounds that a file states are taken as true. */
enum status find_needed_rows(void *context, struct file_need *need, struct arena *arena, struct diags *diags);

#endif
