/* A choice between two values, one of which nothing else reads: the elements of that vector that are not chosen are
 * replaced. They often are few, as at the borders of a stencil. */
#ifndef RQL_ENGINE_EVALUATOR_SELECT_REPLACE_H
#define RQL_ENGINE_EVALUATOR_SELECT_REPLACE_H

#include "engine/evaluator/compile.h"

/* Makes `step`, a SELECT in `lane` with its arguments, such a step if it can be one. */
void select_replace(struct builder *b, const struct instr *instr, enum lane lane, struct step *step);

#endif
