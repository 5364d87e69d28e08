/* Positions of keys: numbers of 32 bits in the order of the keys and, as far as is known, spread evenly over all such
 * numbers. Elements are partitioned into buckets and bins by them.
 *
 * The position of a key is its place between the least and the greatest, or, where keys are skewed as the codes of
 * floats are, a distribution function that is linear between some points of a sample. */
#ifndef RQL_ENGINE_SORTING_SORT_POSITIONS_H
#define RQL_ENGINE_SORTING_SORT_POSITIONS_H

#include "engine/sorting/radix_sort.h"

enum { SEGMENT_BITS = 14, SEGMENTS = 1 << SEGMENT_BITS };

/* Where an element's key is in its first word. */
struct sort_key_place {
    int shift;
    uint64_t mask; /* after shifting */
};

struct sort_positions {
    struct sort_key_place key;
    uint64_t least, most; /* keys */
    int up;               /* shifts most - least to the top of 64 bits */
    /* With `segments` only: the topmost bits of all positions, which are the same; those below are divided. */
    int known;
    /* NULL, or the distribution function on stretches of equal length between these bounds, beyond which keys have
     * their positions: the first position, and in the upper 32 bits how many there are. */
    uint64_t *segments;
};

/* Linear positions between two keys, the least and the greatest there are, which differ. */
struct sort_positions sort_positions_between(const struct radix *radix, uint64_t least, uint64_t most);

/* Positions from a sample of the rows, which are read by radix->read or, unless NULL, are at `from`: linear ones
 * between the keys that it has, unless they would put too many rows into some of 2^bits buckets, or leave no bits of
 * keys within a bucket. */
void sort_positions_sample(struct sort_positions *by, const struct radix *radix, const void *from, int64_t rows,
                           int bits);
void sort_positions_copy(struct sort_positions *to, const struct sort_positions *from);
void sort_positions_free(struct sort_positions *by);

#endif
