/* Which blocks of an object lack, and the requests for them. */
#include "engine/remote/object.h"

#include "base/heap.h"

#include <stdlib.h>

enum {
    GAP_BLOCKS = 4,     /* that are asked for again rather than in two requests */
    PIECE_BLOCKS = 128, /* of a request: 8 MiB */
};

/* Blocks first .. end-1. */
struct run {
    int64_t first, end;
};

static int compare_runs(const void *a, const void *b)
{
    const struct run *one = a, *other = b;
    return (one->first > other->first) - (one->first < other->first);
}

/* The blocks of the ranges, in order. */
static struct run *runs_of(const struct byte_range *ranges, size_t count, int64_t size, size_t *run_count)
{
    struct run *runs = heap_array(count + 1, sizeof *runs);
    *run_count = 0;
    for (size_t i = 0; i < count; i++) {
        const int64_t begin = (int64_t)ranges[i].offset;
        if (ranges[i].length == 0 || begin < 0 || begin >= size)
            continue;
        const int64_t end = ranges[i].length < (size_t)(size - begin) ? begin + (int64_t)ranges[i].length : size;
        runs[(*run_count)++] = (struct run){begin / BLOCK_BYTES, (end - 1) / BLOCK_BYTES + 1};
    }
    if (*run_count > 1)
        qsort(runs, *run_count, sizeof *runs, compare_runs);
    return runs;
}

struct pieces {
    struct piece *at;
    size_t count, capacity;
};

/* Adds a block that lacks: to the last piece if it is not far behind that. */
static void add_block(struct pieces *pieces, int64_t block, int64_t size)
{
    const int64_t begin = block * BLOCK_BYTES, end = begin + BLOCK_BYTES < size ? begin + BLOCK_BYTES : size;
    struct piece *last = pieces->count > 0 ? &pieces->at[pieces->count - 1] : NULL;
    if (last && begin - last->end <= (int64_t)GAP_BLOCKS * BLOCK_BYTES &&
        end - last->begin <= (int64_t)PIECE_BLOCKS * BLOCK_BYTES) {
        last->end = end;
        return;
    }
    *HEAP_PUSH(pieces->at, pieces->count, pieces->capacity) = (struct piece){.begin = begin, .end = end};
}

static struct pieces lacking(const struct object *object, const struct byte_range *ranges, size_t count)
{
    size_t run_count;
    struct pieces pieces = {0};
    struct run *runs = runs_of(ranges, count, object->size, &run_count);
    int64_t next = 0; /* blocks before it have been looked at */
    for (size_t i = 0; i < run_count; i++) {
        for (int64_t block = runs[i].first > next ? runs[i].first : next; block < runs[i].end; block++) {
            if (!block_file_has(object->file, block))
                add_block(&pieces, block, object->size);
        }
        next = runs[i].end > next ? runs[i].end : next;
    }
    free(runs);
    return pieces;
}

enum status object_need(struct mapping_source *source, const struct byte_range *ranges, size_t count,
                        const struct workers *workers, struct span span, struct diags *diags)
{
    struct object *object = (struct object *)source;
    struct pieces pieces = lacking(object, ranges, count);
    struct transfer transfer = {.remote = object->remote,
                                .address = &object->address,
                                .workers = workers,
                                .span = span,
                                .diags = diags,
                                .context = object,
                                .answered = object_answered,
                                .received = object_received};
    for (size_t i = 0; i < pieces.count; i++)
        transfer.total += pieces.at[i].end - pieces.at[i].begin;
    if (pieces.count > 0 && object->kept)
        block_files_sweep(object->directory, object->remote->limit - transfer.total);
    const enum status status = pieces.count > 0 ? transfer_run(&transfer, pieces.at, pieces.count) : STATUS_OK;
    free(pieces.at);
    return status;
}
