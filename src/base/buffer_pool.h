/* Memory for columns and large temporary buffers: it accounts for what is in use, keeps what is freed for reuse, and
 * spills what exceeds its limit.
 *
 * Accounting: blocks in use and free ones together, and what the kernel says that the process has beside them, stay
 * below the limit. Beyond it, blocks are memory of a temporary file (spill_area.h), which is slower, but differs in
 * nothing else. Where the disk has no room for them either, they are memory that the limit does not hold: ask
 * buffer_pool_takes before.
 *
 * Reuse: the kernel zeroes every page before handing it out, which takes several times as long as a query needs to
 * write it. The memory kept is bounded, and the kernel may reclaim what has been free for a while when memory is short.
 * A pool may be used by several threads. Functions that take a pool accept NULL: it has no limit, and keeps nothing. */
#ifndef RQL_BASE_BUFFER_POOL_H
#define RQL_BASE_BUFFER_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer_pool;
struct spill_room; /* spill_area.h */

/* A pool that keeps at most `max` bytes; one reference. */
struct buffer_pool *buffer_pool_new(size_t max);
struct buffer_pool *buffer_pool_ref(struct buffer_pool *pool);
void buffer_pool_unref(struct buffer_pool *pool);

/* Sets the limit in bytes, and where blocks beyond it are (spill_area_set_directory). A new pool has no limit. */
void buffer_pool_set_limit(struct buffer_pool *pool, int64_t limit, const char *directory);

int64_t buffer_pool_limit(const struct buffer_pool *pool); /* without a limit the machine's memory */

/* Bytes of memory that can be used now; whether they are as many as these, and whether they are with the disk's. Up to
 * some 64 MB the kernel is not asked: that would take longer than writing them. */
int64_t buffer_pool_room(struct buffer_pool *pool);
bool buffer_pool_has(struct buffer_pool *pool, int64_t bytes);
bool buffer_pool_takes(struct buffer_pool *pool, int64_t bytes);
struct spill_room buffer_pool_spill_room(struct buffer_pool *pool);
int64_t buffer_pool_spilled(struct buffer_pool *pool); /* bytes */

/* A page-aligned block of at least `size` bytes with arbitrary content; *allocated is its size. NULL: no memory. */
void *buffer_pool_alloc(struct buffer_pool *pool, size_t size, size_t *allocated);

/* Likewise on the disk, whether or not memory has room. NULL: the disk does not have it. */
void *buffer_pool_alloc_spilled(struct buffer_pool *pool, size_t size, size_t *allocated);

/* A zeroed array that is accounted for, and spilled beyond the limit. */
struct pool_array {
    struct buffer_pool *pool;
    void *at;
    size_t bytes;
};

/* `count` elements of `size` bytes; returns where they are. Never NULL. */
void *pool_array_new(struct pool_array *array, struct buffer_pool *pool, size_t count, size_t size);
void pool_array_free(struct pool_array *array); /* also of a zeroed struct */

/* Copies to a block; several threads may write at once. */
void buffer_pool_write(struct buffer_pool *pool, void *at, const void *from, size_t size);

/* The content of a block: where it is, or, if it is spilled, copied to a buffer, for reads that jump about. */
const void *buffer_pool_read(struct buffer_pool *pool, const void *at, void *buffer, size_t size);

/* Releases a block, or its tail after the first buffer_pool_trimmed bytes. */
void buffer_pool_release(struct buffer_pool *pool, void *memory, size_t size);

/* Makes a block of *allocated bytes one of at least `size` bytes with the same beginning, which may be elsewhere. NULL:
 * no memory; the block is as before. */
void *buffer_pool_grow(struct buffer_pool *pool, void *memory, size_t size, size_t *allocated);

bool buffer_pool_holds_spilled(const struct buffer_pool *pool, const void *memory);

/* The bytes to keep of a block of `size` bytes when its first `used` bytes stay: large blocks are split at huge pages,
 * small ones keep a page more, so that most stay whole and the next allocation of their size fits. */
size_t buffer_pool_trimmed(size_t size, size_t used);

/* Whether so little of a block is used that copying it costs less than holding a huge page, or what was spilled. */
bool buffer_pool_is_oversized(struct buffer_pool *pool, const void *memory, size_t size, size_t used);

size_t buffer_pool_bytes(struct buffer_pool *pool); /* free bytes in the pool */

#endif
