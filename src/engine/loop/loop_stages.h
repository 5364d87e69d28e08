/* Stages that are loops, and stages that the user has defined.
 *
 * repeat is a loop (plan/loop.h) whose body is bound once. The body's tasks are in a queue of their own, which begins
 * with a source that stands for the rows before the round. In the tree this source has a name that cannot be written,
 * beside the one that the user gives it. */
#ifndef RQL_ENGINE_LOOP_LOOP_STAGES_H
#define RQL_ENGINE_LOOP_LOOP_STAGES_H

#include "engine/expression/expression.h"
#include "engine/lower/lower.h"

/* Binds the stage; the flow becomes the rows after the last round. */
void bind_repeat(struct binder *binder, const struct stage *stage, struct flow *flow);

/* expand.c: stages that the user has defined, `def f(x, other) = | STAGES`. A use is replaced, in the syntax tree, by a
 * copy of the stages of the definition, in which the parameters are the arguments: expressions, or sources where a
 * relation is named. What binds the tree knows nothing of this, but that stage->call says where it was used. */

/* The pipeline without uses of such stages; itself if it has none. Records errors by bind_error. */
const struct pipeline *stages_expand(struct binder *binder, const struct pipeline *pipeline);

/* The stages of a definition as a pipeline of an unknown source, with unknown arguments: for a check. The names in
 * binder->env are the parameters and the source, too. Records an error of recursion. */
const struct pipeline *stages_of_definition(struct binder *binder, const struct stmt *def);

/* rows_of_round.c: sources of the body of a loop, the rows before the round, and for its condition those after it. */

/* Names of these stages in the tree. No query can write them; they are compared by address. */
extern const char ROWS_BEFORE_ROUND[], ROWS_AFTER_ROUND[];

/* Binds the rows before the round of a loop. */
void bind_rows_before(struct binder *binder, const struct rounds *rounds, struct span span, struct flow *flow);

/* Binds a source that is named so, if it is the rows of a loop that is being bound; false if it is not. */
bool bind_rows_of_round(struct binder *binder, const struct name *name, struct flow *flow);

#endif
