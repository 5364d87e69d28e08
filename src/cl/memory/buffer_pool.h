/* Buffers that are not in use: to allocate gigabytes on a device and touch them for the first time takes longer than a
 * kernel does to fill them, so what one query lets go of the next one gets. */
#ifndef RQL_CL_MEMORY_BUFFER_POOL_H
#define RQL_CL_MEMORY_BUFFER_POOL_H

#include "cl/device/accelerator.h"

struct spares;

struct spares *spares_new(void);
void spares_free(struct spares *spares);

/* The bytes of all buffers in it. */
uint64_t spares_bytes(const struct spares *spares);

/* A buffer of at least so many bytes, and not many more; NULL: there is none. */
cl_mem spares_take(struct spares *spares, size_t bytes);

/* Takes over the buffer, which nothing works with any more. */
void spares_give(struct spares *spares, cl_mem buffer);

/* Gives the buffer that is unused for longest back to the device; false if there is none. */
bool spares_drop(struct spares *spares);

#endif
