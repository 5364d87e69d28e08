/* Which bucket an element is dealt into where a digit would leave most elements in few buckets, as the topmost bits of
 * floats do, which are of the exponent: a sample says where many are, and buckets are cut in halves there. Private to
 * radix*.c. */
#ifndef RQL_ENGINE_OPERATORS_RADIX_SPLITTERS_H
#define RQL_ENGINE_OPERATORS_RADIX_SPLITTERS_H

#include "engine/operators/radix_sort.h"

enum { RADIX_SPLITTER_BITS = 10 }; /* there are at most so many buckets: 2^10 */

struct radix_splitters {
    int bits;                               /* of a bucket's number */
    int shift;                              /* from here on an element's bits are a place in `bucket` */
    uint64_t mask;                          /* of those */
    uint16_t *bucket;                       /* in the order of keys */
    uint8_t left[1 << RADIX_SPLITTER_BITS]; /* in how many of the sorted bits elements of each bucket differ */
};

/* A map for elements that would be dealt by the topmost `digit` bits; NULL: those do as well. */
struct radix_splitters *radix_splitters_new(const struct radix *radix, int digit);
void radix_splitters_free(struct radix_splitters *map); /* NULL is allowed */

#endif
