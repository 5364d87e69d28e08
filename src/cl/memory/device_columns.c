#include "cl/memory/device_columns.h"

#include "cl/memory/transfer.h"

#include "base/heap.h"
#include "base/integer.h"
#include "base/thread.h"

#include <stdlib.h>

/* Rows to be uploaded by the thread, and as it sees them. */
struct fill {
    struct copy *copy;
    int64_t begin, end;
};

struct copies {
    struct accelerator *accelerator;
    struct spares *spares;
    struct copy **at;
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
    } ahead;
};

struct copies *copies_new(struct accelerator *accelerator, struct spares *spares)
{
    struct copies *copies = heap_array(1, sizeof *copies);

    copies->accelerator = accelerator;
    copies->spares = spares;
    copies->up = lane_new(accelerator, TRANSFER_UPLOAD);
    copies->down = lane_new(accelerator, TRANSFER_DOWNLOAD);
    return copies;
}

size_t copies_bytes(const struct copies *copies)
{
    return copies->bytes;
}

static size_t element_size(const struct copy *copy)
{
    return type_table[copy->column->store].size;
}

/* Where the row lies in the copy's buffer, and on the host. */
static size_t offset_of(const struct copy *copy, int64_t row)
{
    return (size_t)(row - copy->row) * element_size(copy);
}

static char *host_at(const struct copy *copy, int64_t row)
{
    union {
        const void *shared;
        char *owned;
    } data = {.shared = copy->column->data};

    return data.owned + (size_t)row * element_size(copy);
}

static struct transfer transfer_of(const struct copy *copy, int64_t begin, int64_t end)
{
    return (struct transfer){copy->buffer, offset_of(copy, begin), host_at(copy, begin),
                             (size_t)(end - begin) * element_size(copy)};
}

struct copy *copies_find(struct copies *copies, const struct column *column, int64_t row, int64_t rows)
{
    for (size_t k = 0; k < copies->count; k++) {
        struct copy *copy = copies->at[k];
        if (copy->column == column && copy->begin <= row && row + rows <= copy->end)
            return copy;
    }
    return NULL;
}

struct copy *copies_with_room(struct copies *copies, const struct column *column, int64_t row, int64_t rows)
{
    for (size_t k = 0; k < copies->count; k++) {
        struct copy *copy = copies->at[k];
        if (copy->column == column && copy->row <= row && row + rows <= copy->row + copy->rows)
            return copy;
    }
    return NULL;
}

struct copy *copies_add(struct copies *copies, struct column *column, int64_t row, int64_t rows, cl_mem buffer)
{
    struct copy *copy = heap_array(1, sizeof *copy);

    if (copies->count == copies->capacity) {
        copies->capacity = copies->capacity ? copies->capacity * 2 : 16;
        copies->at = heap_resize(copies->at, copies->capacity, sizeof(struct copy *));
    }
    copies->at[copies->count++] = copy;
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

static bool fetch(struct away *away, int64_t begin, int64_t end)
{
    struct copy *copy = (struct copy *)away; /* its first member */
    const struct transfer transfer = transfer_of(copy, begin, end);

    return lane_copy(copy->copies->down, &transfer, 1) == CL_SUCCESS;
}

static bool is_away(const struct copy *copy)
{
    return copy->away.begin < copy->away.end;
}

static void forget(struct copies *copies, size_t k)
{
    struct copy *copy = copies->at[k];

    if (is_away(copy))
        away_remove(copy->column, &copy->away);
    spares_give(copies->spares, copy->buffer);
    copies->bytes -= copy->bytes;
    copy->column->copies--;
    column_unref(copy->column);
    free(copy);
    copies->at[k] = copies->at[--copies->count];
}

static void drop(struct away *away)
{
    struct copy *copy = (struct copy *)away;
    struct copies *copies = copy->copies;
    size_t k = 0;

    while (copies->at[k] != copy)
        k++;
    copy->away.begin = copy->away.end;
    forget(copies, k);
}

struct copy *copies_add_result(struct copies *copies, struct column *column, int64_t row, int64_t rows, cl_mem buffer)
{
    struct copy *copy = copies_add(copies, column, row, rows, buffer);

