/* Paths as written in a statement. */
#ifndef RQL_ENGINE_ENV_WRITTEN_PATH_H
#define RQL_ENGINE_ENV_WRITTEN_PATH_H

#include "base/diag.h"
#include "engine/env/env.h"

/* Replaces a leading `$NAME` by the command line's argument, and then a leading `~` by the home directory. *meant has
 * the same span. Fails if there is no such argument. */
enum status path_substitute(const struct env *env, const struct name *written, struct arena *arena, struct name *meant,
                            struct diags *diags);

#endif
