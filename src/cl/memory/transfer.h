/* Large copies between the host and a device's own memory.
 *
 * Pageable memory moves at a fifth of what pinned memory does (on an H200 10.9 of 55.6 GB/s), and one thread copying
 * into pinned memory is no faster; so several threads fill or empty pinned buffers while the device copies the others:
 * of a file that is mapped for the first time, 6 threads reach 39 GB/s, 8 threads 41 to 47, and 12 threads 51. */
#ifndef RQL_CL_MEMORY_TRANSFER_H
#define RQL_CL_MEMORY_TRANSFER_H

#include "cl/device/accelerator.h"

enum transfer_direction { TRANSFER_UPLOAD, TRANSFER_DOWNLOAD };

/* Transfers in one direction: a command queue of its own, so that they do not wait for kernels, and pinned memory, both
 * created when first needed. Two threads may use two lanes at once. */
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

/* Copies the transfers in order and waits for all of them. Kernels that use the buffers must have finished. */
cl_int lane_copy(struct lane *lane, const struct transfer *transfers, size_t count);

#endif
