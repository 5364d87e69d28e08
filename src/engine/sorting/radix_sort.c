/* A stable sort of elements by most significant bits first.
 *
 * Cases, the first that applies: keys without bits are emitted as read; keys of at most 16 bits alone, or of few values
 * by a sample, are counted (counting_sort.c); few elements are bins of one thread; the rest is partitioned into buckets
 * by all threads (radix_partition.h), which threads sort one by one in their caches (sort_bins.h). A bucket that is too
 * large for that is partitioned again by the range of its keys. A sample makes positions of uneven keys even
 * (sort_positions.h).
 *
 * Partitioning is buffered as by Polychroniou and Ross, "A comprehensive study of main-memory partitioning and its
 * application to large-scale comparison- and radix-sort", 2014. Measured, each switched off
 * alone, 10^7 rows, 2-core EPYC (Zen 4): counting of 1000 values of i32 4.2 times as fast, of 100 values of i64 in a
 * wide range 1.8, of 100 floats 2.6; the sampled distribution of Zipf keys 1.8, of normal floats 1.3; the check that
 * rows are in order already, in operators/sort.c, 2.2. Tried: docs/performance.md. */
#include "engine/sorting/radix_sort.h"

#include "base/buffer_pool.h"
#include "engine/sorting/sort_bins.h"

#include "base/heap.h"
#include "base/integer.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW_BYTES = 256 << 10,    /* one thread sorts these faster */
    BUCKET_BYTES = 160 << 10, /* on average; with its bins it fits the second-level cache */
    LEAST_BITS = 6,           /* of a bucket's number; keys are taken as evenly spread within a bucket */
    MOST_BITS = 11,
    LARGE = 6,        /* a bucket with this many times the average is partitioned again, by all threads; */
    LEAST_LARGE = 3,  /* or this many, where memory is short */
    SAMPLED_DEPTH = 2 /* how often: with linear positions from then on, as a sample might say little again and again */
};

struct sorter {
    const struct radix *radix;
    const struct sort_level *level;
    struct bins *bins; /* of each thread */
    int64_t most;      /* elements of a bucket that one thread sorts */
};

/* Elements row .. row+count-1 of the result, with keys between these. */
struct stretch {
    void *elements; /* NULL: read by radix->read */
    int64_t row, count;
    uint64_t least, most;
    int depth;
};

/* ---- buckets ---- */

struct partitioning {
    const struct sorter *sorter;
    struct radix_partition partition;
    struct sort_positions by;
    int64_t row; /* of the first element */
};

static int64_t bucket_count(const struct partitioning *partitioning, int64_t bucket)
{
    return partitioning->partition.begins[bucket + 1] - partitioning->partition.begins[bucket];
}

/* Whether the first keys of a bucket are equal. */
static bool begins_equal(const struct radix_partition *partition, int64_t bucket)
{
    uint64_t least = UINT64_MAX, most = 0;
    struct bucket_reader reader = read_bucket(partition, bucket);
    int count = 0;
    const void *piece = bucket_reader_next(&reader, &count);
    partition->level->bounds(&partition->by->key, piece, partition->radix->width, count, &least, &most);
    return least == most;
}

/* The positions of a bucket's keys; false if these are equal. Where the distribution serves for bins as well, as it
 * does for keys of 64 bits alone, which are mostly skewed on every scale, the bucket is not read for its bounds.
 * Otherwise these are linear. */
static bool positions_in_bucket(const struct partitioning *partitioning, int64_t bucket, struct sort_positions *by)
{
    const struct radix_partition *partition = &partitioning->partition;
    *by = partitioning->by;
    if (!by->segments) {
        const int bits = 64 - by->up - partition->bits; /* of the keys, that remain */
        const int64_t last = (int64_t)((by->most - by->least) >> bits);
        by->least += (uint64_t)bucket << bits;
        by->most = bucket == last ? by->most : by->least + (((uint64_t)1 << bits) - 1);
        by->up += partition->bits;
        return bits > 0;
    }
    const bool alone = partition->radix->width == sizeof(uint64_t) && partition->radix->shift == 0;
    if (alone && !partition->radix->take && !begins_equal(partition, bucket)) {
        by->known = partition->bits;
        return true;
    }
    uint64_t least = UINT64_MAX, most = 0;
    struct bucket_reader reader = read_bucket(partition, bucket);
    int count;
    for (const void *piece; (piece = bucket_reader_next(&reader, &count));)
        partition->level->bounds(&by->key, piece, partition->radix->width, count, &least, &most);
    *by = sort_positions_between(partition->radix, least, most);
    return least != most;
}

