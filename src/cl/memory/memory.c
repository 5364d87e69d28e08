#include "cl/memory/memory.h"

#include "cl/memory/device_columns.h"
#include "cl/memory/transfer.h"

#include "base/heap.h"

#include <stdlib.h>
#include <unistd.h>

enum { SMALL_RESULT = 4096 /* bytes; smaller results are fetched at once */ };
static const cl_ulong last_epoch = ((cl_ulong)1 << 30) - 1;

/* A buffer that memory_done releases: an output, or host memory as a buffer. */
struct temporary {
    cl_mem buffer;
    size_t bytes; /* 0: host memory */
};

struct memory {
    struct accelerator *accelerator;
    struct device_pool *pool;
    struct device_columns *copies;
    struct lane *down;
    struct temporary *temporary;
    size_t temporary_count, temporary_capacity;
    size_t temporary_bytes, buffer_bytes;
    uint64_t launch;
    bool transient; /* the columns do not fit the device */
    struct {
        cl_mem buffer;
        size_t bytes;
        cl_ulong epoch; /* memory_tiles: of the last launch */
    } scratch[SCRATCH_COUNT];
    struct {
        cl_mem buffer; /* NULL: the memory is not pinned */
        void *at;
        size_t bytes;
    } pinned;
};

struct memory *memory_new(struct accelerator *accelerator)
{
    struct memory *memory = heap_array(1, sizeof *memory);
    memory->accelerator = accelerator;
    memory->pool = device_pool_new();
    memory->copies = device_columns_new(accelerator, memory->pool);
    memory->down = lane_new(accelerator, TRANSFER_DOWNLOAD);
    memory->launch = 1;
    return memory;
}

static cl_mem create(struct memory *memory, cl_mem_flags flags, size_t bytes, void *host, cl_int *code)
{
    return clCreateBuffer(memory->accelerator->context, flags, bytes, host, code);
}

uint64_t memory_budget(const struct accelerator *accelerator)
{
    return accelerator->device.memory / 5 * 4;
}

static uint64_t bytes_in_use(const struct memory *memory)
{
    return device_columns_bytes(memory->copies) + memory->temporary_bytes + memory->buffer_bytes +
           device_pool_bytes(memory->pool);
}

/* Releases a spare buffer, what a result has left of its buffer, or a copy; false if there is none. */
static bool make_room(struct memory *memory)
{
    return device_pool_shrink(memory->pool) || device_columns_trim(memory->copies, memory->launch) ||
           device_columns_evict(memory->copies, memory->launch);
}

/* A buffer in the device's own memory. Devices report more memory than they can allocate, so memory in use stays within
 * the budget, and copies are evicted if an allocation fails nevertheless. */
static cl_mem create_resident(struct memory *memory, size_t bytes)
{
    cl_mem buffer = device_pool_alloc(memory->pool, bytes);
    cl_int code;
    if (buffer)
        return buffer;
    while (bytes_in_use(memory) + bytes > memory_budget(memory->accelerator) && make_room(memory))
        ;
    for (;;) {
        buffer = create(memory, CL_MEM_READ_WRITE, bytes, NULL, &code);
        if (code == CL_SUCCESS)
            return buffer;
        if (!cl_error_is_memory(code) || !make_room(memory)) {
            cl_ok(&memory->accelerator->failure, "clCreateBuffer", code);
            return NULL;
        }
    }
}

static void add_temporary(struct memory *memory, cl_mem buffer, size_t bytes)
{
    *HEAP_PUSH(memory->temporary, memory->temporary_count, memory->temporary_capacity) =
        (struct temporary){buffer, bytes};
    memory->temporary_bytes += bytes;
}

