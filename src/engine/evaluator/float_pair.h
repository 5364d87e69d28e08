/* Steps that compute two operations on floats (vector_float_pair): where only one operation reads the result of
 * another, that needs no vector. For what it gains see add_chain.h. */
#ifndef RQL_ENGINE_EVALUATOR_FLOAT_PAIR_H
#define RQL_ENGINE_EVALUATOR_FLOAT_PAIR_H

#include "engine/evaluator/compile.h"

/* Which argument of a value is computed in one step with it; -1: none. */
int float_pair_argument(const struct builder *b, value v);

/* Adds the step for a value and that argument. */
void float_pair_emit(struct builder *b, value v, int paired);

#endif
