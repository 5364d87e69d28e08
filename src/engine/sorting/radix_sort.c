#include "engine/sorting/radix_sort.h"

#include "engine/sorting/radix_splitters.h"
#include "engine/storage/buffer_pool.h"

#include "base/heap.h"
#include "base/memory_size.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    PART_ROWS = 1 << 15,
    LEAF_BYTES = 256 << 10, /* a bucket of this size and its scratch space fit the L2 cache */
    BUCKET_BYTES = 8 << 10, /* least bytes of a bucket, on average */
    PARTITION_BITS = 9,     /* the write positions of more buckets do not stay in the L1 cache */
    LARGE = 8,              /* a bucket this many times the average size is partitioned again, by all threads */
    FEW = 24,               /* up to this many elements, insertion sort is faster */
    LEAST_DIGIT = 6,
    MOST_DIGIT = 12, /* the counts of a wider digit exceed the L1 cache */
    LEAF_PASSES = 2
};

/* Inlined where the width is a constant: one loop for each width. */
#define SPECIALISED static inline __attribute__((always_inline))

SPECIALISED uint64_t key_at(const void *elements, size_t i, size_t width)
{
    if (width == 4)
        return ((const uint32_t *)elements)[i];
    if (width == 8)
        return ((const uint64_t *)elements)[i];
    return ((const struct radix_pair *)elements)[i].key;
}

SPECIALISED void copy_element(void *to, size_t i, const void *from, size_t j, size_t width)
{
    if (width == 4)
        ((uint32_t *)to)[i] = ((const uint32_t *)from)[j];
    else if (width == 8)
        ((uint64_t *)to)[i] = ((const uint64_t *)from)[j];
    else
        ((struct radix_pair *)to)[i] = ((const struct radix_pair *)from)[j];
}