/* Host memory as a buffer, which begins at the start of the page. */
static bool view_in_place(struct memory *memory, const char *data, size_t size, int64_t rows, cl_mem_flags flags,
                          struct view *view)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t before = (uintptr_t)data % page;
    /* Elements do not straddle the buffer's start: pages are multiples of every element's size. */
    cl_int code;
    view->first = before / size;
    view->buffer = create(memory, flags | CL_MEM_USE_HOST_PTR, before + (size_t)rows * size,
                          (void *)((uintptr_t)data - before), &code);
    if (!cl_ok(&memory->accelerator->failure, "clCreateBuffer", code))
        return false;
    add_temporary(memory, view->buffer, 0);
    return true;
}

/* An empty copy with room for the rows. */
static struct device_column *add_copy(struct memory *memory, struct column *column, int64_t row, int64_t rows)
{
    cl_mem buffer = create_resident(memory, (size_t)rows * type_table[column->store].size);
    if (!buffer)
        return NULL;
    struct device_column *copy = device_columns_add(memory->copies, column, row, rows, buffer);
    /* Columns that do not fit are kept in half of the budget; the other half is for streaming the rest. */
    copy->transient = memory->transient && bytes_in_use(memory) > memory_budget(memory->accelerator) / 2;
    return copy;
}

/* A copy that holds the rows, or that has room for them and is to be filled. */
static struct device_column *copy_for(struct memory *memory, struct column *column, int64_t row, int64_t rows)
{
    struct device_column *copy = device_columns_find(memory->copies, column, row, rows, false);
    if (!copy)
        copy = device_columns_find(memory->copies, column, row, rows, true);
    if (!copy)
        copy = add_copy(memory, column, row, rows);
    if (copy && copy->used < memory->launch)
        copy->used = memory->launch;
    return copy;
}

bool memory_has(struct memory *memory, const struct column *column, int64_t row, int64_t rows)
{
    return memory->accelerator->config->host_memory || device_columns_find(memory->copies, column, row, rows, false);
}

int64_t memory_missing(const struct memory *memory, const struct column *column, int64_t row, int64_t rows)
{
    return memory->accelerator->config->host_memory ? 0 : device_columns_missing(memory->copies, column, row, rows);
}

void memory_expect(struct memory *memory, struct column *column, int64_t row, int64_t rows)
{
    if (memory_has(memory, column, row, rows))
        return;
    /* If there is no room, the parts are allocated when they are read. */
    if (!copy_for(memory, column, row, rows))
        memory->accelerator->failure = (struct failure){0};
}

void memory_stream(struct memory *memory, bool transient)
{
    memory->transient = transient;
}

bool memory_input(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct timing *timing,
                  struct view *view)
{
    const size_t size = type_table[column->store].size;
    if (memory->accelerator->config->host_memory) {
        if (!column_fetch(column, row, row + rows)) /* from another device */
            return cl_ok(&memory->accelerator->failure, "clEnqueueReadBuffer", CL_OUT_OF_RESOURCES);
        return view_in_place(memory, (const char *)column->data + (size_t)row * size, size, rows, CL_MEM_READ_ONLY,
                             view);
    }
    struct device_column *copy = copy_for(memory, column, row, rows);
    if (!copy || ((copy->begin > row || row + rows > copy->end) && !device_column_fill(copy, row, rows, timing)))
        return false;
    *view = (struct view){copy->buffer, (cl_ulong)(row - copy->row)};
    return true;
}

bool memory_prefetch(struct memory *memory, struct column *column, int64_t row, int64_t rows)
{
    if (memory->accelerator->config->host_memory)
        return true;
    struct device_column *copy = copy_for(memory, column, row, rows);
    if (copy) {
        copy->used = memory->launch + 1;
        device_column_prefetch(copy, row, rows);
    }
    return copy;
}

void memory_begin_prefetch(struct memory *memory)
{
    device_columns_begin(memory->copies);
}

bool memory_output(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct view *view)
{
    size_t size = type_table[column->store].size, bytes = (size_t)rows * size;
    /* Not CL_MEM_WRITE_ONLY: earlier launches wrote the rows before the first one on its page. */
    if (memory->accelerator->config->host_memory)
        return view_in_place(memory, column_at(column, row), size, rows, CL_MEM_READ_WRITE, view);
    *view = (struct view){create_resident(memory, bytes), 0};
    if (view->buffer)
        add_temporary(memory, view->buffer, bytes);
    return view->buffer;
}