/* Gives a bucket to radix->take; false if it must be sorted. */
static bool take_bucket(const struct partitioning *partitioning, int member, int64_t number,
                        const struct sort_positions *by, bool differ)
{
    const struct radix *radix = partitioning->sorter->radix;
    const struct radix_bucket bucket = {
        .partition = &partitioning->partition,
        .number = number,
        .row = partitioning->row + partitioning->partition.begins[number],
        .count = bucket_count(partitioning, number),
        .least = by->least,
        .bits = differ ? 64 - by->up : 0,
    };
    return radix->take && radix->take(radix->context, member, &bucket);
}

static void small_bucket(void *context, int member, int64_t bucket)
{
    const struct partitioning *partitioning = context;
    const struct radix *radix = partitioning->sorter->radix;
    const int64_t count = bucket_count(partitioning, bucket);
    if (count == 0 || count > partitioning->sorter->most)
        return;
    struct sort_positions by;
    const bool differ = positions_in_bucket(partitioning, bucket, &by);
    if (take_bucket(partitioning, member, bucket, &by, differ))
        return;
    const struct bucket_reader reader = read_bucket(&partitioning->partition, bucket);
    void *sorted = bins_sort(&partitioning->sorter->bins[member], &reader, (size_t)count, differ ? &by : NULL);
    radix->emit(radix->context, member, partitioning->row + partitioning->partition.begins[bucket], sorted, count);
}

/* ---- large buckets ---- */

/* A large bucket's elements are put one after another. */
struct joining {
    const struct partitioning *partitioning;
    int64_t bucket;
    char *to;
    uint64_t *least, *most; /* of each part */
};

static void join_part(void *context, int member, int64_t part)
{
    (void)member;
    const struct joining *joining = context;
    const struct radix_partition *partition = &joining->partitioning->partition;
    const size_t width = partition->radix->width;
    char *to = joining->to + (size_t)pieces_before_part(partition, joining->bucket, part) * width;
    struct bucket_reader reader = read_bucket_part(partition, joining->bucket, part);
    int count;
    joining->least[part] = UINT64_MAX;
    for (const void *piece; (piece = bucket_reader_next(&reader, &count)); to += (size_t)count * width) {
        memcpy(to, piece, (size_t)count * width);
        partition->level->bounds(&partition->by->key, piece, width, count, &joining->least[part], &joining->most[part]);
    }
}

static void *space_for(const struct radix *radix, int64_t count, size_t *got)
{
    const size_t bytes = (size_t)count * radix->width;
    return buffer_pool_takes(radix->workers->pool, (int64_t)bytes) ? buffer_pool_alloc(radix->workers->pool, bytes, got)
                                                                   : NULL;
}

static enum status sort_stretch(const struct sorter *sorter, const struct stretch *stretch);

