/* Buffers that are not in use: to allocate gigabytes on a device and touch them for the first time takes longer than a
 * kernel does to fill them, so what one query lets go of the next one gets. */
#ifndef RQL_CL_POOL_H
#define RQL_CL_POOL_H

#include "accelerator.h"

struct pool;

struct pool *pool_new(void);
void pool_free(struct pool *pool);

/* The bytes of all buffers in it. */
uint64_t pool_bytes(const struct pool *pool);

/* A buffer of at least so many bytes, and not many more; NULL: there is none. */
cl_mem pool_take(struct pool *pool, size_t bytes);

/* Takes over the buffer, which nothing works with any more. */
void pool_give(struct pool *pool, cl_mem buffer);

/* Gives the buffer that is unused for longest back to the device; false if there is none. */
bool pool_drop(struct pool *pool);

#endif
