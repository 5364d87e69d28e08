/* Finding out what a binding needs. */
#ifndef RQL_ENGINE_RUN_PROVIDE_H
#define RQL_ENGINE_RUN_PROVIDE_H

#include "engine/run/run.h"

/* Adds to the facts what the binding `bound` needs. `runner` NULL: nothing is evaluated. */
enum status provide(struct runner *runner, struct facts *facts, const struct bound *bound, struct needs *needs,
                    struct arena *arena, struct diags *diags);

#endif
