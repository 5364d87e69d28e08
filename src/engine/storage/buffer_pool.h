/* Memory of columns that are gone, kept for the next ones.
 *
 * The operating system zeroes every page before it hands it out, which takes several times as long as a query needs to
 * write it. What is kept is bounded, and the system may take it back whenever memory is short. A pool may be used by
 * several threads. Where a pool is taken, NULL is one that keeps nothing. */
#ifndef RQL_ENGINE_STORAGE_BUFFER_POOL_H
#define RQL_ENGINE_STORAGE_BUFFER_POOL_H

#include <stdbool.h>
#include <stddef.h>

struct buffer_pool;

struct buffer_pool *buffer_pool_new(size_t most); /* keeps at most so many bytes; one reference */
struct buffer_pool *buffer_pool_ref(struct buffer_pool *pool);
void buffer_pool_unref(struct buffer_pool *pool);

/* A block of at least `size` bytes, page-aligned; *got is its size. What is in it is arbitrary. NULL: no memory. */
void *buffer_pool_alloc(struct buffer_pool *pool, size_t size, size_t *got);

/* Takes back a block, or what is behind its first buffer_pool_trimmed bytes. */
void buffer_pool_release(struct buffer_pool *pool, void *memory, size_t size);

/* How much of a block of `size` bytes has to stay if the first `used` bytes of it do: large blocks are cut at huge
 * pages. */
size_t buffer_pool_trimmed(size_t size, size_t used);

/* Whether little of a block is used, so that moving it to one of its own costs less than holding on to a huge page. */
bool buffer_pool_is_oversized(size_t size, size_t used);

size_t buffer_pool_bytes(struct buffer_pool *pool); /* bytes that are waiting to be used again */

#endif
