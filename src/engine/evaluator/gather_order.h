/* A GATHER of which the rows of a block read elements in order, so that these are moved and no positions computed. */
#ifndef RQL_ENGINE_EVALUATOR_GATHER_ORDER_H
#define RQL_ENGINE_EVALUATOR_GATHER_ORDER_H

#include "engine/evaluator/compile.h"

/* Whether the value is such a GATHER: of neighbours, or at equal distances. `step` gets which. */
bool gather_order(const struct builder *b, value v, struct step *step);

#endif
