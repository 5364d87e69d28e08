/* Order-preserving images of elements: unsigned integers that compare as the elements do. Integers have the sign bit
 * flipped; floats have the sign bit flipped if positive and all bits if negative, as for radix sorting (M. Herf, "Radix
 * tricks", 2001). All NaNs have the greatest image of their width. */
#ifndef RQL_ENGINE_SORTING_SORT_KEY_ENCODE_H
#define RQL_ENGINE_SORTING_SORT_KEY_ENCODE_H

#include "engine/values/types.h"

#include <stdint.h>

/* Writes the images of the first `count` elements of `data`, or of the rows listed unless `rows` is NULL. */
void sort_key_encode(const void *data, enum type store, const uint64_t *rows, int count, uint64_t *images);

/* The integer, or the float of a column of this type, that has the image. */
int64_t sort_key_integer(uint64_t image);
double sort_key_number(enum type store, uint64_t image);

#endif
