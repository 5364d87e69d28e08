/* The least and the greatest of a column's elements, as images (sort_key_encode.h). */
#ifndef RQL_ENGINE_SORTING_SORT_KEY_RANGE_H
#define RQL_ENGINE_SORTING_SORT_KEY_RANGE_H

#include "engine/values/types.h"

#include <stdint.h>

struct key_range {
    uint64_t least, most; /* without NaN; least > most: there are none */
    bool nan, negative_zero;
};

/* Extends a range by `count` elements of a store type. */
void key_range_extend(struct key_range *range, const void *elements, enum type store, int64_t count);
void key_range_merge(struct key_range *range, const struct key_range *other);

#endif
