#include "memory.h"

#include "transfer.h"

#include <stdlib.h>
#include <unistd.h>

/* A copy of rows `row` .. `row + rows - 1` of a column on the device. */
struct copy {
    struct column *column; /* one reference, so that the pointer stays a name for this data */
    int64_t row, rows;
    cl_mem buffer;
    size_t bytes;
    uint64_t used; /* the launch that used it last */
};

struct memory {
    struct accelerator *accelerator;
    struct copy *copies;
    size_t copy_count, copy_capacity;
    size_t copy_bytes;
    cl_mem *passing; /* released by memory_done */
    size_t passing_count, passing_capacity;
    uint64_t launch;
    struct {
        cl_mem buffer;
        size_t bytes;
    } scratch[SCRATCH_COUNT];
    struct staging *staging; /* made when first needed */
};

struct memory *memory_new(struct accelerator *accelerator)
{
    struct memory *memory = calloc(1, sizeof *memory);

    if (memory)
        memory->accelerator = accelerator;
    return memory;
}

static bool out_of_host_memory(struct memory *memory)
{
    return cl_ok(&memory->accelerator->failure, "clCreateBuffer", CL_OUT_OF_HOST_MEMORY);
}

static cl_mem create(struct memory *memory, cl_mem_flags flags, size_t bytes, void *host, cl_int *code)
{
    return clCreateBuffer(memory->accelerator->context, flags, bytes, host, code);
}

static void forget(struct memory *memory, size_t k)
{
    struct copy *copy = &memory->copies[k];

    clReleaseMemObject(copy->buffer);
    memory->copy_bytes -= copy->bytes;
    column_unref(copy->column);
    *copy = memory->copies[--memory->copy_count];
}

/* Forgets the copy that has been unused for longest; false if all are in use. */
static bool forget_oldest(struct memory *memory)
{
    size_t oldest = memory->copy_count;

    for (size_t k = 0; k < memory->copy_count; k++)
        if (memory->copies[k].used != memory->launch &&
            (oldest == memory->copy_count || memory->copies[k].used < memory->copies[oldest].used))
            oldest = k;
    if (oldest == memory->copy_count)
        return false;
    forget(memory, oldest);
    return true;
}

/* A buffer in the device's own memory. Devices promise more than they have, so what is kept stays under four fifths of
 * what they claim, and gives way when an allocation fails all the same. */
static cl_mem create_resident(struct memory *memory, size_t bytes)
{
    const struct device *device = &memory->accelerator->device;
    cl_int code;

    while (memory->copy_bytes + bytes > device->memory / 5 * 4 && forget_oldest(memory))
        ;
    for (;;) {
        cl_mem buffer = create(memory, CL_MEM_READ_WRITE, bytes, NULL, &code);
        if (code == CL_SUCCESS)
            return buffer;
        if (!cl_error_is_memory(code) || !forget_oldest(memory)) {
            cl_ok(&memory->accelerator->failure, "clCreateBuffer", code);
            return NULL;
        }
    }
}

static bool keep_passing(struct memory *memory, cl_mem buffer)
{
    if (memory->passing_count == memory->passing_capacity) {
        size_t capacity = memory->passing_capacity ? memory->passing_capacity * 2 : 16;
        cl_mem *grown = realloc(memory->passing, capacity * sizeof(cl_mem));
        if (!grown) {
            clReleaseMemObject(buffer);
            return out_of_host_memory(memory);
        }
        memory->passing = grown;
        memory->passing_capacity = capacity;
    }
    memory->passing[memory->passing_count++] = buffer;
    return true;
}

/* The host's memory as a buffer, from the start of the page on. */
static bool view_in_place(struct memory *memory, const char *data, size_t size, int64_t rows, cl_mem_flags flags,
                          struct view *view)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t before = (uintptr_t)data % page;
    /* Elements do not straddle the buffer's start: pages are multiples of every element's size. */
    cl_int code;

    view->first = before / size;
    view->buffer = create(memory, flags | CL_MEM_USE_HOST_PTR, before + (size_t)rows * size,
                          (void *)((uintptr_t)data - before), &code);
    return cl_ok(&memory->accelerator->failure, "clCreateBuffer", code) && keep_passing(memory, view->buffer);
}

static struct copy *find_copy(struct memory *memory, const struct column *column, int64_t row, int64_t rows)
{
    for (size_t k = 0; k < memory->copy_count; k++) {
        struct copy *copy = &memory->copies[k];
        if (copy->column == column && copy->row <= row && row + rows <= copy->row + copy->rows)
            return copy;
    }
    return NULL;
}

/* Forgets copies of parts of these rows, which one copy of them all replaces. */
static void forget_parts(struct memory *memory, const struct column *column, int64_t row, int64_t rows)
{
    for (size_t k = memory->copy_count; k-- > 0;) {
        const struct copy *copy = &memory->copies[k];
        if (copy->column == column && row <= copy->row && copy->row + copy->rows <= row + rows &&
            copy->used != memory->launch)
            forget(memory, k);
    }
}

