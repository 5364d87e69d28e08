/* A stable parallel radix sort of fixed-size elements by some bits of their first word.
 *
 * All threads partition the elements into buckets by their topmost bits, or, where these are skewed, by a distribution
 * found from a sample (sort_positions.h, radix_partition.h). Buckets fit a core's cache; each is partitioned into bins
 * and sorted there (sort_bins.h), and emitted. A bucket that is too large is partitioned again by the range of its
 * keys. Where elements are nothing but keys of few possible values, or of few by a sample, these are counted
 * (counting_sort.c). */
#ifndef RQL_ENGINE_SORTING_RADIX_SORT_H
#define RQL_ENGINE_SORTING_RADIX_SORT_H

#include "base/diag.h"
#include "base/parallel.h"

enum { RADIX_BLOCK = 1024 }; /* the most elements read at once */

struct sort_level;
struct radix_partition;

/* Elements that have been partitioned into one bucket, and are not sorted. */
struct radix_bucket {
    const struct radix_partition *partition;
    int64_t number;
    int64_t row, count; /* of the result */
    uint64_t least;     /* keys are at least this, */
    int bits;           /* and less than 2^bits more */
};

/* Elements of 16 bytes; those of 4 and of 8 bytes are a uint32_t and a uint64_t. */
struct radix_pair {
    uint64_t key, payload;
};

struct radix {
    const struct workers *workers;
    int64_t rows;
    size_t width;    /* of an element: 4, 8 or 16 bytes */
    int shift, bits; /* sorted by bits shift .. shift+bits-1; those above are zero */

    /* Reads `count` elements from `row` on. */
    void (*read)(void *context, int64_t row, int count, void *elements);
    /* Takes elements row .. row+count-1 of the result. Called by several threads, in any order; equal keys are in one
     * call, unless an element is a key of 4 bytes alone, or `divided` says that they may be in several. */
    void (*emit)(void *context, int member, int64_t row, const void *elements, int64_t count);
    bool divided;
    /* NULL, or: takes a bucket as it is, in place of `emit`; false: it must be sorted. `member` is -1 where it is too
     * large for one thread; all threads are idle then. It takes buckets whose keys have up to 2^take_bits possible
     * values, unless take_bits is 0; these may be larger, and of any sizes. */
    bool (*take)(void *context, int member, const struct radix_bucket *bucket);
    int take_bits;
    void *context;
    const struct sort_level *level; /* NULL: the best that this processor has */
};

/* STATUS_OK, STATUS_CANCELLED, or STATUS_FAILED, without an error: not enough memory. */
enum status radix_sort(const struct radix *radix);

/* counting_sort.c: sorting keys of few possible values by counting them. */

/* Whether the elements are nothing but keys with so few possible values that this is fastest. */
bool counting_sort_pays(const struct radix *radix);

/* Statuses as of radix_sort. */
enum status counting_sort(const struct radix *radix);

/* The same for keys of few values in a wide range, as value_counts_pay says of a sample. STATUS_FAILED, without an
 * error: there are many, and nothing has been emitted. */
enum status counting_sort_values(const struct radix *radix);

/* value_counts.c: how often each value occurs among elements that are nothing but keys: a hash table for each thread.
 */

struct value_counts {
    size_t count;
    uint64_t *values; /* ascending */
    int64_t *ends;    /* of each value: how many elements are not greater */
};

/* Whether a sample of the elements, which are keys of 4 or 8 bytes, has few values. */
bool value_counts_pay(const struct radix *radix);

/* STATUS_OK, STATUS_CANCELLED, or STATUS_FAILED, without an error: there are many values after all.
 * Call value_counts_free in any case. */
enum status value_counts_find(const struct radix *radix, struct value_counts *found);
void value_counts_free(struct value_counts *found);

#endif
