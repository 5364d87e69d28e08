#include "transfer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 4 << 20, /* bytes copied at once */
    SLOTS = 2,       /* pieces of a thread: one is copied by it, one by the device */
    MOST_THREADS = 8,
    SMALL = 2 * PIECE /* up to here the driver's own way is as good */
};

struct staging {
    cl_mem buffer;
    char *memory;
    size_t threads;
};

struct work {
    struct accelerator *accelerator;
    const struct staging *staging;
    enum transfer_direction direction;
    cl_mem buffer;
    char *host;
    size_t bytes;
    atomic_size_t next;  /* piece to take */
    atomic_int code;     /* the first error, or CL_SUCCESS */
    atomic_size_t taken; /* threads that have their slots */
};

static struct staging *staging_new(struct accelerator *accelerator)
{
    struct staging *staging = calloc(1, sizeof *staging);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    cl_int code;

    if (!staging)
        return NULL;
    staging->threads = cores > MOST_THREADS ? MOST_THREADS : cores > 1 ? (size_t)cores : 1;
    size_t bytes = staging->threads * SLOTS * PIECE;
    staging->buffer =
        clCreateBuffer(accelerator->context, CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_SUCCESS) {
        staging->memory = clEnqueueMapBuffer(accelerator->queue, staging->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                             0, bytes, 0, NULL, NULL, &code);
        if (code == CL_SUCCESS)
            return staging;
        clReleaseMemObject(staging->buffer);
    }
    free(staging);
    return NULL;
}

void staging_free(struct accelerator *accelerator, struct staging *staging)
{
    if (!staging)
        return;
    clEnqueueUnmapMemObject(accelerator->queue, staging->buffer, staging->memory, 0, NULL, NULL);
    clFinish(accelerator->queue);
    clReleaseMemObject(staging->buffer);
    free(staging);
}

/* A slot of pinned memory and what it holds. */
struct slot {
    char *memory;
    size_t offset, bytes;
    cl_event event; /* the device's copy; NULL: none under way */
};

static void fail(struct work *work, cl_int code)
{
    int none = CL_SUCCESS;

    atomic_compare_exchange_strong(&work->code, &none, code);
}

/* Waits until the slot is free again, taking what was downloaded to where it belongs. */
static void settle(struct work *work, struct slot *slot)
{
    if (!slot->event)
        return;
    cl_int code = clWaitForEvents(1, &slot->event);
    if (code != CL_SUCCESS)
        fail(work, code);
    else if (work->direction == TRANSFER_DOWNLOAD)
        memcpy(work->host + slot->offset, slot->memory, slot->bytes);
    clReleaseEvent(slot->event);
    slot->event = NULL;
}

static void copy_piece(struct work *work, struct slot *slot)
{
    cl_command_queue queue = work->accelerator->queue;
    cl_int code;

    if (work->direction == TRANSFER_UPLOAD) {
        memcpy(slot->memory, work->host + slot->offset, slot->bytes);
        code = clEnqueueWriteBuffer(queue, work->buffer, CL_FALSE, slot->offset, slot->bytes, slot->memory, 0, NULL,
                                    &slot->event);
    } else {
        code = clEnqueueReadBuffer(queue, work->buffer, CL_FALSE, slot->offset, slot->bytes, slot->memory, 0, NULL,
                                   &slot->event);
    }
    if (code == CL_SUCCESS)
        code = clFlush(queue);
    else
        slot->event = NULL;
    if (code != CL_SUCCESS)
        fail(work, code);
}

static void *run(void *argument)
{
    struct work *work = argument;
    size_t thread = atomic_fetch_add(&work->taken, 1);
    struct slot slots[SLOTS] = {{0}};

    for (size_t k = 0; k < SLOTS; k++)
        slots[k].memory = work->staging->memory + (thread * SLOTS + k) * PIECE;
    for (size_t turn = 0; atomic_load(&work->code) == CL_SUCCESS; turn++) {
        struct slot *slot = &slots[turn % SLOTS];
        settle(work, slot);
        slot->offset = atomic_fetch_add(&work->next, 1) * PIECE;
        if (slot->offset >= work->bytes)
            break;
        slot->bytes = work->bytes - slot->offset < PIECE ? work->bytes - slot->offset : PIECE;
        copy_piece(work, slot);
    }
    for (size_t k = 0; k < SLOTS; k++)
        settle(work, &slots[k]);
    return NULL;
}

static cl_int plain(struct accelerator *accelerator, enum transfer_direction direction, cl_mem buffer, void *host,
                    size_t bytes)
{
    return direction == TRANSFER_UPLOAD
               ? clEnqueueWriteBuffer(accelerator->queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL)
               : clEnqueueReadBuffer(accelerator->queue, buffer, CL_TRUE, 0, bytes, host, 0, NULL, NULL);
}

bool transfer(struct accelerator *accelerator, struct staging **staging, enum transfer_direction direction,
              cl_mem buffer, void *host, size_t bytes)
{
    const char *call = direction == TRANSFER_UPLOAD ? "clEnqueueWriteBuffer" : "clEnqueueReadBuffer";

    if (bytes > SMALL && !*staging)
        *staging = staging_new(accelerator);
    if (bytes <= SMALL || !*staging)
        return cl_ok(&accelerator->failure, call, plain(accelerator, direction, buffer, host, bytes));

    struct work work = {accelerator, *staging, direction, buffer, host, bytes, 0, CL_SUCCESS, 0};
    pthread_t threads[MOST_THREADS];
    size_t started = 0;
    while (started + 1 < (*staging)->threads && pthread_create(&threads[started], NULL, run, &work) == 0)
        started++;
    run(&work);
    for (size_t k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    return cl_ok(&accelerator->failure, call, atomic_load(&work.code));
}
