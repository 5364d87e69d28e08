/* A stable radix sort of fixed-size elements by some bits of their first word, on all threads.
 *
 * The elements are dealt into buckets by the topmost digit while they are read, each thread's share of the rows to
 * its own places, so that equal ones keep their order (or by what a sample shows to be even, radix_splitters.h); then
 * every bucket, small enough for a core's cache, is sorted by its lower digits, least significant first, and handed on
 * while it is there. A bucket that is too large is dealt again by the bits in which its elements differ. */
#ifndef RQL_ENGINE_OPERATORS_RADIX_SORT_H
#define RQL_ENGINE_OPERATORS_RADIX_SORT_H

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

    /* Gives `count` elements from row on. */
    void (*read)(void *context, int64_t row, int count, void *elements);
    /* Takes sorted elements, of which these are the `count` from `row` on. Equal ones come all at once, the rest in
     * any order and from several threads. */
    void (*emit)(void *context, int member, int64_t row, const void *elements, int64_t count);
    void *context;
    void *space; /* room for all elements that the caller lends, or NULL. `emit` may write the
                    elements that it is given over their own places there */
};

/* STATUS_FAILED: there is no memory; nothing has been said. */
enum status radix_sort(const struct radix *radix);

#endif
