/* Where a program's vectors lie in a worker's memory. Private to eval*.c. */
#ifndef RQL_ENGINE_EVALUATOR_VECTOR_LAYOUT_H
#define RQL_ENGINE_EVALUATOR_VECTOR_LAYOUT_H

#include "engine/evaluator/program.h"

/* Gives each vector that needs memory a place; vectors that are not alive together share one, so that what is worked
 * on stays in the cache. */
void program_layout(struct program *program, struct arena *arena);

#endif
