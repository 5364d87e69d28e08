/* GATHERs at positions in arithmetic progression: elements are copied in order, and no positions computed. */
#ifndef RQL_ENGINE_EVALUATOR_GATHER_ORDER_H
#define RQL_ENGINE_EVALUATOR_GATHER_ORDER_H

#include "engine/evaluator/compile.h"

/* Whether the value is such a GATHER: of neighbours, or with a constant stride. If so, sets `border` and `first`, or
 * `progression`, of the step. */
bool gather_order(const struct builder *b, value v, struct step *step);

#endif