static enum status large_bucket(const struct partitioning *partitioning, int64_t bucket, int depth)
{
    const struct radix *radix = partitioning->sorter->radix;
    const int64_t parts = partitioning->partition.parts.count;
    struct sort_positions by;
    if (radix->take) {
        const bool differ = positions_in_bucket(partitioning, bucket, &by);
        if (take_bucket(partitioning, -1, bucket, &by, differ))
            return workers_cancelled(radix->workers) ? STATUS_CANCELLED : STATUS_OK;
    }
    struct stretch stretch = {.row = partitioning->row + partitioning->partition.begins[bucket],
                              .count = bucket_count(partitioning, bucket),
                              .least = UINT64_MAX,
                              .depth = depth};
    size_t got = 0;
    struct joining joining = {.partitioning = partitioning, .bucket = bucket};
    stretch.elements = joining.to = space_for(radix, stretch.count, &got);
    if (!joining.to)
        return STATUS_FAILED;
    joining.least = heap_array((size_t)parts, sizeof *joining.least);
    joining.most = heap_array((size_t)parts, sizeof *joining.most);
    enum status status = workers_run(radix->workers, parts, join_part, &joining) ? STATUS_OK : STATUS_CANCELLED;
    for (int64_t i = 0; i < parts; i++) {
        stretch.least = joining.least[i] < stretch.least ? joining.least[i] : stretch.least;
        stretch.most = joining.most[i] > stretch.most ? joining.most[i] : stretch.most;
    }
    if (status == STATUS_OK)
        status = sort_stretch(partitioning->sorter, &stretch);
    free(joining.least);
    free(joining.most);
    buffer_pool_release(radix->workers->pool, joining.to, got);
    return status;
}

/* ---- all elements ---- */

/* Whether the keys of buckets, whose numbers have `bits` bits, have so few possible values that radix->take is asked.
 */
static bool are_taken(const struct radix *radix, const struct sort_positions *by, int bits)
{
    return radix->take && 64 - by->up - bits <= radix->take_bits;
}

static int bucket_bits(const struct radix *radix, int64_t count, const struct sort_positions *by)
{
    const int most = 64 - by->up < MOST_BITS ? 64 - by->up : MOST_BITS;
    int bits = LEAST_BITS;
    while (bits < most && (count * (int64_t)radix->width) >> bits > BUCKET_BYTES && !are_taken(radix, by, bits))
        bits++;
    return bits < most ? bits : most;
}

static enum status partition_stretch(struct partitioning *partitioning, const struct stretch *stretch)
{
    const struct sorter *sorter = partitioning->sorter;
    const struct radix *radix = sorter->radix;
    partitioning->by = sort_positions_between(radix, stretch->least, stretch->most);
    partitioning->partition = (struct radix_partition){
        .radix = radix,
        .level = sorter->level,
        .by = &partitioning->by,
        .from = stretch->elements,
        .bits = bucket_bits(radix, stretch->count, &partitioning->by),
    };
    if (stretch->depth < SAMPLED_DEPTH && !are_taken(radix, &partitioning->by, partitioning->partition.bits))
        sort_positions_sample(&partitioning->by, radix, stretch->elements, stretch->count,
                              partitioning->partition.bits);
    enum status status = radix_partition_run(&partitioning->partition, stretch->count);
    const int64_t buckets = (int64_t)1 << partitioning->partition.bits;
    if (status == STATUS_OK && !workers_run(radix->workers, buckets, small_bucket, partitioning))
        status = STATUS_CANCELLED;
    for (int64_t i = 0; i < buckets && status == STATUS_OK; i++) {
        if (bucket_count(partitioning, i) > sorter->most)
            status = large_bucket(partitioning, i, stretch->depth + 1);
    }
    radix_partition_free(&partitioning->partition);
    sort_positions_free(&partitioning->by);
    return status;
}

static enum status sort_stretch(const struct sorter *sorter, const struct stretch *stretch)
{
    const struct radix *radix = sorter->radix;
    if (stretch->least == stretch->most) {
        radix->emit(radix->context, 0, stretch->row, stretch->elements, stretch->count);
        return STATUS_OK;
    }
    struct partitioning partitioning = {.sorter = sorter, .row = stretch->row};
    return partition_stretch(&partitioning, stretch);
}

struct reading {
    const struct radix *radix;
    char *to;
};

static void read_part(void *context, struct part part)
{
    const struct reading *reading = context;
    const struct radix *radix = reading->radix;
    for (int64_t row = part.begin; row < part.end && !workers_cancelled(radix->workers); row += RADIX_BLOCK)
        radix->read(radix->context, row, part.end - row < RADIX_BLOCK ? (int)(part.end - row) : RADIX_BLOCK,
                    reading->to + (size_t)row * radix->width);
}

