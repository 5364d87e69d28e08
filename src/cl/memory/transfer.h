/* Large copies between the host and a device's own memory.
 *
 * Pageable memory moves at a fifth of what pinned memory does (on an H200 10.9 of 55.6 GB/s), and one thread copying
 * into pinned memory is no faster; so several threads fill or empty pinned buffers while the device copies the others.
 */
#ifndef RQL_CL_MEMORY_TRANSFER_H
#define RQL_CL_MEMORY_TRANSFER_H

#include "cl/device/accelerator.h"

enum transfer_direction { TRANSFER_UPLOAD, TRANSFER_DOWNLOAD };

/* One way between the host and a device: a queue of its own, so that it does not wait for kernels, and pinned memory,
 * both made when they are first needed. Two lanes may be used by two threads at once. */
struct lane;

struct lane *lane_new(const struct accelerator *accelerator, enum transfer_direction direction);
void lane_free(struct lane *lane);

/* Bytes to copy between a buffer, from `offset` on, and host memory. */
struct transfer {
    cl_mem buffer;
    size_t offset;
    void *host;
    size_t bytes;
};

/* Copies the transfers one after another, and waits for all of them. What kernels have to do with the buffers must have
 * ended. */
cl_int lane_copy(struct lane *lane, const struct transfer *transfers, size_t count);

#endif
