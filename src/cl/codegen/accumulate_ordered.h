/* Accumulators of user functions, which combine rows in order: an ACC_FOLD and its ACC_FOLDED. */
#ifndef RQL_CL_CODEGEN_ACCUMULATE_ORDERED_H
#define RQL_CL_CODEGEN_ACCUMULATE_ORDERED_H

#include "cl/codegen/accumulate.h"

/* Appends the step of ACC_FOLD k for a row. */
void ordered_step(const struct accumulators *accumulators, const struct emitter *emitter, size_t k, struct strbuf *out);

/* For fold_tiles.cl: combines the consecutive rows of all work-items, in order, into the result of the group so far (r
 * and its count). The group size is a power of two. */
void ordered_combine(const struct accumulators *accumulators, struct arena *arena, struct strbuf *out);

/* Declarations for it, and what to do before each tile. */
void ordered_declare(const struct accumulators *accumulators, struct strbuf *out, size_t group);
void ordered_begin(const struct accumulators *accumulators, struct strbuf *out);

#endif
