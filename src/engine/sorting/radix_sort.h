/* A stable parallel radix sort of fixed-size elements by some bits of their first word.
 *
 * One MSD pass partitions the elements into buckets by the topmost digit, or by splitters from a sample where that
 * digit is skewed (radix_splitters.h); parts of the rows have places of their own, which keeps it stable. Buckets fit a
 * core's cache; each is sorted by an LSD radix sort and emitted while it is there. A bucket that is too large is
 * partitioned again by the bits in which its elements differ. */
#ifndef RQL_ENGINE_SORTING_RADIX_SORT_H
#define RQL_ENGINE_SORTING_RADIX_SORT_H

#include "base/diag.h"
#include "base/parallel.h"

enum { RADIX_BLOCK = 1024 }; /* the most elements read at once */

/* Elements of 16 bytes; those of 4 and of 8 bytes are a uint32_t and a uint64_t. */
struct radix_pair {
    uint64_t key, payload;
};

struct radix {
    const struct workers *workers;
    int64_t rows;
    size_t width;    /* of an element: 4, 8 or 16 bytes */
    int shift, bits; /* sorted by bits shift .. shift+bits-1 */

    /* Reads `count` elements from `row` on. */
    void (*read)(void *context, int64_t row, int count, void *elements);
    /* Takes elements row .. row+count-1 of the result. Called by several threads, in any order; equal keys are in one
     * call. */
    void (*emit)(void *context, int member, int64_t row, const void *elements, int64_t count);
    void *context;
    void *space; /* for all elements, lent by the caller, or NULL. `emit` may overwrite the elements that it is given at
                    their own places there */
};

/* STATUS_OK, STATUS_CANCELLED, or STATUS_FAILED, without an error: not enough memory. */
enum status radix_sort(const struct radix *radix);

#endif
