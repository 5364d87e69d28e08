/* What a pipeline results in, without running it: for completion. */
#ifndef RQL_ENGINE_BIND_PREVIEW_H
#define RQL_ENGINE_BIND_PREVIEW_H

#include "engine/bind/bind.h"

/* Finds the names of the pipeline's columns, or of its value, in the arena. Loads files only where their names do not
 * tell the columns and loading is fast. False: it has no columns, is wrong, or the columns are unknown. */
bool preview_columns(struct env *env, const struct pipeline *pipeline, struct arena *arena, const char *const **names,
                     size_t *count);

/* Whether the pipeline ends in a terminal. */
bool preview_is_value(struct env *env, const struct pipeline *pipeline, struct arena *arena);

#endif
