#include "engine/sorting/sort_deal.h"

#include "engine/sorting/sort_element.h"
#include "engine/storage/buffer_pool.h"

#include "base/heap.h"
#include "base/memory_size.h"
#include "base/nontemporal_copy.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,
    MOST_BUFFERS = 64 << 10, /* bytes of all of a part's buffers, */
    MOST_BUFFER = 4 * LINE,  /* and of each; at least one line */
    LEAST_CHUNK = 8 * LINE,
    MOST_CHUNK = 4096, /* a piece */
    CHUNK_SHARE = 4,   /* of a bucket's bytes in a part, so that chunks do not stay empty */
    PART_BYTES = 1 << 20,
    PARTS_PER_THREAD = 4,
    MOST_PART_ROWS = 1 << 24
};

static const uint32_t no_chunk = UINT32_MAX;

/* Inlined where the width is a constant: one loop for each width. */
#define SPECIALISED static inline __attribute__((always_inline))

struct dealt_part {
    char *buffers;     /* one for each bucket */
    uint32_t *next;    /* of each bucket: where the next element goes in `buffers` */
    char **chunk_end;  /* of each bucket: behind the last buffer in its last chunk */
    uint32_t *first;   /* chunk of each bucket */
    uint32_t *last;    /* */
    size_t *in_chunks; /* bytes of each bucket */
    uint32_t *after;   /* each chunk of the part */
    char *chunks;
    uint32_t used; /* chunks */
};

static size_t power_of_two_below(size_t number)
{
    return number ? (size_t)1 << (63 - __builtin_clzll(number)) : 0;
}

static size_t within(size_t number, size_t least, size_t most)
{
    return number < least ? least : number > most ? most : number;
}

static size_t buckets_of(const struct deal *deal)
{
    return (size_t)1 << deal->bits;
}

/* ---- one part ---- */

static void append_buffer(const struct deal *deal, struct dealt_part *part, size_t bucket)
{
    char *to = part->chunk_end[bucket];
    if (part->in_chunks[bucket] % deal->chunk_bytes == 0) {
        const uint32_t chunk = part->used++;
        to = part->chunks + (size_t)chunk * deal->chunk_bytes;
        if (part->last[bucket] == no_chunk)
            part->first[bucket] = chunk;
        else
            part->after[part->last[bucket]] = chunk;
        part->last[bucket] = chunk;
    }
    stream_lines(to, part->buffers + bucket * deal->buffer_bytes, deal->buffer_bytes / STREAM_LINE);
    part->chunk_end[bucket] = to + deal->buffer_bytes;
    part->in_chunks[bucket] += deal->buffer_bytes;
}

/* Prefetches rows of these bytes, from `after` on, meanwhile, a line at a time: many at once would be waited for. */
SPECIALISED void deal_block(const struct deal *deal, struct dealt_part *part, const void *elements,
                            const uint32_t *buckets, int count, size_t width, const char *after, size_t row_bytes)
{
    const uint32_t capacity = (uint32_t)(deal->buffer_bytes / width);
    uint32_t *next = part->next;
    char *buffers = part->buffers;
    for (int i = 0; i < count;) {
        const int end = count - i < LINE / (int)width ? count : i + LINE / (int)width;
        __builtin_prefetch(after + (size_t)i * row_bytes);
        for (; i < end; i++) {
            const uint32_t bucket = buckets[i];
            uint32_t at = next[bucket];
            sort_element_copy(buffers, at, elements, (size_t)i, width);
            if ((++at & (capacity - 1)) == 0) {
                append_buffer(deal, part, bucket);
                at -= capacity;
            }
            next[bucket] = at;
        }
    }
}

