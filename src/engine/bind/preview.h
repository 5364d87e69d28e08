/* What a pipeline would give, found without running it: for completion. */
#ifndef RQL_ENGINE_BIND_PREVIEW_H
#define RQL_ENGINE_BIND_PREVIEW_H

#include "engine/bind/bind.h"

/* The names of the columns that the pipeline gives, or of its value, in the arena. Files are opened only where their
 * names do not tell, and none that would take long. False: it gives no columns, is wrong, or cannot be told. */
bool preview_columns(struct env *env, const struct pipeline *pipeline, struct arena *arena, const char *const **names,
                     size_t *count);

/* Whether the pipeline comes to a single value. */
bool preview_is_value(struct env *env, const struct pipeline *pipeline, struct arena *arena);

#endif
