/* Stages that the user has defined: `def f(x, other) = | STAGES`.
 *
 * A use is replaced, in the syntax tree, by a copy of the stages of the definition, in which the parameters are the
 * arguments: expressions, or sources where a relation is named. What binds the tree knows nothing of this, but that
 * stage->call says where the definition was used. */
#ifndef RQL_ENGINE_LOOP_EXPAND_H
#define RQL_ENGINE_LOOP_EXPAND_H

#include "engine/expression/expression.h"

/* The pipeline without uses of such stages; itself if it has none. Records errors by bind_error. */
const struct pipeline *stages_expand(struct binder *binder, const struct pipeline *pipeline);

/* The stages of a definition as a pipeline of an unknown source, with unknown arguments: for a check. The names in
 * binder->env are the parameters and the source, too. Records an error of recursion. */
const struct pipeline *stages_of_definition(struct binder *binder, const struct stmt *def);

#endif