static struct copy *make_copy(struct memory *memory, struct column *column, int64_t row, int64_t rows,
                              struct timing *timing)
{
    size_t size = type_table[column->store].size, bytes = (size_t)rows * size;
    int64_t start = now_ns();

    if (memory->copy_count == memory->copy_capacity) {
        size_t capacity = memory->copy_capacity ? memory->copy_capacity * 2 : 16;
        struct copy *grown = realloc(memory->copies, capacity * sizeof *grown);
        if (!grown) {
            out_of_host_memory(memory);
            return NULL;
        }
        memory->copies = grown;
        memory->copy_capacity = capacity;
    }
    forget_parts(memory, column, row, rows);
    cl_mem buffer = create_resident(memory, bytes);
    if (!buffer)
        return NULL;
    const char *data = (const char *)column->data + (size_t)row * size;
    if (!transfer(memory->accelerator, &memory->staging, TRANSFER_UPLOAD, buffer, (void *)(uintptr_t)data, bytes)) {
        clReleaseMemObject(buffer);
        return NULL;
    }
    timing_add(timing, PHASE_UPLOAD, type_table[column->store].name, now_ns() - start, (int64_t)bytes);
    struct copy *copy = &memory->copies[memory->copy_count++];
    *copy = (struct copy){column_ref(column), row, rows, buffer, bytes, 0};
    memory->copy_bytes += bytes;
    return copy;
}

bool memory_input(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct timing *timing,
                  struct view *view)
{
    size_t size = type_table[column->store].size;

    if (memory->accelerator->shape->host_memory)
        return view_in_place(memory, (const char *)column->data + (size_t)row * size, size, rows, CL_MEM_READ_ONLY,
                             view);
    struct copy *copy = find_copy(memory, column, row, rows);
    if (!copy)
        copy = make_copy(memory, column, row, rows, timing);
    if (!copy)
        return false;
    copy->used = memory->launch;
    *view = (struct view){copy->buffer, (cl_ulong)(row - copy->row)};
    return true;
}

bool memory_output(struct memory *memory, struct column *column, int64_t row, int64_t rows, struct view *view)
{
    size_t size = type_table[column->store].size;

    /* What lies before the first row on its page was written by earlier launches and must stay: not CL_MEM_WRITE_ONLY.
     */
    if (memory->accelerator->shape->host_memory)
        return view_in_place(memory, column_at(column, row), size, rows, CL_MEM_READ_WRITE, view);
    *view = (struct view){create_resident(memory, (size_t)rows * size), 0};
    return view->buffer && keep_passing(memory, view->buffer);
}

bool memory_fetch(struct memory *memory, struct column *column, int64_t row, int64_t rows, const struct view *view,
                  struct timing *timing)
{
    struct accelerator *accelerator = memory->accelerator;
    size_t size = type_table[column->store].size, bytes = (size_t)rows * size;
    cl_int code;

    if (accelerator->shape->host_memory) {
        /* Where it already is; mapping is how OpenCL is told that the host looks now. */
        void *mapped = clEnqueueMapBuffer(accelerator->queue, view->buffer, CL_TRUE, CL_MAP_READ, view->first * size,
                                          bytes, 0, NULL, NULL, &code);
        if (!cl_ok(&accelerator->failure, "clEnqueueMapBuffer", code))
            return false;
        code = clEnqueueUnmapMemObject(accelerator->queue, view->buffer, mapped, 0, NULL, NULL);
        return cl_ok(&accelerator->failure, "clEnqueueUnmapMemObject", code);
    }
    int64_t start = now_ns();
    if (!transfer(accelerator, &memory->staging, TRANSFER_DOWNLOAD, view->buffer, column_at(column, row), bytes))
        return false;
    timing_add(timing, PHASE_RETRIEVE, type_table[column->store].name, now_ns() - start, (int64_t)bytes);
    return true;
}

void memory_done(struct memory *memory)
{
    for (size_t k = 0; k < memory->passing_count; k++)
        clReleaseMemObject(memory->passing[k]);
    memory->passing_count = 0;
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

void memory_sweep(struct memory *memory)
{
    for (size_t k = memory->copy_count; k-- > 0;)
        if (memory->copies[k].column->refs == 1)
            forget(memory, k);
}

void memory_drop(struct memory *memory)
{
    while (memory->copy_count > 0)
        forget(memory, memory->copy_count - 1);
}

void memory_free(struct memory *memory)
{
    if (!memory)
        return;
    memory_done(memory);
    memory_drop(memory);
    for (size_t k = 0; k < SCRATCH_COUNT; k++)
        if (memory->scratch[k].buffer)
            clReleaseMemObject(memory->scratch[k].buffer);
    staging_free(memory->accelerator, memory->staging);
    free(memory->passing);
    free(memory->copies);
    free(memory);
}
