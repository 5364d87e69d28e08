/* The least and the greatest of a column's elements, as images (sort_key_encode.c). */
#ifndef RQL_ENGINE_SORTING_SORT_KEY_RANGE_H
#define RQL_ENGINE_SORTING_SORT_KEY_RANGE_H

#include "engine/values/types.h"

#include <stdbool.h>
#include <stdint.h>

struct key_range {
    uint64_t least, most; /* without NaN; least > most: there are none */
    bool nan, negative_zero;
    int64_t nan_or, nan_and; /* of the bits of all NaNs, as signed integers of their width; without one 0 and -1 */
};

/* Of no elements. */
static inline struct key_range key_range_of_none(void)
{
    return (struct key_range){.least = UINT64_MAX, .nan_and = -1};
}

/* Extends a range by `count` elements of a store type. */
void key_range_extend(struct key_range *range, const void *elements, enum type store, int64_t count);
void key_range_merge(struct key_range *range, const struct key_range *other);

/* sort_key_encode.c: order-preserving images of elements: unsigned integers that compare as the elements do. Integers
 * have the sign bit flipped; floats have the sign bit flipped if positive and all bits if negative, as for radix
 * sorting (M. Herf, "Radix tricks", 2001). All NaNs have the greatest image of their width. */

/* Writes the images of the first `count` elements of `data`, or of the rows listed unless `rows` is NULL. */
void sort_key_encode(const void *data, enum type store, const uint64_t *rows, int count, uint64_t *images);

/* The integer, or the float of a column of this type, that has the image. */
int64_t sort_key_integer(uint64_t image);
double sort_key_number(enum type store, uint64_t image);

#endif