bool memory_fetch(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                  struct timing *timing)
{
    struct accelerator *accelerator = memory->accelerator;
    size_t size = type_table[column->store].size, bytes = (size_t)rows * size;
    cl_int code;
    if (accelerator->config->host_memory) {
        /* Nothing is moved; mapping makes the kernel's writes visible to the host. */
        void *mapped = clEnqueueMapBuffer(accelerator->queue, view->buffer, CL_TRUE, CL_MAP_READ, view->first * size,
                                          bytes, 0, NULL, NULL, &code);
        if (!cl_ok(&accelerator->failure, "clEnqueueMapBuffer", code))
            return false;
        code = clEnqueueUnmapMemObject(accelerator->queue, view->buffer, mapped, 0, NULL, NULL);
        return cl_ok(&accelerator->failure, "clEnqueueUnmapMemObject", code);
    }
    const int64_t start = now_ns();
    const struct transfer transfer = {view->buffer, 0, column_at(column, row), bytes};
    if (!cl_ok(&accelerator->failure, "clEnqueueReadBuffer", lane_copy(memory->down, &transfer, 1)))
        return false;
    timing_add(timing, PHASE_RETRIEVE, type_table[column->store].name, now_ns() - start, (int64_t)bytes);
    return true;
}

/* Removes a buffer from those that memory_done releases, and returns its bytes. */
static size_t remove_temporary(struct memory *memory, cl_mem buffer)
{
    for (size_t k = 0; k < memory->temporary_count; k++) {
        if (memory->temporary[k].buffer != buffer)
            continue;
        const size_t bytes = memory->temporary[k].bytes;
        memory->temporary_bytes -= bytes;
        memory->temporary[k] = memory->temporary[--memory->temporary_count];
        return bytes;
    }
    return 0;
}

bool memory_keep(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                 struct timing *timing)
{
    const size_t bytes = (size_t)rows * type_table[column->store].size;
    if (memory->accelerator->config->host_memory || bytes <= SMALL_RESULT)
        return memory_fetch(memory, column, row, rows, view, timing);
    const size_t has = remove_temporary(memory, view->buffer);
    if (has > 0)
        device_columns_add_result(memory->copies, column, row, rows, view->buffer, has)->used = memory->launch;
    return true;
}

void memory_done(struct memory *memory, struct timing *timing)
{
    device_columns_join(memory->copies, timing);
    for (size_t k = 0; k < memory->temporary_count; k++) {
        if (memory->temporary[k].bytes > 0)
            device_pool_release(memory->pool, memory->temporary[k].buffer);
        else
            clReleaseMemObject(memory->temporary[k].buffer);
    }
    memory->temporary_count = 0;
    memory->temporary_bytes = 0;
    device_columns_drop_transient(memory->copies, memory->launch);
    memory->launch++;
}

cl_mem memory_scratch(struct memory *memory, enum scratch which, size_t bytes)
{
    cl_mem buffer = memory->scratch[which].buffer;
    cl_int code;
    if (buffer && memory->scratch[which].bytes >= bytes)
        return buffer;
    if (buffer)
        clReleaseMemObject(buffer);
    bytes = bytes < 4096 ? 4096 : bytes;
    buffer = create(memory, CL_MEM_READ_WRITE, bytes, NULL, &code);
    memory->scratch[which].buffer = cl_ok(&memory->accelerator->failure, "clCreateBuffer", code) ? buffer : NULL;
    memory->scratch[which].bytes = memory->scratch[which].buffer ? bytes : 0;
    return memory->scratch[which].buffer;
}