static void deal_part(void *context, int member, int64_t number)
{
    (void)member;
    const struct deal *deal = context;
    const struct radix *radix = deal->radix;
    struct dealt_part *part = &deal->of[number];
    struct radix_pair block[RADIX_BLOCK];
    uint32_t buckets[RADIX_BLOCK];
    const char *rows = deal->from ? deal->from : radix->made_from;
    const size_t row_bytes = deal->from ? radix->width : rows ? radix->row_bytes : 0;
    const int64_t end = part_begin(&deal->parts, number + 1);
    for (int64_t row = part_begin(&deal->parts, number); row < end && !radix_stopped(radix); row += RADIX_BLOCK) {
        const int count = end - row < RADIX_BLOCK ? (int)(end - row) : RADIX_BLOCK;
        const void *elements = block;
        if (deal->from)
            elements = rows + (size_t)row * row_bytes;
        else
            radix->read(radix->context, row, count, block);
        const char *after = rows ? rows + (size_t)(row + count) * row_bytes : (const char *)block;
        deal->level->divide(deal->by, (uint32_t)buckets_of(deal), elements, radix->width, count, buckets);
        if (radix->width == 4)
            deal_block(deal, part, elements, buckets, count, 4, after, row_bytes);
        else if (radix->width == 8)
            deal_block(deal, part, elements, buckets, count, 8, after, row_bytes);
        else
            deal_block(deal, part, elements, buckets, count, 16, after, row_bytes);
    }
    stream_fence();
}

/* ---- all parts ---- */

static struct parts parts_of(const struct radix *radix, int64_t rows)
{
    const int64_t threads = radix->workers->threads;
    int64_t count = (int64_t)within(((size_t)rows * radix->width) / PART_BYTES, (size_t)threads,
                                    (size_t)(threads * PARTS_PER_THREAD));
    if (count < rows / MOST_PART_ROWS)
        count = rows / MOST_PART_ROWS;
    const int64_t size = (rows + count - 1) / count;
    return (struct parts){.rows = rows, .size = size, .count = (rows + size - 1) / size};
}

/* Chunks for a part: its elements, and for each bucket a chunk that is not full. */
static size_t part_chunks(const struct deal *deal)
{
    return (size_t)deal->parts.size * deal->radix->width / deal->chunk_bytes + buckets_of(deal) + 1;
}

static void part_init(const struct deal *deal, struct dealt_part *part, char *chunks)
{
    const size_t buckets = buckets_of(deal);
    part->buffers = aligned_alloc(MOST_CHUNK, deal->buffers_bytes);
    if (!part->buffers)
        heap_exhausted();
    part->next = heap_array(buckets, sizeof *part->next);
    for (size_t bucket = 0; bucket < buckets; bucket++)
        part->next[bucket] = (uint32_t)(bucket * deal->buffer_bytes / deal->radix->width);
    part->chunk_end = heap_array(buckets, sizeof *part->chunk_end);
    part->first = heap_array(buckets, sizeof *part->first);
    part->last = heap_array(buckets, sizeof *part->last);
    part->in_chunks = heap_array(buckets, sizeof *part->in_chunks);
    part->after = heap_array(part_chunks(deal), sizeof *part->after);
    part->chunks = chunks;
    memset(part->last, 0xff, buckets * sizeof *part->last);
}

static uint32_t in_buffer(const struct deal *deal, const struct dealt_part *part, int64_t bucket)
{
    return part->next[bucket] % (uint32_t)(deal->buffer_bytes / deal->radix->width);
}

static int64_t elements_in_part(const struct deal *deal, int64_t bucket, int64_t part)
{
    return (int64_t)(deal->of[part].in_chunks[bucket] / deal->radix->width + in_buffer(deal, &deal->of[part], bucket));
}

static void add_up(struct deal *deal)
{
    int64_t begin = 0;
    for (size_t bucket = 0; bucket < buckets_of(deal); bucket++) {
        deal->begins[bucket] = begin;
        for (int64_t i = 0; i < deal->parts.count; i++)
            begin += elements_in_part(deal, (int64_t)bucket, i);
    }
    deal->begins[buckets_of(deal)] = begin;
}

