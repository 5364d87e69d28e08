/* Elements of 4, 8 or 16 bytes (radix_sort.h), or more, which are not sorted. Always inlined, where the width is a
 * constant: one loop for each width.
 */
#ifndef RQL_ENGINE_SORTING_SORT_ELEMENT_H
#define RQL_ENGINE_SORTING_SORT_ELEMENT_H

#include "engine/sorting/radix_sort.h"

#include <stddef.h>
#include <string.h>

/* The first word of element `i`, which has the key. */
static inline __attribute__((always_inline)) uint64_t sort_element_word(const void *elements, size_t i, size_t width)
{
    return width == 4   ? ((const uint32_t *)elements)[i]
           : width == 8 ? ((const uint64_t *)elements)[i]
                        : ((const struct radix_pair *)elements)[i].key;
}

/* Sets element `i` of `to` to element `j` of `from`. */
static inline __attribute__((always_inline)) void sort_element_copy(void *to, size_t i, const void *from, size_t j,
                                                                    size_t width)
{
    if (width == 4)
        ((uint32_t *)to)[i] = ((const uint32_t *)from)[j];
    else if (width == 8)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[j];
    else if (width == 16)
        ((struct radix_pair *)to)[i] = ((const struct radix_pair *)from)[j];
    else
        memcpy((char *)to + i * width, (const char *)from + j * width, width);
}

#endif
