/* What keys are compared by. An element's image is an unsigned number that compares as the element does: integers with
 * the sign bit turned over, floats as their bits with the sign bit turned over, or all bits of negative ones. A NaN's
 * image is the greatest of its width, which no other has. Private to sort_keys.c. */
#ifndef RQL_ENGINE_OPERATORS_SORT_KEY_ENCODE_H
#define RQL_ENGINE_OPERATORS_SORT_KEY_ENCODE_H

#include "engine/values/types.h"

#include <stdint.h>

/* Images of `count` elements from the start of data, or of the rows listed (NULL: none are). */
void sort_key_encode(const void *data, enum type store, const uint64_t *rows, int count, uint64_t *images);

#endif
