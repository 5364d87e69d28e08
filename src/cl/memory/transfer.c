#include "cl/memory/transfer.h"

#include "base/heap.h"
#include "base/thread_pool.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PIECE = 2 << 20, /* bytes copied at once */
    SLOTS = 2,       /* pieces of a thread: it copies one while the device copies the other */
    MAX_THREADS = 12,
    FEWEST_PIECES = 4, /* of a thread */
    SMALL = 8 << 20    /* bytes; up to this size pinned memory gains nothing */
};

/* The slots of a thread. Pinning takes 0.4 ms for a megabyte, so each thread does it for itself, while others copy. */
struct pinned {
    cl_mem buffer; /* NULL: not created yet, or that failed */
    char *memory;
};

struct lane {
    const struct accelerator *accelerator;
    enum transfer_direction direction;
    cl_command_queue queue;
    struct pinned pinned[MAX_THREADS];
    size_t threads;
};

/* A call of lane_copy. */
struct batch {
    struct lane *lane;
    const struct transfer *transfers;
    size_t count;
    atomic_size_t next;     /* the next piece to copy */
    atomic_int code;        /* the first error, or CL_SUCCESS */
    atomic_size_t numbered; /* threads that have been numbered */
};

struct lane *lane_new(const struct accelerator *accelerator, enum transfer_direction direction)
{
    struct lane *lane = heap_array(1, sizeof *lane);
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    lane->accelerator = accelerator;
    lane->direction = direction;
    lane->threads = cores > MAX_THREADS ? MAX_THREADS : cores > 1 ? (size_t)cores : 1;
    return lane;
}

