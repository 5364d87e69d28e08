#include "engine/sorting/radix_partition.h"

#include "base/buffer_pool.h"
#include "engine/sorting/sort_element.h"

#include "base/heap.h"
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

struct partitioned_part {
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

static size_t buckets_of(const struct radix_partition *partition)
{
    return (size_t)1 << partition->bits;
}

/* ---- one part ---- */

static void append_buffer(const struct radix_partition *partition, struct partitioned_part *part, size_t bucket)
{
    char *to = part->chunk_end[bucket];
    if (part->in_chunks[bucket] % partition->chunk_bytes == 0) {
        const uint32_t chunk = part->used++;
        to = part->chunks + (size_t)chunk * partition->chunk_bytes;
        if (part->last[bucket] == no_chunk)
            part->first[bucket] = chunk;
        else
            part->after[part->last[bucket]] = chunk;
        part->last[bucket] = chunk;
    }
    stream_lines(to, part->buffers + bucket * partition->buffer_bytes, partition->buffer_bytes / STREAM_LINE);
    part->chunk_end[bucket] = to + partition->buffer_bytes;
    part->in_chunks[bucket] += partition->buffer_bytes;
}

SPECIALISED void partition_block(const struct radix_partition *partition, struct partitioned_part *part,
                                 const void *elements, const uint32_t *buckets, int count, size_t width)
{
    const uint32_t capacity = (uint32_t)(partition->buffer_bytes / width);
    uint32_t *next = part->next;
    char *buffers = part->buffers;
    for (int i = 0; i < count; i++) {
        const uint32_t bucket = buckets[i];
        uint32_t at = next[bucket];
        sort_element_copy(buffers, at, elements, (size_t)i, width);
        if ((++at & (capacity - 1)) == 0) {
            append_buffer(partition, part, bucket);
            at -= capacity;
        }
        next[bucket] = at;
    }
}

static void partition_part(void *context, struct part rows)
{
    const struct radix_partition *partition = context;
    const struct radix *radix = partition->radix;
    struct partitioned_part *part = &partition->of[rows.number];
    uint64_t block[RADIX_BLOCK * RADIX_WIDEST / sizeof(uint64_t)];
    uint32_t buckets[RADIX_BLOCK];
    for (int64_t row = rows.begin; row < rows.end && !workers_cancelled(radix->workers); row += RADIX_BLOCK) {
        const int count = rows.end - row < RADIX_BLOCK ? (int)(rows.end - row) : RADIX_BLOCK;
        const void *elements = block;
        if (partition->from)
            elements = (const char *)partition->from + (size_t)row * radix->width;
        else
            radix->read(radix->context, row, count, block);
        partition->level->divide(partition->by, (uint32_t)buckets_of(partition), elements, radix->width, count,
                                 buckets);
        if (radix->width == 4)
            partition_block(partition, part, elements, buckets, count, 4);
        else if (radix->width == 8)
            partition_block(partition, part, elements, buckets, count, 8);
        else if (radix->width == 16)
            partition_block(partition, part, elements, buckets, count, 16);
        else if (radix->width == 32)
            partition_block(partition, part, elements, buckets, count, 32);
        else
            partition_block(partition, part, elements, buckets, count, 64);
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
static size_t part_chunks(const struct radix_partition *partition)
{
    return (size_t)partition->parts.size * partition->radix->width / partition->chunk_bytes + buckets_of(partition) + 1;
}

static void part_init(const struct radix_partition *partition, struct partitioned_part *part, char *chunks)
{
    const size_t buckets = buckets_of(partition);
    part->buffers = heap_aligned(MOST_CHUNK, partition->buffers_bytes);
    part->next = heap_array(buckets, sizeof *part->next);
    for (size_t bucket = 0; bucket < buckets; bucket++)
        part->next[bucket] = (uint32_t)(bucket * partition->buffer_bytes / partition->radix->width);
    part->chunk_end = heap_array(buckets, sizeof *part->chunk_end);
    part->first = heap_array(buckets, sizeof *part->first);
    part->last = heap_array(buckets, sizeof *part->last);
    part->in_chunks = heap_array(buckets, sizeof *part->in_chunks);
    part->after = heap_array(part_chunks(partition), sizeof *part->after);
    part->chunks = chunks;
    memset(part->last, 0xff, buckets * sizeof *part->last);
}

static uint32_t in_buffer(const struct radix_partition *partition, const struct partitioned_part *part, int64_t bucket)
{
    return part->next[bucket] % (uint32_t)(partition->buffer_bytes / partition->radix->width);
}

static int64_t elements_in_part(const struct radix_partition *partition, int64_t bucket, int64_t part)
{
    return (int64_t)(partition->of[part].in_chunks[bucket] / partition->radix->width +
                     in_buffer(partition, &partition->of[part], bucket));
}

static void add_up(struct radix_partition *partition)
{
    int64_t begin = 0;
    for (size_t bucket = 0; bucket < buckets_of(partition); bucket++) {
        partition->begins[bucket] = begin;
        for (int64_t i = 0; i < partition->parts.count; i++)
            begin += elements_in_part(partition, (int64_t)bucket, i);
    }
    partition->begins[buckets_of(partition)] = begin;
}

enum status radix_partition_run(struct radix_partition *partition, int64_t rows)
{
    const struct radix *radix = partition->radix;
    partition->parts = parts_of(radix, rows);
    partition->buffer_bytes = within((size_t)MOST_BUFFERS >> partition->bits, LINE, MOST_BUFFER);
    partition->buffers_bytes = within(partition->buffer_bytes << partition->bits, MOST_CHUNK, SIZE_MAX);
    const size_t share = ((size_t)partition->parts.size * radix->width >> partition->bits) / CHUNK_SHARE;
    partition->chunk_bytes = power_of_two_below(within(share, LEAST_CHUNK, MOST_CHUNK));
    const size_t part_bytes = part_chunks(partition) * partition->chunk_bytes,
                 bytes = part_bytes * (size_t)partition->parts.count;
    if (!buffer_pool_takes(radix->workers->pool, (int64_t)bytes) ||
        !(partition->memory = buffer_pool_alloc(radix->workers->pool, bytes, &partition->memory_bytes)))
        return STATUS_FAILED;
    partition->begins = heap_array(buckets_of(partition) + 1, sizeof *partition->begins);
    partition->of = heap_array((size_t)partition->parts.count, sizeof *partition->of);
    for (int64_t i = 0; i < partition->parts.count; i++)
        part_init(partition, &partition->of[i], partition->memory + (size_t)i * part_bytes);
    if (!workers_run_parts(radix->workers, &partition->parts, partition_part, partition) ||
        workers_cancelled(radix->workers))
        return STATUS_CANCELLED;
    add_up(partition);
    return STATUS_OK;
}

void radix_partition_free(struct radix_partition *partition)
{
    for (int64_t i = 0; i < partition->parts.count && partition->of; i++) {
        struct partitioned_part *part = &partition->of[i];
        free(part->buffers);
        free(part->next);
        free(part->chunk_end);
        free(part->first);
        free(part->last);
        free(part->in_chunks);
        free(part->after);
    }
    free(partition->of);
    free(partition->begins);
    buffer_pool_release(partition->radix->workers->pool, partition->memory, partition->memory_bytes);
}

/* ---- reading ---- */

struct bucket_reader read_bucket(const struct radix_partition *partition, int64_t bucket)
{
    return (struct bucket_reader){.partition = partition,
                                  .width = partition->radix->width,
                                  .bucket = bucket,
                                  .last_part = partition->parts.count - 1};
}

struct bucket_reader read_bucket_part(const struct radix_partition *partition, int64_t bucket, int64_t part)
{
    return (struct bucket_reader){
        .partition = partition, .width = partition->radix->width, .bucket = bucket, .part = part, .last_part = part};
}

int64_t pieces_before_part(const struct radix_partition *partition, int64_t bucket, int64_t part)
{
    int64_t before = 0;
    for (int64_t i = 0; i < part; i++)
        before += elements_in_part(partition, bucket, i);
    return before;
}

struct bucket_reader read_array(const void *elements, size_t count, size_t width)
{
    return (struct bucket_reader){.from = elements, .left = count, .width = width};
}

static const void *next_of_bucket(struct bucket_reader *reader, int *count)
{
    const struct radix_partition *partition = reader->partition;
    const size_t chunk_bytes = partition->chunk_bytes;
    for (; reader->part <= reader->last_part; reader->part++, reader->opened = false) {
        const struct partitioned_part *part = &partition->of[reader->part];
        if (!reader->opened) {
            reader->opened = true;
            reader->chunk = part->first[reader->bucket];
            reader->left = part->in_chunks[reader->bucket];
        }
        if (reader->left > 0) {
            const char *at = part->chunks + (size_t)reader->chunk * chunk_bytes;
            const size_t bytes = reader->left < chunk_bytes ? reader->left : chunk_bytes;
            reader->left -= bytes;
            reader->chunk = part->after[reader->chunk];
            reader->after = at;
            if (reader->left > 0) { /* hardware prefetching stops at the end of a page */
                reader->after = part->chunks + (size_t)reader->chunk * chunk_bytes;
                for (size_t i = 0; i < LEAST_CHUNK; i += LINE)
                    __builtin_prefetch(reader->after + i);
            }
            *count = (int)(bytes / reader->width);
            return at;
        }
        *count = (int)in_buffer(partition, part, reader->bucket);
        if (*count > 0) {
            const char *rest = part->buffers + (size_t)reader->bucket * partition->buffer_bytes;
            reader->after = rest;
            reader->part++;
            reader->opened = false;
            return rest;
        }
    }
    return NULL;
}

const void *bucket_reader_next(struct bucket_reader *reader, int *count)
{
    if (reader->partition)
        return next_of_bucket(reader, count);
    const char *at = reader->from;
    reader->after = at;
    *count = reader->left < PIECE ? (int)reader->left : PIECE;
    reader->left -= (size_t)*count;
    reader->from += (size_t)*count * reader->width;
    return *count > 0 ? at : NULL;
}
