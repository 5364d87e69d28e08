#include "cl/memory/device_columns.h"

#include "cl/device/wait.h"
#include "cl/memory/transfer.h"

#include "base/heap.h"
#include "base/integer.h"
#include "base/thread_pool.h"

#include <stdlib.h>

/* Rows that the prefetch thread uploads. */
struct fill {
    struct device_column *copy;
    int64_t begin, end;
};

struct device_columns {
    struct accelerator *accelerator;
    struct device_pool *pool;
    struct device_column **at;
    size_t count, capacity;
    size_t bytes;
    struct lane *up, *down;
    struct {
        struct fill *fills;
        struct transfer *transfers;
        size_t count, capacity;
        pthread_t thread;
        bool running;
        cl_int code;
        int64_t ns;
    } prefetch;
};

struct device_columns *device_columns_new(struct accelerator *accelerator, struct device_pool *pool)
{
    struct device_columns *copies = heap_array(1, sizeof *copies);
    copies->accelerator = accelerator;
    copies->pool = pool;
    copies->up = lane_new(accelerator, TRANSFER_UPLOAD);
    copies->down = lane_new(accelerator, TRANSFER_DOWNLOAD);
    return copies;
}

size_t device_columns_bytes(const struct device_columns *copies)
{
    return copies->bytes;
}

static size_t element_size(const struct device_column *copy)
{
    return type_table[copy->column->store].size;
}

/* The row's byte offset in the copy's buffer. */
static size_t offset_of(const struct device_column *copy, int64_t row)
{
    return (size_t)(row - copy->row) * element_size(copy);
}

static char *host_address(const struct device_column *copy, int64_t row)
{
    union {
        const void *shared;
        char *owned;
    } data = {.shared = copy->column->data};

    return data.owned + (size_t)row * element_size(copy);
}

static struct transfer make_transfer(const struct device_column *copy, int64_t begin, int64_t end)
{
    return (struct transfer){copy->buffer, offset_of(copy, begin), host_address(copy, begin),
                             (size_t)(end - begin) * element_size(copy)};
}

struct device_column *device_columns_find(struct device_columns *copies, const struct column *column, int64_t row,
                                          int64_t rows, bool space)
{
    for (size_t k = 0; k < copies->count; k++) {
        struct device_column *copy = copies->at[k];
        const int64_t begin = space ? copy->row : copy->begin, end = space ? copy->row + copy->rows : copy->end;
        if (copy->column == column && begin <= row && row + rows <= end)
            return copy;
    }
    return NULL;
}

struct device_column *device_columns_add(struct device_columns *copies, struct column *column, int64_t row,
                                         int64_t rows, cl_mem buffer)
{
    struct device_column *copy = heap_array(1, sizeof *copy);
    *HEAP_PUSH(copies->at, copies->count, copies->capacity) = copy;
    copy->copies = copies;
    copy->column = column_ref(column);
    column->copies++;
    copy->row = copy->begin = copy->end = row;
    copy->rows = rows;
    copy->buffer = buffer;
    copy->bytes = (size_t)rows * element_size(copy);
    copies->bytes += copy->bytes;
    return copy;
}

static bool fetch(struct residency *residency, int64_t begin, int64_t end)
{
    struct device_column *copy = (struct device_column *)residency; /* the first member */
    const struct transfer transfer = make_transfer(copy, begin, end);
    return lane_copy(copy->copies->down, &transfer, 1) == CL_SUCCESS;
}

static bool is_device_only(const struct device_column *copy)
{
    return copy->residency.begin < copy->residency.end;
}

static void remove_copy(struct device_columns *copies, size_t k)
{
    struct device_column *copy = copies->at[k];
    if (is_device_only(copy))
        residency_remove(copy->column, &copy->residency);
    device_pool_release(copies->pool, copy->buffer);
    copies->bytes -= copy->bytes;
    copy->column->copies--;
    column_unref(copy->column);
    free(copy);
    copies->at[k] = copies->at[--copies->count];
}

