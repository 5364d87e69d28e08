#include "transfer.h"

#include "../heap.h"

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

struct lane {
    const struct accelerator *accelerator;
    enum transfer_direction direction;
    cl_command_queue queue;
    cl_mem pinned; /* NULL: there is none yet */
    char *memory;
    size_t threads;
};

/* One transfer. */
struct work {
    const struct lane *lane;
    cl_mem buffer;
    size_t offset; /* in the buffer */
    char *host;
    size_t bytes;
    atomic_size_t next;  /* piece to take */
    atomic_int code;     /* the first error, or CL_SUCCESS */
    atomic_size_t taken; /* threads that have their slots */
};

struct lane *lane_new(const struct accelerator *accelerator, enum transfer_direction direction)
{
    struct lane *lane = heap_array(1, sizeof *lane);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    lane->accelerator = accelerator;
    lane->direction = direction;
    lane->threads = cores > MOST_THREADS ? MOST_THREADS : cores > 1 ? (size_t)cores : 1;
    return lane;
}

/* Without pinned memory the driver's own way is left. */
static void pin(struct lane *lane)
{
    size_t bytes = lane->threads * SLOTS * PIECE;
    cl_int code;
    cl_mem pinned =
        clCreateBuffer(lane->accelerator->context, CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_WRITE, bytes, NULL, &code);

    if (code != CL_SUCCESS)
        return;
    lane->memory =
        clEnqueueMapBuffer(lane->queue, pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        lane->pinned = pinned;
    else
        clReleaseMemObject(pinned);
}

void lane_free(struct lane *lane)
{
    if (lane->pinned) {
        clEnqueueUnmapMemObject(lane->queue, lane->pinned, lane->memory, 0, NULL, NULL);
        clFinish(lane->queue);
        clReleaseMemObject(lane->pinned);
    }
    if (lane->queue)
        clReleaseCommandQueue(lane->queue);
    free(lane);
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
    else if (work->lane->direction == TRANSFER_DOWNLOAD)
        memcpy(work->host + slot->offset, slot->memory, slot->bytes);
    clReleaseEvent(slot->event);
    slot->event = NULL;
}

static void copy_piece(struct work *work, struct slot *slot)
{
    cl_command_queue queue = work->lane->queue;
    cl_int code;

    if (work->lane->direction == TRANSFER_UPLOAD) {
        memcpy(slot->memory, work->host + slot->offset, slot->bytes);
        code = clEnqueueWriteBuffer(queue, work->buffer, CL_FALSE, work->offset + slot->offset, slot->bytes,
                                    slot->memory, 0, NULL, &slot->event);
    } else {
        code = clEnqueueReadBuffer(queue, work->buffer, CL_FALSE, work->offset + slot->offset, slot->bytes,
                                   slot->memory, 0, NULL, &slot->event);
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
        slots[k].memory = work->lane->memory + (thread * SLOTS + k) * PIECE;
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

static cl_int copy_plainly(const struct lane *lane, cl_mem buffer, size_t offset, void *host, size_t bytes)
{
    return lane->direction == TRANSFER_UPLOAD
               ? clEnqueueWriteBuffer(lane->queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL)
               : clEnqueueReadBuffer(lane->queue, buffer, CL_TRUE, offset, bytes, host, 0, NULL, NULL);
}

cl_int lane_copy(struct lane *lane, cl_mem buffer, size_t offset, void *host, size_t bytes)
{
    cl_int code = CL_SUCCESS;

    if (!lane->queue)
        lane->queue = clCreateCommandQueue(lane->accelerator->context, lane->accelerator->device.id, 0, &code);
    if (code != CL_SUCCESS)
        return code;
    if (bytes > SMALL && !lane->pinned)
        pin(lane);
    if (bytes <= SMALL || !lane->pinned)
        return copy_plainly(lane, buffer, offset, host, bytes);

    struct work work = {lane, buffer, offset, host, bytes, 0, CL_SUCCESS, 0};
    pthread_t threads[MOST_THREADS];
    size_t started = 0;
    while (started + 1 < lane->threads && pthread_create(&threads[started], NULL, run, &work) == 0)
        started++;
    run(&work);
    for (size_t k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    return atomic_load(&work.code);
}
