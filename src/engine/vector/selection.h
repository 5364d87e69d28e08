/* Selection: counting, listing and packing the rows that passed.
 *
 * A mask has a byte for each row of a block, 1 where the row passed. */
#ifndef RQL_ENGINE_VECTOR_SELECTION_H
#define RQL_ENGINE_VECTOR_SELECTION_H

#include "engine/vector/ahead.h"

#include <stddef.h>
#include <stdint.h>

int selection_count(const uint8_t *mask, int count);

/* Writes the selection vector of a mask; `rows` has room for `count` rows, any of which may be written. */
void selection_list(const uint8_t *mask, int count, uint16_t *rows);

/* Selection vector of a sparse mask; returns its length, or some number above `most` if it is longer. `rows` has room
 * for count + 2. */
int selection_list_few(const uint8_t *mask, int count, int most, uint16_t *rows);

/* Writes the elements that passed contiguously. `out` has room for `count`, any of which may be written, and does not
 * overlap `elements`. */
typedef void pack_fn(void *out, const void *elements, const uint8_t *mask, int count, const struct ahead *ahead);

/* The vectorised packing loop for elements of 1, 2, 4 or 8 bytes; NULL if the processor has none. */
pack_fn *selection_packer(size_t size);

/* to[i] = from[index[i]]; `index` increases, so elements may be packed in place. */
void selection_pack_listed(void *to, const void *from, const uint16_t *index, int count, size_t size);

#endif
