/* Accumulators of the user's own functions, which combine rows in their order: an ACC_FOLD and its ACC_FOLDED. */
#ifndef RQL_CL_CODEGEN_ACCUMULATE_ORDERED_H
#define RQL_CL_CODEGEN_ACCUMULATE_ORDERED_H

#include "cl/codegen/accumulate.h"

/* The step of ACC_FOLD k, for a row or for the lanes of a vector one after another. */
void ordered_step(const struct accumulators *accumulators, const struct emitter *emitter, size_t k, struct strbuf *out,
                  int width);

/* Where groups take tiles: each work-item has combined some rows of its group's tile, which follow those of its
 * neighbour; joins them all into the group's own combination, r of their number. Groups are powers of two. */
void ordered_combine(const struct accumulators *accumulators, struct arena *arena, struct strbuf *out);

/* What it needs declared, and done before a tile. */
void ordered_declare(const struct accumulators *accumulators, struct strbuf *out, size_t group);
void ordered_begin(const struct accumulators *accumulators, struct strbuf *out);

#endif
