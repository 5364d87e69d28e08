/* A pool of unused buffers: allocating gigabytes on a device and touching them first takes longer than a kernel needs
 * to fill them. */
#ifndef RQL_CL_MEMORY_DEVICE_POOL_H
#define RQL_CL_MEMORY_DEVICE_POOL_H

#include "cl/device/accelerator.h"

struct device_pool;

struct device_pool *device_pool_new(void);
void device_pool_free(struct device_pool *pool);

/* The bytes of all buffers in the pool. */
uint64_t device_pool_bytes(const struct device_pool *pool);

/* A buffer of at least `bytes` bytes and not much larger; NULL: none. */
cl_mem device_pool_alloc(struct device_pool *pool, size_t bytes);

/* Takes over a buffer that is no longer in use. */
void device_pool_release(struct device_pool *pool, cl_mem buffer);

/* Releases the least recently used buffer; false if there is none. */
bool device_pool_shrink(struct device_pool *pool);

#endif
