/* Checks a statement before it runs. */
#ifndef RQL_ENGINE_RUN_CHECK_H
#define RQL_ENGINE_RUN_CHECK_H

#include "engine/run/run.h"

/* Checks a statement's names and types without running it, and defines its names in `env`, a copy from env_copy. */
enum status check_statement(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags);

/* Checks a definition: its parameters, its names, that it does not use itself. */
enum status check_definition(struct env *env, const struct stmt *def, struct arena *arena, struct diags *diags);

/* An error if a `let` ends in describe or plot, which have no result. */
enum status check_naming(const struct stmt *stmt, struct diags *diags);

#endif