    copy->end = row + rows;
    copy->away = (struct away){.begin = row, .end = copy->end, .fetch = fetch, .drop = drop};
    away_add(column, &copy->away);
    return copy;
}

/* Whether somebody has the column who is not a copy, here or on another device. */
static bool is_wanted(const struct column *column)
{
    return column->refs > column->copies;
}

/* Brings to the host what only the device has. */
static bool bring_home(struct copy *copy)
{
    return !is_away(copy) || column_fetch(copy->column, copy->away.begin, copy->away.end);
}

bool copies_evict(struct copies *copies, uint64_t launch)
{
    size_t best = copies->count;
    bool best_wanted = true;

    for (size_t k = 0; k < copies->count; k++) {
        const struct copy *copy = copies->at[k];
        bool wanted = is_wanted(copy->column);
        if (copy->used < launch && (best == copies->count || wanted < best_wanted ||
                                    (wanted == best_wanted && copy->used < copies->at[best]->used))) {
            best = k;
            best_wanted = wanted;
        }
    }
    if (best == copies->count || (best_wanted && !bring_home(copies->at[best])))
        return false;
    forget(copies, best);
    return true;
}

void copies_sweep(struct copies *copies)
{
    for (size_t k = copies->count; k-- > 0;)
        if (!is_wanted(copies->at[k]->column))
            forget(copies, k);
}

void copies_drop_brief(struct copies *copies, uint64_t launch)
{
    for (size_t k = copies->count; k-- > 0;)
        if (copies->at[k]->brief && copies->at[k]->used <= launch)
            forget(copies, k);
}

void copies_free(struct copies *copies)
{
    if (!copies)
        return;
    copies_join(copies, NULL);
    copies_sweep(copies);
    while (copies->count > 0) {
        if (!bring_home(copies->at[copies->count - 1]))
            away_lose(copies->at[copies->count - 1]->column);
        forget(copies, copies->count - 1);
    }
    lane_free(copies->up);
    lane_free(copies->down);
    free(copies->ahead.fills);
    free(copies->ahead.transfers);
    free(copies->at);
    free(copies);
}

/* ---- filling ---- */

/* A copy that has the row; or NULL, and *until is where the next one begins, `end` at most. */
static const struct copy *copy_with(const struct copies *copies, const struct column *column, int64_t row, int64_t end,
                                    int64_t *until)
{
    *until = end;
    for (size_t k = 0; k < copies->count; k++) {
        const struct copy *copy = copies->at[k];
        if (copy->column != column || copy->end <= row || copy->begin == copy->end)
            continue;
        if (copy->begin <= row) {
            *until = least(end, copy->end);
            return copy;
        }
        *until = least(*until, copy->begin);
    }
    return NULL;
}

int64_t copies_missing(const struct copies *copies, const struct column *column, int64_t row, int64_t rows)
{
    int64_t end = row + rows, until, missing = 0;

    for (; row < end; row = until)
        if (!copy_with(copies, column, row, end, &until))
            missing += until - row;
    return missing;
}

static bool upload(struct copy *copy, int64_t begin, int64_t end, struct timing *timing)
{
    struct accelerator *accelerator = copy->copies->accelerator;
    const struct transfer transfer = transfer_of(copy, begin, end);
    int64_t started = now_ns();

    /* What other devices have comes by way of the host. */
    if (!column_fetch(copy->column, begin, end))
        return cl_ok(&accelerator->failure, "clEnqueueReadBuffer", CL_OUT_OF_RESOURCES);
    if (!cl_ok(&accelerator->failure, "clEnqueueWriteBuffer", lane_copy(copy->copies->up, &transfer, 1)))
        return false;
    timing_add(timing, PHASE_UPLOAD, type_table[copy->column->store].name, now_ns() - started, (int64_t)transfer.bytes);
    return true;
}

static bool take_over(const struct copy *copy, const struct copy *from, int64_t begin, int64_t end)
{
    struct accelerator *accelerator = copy->copies->accelerator;

    return cl_ok(&accelerator->failure, "clEnqueueCopyBuffer",
                 clEnqueueCopyBuffer(accelerator->queue, from->buffer, copy->buffer, offset_of(from, begin),
                                     offset_of(copy, begin), (size_t)(end - begin) * element_size(copy), 0, NULL,
                                     NULL));
}

static bool gather(struct copy *copy, int64_t begin, int64_t end, struct timing *timing)
{
    for (int64_t row = begin, until; row < end; row = until) {
        const struct copy *other = copy_with(copy->copies, copy->column, row, end, &until);
        if (!(other ? take_over(copy, other, row, until) : upload(copy, row, until, timing)))
            return false;
    }
    return true;
}

/* Lets go of other copies of rows that this one has now. */
static void absorb(struct copy *copy)
{
    struct copies *copies = copy->copies;

    for (size_t k = copies->count; k-- > 0;) {
        struct copy *other = copies->at[k];
        if (other == copy || other->column != copy->column || other->begin < copy->begin || other->end > copy->end ||
            other->used >= copy->used)
            continue;
        if (is_away(other)) {
            int64_t begin = other->away.begin, end = other->away.end;
            bool first = !is_away(copy);
            copy->away.begin = first || begin < copy->away.begin ? begin : copy->away.begin;
            copy->away.end = first || end > copy->away.end ? end : copy->away.end;
            copy->away.fetch = fetch;
            copy->away.drop = drop;
            if (first)
                away_add(copy->column, &copy->away);
        }
        forget(copies, k);
    }
}

/* What a copy would hold with these rows as well: no gaps. */
static void reach(const struct copy *copy, int64_t *begin, int64_t *end)
{
    if (copy->begin == copy->end)
        return;
    *begin = copy->begin < *begin ? copy->begin : *begin;
    *end = copy->end > *end ? copy->end : *end;
}

bool copy_fill(struct copy *copy, int64_t row, int64_t rows, struct timing *timing)
{
    struct accelerator *accelerator = copy->copies->accelerator;
    int64_t begin = row, end = row + rows;
    bool empty = copy->begin == copy->end;

    reach(copy, &begin, &end);
    bool filled = empty ? gather(copy, begin, end, timing)
                        : gather(copy, begin, copy->begin, timing) && gather(copy, copy->end, end, timing);
    /* Copying on the device must have ended before what is copied goes. */
    bool finished = cl_ok(&accelerator->failure, "clFinish", clFinish(accelerator->queue));
    if (!filled || !finished)
        return false;
    copy->begin = begin;
    copy->end = end;
    absorb(copy);
    return true;
}

/* ---- ahead of time ---- */

void copy_fill_ahead(struct copy *copy, int64_t row, int64_t rows)
{
    struct copies *copies = copy->copies;
    bool empty = copy->begin == copy->end;
    int64_t begin = empty ? row : copy->end, end = row + rows, until;

    if ((!empty && row > copy->end) || begin >= end || begin > row || copy->column->away ||
        copy_with(copies, copy->column, begin, end, &until) || until < end)
        return;
    if (copies->ahead.count == copies->ahead.capacity) {
        copies->ahead.capacity = copies->ahead.capacity ? copies->ahead.capacity * 2 : 16;
        copies->ahead.fills = heap_resize(copies->ahead.fills, copies->ahead.capacity, sizeof(struct fill));
        copies->ahead.transfers = heap_resize(copies->ahead.transfers, copies->ahead.capacity, sizeof(struct transfer));
    }
    copies->ahead.fills[copies->ahead.count] = (struct fill){copy, begin, end};
    copies->ahead.transfers[copies->ahead.count++] = transfer_of(copy, begin, end);
}

static void *run_ahead(void *argument)
{
    struct copies *copies = argument;
    int64_t started = now_ns();

    copies->ahead.code = lane_copy(copies->up, copies->ahead.transfers, copies->ahead.count);
    copies->ahead.ns = now_ns() - started;
    return NULL;
}

void copies_begin(struct copies *copies)
{
    if (copies->ahead.count > 0 && thread_begin(&copies->ahead.thread, run_ahead, copies))
        copies->ahead.running = true;
    else
        copies->ahead.count = 0;
}

void copies_join(struct copies *copies, struct timing *timing)
{
    int64_t bytes = 0;
    const char *name = "";

    if (!copies->ahead.running)
        return;
    pthread_join(copies->ahead.thread, NULL);
    copies->ahead.running = false;
    /* What went wrong will go wrong again when the rows are asked for, and be told then. */
    bool done = copies->ahead.code == CL_SUCCESS;
    for (size_t k = 0; k < copies->ahead.count && done; k++) {
        const struct fill *fill = &copies->ahead.fills[k];
        struct copy *copy = fill->copy;
        copy->begin = copy->begin == copy->end ? fill->begin : copy->begin;
        copy->end = fill->end;
        bytes += (int64_t)copies->ahead.transfers[k].bytes;
        name = type_table[copy->column->store].name;
    }
    copies->ahead.count = 0;
    if (done)
        timing_add(timing, PHASE_UPLOAD, name, copies->ahead.ns, bytes);
}
