/* Sorting a bucket that fits a core's cache, by one thread.
 *
 * Its elements are partitioned into bins of a fixed capacity, about half full on average, which are sorted one by one
 * (sort_level.h). If a bin does not suffice, the elements of each are counted first; a bin with too many is partitioned
 * into bins again, by the range of its keys. */
#ifndef RQL_ENGINE_SORTING_SORT_BINS_H
#define RQL_ENGINE_SORTING_SORT_BINS_H

#include "engine/sorting/radix_partition.h"

/* A thread's memory. */
struct bins {
    const struct radix *radix;
    const struct sort_level *level;
    bool bare; /* elements are their keys */
    int room;  /* capacity of a bin: elements that are sorted at once */
    char *memory;
    size_t memory_bytes;
    char *spaces[2], *sorted;
    uint32_t *counts;
};

/* The bytes of bins for buckets of up to `most` elements. */
size_t bins_bytes(const struct radix *radix, const struct sort_level *level, size_t most);

/* For buckets of up to `most` elements. False: not enough memory; call bins_free in either case. */
bool bins_init(struct bins *bins, const struct radix *radix, const struct sort_level *level, size_t most);
void bins_free(struct bins *bins);

/* Sorts `count` > 0 elements with positions `by`, which are linear; NULL: their keys are equal. Returns them; they stay
 * until the next call. */
void *bins_sort(struct bins *bins, const struct bucket_reader *reader, size_t count, const struct sort_positions *by);

#endif
