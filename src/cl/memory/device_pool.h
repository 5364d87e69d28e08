/* Buffers that are not in use: to allocate gigabytes on a device and touch them for the first time takes longer than a
 * kernel does to fill them, so what one query lets go of the next one gets. */
#ifndef RQL_CL_MEMORY_DEVICE_POOL_H
#define RQL_CL_MEMORY_DEVICE_POOL_H

#include "cl/device/accelerator.h"

struct device_pool;

struct device_pool *device_pool_new(void);
void device_pool_free(struct device_pool *pool);

/* The bytes of all buffers in it. */
uint64_t device_pool_bytes(const struct device_pool *pool);

/* A buffer of at least so many bytes, and not many more; NULL: there is none. */
cl_mem device_pool_take(struct device_pool *pool, size_t bytes);

/* Takes over the buffer, which nothing works with any more. */
void device_pool_give(struct device_pool *pool, cl_mem buffer);

/* Gives the buffer that is unused for longest back to the device; false if there is none. */
bool device_pool_drop(struct device_pool *pool);

#endif