enum status deal_run(struct deal *deal, int64_t rows)
{
    const struct radix *radix = deal->radix;
    deal->parts = parts_of(radix, rows);
    deal->buffer_bytes = within((size_t)MOST_BUFFERS >> deal->bits, LINE, MOST_BUFFER);
    deal->buffers_bytes = within(deal->buffer_bytes << deal->bits, MOST_CHUNK, SIZE_MAX);
    const size_t share = ((size_t)deal->parts.size * radix->width >> deal->bits) / CHUNK_SHARE;
    deal->chunk_bytes = power_of_two_below(within(share, LEAST_CHUNK, MOST_CHUNK));
    const size_t part_bytes = part_chunks(deal) * deal->chunk_bytes, bytes = part_bytes * (size_t)deal->parts.count;
    if (!system_memory_has((int64_t)bytes) ||
        !(deal->memory = buffer_pool_alloc(radix->workers->pool, bytes, &deal->memory_bytes)))
        return STATUS_FAILED;
    deal->begins = heap_array(buckets_of(deal) + 1, sizeof *deal->begins);
    deal->of = heap_array((size_t)deal->parts.count, sizeof *deal->of);
    for (int64_t i = 0; i < deal->parts.count; i++)
        part_init(deal, &deal->of[i], deal->memory + (size_t)i * part_bytes);
    if (!workers_run(radix->workers, deal->parts.count, deal_part, deal) || radix_stopped(radix))
        return STATUS_CANCELLED;
    add_up(deal);
    return STATUS_OK;
}

void deal_free(struct deal *deal)
{
    for (int64_t i = 0; i < deal->parts.count && deal->of; i++) {
        struct dealt_part *part = &deal->of[i];
        free(part->buffers);
        free(part->next);
        free(part->chunk_end);
        free(part->first);
        free(part->last);
        free(part->in_chunks);
        free(part->after);
    }
    free(deal->of);
    free(deal->begins);
    buffer_pool_release(deal->radix->workers->pool, deal->memory, deal->memory_bytes);
}

/* ---- reading ---- */

struct pieces pieces_of_bucket(const struct deal *deal, int64_t bucket)
{
    return (struct pieces){
        .deal = deal, .width = deal->radix->width, .bucket = bucket, .last_part = deal->parts.count - 1};
}

struct pieces pieces_of_part(const struct deal *deal, int64_t bucket, int64_t part)
{
    return (struct pieces){
        .deal = deal, .width = deal->radix->width, .bucket = bucket, .part = part, .last_part = part};
}

int64_t pieces_before_part(const struct deal *deal, int64_t bucket, int64_t part)
{
    int64_t before = 0;
    for (int64_t i = 0; i < part; i++)
        before += elements_in_part(deal, bucket, i);
    return before;
}

struct pieces pieces_of_array(const void *elements, size_t count, size_t width)
{
    return (struct pieces){.from = elements, .left = count, .width = width};
}

static const void *next_of_bucket(struct pieces *pieces, int *count)
{
    const struct deal *deal = pieces->deal;
    const size_t chunk_bytes = deal->chunk_bytes;
    for (; pieces->part <= pieces->last_part; pieces->part++, pieces->opened = false) {
        const struct dealt_part *part = &deal->of[pieces->part];
        if (!pieces->opened) {
            pieces->opened = true;
            pieces->chunk = part->first[pieces->bucket];
            pieces->left = part->in_chunks[pieces->bucket];
        }
        if (pieces->left > 0) {
            const char *at = part->chunks + (size_t)pieces->chunk * chunk_bytes;
            const size_t bytes = pieces->left < chunk_bytes ? pieces->left : chunk_bytes;
            pieces->left -= bytes;
            pieces->chunk = part->after[pieces->chunk];
            pieces->after = at;
            if (pieces->left > 0) { /* hardware prefetching stops at the end of a page */
                pieces->after = part->chunks + (size_t)pieces->chunk * chunk_bytes;
                for (size_t i = 0; i < LEAST_CHUNK; i += LINE)
                    __builtin_prefetch(pieces->after + i);
            }
            *count = (int)(bytes / pieces->width);
            return at;
        }
        *count = (int)in_buffer(deal, part, pieces->bucket);
        if (*count > 0) {
            const char *rest = part->buffers + (size_t)pieces->bucket * deal->buffer_bytes;
            pieces->after = rest;
            pieces->part++;
            pieces->opened = false;
            return rest;
        }
    }
    return NULL;
}

const void *pieces_next(struct pieces *pieces, int *count)
{
    if (pieces->deal)
        return next_of_bucket(pieces, count);
    const char *at = pieces->from;
    pieces->after = at;
    *count = pieces->left < PIECE ? (int)pieces->left : PIECE;
    pieces->left -= (size_t)*count;
    pieces->from += (size_t)*count * pieces->width;
    return *count > 0 ? at : NULL;
}
