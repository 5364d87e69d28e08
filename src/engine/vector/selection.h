/* The rows that passed: counting, listing and packing them.
 *
 * A mask has a byte for each row of a block, 1 where it passed. */
#ifndef RQL_ENGINE_VECTOR_SELECTION_H
#define RQL_ENGINE_VECTOR_SELECTION_H

#include <stddef.h>
#include <stdint.h>

int selection_count(const uint8_t *mask, int count);

/* Lists the rows of the mask that passed; `rows` has room for `count` of them, and any of it may be written. */
void selection_list(const uint8_t *mask, int count, uint16_t *rows);

/* The same where few are expected; returns how many they are, or if there are more than `most`, some number above that.
 * `rows` has room for two more than `count`. */
int selection_list_few(const uint8_t *mask, int count, int most, uint16_t *rows);

/* Writes those of the `count` elements that passed one after the other. `out` has room for all of them, and any of it
 * may be written; it does not overlap the elements. */
typedef void pack_fn(void *out, const void *elements, const uint8_t *mask, int count);

/* What packs elements of 1, 2, 4 or 8 bytes more quickly than by a list, in vectors; NULL where the processor cannot.
 */
pack_fn *selection_packer(size_t size);

#endif