static void drop(struct residency *residency)
{
    struct device_column *copy = (struct device_column *)residency;
    struct device_columns *copies = copy->copies;
    size_t k = 0;
    while (copies->at[k] != copy)
        k++;
    copy->residency.begin = copy->residency.end;
    remove_copy(copies, k);
}

struct device_column *device_columns_add_result(struct device_columns *copies, struct column *column, int64_t row,
                                                int64_t rows, cl_mem buffer, size_t bytes)
{
    struct device_column *copy = device_columns_add(copies, column, row, rows, buffer);
    copies->bytes += bytes - copy->bytes;
    copy->bytes = bytes;
    copy->end = row + rows;
    copy->residency = (struct residency){.begin = row, .end = copy->end, .fetch = fetch, .drop = drop};
    residency_add(column, &copy->residency);
    return copy;
}

/* Whether the column has references other than those of copies, on any device. */
static bool is_wanted(const struct column *column)
{
    return column->refs > column->copies;
}

/* Fetches rows that only the device holds. */
static bool fetch_to_host(struct device_column *copy)
{
    return !is_device_only(copy) || column_fetch(copy->column, copy->residency.begin, copy->residency.end);
}

/* Bytes of the buffer that no row needs. */
static size_t surplus(const struct device_column *copy)
{
    return copy->bytes - (size_t)copy->rows * element_size(copy);
}

bool device_columns_trim(struct device_columns *copies, uint64_t launch)
{
    struct device_column *copy = NULL;
    cl_int code;
    for (size_t k = 0; k < copies->count; k++) {
        if (copies->at[k]->used < launch && surplus(copies->at[k]) > copies->at[k]->bytes / 2 &&
            (!copy || surplus(copies->at[k]) > surplus(copy)))
            copy = copies->at[k];
    }
    if (!copy)
        return false;
    const size_t bytes = copy->bytes - surplus(copy);
    cl_mem buffer = clCreateBuffer(copies->accelerator->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS)
        return false;
    if (clEnqueueCopyBuffer(copies->accelerator->queue, copy->buffer, buffer, 0, 0, bytes, 0, NULL, NULL) !=
            CL_SUCCESS ||
        wait_for_queue(copies->accelerator->queue) != CL_SUCCESS) {
        clReleaseMemObject(buffer);
        return false;
    }
    clReleaseMemObject(copy->buffer);
    copies->bytes -= copy->bytes - bytes;
    copy->bytes = bytes;
    copy->buffer = buffer;
    return true;
}

bool device_columns_evict(struct device_columns *copies, uint64_t launch)
{
    size_t best = copies->count;
    bool best_wanted = true;
    for (size_t k = 0; k < copies->count; k++) {
        const struct device_column *copy = copies->at[k];
        const bool wanted = is_wanted(copy->column);
        if (copy->used < launch && (best == copies->count || wanted < best_wanted ||
                                    (wanted == best_wanted && copy->used < copies->at[best]->used))) {
            best = k;
            best_wanted = wanted;
        }
    }
    if (best == copies->count || (best_wanted && !fetch_to_host(copies->at[best])))
        return false;
    remove_copy(copies, best);
    return true;
}

void device_columns_sweep(struct device_columns *copies)
{
    for (size_t k = copies->count; k-- > 0;) {
        if (!is_wanted(copies->at[k]->column))
            remove_copy(copies, k);
    }
}

void device_columns_drop_transient(struct device_columns *copies, uint64_t launch)
{
    for (size_t k = copies->count; k-- > 0;) {
        if (copies->at[k]->transient && copies->at[k]->used <= launch)
            remove_copy(copies, k);
    }
}

