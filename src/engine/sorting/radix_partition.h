/* Partitioning elements into buckets, in one pass by all threads.
 *
 * Scattered stores to many places miss the caches. So an element goes to a small buffer of its bucket, which stays in
 * the cache; full buffers are moved, past the caches, to the bucket's last chunk. Chunks are taken from one block of
 * memory as they are needed, so nothing is counted first. What remains in a buffer stays there. Parts of the rows have
 * chunks and buffers of their own, so that a bucket's elements can be read in the order of rows. */
#ifndef RQL_ENGINE_SORTING_RADIX_PARTITION_H
#define RQL_ENGINE_SORTING_RADIX_PARTITION_H

#include "engine/sorting/sort_level.h"

enum { RADIX_WIDEST = 64 /* bytes of an element: a power of two; those of more than 16 are only partitioned */ };

struct partitioned_part;

struct radix_partition {
    const struct radix *radix;
    const struct sort_level *level;
    const struct sort_positions *by;
    const void *from; /* the elements, or NULL: they are read by radix->read */
    struct parts parts;
    int bits;                           /* of a bucket's number, the topmost of a position */
    size_t buffer_bytes, chunk_bytes;   /* powers of two */
    struct partitioned_part *of;        /* each part */
    char *memory;                       /* of all chunks */
    size_t memory_bytes, buffers_bytes; /* the latter of a part's buffers */
    int64_t *begins;                    /* of each bucket, and the number of elements behind the last */
};

/* Partitions `rows` elements; 0 < partition->bits, and the fields before it are set. Statuses as of radix_sort. Call
 * radix_partition_free in any case. */
enum status radix_partition_run(struct radix_partition *partition, int64_t rows);
void radix_partition_free(struct radix_partition *partition);

/* Elements in order, some at once: those of a bucket, or those that lie one after another. */
struct bucket_reader {
    const struct radix_partition *partition; /* NULL: */
    const char *from;                        /* the next elements */
    size_t left;                             /* there, or in the part's chunks */
    size_t width;
    int64_t bucket, part, last_part;
    uint32_t chunk;
    bool opened;       /* the part's chunks are being read */
    const char *after; /* where bucket_reader_next will go on, as far as is known; to be prefetched */
};

enum { PIECE = 1024 /* elements at most */ };

struct bucket_reader read_bucket(const struct radix_partition *partition, int64_t bucket);
struct bucket_reader read_bucket_part(const struct radix_partition *partition, int64_t bucket,
                                      int64_t part); /* of the rows */
int64_t pieces_before_part(const struct radix_partition *partition, int64_t bucket,
                           int64_t part); /* elements of the bucket */
struct bucket_reader read_array(const void *elements, size_t count, size_t width);
/* The next elements; NULL: there are no more. */
const void *bucket_reader_next(struct bucket_reader *reader, int *count);

#endif