/* On failure the thread copies pageable memory. */
static void create_pinned(const struct lane *lane, struct pinned *pinned)
{
    const size_t bytes = SLOTS * PIECE;
    cl_int code;
    cl_mem buffer =
        clCreateBuffer(lane->accelerator->context, CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS)
        return;
    pinned->memory =
        clEnqueueMapBuffer(lane->queue, buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        pinned->buffer = buffer;
    else
        clReleaseMemObject(buffer);
}

void lane_free(struct lane *lane)
{
    for (size_t k = 0; k < MAX_THREADS; k++) {
        if (lane->pinned[k].buffer)
            clEnqueueUnmapMemObject(lane->queue, lane->pinned[k].buffer, lane->pinned[k].memory, 0, NULL, NULL);
    }
    if (lane->queue)
        clFinish(lane->queue);
    for (size_t k = 0; k < MAX_THREADS; k++) {
        if (lane->pinned[k].buffer)
            clReleaseMemObject(lane->pinned[k].buffer);
    }
    if (lane->queue)
        clReleaseCommandQueue(lane->queue);
    free(lane);
}

static cl_int copy_unpinned(const struct lane *lane, const struct transfer *transfers, size_t count)
{
    cl_int code = CL_SUCCESS;
    for (size_t k = 0; k < count && code == CL_SUCCESS; k++) {
        const struct transfer *transfer = &transfers[k];
        code = lane->direction == TRANSFER_UPLOAD
                   ? clEnqueueWriteBuffer(lane->queue, transfer->buffer, CL_TRUE, transfer->offset, transfer->bytes,
                                          transfer->host, 0, NULL, NULL)
                   : clEnqueueReadBuffer(lane->queue, transfer->buffer, CL_TRUE, transfer->offset, transfer->bytes,
                                         transfer->host, 0, NULL, NULL);
    }
    return code;
}

/* A slot of pinned memory and what it holds. */
struct staging {
    char *memory, *host; /* memory: NULL without pinned memory */
    size_t bytes;
    cl_event event; /* of the device's copy; NULL: none in progress */
};

static void fail(struct batch *batch, cl_int code)
{
    int none = CL_SUCCESS;
    atomic_compare_exchange_strong(&batch->code, &none, code);
}

/* Waits until the slot is free, and copies downloaded bytes to their destination. */
static void finish_slot(struct batch *batch, struct staging *slot)
{
    if (!slot->event)
        return;
    cl_int code = clWaitForEvents(1, &slot->event);
    if (code != CL_SUCCESS) {
        (void)clFinish(batch->lane->queue); /* which reads or writes the slot */
        fail(batch, code);
    } else if (batch->lane->direction == TRANSFER_DOWNLOAD) {
        memcpy(slot->host, slot->memory, slot->bytes);
    }
    clReleaseEvent(slot->event);
    slot->event = NULL;
}

static size_t pieces_of(const struct transfer *transfer)
{
    return (transfer->bytes + PIECE - 1) / PIECE;
}

/* The transfer of a piece, and the offset where it begins; NULL: there is no such piece. */
static const struct transfer *find_piece(const struct batch *batch, size_t piece, size_t *begin)
{
    for (size_t k = 0; k < batch->count; k++) {
        const size_t pieces = pieces_of(&batch->transfers[k]);
        if (piece < pieces) {
            *begin = piece * PIECE;
            return &batch->transfers[k];
        }
        piece -= pieces;
    }
    return NULL;
}

/* Starts the next piece in this slot; false if there is none. */
static bool start_piece(struct batch *batch, struct staging *slot)
{
    cl_command_queue queue = batch->lane->queue;
    size_t begin;
    const struct transfer *transfer = find_piece(batch, atomic_fetch_add(&batch->next, 1), &begin);
    cl_int code;
    if (!transfer)
        return false;
    slot->host = (char *)transfer->host + begin;
    slot->bytes = transfer->bytes - begin < PIECE ? transfer->bytes - begin : PIECE;
    if (!slot->memory) {
        const struct transfer piece = {transfer->buffer, transfer->offset + begin, slot->host, slot->bytes};
        code = copy_unpinned(batch->lane, &piece, 1);
    } else if (batch->lane->direction == TRANSFER_UPLOAD) {
        memcpy(slot->memory, slot->host, slot->bytes);
        code = clEnqueueWriteBuffer(queue, transfer->buffer, CL_FALSE, transfer->offset + begin, slot->bytes,
                                    slot->memory, 0, NULL, &slot->event);
    } else {
        code = clEnqueueReadBuffer(queue, transfer->buffer, CL_FALSE, transfer->offset + begin, slot->bytes,
                                   slot->memory, 0, NULL, &slot->event);
    }
    if (code == CL_SUCCESS)
        code = clFlush(queue);
    else
        slot->event = NULL;
    if (code != CL_SUCCESS)
        fail(batch, code);
    return true;
}

static void *run(void *argument)
{
    struct batch *batch = argument;
    struct pinned *pinned = &batch->lane->pinned[atomic_fetch_add(&batch->numbered, 1)];
    struct staging slots[SLOTS] = {{0}};
    if (!pinned->buffer)
        create_pinned(batch->lane, pinned);
    for (size_t k = 0; k < SLOTS; k++)
        slots[k].memory = pinned->buffer ? pinned->memory + k * PIECE : NULL;
    for (size_t turn = 0; atomic_load(&batch->code) == CL_SUCCESS; turn++) {
        finish_slot(batch, &slots[turn % SLOTS]);
        if (!start_piece(batch, &slots[turn % SLOTS]))
            break;
    }
    for (size_t k = 0; k < SLOTS; k++)
        finish_slot(batch, &slots[k]);
    return NULL;
}

cl_int lane_copy(struct lane *lane, const struct transfer *transfers, size_t count)
{
    cl_int code = CL_SUCCESS;
    size_t bytes = 0, pieces = 0;
    for (size_t k = 0; k < count; k++) {
        bytes += transfers[k].bytes;
        pieces += pieces_of(&transfers[k]);
    }
    if (!lane->queue)
        lane->queue = clCreateCommandQueue(lane->accelerator->context, lane->accelerator->device.id, 0, &code);
    if (code != CL_SUCCESS)
        return code;
    if (bytes <= SMALL)
        return copy_unpinned(lane, transfers, count);

    struct batch batch = {lane, transfers, count, 0, CL_SUCCESS, 0};
    pthread_t threads[MAX_THREADS];
    size_t started = 0, most = pieces / FEWEST_PIECES, wanted = most < lane->threads ? most : lane->threads;
    while (started + 1 < wanted && thread_start(&threads[started], run, &batch))
        started++;
    run(&batch);
    for (size_t k = 0; k < started; k++)
        pthread_join(threads[k], NULL);
    return atomic_load(&batch.code);
}