void device_columns_free(struct device_columns *copies)
{
    if (!copies)
        return;
    device_columns_join(copies, NULL);
    device_columns_sweep(copies);
    while (copies->count > 0) {
        if (!fetch_to_host(copies->at[copies->count - 1]))
            residency_mark_lost(copies->at[copies->count - 1]->column);
        remove_copy(copies, copies->count - 1);
    }
    lane_free(copies->up);
    lane_free(copies->down);
    free(copies->prefetch.fills);
    free(copies->prefetch.transfers);
    free(copies->at);
    free(copies);
}

/* ---- filling ---- */

/* The copy that holds the row, with *until its end; or NULL, with *until the row where the next copy begins. Both are
 * at most `end`. */
static const struct device_column *find_covering(const struct device_columns *copies, const struct column *column,
                                                 int64_t row, int64_t end, int64_t *until)
{
    *until = end;
    for (size_t k = 0; k < copies->count; k++) {
        const struct device_column *copy = copies->at[k];
        if (copy->column != column || copy->end <= row || copy->begin == copy->end)
            continue;
        if (copy->begin <= row) {
            *until = min_int64(end, copy->end);
            return copy;
        }
        *until = min_int64(*until, copy->begin);
    }
    return NULL;
}

int64_t device_columns_missing(const struct device_columns *copies, const struct column *column, int64_t row,
                               int64_t rows)
{
    int64_t end = row + rows, until, missing = 0;
    for (; row < end; row = until) {
        if (!find_covering(copies, column, row, end, &until))
            missing += until - row;
    }
    return missing;
}

static bool upload(struct device_column *copy, int64_t begin, int64_t end, struct timing *timing)
{
    struct accelerator *accelerator = copy->copies->accelerator;
    const struct transfer transfer = make_transfer(copy, begin, end);
    const int64_t started = now_ns();
    /* Rows on other devices go through the host. */
    if (!column_fetch(copy->column, begin, end))
        return cl_ok(&accelerator->failure, "clEnqueueReadBuffer", CL_OUT_OF_RESOURCES);
    if (!cl_ok(&accelerator->failure, "clEnqueueWriteBuffer", lane_copy(copy->copies->up, &transfer, 1)))
        return false;
    timing_add(timing, PHASE_UPLOAD, type_table[copy->column->store].name, now_ns() - started, (int64_t)transfer.bytes);
    return true;
}

static bool copy_on_device(const struct device_column *copy, const struct device_column *from, int64_t begin,
                           int64_t end)
{
    struct accelerator *accelerator = copy->copies->accelerator;
    return cl_ok(&accelerator->failure, "clEnqueueCopyBuffer",
                 clEnqueueCopyBuffer(accelerator->queue, from->buffer, copy->buffer, offset_of(from, begin),
                                     offset_of(copy, begin), (size_t)(end - begin) * element_size(copy), 0, NULL,
                                     NULL));
}

static bool gather(struct device_column *copy, int64_t begin, int64_t end, struct timing *timing)
{
    for (int64_t row = begin, until; row < end; row = until) {
        const struct device_column *other = find_covering(copy->copies, copy->column, row, end, &until);
        if (!(other ? copy_on_device(copy, other, row, until) : upload(copy, row, until, timing)))
            return false;
    }
    return true;
}

/* Removes other copies whose rows this one holds too. */
static void remove_covered(struct device_column *copy)
{
    struct device_columns *copies = copy->copies;
    for (size_t k = copies->count; k-- > 0;) {
        struct device_column *other = copies->at[k];
        if (other == copy || other->column != copy->column || other->begin < copy->begin || other->end > copy->end ||
            other->used >= copy->used)
            continue;
        if (is_device_only(other)) {
            int64_t begin = other->residency.begin, end = other->residency.end;
            const bool first = !is_device_only(copy);
            copy->residency.begin = first || begin < copy->residency.begin ? begin : copy->residency.begin;
            copy->residency.end = first || end > copy->residency.end ? end : copy->residency.end;
            copy->residency.fetch = fetch;
            copy->residency.drop = drop;
            if (first)
                residency_add(copy->column, &copy->residency);
        }
        remove_copy(copies, k);
    }
}