static uint64_t mask_of(int bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

/* ---- one bucket, by one thread ---- */

/* The digits by which a bucket is sorted. */
struct digits {
    int shift, width, passes;
    uint64_t mask;
};

typedef uint32_t counts[1 << MOST_DIGIT];

SPECIALISED void insertion_sort(void *elements, size_t count, uint64_t mask, size_t width)
{
    for (size_t i = 1; i < count; i++) {
        struct radix_pair moving; /* holds an element of any width */
        copy_element(&moving, 0, elements, i, width);
        uint64_t key = key_at(&moving, 0, width) & mask;
        size_t at = i;
        for (; at > 0 && (key_at(elements, at - 1, width) & mask) > key; at--)
            copy_element(elements, at, elements, at - 1, width);
        copy_element(elements, at, &moving, 0, width);
    }
}

/* An LSD radix sort: counts all digits in one pass, then moves elements between the two arrays. Returns the one that
 * has the result. */
SPECIALISED void *sort_digits(void *from, void *to, size_t count, const struct digits *digits, counts *counted,
                              size_t width)
{
    size_t bins = (size_t)1 << digits->width;
    for (int pass = 0; pass < digits->passes; pass++)
        memset(counted[pass], 0, bins * sizeof counted[pass][0]);
    int shift = digits->shift & 63, digit = digits->width;
    uint64_t mask = digits->mask;
    if (digits->passes == 2) {
        for (size_t i = 0; i < count; i++) {
            uint64_t key = key_at(from, i, width) >> shift;
            counted[0][key & mask]++;
            counted[1][key >> digit & mask]++;
        }
    } else {
        for (size_t i = 0; i < count; i++)
            counted[0][key_at(from, i, width) >> shift & mask]++;
    }
    for (int pass = 0; pass < digits->passes; pass++, shift += digit) {
        uint32_t *next = counted[pass];
        if (next[key_at(from, 0, width) >> shift & mask] == count)
            continue;
        uint32_t place = 0;
        for (size_t bin = 0; bin < bins; bin++) {
            uint32_t here = next[bin];
            next[bin] = place;
            place += here;
        }
        for (size_t i = 0; i < count; i++)
            copy_element(to, next[key_at(from, i, width) >> shift & mask]++, from, i, width);
        void *other = from;
        from = to;
        to = other;
    }
    return from;
}

/* Sorts each run of elements that are equal in the bits of `top` by the bits of `rest`; false if a run is too long for
 * an insertion sort. */
SPECIALISED bool sort_runs(void *elements, size_t count, uint64_t top, uint64_t rest, size_t width)
{
    size_t begin = 0;
    for (size_t i = 1; i <= count; i++) {
        if (i < count && ((key_at(elements, i, width) ^ key_at(elements, begin, width)) & top) == 0)
            continue;
        if (i - begin > FEW)
            return false;
        if (i - begin > 1)
            insertion_sort((char *)elements + begin * width, i - begin, rest, width);
        begin = i;
    }
    return true;
}

/* Half as many counts as elements, so that neither dominates. */
static int digit_for(size_t count)
{
    int digit = 62 - __builtin_clzll(count);
    return digit < LEAST_DIGIT ? LEAST_DIGIT : digit > MOST_DIGIT ? MOST_DIGIT : digit;
}

static struct digits digits_of(int shift, int bits, int digit)
{
    int passes = bits <= digit ? 1 : LEAF_PASSES;
    /* Two digits of half the bits, rounded up, may include one more bit: harmless, as it is equal in the bucket or is
     * sorted by again. */
    int even = (bits + passes - 1) / passes;
    return (struct digits){.shift = shift, .width = even, .passes = passes, .mask = mask_of(even)};
}

/* Sorts elements that differ only in these bits; returns the array that has the result. The topmost of many bits
 * usually suffice to distinguish elements. */
SPECIALISED void *sort_bucket(void *elements, void *scratch, size_t count, int shift, int bits, counts *counted,
                              size_t width)
{
    uint64_t all = mask_of(bits) << (shift & 63);
    if (count <= FEW) {
        insertion_sort(elements, count, all, width);
        return elements;
    }
    int digit = digit_for(count);
    int taken = bits < LEAF_PASSES * digit ? bits : LEAF_PASSES * digit;
    struct digits digits = digits_of(shift + bits - taken, taken, digit);
    void *sorted = sort_digits(elements, scratch, count, &digits, counted, width);
    if (taken == bits || sort_runs(sorted, count, mask_of(taken) << digits.shift, all, width))
        return sorted;
    void *other = sorted == elements ? scratch : elements;
    for (int done = 0; done < bits; done += taken) {
        taken = bits - done < LEAF_PASSES * digit ? bits - done : LEAF_PASSES * digit;
        digits = digits_of(shift + done, taken, digit);
        void *next = sort_digits(sorted, other, count, &digits, counted, width);
        other = next == sorted ? other : sorted;
        sorted = next;
    }
    return sorted;
}

/* ---- all elements, by all threads ---- */

/* A thread's own memory. */
struct own {
    counts *counted; /* LEAF_PASSES of them */
    void *scratch;   /* for the largest bucket that is sorted by one thread */
    size_t scratch_bytes;
};

struct sorter {
    const struct radix *radix;
    struct own *own;   /* of each thread */
    size_t leaf_bytes; /* the largest bucket that is sorted by one thread */
    void *buffers[2];  /* for partitioned elements, used alternately */
    size_t buffer_bytes[2];
};

/* An MSD pass: elements are partitioned into buckets by a digit. */
struct partition {
    const struct sorter *sorter;
    const void *from; /* elements, or NULL: they are read by radix->read */
    char *to;
    int64_t first; /* the row of from[0] and to[0] */
    struct parts parts;
    int shift, bits;                   /* the digit; */
    int rest;                          /* bits below it that remain to be sorted by */
    const struct radix_splitters *map; /* instead of the digit, or NULL; a bucket's number has `bits` bits */
    int64_t *next; /* of each part and bucket: the number of elements, then where the next one goes */
    int64_t *ends; /* of each bucket */
};

/* The elements from `row` on: in place, or read into the block. */
SPECIALISED const void *partition_elements(const struct partition *partition, int64_t row, int count,
                                           struct radix_pair *block, size_t width)
{
    const struct radix *radix = partition->sorter->radix;
    if (partition->from)
        return (const char *)partition->from + (size_t)row * width;
    radix->read(radix->context, row, count, block);
    return block;
}

SPECIALISED size_t bucket_of(const struct partition *partition, uint64_t key, bool mapped)
{
    if (mapped)
        return partition->map->bucket[key >> partition->map->shift & partition->map->mask];
    return key >> partition->shift & mask_of(partition->bits);
}

SPECIALISED void count_part(struct partition *partition, int64_t part, size_t width, bool mapped)
{
    const struct workers *workers = partition->sorter->radix->workers;
    int64_t *counted = partition->next + (part << partition->bits);
    const struct partition by = *partition;
    int64_t end = part_begin(&partition->parts, part + 1);
    struct radix_pair block[RADIX_BLOCK];
    for (int64_t row = part_begin(&partition->parts, part); row < end && !workers_cancelled(workers);
         row += RADIX_BLOCK) {
        int count = end - row < RADIX_BLOCK ? (int)(end - row) : RADIX_BLOCK;
        const void *elements = partition_elements(partition, row, count, block, width);
        for (int i = 0; i < count; i++)
            counted[bucket_of(&by, key_at(elements, (size_t)i, width), mapped)]++;
    }
}

SPECIALISED void move_part(struct partition *partition, int64_t part, size_t width, bool mapped)
{
    const struct workers *workers = partition->sorter->radix->workers;
    int64_t *next = partition->next + (part << partition->bits);
    const struct partition by = *partition;
    int64_t end = part_begin(&partition->parts, part + 1);
    struct radix_pair block[RADIX_BLOCK];
    char *to = partition->to;
    for (int64_t row = part_begin(&partition->parts, part); row < end && !workers_cancelled(workers);
         row += RADIX_BLOCK) {
        int count = end - row < RADIX_BLOCK ? (int)(end - row) : RADIX_BLOCK;
        const void *elements = partition_elements(partition, row, count, block, width);
        for (size_t i = 0; i < (size_t)count; i++)
            copy_element(to, (size_t)next[bucket_of(&by, key_at(elements, i, width), mapped)]++, elements, i, width);
    }
}

static void count_part_of_width(void *context, int member, int64_t part)
{
    struct partition *partition = context;
    const bool mapped = partition->map != NULL;
    (void)member;
    switch (partition->sorter->radix->width) {
    case 4:
        mapped ? count_part(partition, part, 4, true) : count_part(partition, part, 4, false);
        break;
    case 8:
        mapped ? count_part(partition, part, 8, true) : count_part(partition, part, 8, false);
        break;
    default:
        mapped ? count_part(partition, part, 16, true) : count_part(partition, part, 16, false);
    }
}

static void move_part_of_width(void *context, int member, int64_t part)
{
    struct partition *partition = context;
    const bool mapped = partition->map != NULL;
    (void)member;
    switch (partition->sorter->radix->width) {
    case 4:
        mapped ? move_part(partition, part, 4, true) : move_part(partition, part, 4, false);
        break;
    case 8:
        mapped ? move_part(partition, part, 8, true) : move_part(partition, part, 8, false);
        break;
    default:
        mapped ? move_part(partition, part, 16, true) : move_part(partition, part, 16, false);
    }
}

/* Turns counts into positions: bucket by bucket, in each bucket the parts in order. */
static void place_buckets(struct partition *partition)
{
    int64_t place = 0;
    for (int64_t bucket = 0; bucket < (int64_t)1 << partition->bits; bucket++) {
        for (int64_t part = 0; part < partition->parts.count; part++) {
            int64_t *next = &partition->next[(part << partition->bits) + bucket];
            int64_t here = *next;
            *next = place;
            place += here;
        }
        partition->ends[bucket] = place;
    }
}

static int partition_bits(int64_t count, size_t width, int bits)
{
    int wanted = 1;
    while (wanted < PARTITION_BITS && (count * (int64_t)width) >> wanted > BUCKET_BYTES)
        wanted++;
    return wanted < bits ? wanted : bits;
}

static void *sort_bucket_of_width(const struct sorter *sorter, int member, void *elements, size_t count, int bits)
{
    struct own *own = &sorter->own[member];
    int shift = sorter->radix->shift;
    switch (sorter->radix->width) {
    case 4:
        return sort_bucket(elements, own->scratch, count, shift, bits, own->counted, 4);
    case 8:
        return sort_bucket(elements, own->scratch, count, shift, bits, own->counted, 8);
    default:
        return sort_bucket(elements, own->scratch, count, shift, bits, own->counted, 16);
    }
}

/* How many bits of a bucket's elements remain to be sorted by. */
static int bits_left(const struct partition *partition, int64_t bucket)
{
    return partition->map ? partition->map->left[bucket] : partition->rest;
}

static int64_t bucket_begin(const struct partition *partition, int64_t bucket)
{
    return bucket > 0 ? partition->ends[bucket - 1] : 0;
}

static void finish_bucket(const struct sorter *sorter, int member, int64_t row, void *elements, int64_t count, int bits)
{
    const struct radix *radix = sorter->radix;
    const void *sorted = elements;
    if (bits > 0 && count > 1)
        sorted = sort_bucket_of_width(sorter, member, elements, (size_t)count, bits);
    radix->emit(radix->context, member, row, sorted, count);
}

/* Whether a bucket has to be partitioned again. */
static bool too_large(const struct sorter *sorter, int64_t count, int bits)
{
    return bits > 0 && (size_t)count * sorter->radix->width > sorter->leaf_bytes;
}

static void small_bucket(void *context, int member, int64_t bucket)
{
    const struct partition *partition = context;
    const struct radix *radix = partition->sorter->radix;
    int64_t begin = bucket_begin(partition, bucket), count = partition->ends[bucket] - begin;
    int bits = bits_left(partition, bucket);
    if (count > 0 && !too_large(partition->sorter, count, bits))
        finish_bucket(partition->sorter, member, partition->first + begin, partition->to + (size_t)begin * radix->width,
                      count, bits);
}

/* How many of the lowest bits include all in which the keys differ. */
static int differing_bits(const struct radix *radix, const void *elements, int64_t count, int bits)
{
    uint64_t differ = 0;
    uint64_t first = key_at(elements, 0, radix->width);
    for (int64_t i = 1; i < count; i++)
        differ |= key_at(elements, (size_t)i, radix->width) ^ first;
    differ = differ >> (radix->shift & 63) & mask_of(bits);
    return differ ? 64 - __builtin_clzll(differ) : 0;
}

static enum status sort_rows(struct sorter *sorter, void *from, int64_t first, int64_t count, int bits, int depth);

static enum status sort_large(struct sorter *sorter, const struct partition *partition, int depth)
{
    const struct radix *radix = sorter->radix;
    for (int64_t bucket = 0; bucket < (int64_t)1 << partition->bits; bucket++) {
        int64_t begin = bucket_begin(partition, bucket), count = partition->ends[bucket] - begin;
        int bits = bits_left(partition, bucket);
        if (!too_large(sorter, count, bits))
            continue;
        void *elements = partition->to + (size_t)begin * radix->width;
        enum status status = sort_rows(sorter, elements, partition->first + begin, count,
                                       differing_bits(radix, elements, count, bits), depth + 1);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status run_partition(struct sorter *sorter, struct partition *partition, int depth)
{
    const struct workers *workers = sorter->radix->workers;
    if (!workers_run(workers, partition->parts.count, count_part_of_width, partition))
        return STATUS_CANCELLED;
    place_buckets(partition);
    if (!workers_run(workers, partition->parts.count, move_part_of_width, partition))
        return STATUS_CANCELLED;
    if (!workers_run(workers, (int64_t)1 << partition->bits, small_bucket, partition))
        return STATUS_CANCELLED;
    return sort_large(sorter, partition, depth);
}

/* Sorts and emits the elements of rows first .. first+count-1: those at `from` or, if that is NULL, read. */
static enum status sort_rows(struct sorter *sorter, void *from, int64_t first, int64_t count, int bits, int depth)
{
    const struct radix *radix = sorter->radix;
    if (from && !too_large(sorter, count, bits)) {
        finish_bucket(sorter, 0, first, from, count, bits);
        return STATUS_OK;
    }
    void **space = &sorter->buffers[depth & 1];
    const size_t bytes = (size_t)radix->rows * radix->width;
    if (!*space && (!system_memory_has((int64_t)bytes) ||
                    !(*space = buffer_pool_alloc(radix->workers->pool, bytes, &sorter->buffer_bytes[depth & 1]))))
        return STATUS_FAILED;
    int digit = partition_bits(count, radix->width, bits);
    struct radix_splitters *map = from ? NULL : radix_splitters_new(radix, digit);
    digit = map ? map->bits : digit;
    struct partition partition = {
        .sorter = sorter,
        .from = from,
        .to = (char *)*space + (size_t)first * radix->width,
        .first = first,
        .parts = partition_rows(radix->workers, count, PART_ROWS),
        .shift = radix->shift + bits - digit,
        .bits = digit,
        .rest = bits - digit,
        .map = map,
    };
    partition.next = heap_array((size_t)partition.parts.count << digit, sizeof *partition.next);
    partition.ends = heap_array((size_t)1 << digit, sizeof *partition.ends);
    enum status status = run_partition(sorter, &partition, depth);
    radix_splitters_free(map);
    free(partition.next);
    free(partition.ends);
    return status;
}

/* Few elements are one bucket. */
static enum status sort_few(const struct sorter *sorter)
{
    const struct radix *radix = sorter->radix;
    char *elements = heap_array((size_t)radix->rows, radix->width);
    for (int64_t row = 0; row < radix->rows; row += RADIX_BLOCK) {
        int count = radix->rows - row < RADIX_BLOCK ? (int)(radix->rows - row) : RADIX_BLOCK;
        radix->read(radix->context, row, count, elements + (size_t)row * radix->width);
    }
    finish_bucket(sorter, 0, 0, elements, radix->rows, radix->bits);
    free(elements);
    return STATUS_OK;
}

static bool allocate(struct sorter *sorter)
{
    const struct radix *radix = sorter->radix;
    size_t most = ((size_t)radix->rows * radix->width >> PARTITION_BITS) * LARGE;
    sorter->leaf_bytes = most > LEAF_BYTES ? most : LEAF_BYTES;
    sorter->own = heap_array((size_t)radix->workers->threads, sizeof *sorter->own);
    bool ready = true;
    for (int i = 0; i < radix->workers->threads; i++) {
        struct own *own = &sorter->own[i];
        own->counted = heap_array(LEAF_PASSES, sizeof *own->counted);
        own->scratch = buffer_pool_alloc(radix->workers->pool, sorter->leaf_bytes, &own->scratch_bytes);
        ready = ready && own->scratch;
    }
    return ready;
}

static void release(struct sorter *sorter)
{
    const struct radix *radix = sorter->radix;
    for (int i = 0; i < radix->workers->threads; i++) {
        free(sorter->own[i].counted);
        buffer_pool_release(radix->workers->pool, sorter->own[i].scratch, sorter->own[i].scratch_bytes);
    }
    free(sorter->own);
    for (int i = 0; i < 2; i++) {
        if (sorter->buffers[i] != radix->space)
            buffer_pool_release(radix->workers->pool, sorter->buffers[i], sorter->buffer_bytes[i]);
    }
}

enum status radix_sort(const struct radix *radix)
{
    if (radix->rows == 0)
        return STATUS_OK;
    struct sorter sorter = {.radix = radix, .buffers = {radix->space, NULL}};
    enum status status = STATUS_FAILED;
    if (allocate(&sorter)) {
        const bool few = (size_t)radix->rows * radix->width <= LEAF_BYTES;
        status = few ? sort_few(&sorter) : sort_rows(&sorter, NULL, 0, radix->rows, radix->bits, 0);
    }
    release(&sorter);
    return status;
}
