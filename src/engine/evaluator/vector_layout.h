/* Places a program's vectors in a worker's memory. */
#ifndef RQL_ENGINE_EVALUATOR_VECTOR_LAYOUT_H
#define RQL_ENGINE_EVALUATOR_VECTOR_LAYOUT_H

#include "engine/evaluator/program.h"

/* Assigns a place to each vector that needs memory; vectors with disjoint lifetimes share one, to stay in the cache.
 * Sets program->memory. */
void program_layout(struct program *program, struct arena *arena);

#endif