/* Keys without bits are equal. */
static enum status emit_all(const struct radix *radix)
{
    size_t got = 0;
    struct reading reading = {.radix = radix, .to = space_for(radix, radix->rows, &got)};
    if (!reading.to)
        return STATUS_FAILED;
    const bool done = workers_run_rows(radix->workers, radix->rows, RADIX_BLOCK, read_part, &reading);
    if (done)
        radix->emit(radix->context, 0, 0, reading.to, radix->rows);
    buffer_pool_release(radix->workers->pool, reading.to, got);
    return done && !workers_cancelled(radix->workers) ? STATUS_OK : STATUS_CANCELLED;
}

/* Few elements are one bucket. */
static enum status sort_few(const struct sorter *sorter)
{
    const struct radix *radix = sorter->radix;
    char *elements = heap_array((size_t)radix->rows, radix->width);
    for (int64_t row = 0; row < radix->rows; row += RADIX_BLOCK)
        radix->read(radix->context, row, radix->rows - row < RADIX_BLOCK ? (int)(radix->rows - row) : RADIX_BLOCK,
                    elements + (size_t)row * radix->width);
    struct sort_positions by = sort_positions_between(radix, 0, 0);
    uint64_t least = UINT64_MAX, most = 0;
    sorter->level->bounds(&by.key, elements, radix->width, (int)radix->rows, &least, &most);
    by = sort_positions_between(radix, least, most);
    if (least != most)
        sort_positions_sample(&by, radix, elements, radix->rows, LEAST_BITS);
    const struct bucket_reader reader = read_array(elements, (size_t)radix->rows, radix->width);
    void *sorted = bins_sort(&sorter->bins[0], &reader, (size_t)radix->rows, least != most ? &by : NULL);
    radix->emit(radix->context, 0, 0, sorted, radix->rows);
    sort_positions_free(&by);
    free(elements);
    return STATUS_OK;
}

static enum status sort_all(const struct sorter *sorter)
{
    const struct radix *radix = sorter->radix;
    if ((size_t)radix->rows * radix->width <= FEW_BYTES)
        return sort_few(sorter);
    const struct stretch all = {.count = radix->rows, .most = low_ones(radix->bits)};
    return sort_stretch(sorter, &all);
}

enum status radix_sort(const struct radix *radix)
{
    if (radix->rows == 0)
        return STATUS_OK;
    if (radix->bits == 0)
        return emit_all(radix);
    if (counting_sort_pays(radix))
        return counting_sort(radix);
    if (radix->divided && radix->shift == 0 && radix->width <= sizeof(uint64_t) && value_counts_pay(radix)) {
        const enum status status = counting_sort_values(radix);
        if (status != STATUS_FAILED)
            return status;
    }
    const size_t bytes = (size_t)radix->rows * radix->width;
    const size_t bucket = bytes >> MOST_BITS > BUCKET_BYTES ? bytes >> MOST_BITS : BUCKET_BYTES;
    const bool few = bytes <= FEW_BYTES;
    const int threads = few ? 1 : radix->workers->threads;
    struct sorter sorter = {.radix = radix, .level = radix->level ? radix->level : sort_level_at(0)};
    bool has_memory = false;
    for (int large = LARGE; large >= LEAST_LARGE && !has_memory; large /= 2) {
        sorter.most = (int64_t)((few ? bytes : bucket * (size_t)large) / radix->width);
        has_memory = buffer_pool_takes(radix->workers->pool,
                                       (int64_t)bins_bytes(radix, sorter.level, (size_t)sorter.most) * threads);
    }
    if (!has_memory)
        return STATUS_FAILED;
    sorter.bins = heap_array((size_t)threads, sizeof *sorter.bins);
    enum status status = STATUS_OK;
    for (int i = 0; i < threads; i++)
        status = bins_init(&sorter.bins[i], radix, sorter.level, (size_t)sorter.most) ? status : STATUS_FAILED;
    if (status == STATUS_OK)
        status = sort_all(&sorter);
    if (status == STATUS_OK && workers_cancelled(radix->workers)) /* `emit` may have ended early */
        status = STATUS_CANCELLED;
    for (int i = 0; i < threads; i++)
        bins_free(&sorter.bins[i]);
    free(sorter.bins);
    return status;
}
