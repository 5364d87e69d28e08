/* Freed column memory, kept for reuse.
 *
 * The kernel zeroes every page before handing it out, which takes several times as long as a query needs to write it.
 * The memory kept is bounded, and the kernel may reclaim what has been free for a while when memory is short. A pool
 * may be used by several threads. Functions that take a pool accept NULL, which keeps nothing. */
#ifndef RQL_ENGINE_STORAGE_BUFFER_POOL_H
#define RQL_ENGINE_STORAGE_BUFFER_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct buffer_pool;

/* A pool that keeps at most `max` bytes; one reference. */
struct buffer_pool *buffer_pool_new(size_t max);
struct buffer_pool *buffer_pool_ref(struct buffer_pool *pool);
void buffer_pool_unref(struct buffer_pool *pool);

/* A page-aligned block of at least `size` bytes with arbitrary content; *allocated is its size. NULL: no memory. */
void *buffer_pool_alloc(struct buffer_pool *pool, size_t size, size_t *allocated);

/* Releases a block, or its tail after the first buffer_pool_trimmed bytes. */
void buffer_pool_release(struct buffer_pool *pool, void *memory, size_t size);

/* The bytes to keep of a block of `size` bytes when its first `used` bytes stay: large blocks are split at huge pages,
 * small ones keep a page more, so that most stay whole and the next allocation of their size fits. */
size_t buffer_pool_trimmed(size_t size, size_t used);

/* Whether so little of a block is used that copying it costs less than holding a huge page. */
bool buffer_pool_is_oversized(size_t size, size_t used);

size_t buffer_pool_bytes(struct buffer_pool *pool); /* free bytes in the pool */

#endif
