/* Large copies between the host and a device's own memory.
 *
 * Pageable memory moves at a fifth of what pinned memory does (on an H200 10.9 of 55.6 GB/s), and one thread copying
 * into pinned memory is no faster; so several threads fill or empty pinned buffers while the device copies the others.
 */
#ifndef RQL_CL_TRANSFER_H
#define RQL_CL_TRANSFER_H

#include "accelerator.h"

enum transfer_direction { TRANSFER_UPLOAD, TRANSFER_DOWNLOAD };

/* The pinned memory, kept from one transfer to the next. */
struct staging;

/* Copies all of `bytes` between the buffer's start and the host's memory, and waits for it. *staging is made when it is
 * first needed; NULL at first. False with the accelerator's failure. */
bool transfer(struct accelerator *accelerator, struct staging **staging, enum transfer_direction direction,
              cl_mem buffer, void *host, size_t bytes);

void staging_free(struct accelerator *accelerator, struct staging *staging);

#endif
