/* Bucket bounds for skewed keys. The topmost digit of floats, for one, is the exponent, which would put most elements
 * into few buckets. As in sample sort, bounds come from a sample; here ranges of keys are halved until none has too
 * much of the sample, so that they are aligned and a bucket's elements share their topmost bits. */
#ifndef RQL_ENGINE_SORTING_RADIX_SPLITTERS_H
#define RQL_ENGINE_SORTING_RADIX_SPLITTERS_H

#include "engine/sorting/radix_sort.h"

enum { RADIX_SPLITTER_BITS = 10 }; /* of a bucket's number, at most */

struct radix_splitters {
    int bits;                               /* of a bucket's number */
    int shift;                              /* the key's bits from here on are an index of `bucket` */
    uint64_t mask;                          /* of these bits */
    uint16_t *bucket;                       /* numbered in the order of keys */
    uint8_t left[1 << RADIX_SPLITTER_BITS]; /* of each bucket: the bits that remain to be sorted by */
};

/* Splitters to use instead of the topmost `digit` bits; NULL: these are even enough. */
struct radix_splitters *radix_splitters_new(const struct radix *radix, int digit);
void radix_splitters_free(struct radix_splitters *map); /* NULL is allowed */

#endif