/* Commands are executed in order, so this needs no wait. */
static bool clear(struct memory *memory, cl_mem buffer, size_t bytes)
{
    static const cl_uint none = 0;
    return cl_ok(&memory->accelerator->failure, "clEnqueueFillBuffer",
                 clEnqueueFillBuffer(memory->accelerator->queue, buffer, &none, sizeof none, 0, bytes, 0, NULL, NULL));
}

cl_mem memory_flag(struct memory *memory)
{
    const bool fresh = !memory->scratch[SCRATCH_FLAG].buffer;
    cl_mem flag = memory_scratch(memory, SCRATCH_FLAG, sizeof(cl_int));
    return flag && (!fresh || clear(memory, flag, sizeof(cl_int))) ? flag : NULL;
}

cl_mem memory_tiles(struct memory *memory, enum scratch which, size_t words, cl_ulong *epoch)
{
    const size_t before = memory->scratch[which].bytes;
    cl_mem buffer = memory_scratch(memory, which, words * sizeof(cl_ulong));
    if (!buffer)
        return NULL;
    if (memory->scratch[which].bytes != before || memory->scratch[which].epoch == last_epoch) {
        memory->scratch[which].epoch = 0;
        if (!clear(memory, buffer, memory->scratch[which].bytes))
            return NULL;
    }
    *epoch = ++memory->scratch[which].epoch;
    return buffer;
}

static void free_pinned(struct memory *memory)
{
    if (memory->pinned.buffer) {
        clEnqueueUnmapMemObject(memory->accelerator->queue, memory->pinned.buffer, memory->pinned.at, 0, NULL, NULL);
        clFinish(memory->accelerator->queue);
        clReleaseMemObject(memory->pinned.buffer);
    } else {
        free(memory->pinned.at);
    }
    memory->pinned.buffer = NULL;
    memory->pinned.at = NULL;
}

void *memory_pinned(struct memory *memory, size_t bytes)
{
    enum { LEAST = 1 << 16 };
    cl_int code = CL_INVALID_OPERATION;
    if (memory->pinned.at && memory->pinned.bytes >= bytes)
        return memory->pinned.at;
    free_pinned(memory);
    memory->pinned.bytes = bytes < LEAST ? LEAST : bytes;
    if (!memory->accelerator->config->host_memory)
        memory->pinned.buffer =
            create(memory, CL_MEM_ALLOC_HOST_PTR | CL_MEM_READ_WRITE, memory->pinned.bytes, NULL, &code);
    if (code == CL_SUCCESS)
        memory->pinned.at =
            clEnqueueMapBuffer(memory->accelerator->queue, memory->pinned.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                               0, memory->pinned.bytes, 0, NULL, NULL, &code);
    if (code != CL_SUCCESS) {
        if (memory->pinned.buffer)
            clReleaseMemObject(memory->pinned.buffer);
        memory->pinned.buffer = NULL;
        memory->pinned.at = heap_array(memory->pinned.bytes, 1);
    }
    return memory->pinned.at;
}

cl_mem memory_buffer(struct memory *memory, size_t bytes)
{
    cl_mem buffer = create_resident(memory, bytes > 0 ? bytes : 1);
    if (buffer)
        memory->buffer_bytes += bytes;
    return buffer;
}

void memory_buffer_release(struct memory *memory, cl_mem buffer, size_t bytes)
{
    device_pool_release(memory->pool, buffer);
    memory->buffer_bytes -= bytes;
}

void memory_sweep(struct memory *memory)
{
    device_columns_sweep(memory->copies);
}

void memory_drop(struct memory *memory)
{
    while (make_room(memory))
        ;
}

void memory_free(struct memory *memory)
{
    if (!memory)
        return;
    memory_done(memory, NULL);
    device_columns_free(memory->copies);
    device_pool_free(memory->pool);
    lane_free(memory->down);
    free_pinned(memory);
    for (size_t k = 0; k < SCRATCH_COUNT; k++) {
        if (memory->scratch[k].buffer)
            clReleaseMemObject(memory->scratch[k].buffer);
    }
    free(memory->temporary);
    free(memory);
}