/* Extends the range to include the rows of the copy, since a copy has no gaps. */
static void extend_range(const struct device_column *copy, int64_t *begin, int64_t *end)
{
    if (copy->begin == copy->end)
        return;
    *begin = copy->begin < *begin ? copy->begin : *begin;
    *end = copy->end > *end ? copy->end : *end;
}

bool device_column_fill(struct device_column *copy, int64_t row, int64_t rows, struct timing *timing)
{
    struct accelerator *accelerator = copy->copies->accelerator;
    int64_t begin = row, end = row + rows;
    const bool empty = copy->begin == copy->end;
    extend_range(copy, &begin, &end);
    const bool filled = empty ? gather(copy, begin, end, timing)
                              : gather(copy, begin, copy->begin, timing) && gather(copy, copy->end, end, timing);
    /* Copies on the device must finish before their sources are released. */
    const bool finished = cl_ok(&accelerator->failure, "clFinish", wait_for_queue(accelerator->queue));
    if (!filled || !finished)
        return false;
    copy->begin = begin;
    copy->end = end;
    remove_covered(copy);
    return true;
}

/* ---- prefetching ---- */

void device_column_prefetch(struct device_column *copy, int64_t row, int64_t rows)
{
    struct device_columns *copies = copy->copies;
    const bool empty = copy->begin == copy->end;
    int64_t begin = empty ? row : copy->end, end = row + rows, until;
    if ((!empty && row > copy->end) || begin >= end || begin > row || copy->column->residency ||
        find_covering(copies, copy->column, begin, end, &until) || until < end)
        return;
    if (copies->prefetch.count == copies->prefetch.capacity) {
        copies->prefetch.capacity = copies->prefetch.capacity ? copies->prefetch.capacity * 2 : 16;
        copies->prefetch.fills = heap_resize(copies->prefetch.fills, copies->prefetch.capacity, sizeof(struct fill));
        copies->prefetch.transfers =
            heap_resize(copies->prefetch.transfers, copies->prefetch.capacity, sizeof(struct transfer));
    }
    copies->prefetch.fills[copies->prefetch.count] = (struct fill){copy, begin, end};
    copies->prefetch.transfers[copies->prefetch.count++] = make_transfer(copy, begin, end);
}

static void *run_prefetch(void *argument)
{
    struct device_columns *copies = argument;
    const int64_t started = now_ns();
    copies->prefetch.code = lane_copy(copies->up, copies->prefetch.transfers, copies->prefetch.count);
    copies->prefetch.ns = now_ns() - started;
    return NULL;
}

void device_columns_begin(struct device_columns *copies)
{
    if (copies->prefetch.count > 0 && thread_start(&copies->prefetch.thread, run_prefetch, copies))
        copies->prefetch.running = true;
    else
        copies->prefetch.count = 0;
}

void device_columns_join(struct device_columns *copies, struct timing *timing)
{
    int64_t bytes = 0;
    const char *name = "";
    if (!copies->prefetch.running)
        return;
    pthread_join(copies->prefetch.thread, NULL);
    copies->prefetch.running = false;
    /* A failure is not reported here: uploading the rows when they are needed will fail again. */
    const bool done = copies->prefetch.code == CL_SUCCESS;
    for (size_t k = 0; k < copies->prefetch.count && done; k++) {
        const struct fill *fill = &copies->prefetch.fills[k];
        struct device_column *copy = fill->copy;
        copy->begin = copy->begin == copy->end ? fill->begin : copy->begin;
        copy->end = fill->end;
        bytes += (int64_t)copies->prefetch.transfers[k].bytes;
        name = type_table[copy->column->store].name;
    }
    copies->prefetch.count = 0;
    if (done)
        timing_add(timing, PHASE_UPLOAD, name, copies->prefetch.ns, bytes);
}
