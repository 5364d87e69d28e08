/* A bucket's elements are partitioned into bins without counting them first: a bin has room for twice as many as it
 * gets on average, so that few overflow where keys are spread evenly. Only where one does are the bins of this bucket
 * counted. Bins are sorted by the networks or ranks of sort_level.h, which take no more words than a bin has room for.
 *
 * Measured, 10^7 rows, 2-core EPYC (Zen 4): with the networks of AVX-512 a sort of random i32 is 1.8 times as fast as
 * with ranks, of i64 1.3, of f64 1.6. Tried: words of 16 bits in bins whose keys differ in these alone (1.1); counting
 * the bins at once after some overflowed (1.0). */
#include "engine/sorting/sort_bins.h"

#include "base/buffer_pool.h"
#include "engine/sorting/sort_element.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum {
    LINE = 64,
    FILLED_PERCENT = 44, /* of a bin's room, on average: so few bins are more than half full that most take the time of
                            sorting half the room */
    LEAST_BINS =
        64, /* of a bin that is partitioned again, so that keys which are skewed on every scale need few rounds */
    MOST_BINS = 256
};

/* Inlined where the width is a constant: one loop for each width. */
#define SPECIALISED static inline __attribute__((always_inline))

static int mean_of(const struct bins *bins)
{
    return bins->room * FILLED_PERCENT / 100;
}

/* Bins begin at different places within a page: they would share few lines of the first-level cache otherwise. */
static size_t stride_of(const struct bins *bins, size_t width)
{
    return (size_t)bins->room + LINE / width;
}

static size_t rounded(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Bins of `most` elements, without memory; `sizes` are the bytes of the two spaces, and of what is sorted. */
static struct bins bins_of(const struct radix *radix, const struct sort_level *level, size_t most, size_t *sizes)
{
    struct bins bins = {.radix = radix, .level = level};
    bins.bare = radix->width < sizeof(struct radix_pair) && radix->shift == 0;
    bins.room = bins.bare && radix->width == 4 ? level->room_32 : level->room_64;
    const size_t count = most / (size_t)mean_of(&bins) + 1, width = radix->width;
    const size_t rooms = rounded((count * stride_of(&bins, width) + PIECE) * width), arrays = rounded(most * width);
    sizes[0] = rooms > arrays ? rooms : arrays;
    sizes[1] = arrays;
    sizes[2] = arrays + rounded((size_t)bins.room * width);
    return bins;
}

size_t bins_bytes(const struct radix *radix, const struct sort_level *level, size_t most)
{
    size_t sizes[3];
    bins_of(radix, level, most, sizes);
    return sizes[0] + sizes[1] + sizes[2];
}

bool bins_init(struct bins *bins, const struct radix *radix, const struct sort_level *level, size_t most)
{
    size_t sizes[3];
    *bins = bins_of(radix, level, most, sizes);
    const size_t first = sizes[0], arrays = sizes[1], count = most / (size_t)mean_of(bins) + 1;
    bins->memory = buffer_pool_alloc(radix->workers->pool, first + arrays + sizes[2], &bins->memory_bytes);
    bins->spaces[0] = bins->memory;
    bins->spaces[1] = bins->memory + first;
    bins->sorted = bins->memory + first + arrays;
    bins->counts = heap_array(count + 1, sizeof *bins->counts);
    return bins->memory;
}

void bins_free(struct bins *bins)
{
    if (!bins->radix)
        return;
    buffer_pool_release(bins->radix->workers->pool, bins->memory, bins->memory_bytes);
    free(bins->counts);
}

/* ---- partitioning into bins ---- */

/* Appends elements to bins; returns the numbers of elements in these bins, all together by `or`. Prefetches the
 * elements `after` these meanwhile, a line at a time: many at once would be waited for. */
SPECIALISED uint32_t append(const void *elements, const uint32_t *numbers, int count, size_t stride, uint32_t *counts,
                            void *to, size_t width, const char *after)
{
    uint32_t any = 0;
    for (int i = 0; i < count; after += LINE) {
        const int end = count - i < LINE / (int)width ? count : i + LINE / (int)width;
        __builtin_prefetch(after);
        for (; i < end; i++) {
            const size_t bin = numbers[i];
            const uint32_t at = counts[bin];
            sort_element_copy(to, bin * stride + at, elements, (size_t)i, width);
            counts[bin] = at + 1;
            any |= at + 1;
        }
    }
    return any;
}

/* Partitions into bins of a fixed room; false: one was filled. */
static bool partition_into_rooms(struct bins *bins, struct bucket_reader reader, const struct sort_positions *by,
                                 size_t bin_count)
{
    const size_t width = bins->radix->width, stride = stride_of(bins, width);
    uint32_t *counts = bins->counts;
    char *to = bins->spaces[0];
    uint32_t numbers[PIECE];
    int count;
    memset(counts, 0, bin_count * sizeof *counts);
    for (const void *piece; (piece = bucket_reader_next(&reader, &count));) {
        bins->level->divide(by, (uint32_t)bin_count, piece, width, count, numbers);
        const uint32_t any = width == 4   ? append(piece, numbers, count, stride, counts, to, 4, reader.after)
                             : width == 8 ? append(piece, numbers, count, stride, counts, to, 8, reader.after)
                                          : append(piece, numbers, count, stride, counts, to, 16, reader.after);
        if (any >= (uint32_t)bins->room) /* a power of two; PIECE elements more are harmless */
            return false;
    }
    return true;
}

SPECIALISED void move(const void *elements, const uint32_t *numbers, int count, uint32_t *next, void *to, size_t width)
{
    for (int i = 0; i < count; i++)
        sort_element_copy(to, next[numbers[i]]++, elements, (size_t)i, width);
}

/* Partitions into bins that follow each other; ends[i] is set to the end of bin i. */
static void partition_counted(const struct bins *bins, const struct bucket_reader *all, const struct sort_positions *by,
                              size_t bin_count, uint32_t *ends, char *to)
{
    const size_t width = bins->radix->width;
    uint32_t numbers[PIECE];
    int count;
    memset(ends, 0, bin_count * sizeof *ends);
    struct bucket_reader reader = *all;
    for (const void *piece; (piece = bucket_reader_next(&reader, &count));) {
        bins->level->divide(by, (uint32_t)bin_count, piece, width, count, numbers);
        for (int i = 0; i < count; i++)
            ends[numbers[i]]++;
    }
    uint32_t place = 0;
    for (size_t bin = 0; bin < bin_count; bin++) {
        const uint32_t here = ends[bin];
        ends[bin] = place;
        place += here;
    }
    reader = *all;
    for (const void *piece; (piece = bucket_reader_next(&reader, &count));) {
        bins->level->divide(by, (uint32_t)bin_count, piece, width, count, numbers);
        if (width == 4)
            move(piece, numbers, count, ends, to, 4);
        else if (width == 8)
            move(piece, numbers, count, ends, to, 8);
        else
            move(piece, numbers, count, ends, to, 16);
    }
}

/* ---- sorting ---- */

/* False: the keys differ in too many bits. */
static bool sort_bin(const struct bins *bins, const void *elements, int count, void *to)
{
    if (!bins->bare)
        return bins->level->sort_elements(
            &(struct sort_key_place){bins->radix->shift, UINT64_MAX >> (64 - bins->radix->bits)}, elements,
            bins->radix->width, count, to);
    if (bins->radix->width == 4)
        bins->level->sort_32(elements, count, to);
    else
        bins->level->sort_64(elements, count, to);
    return true;
}

static void sort_array(struct bins *bins, char *elements, size_t count, char *other, char *to);

/* Sorts bins that follow each other. */
static void sort_arrays(struct bins *bins, char *elements, size_t bin_count, const uint32_t *ends, char *other,
                        char *to)
{
    const size_t width = bins->radix->width;
    for (size_t bin = 0; bin < bin_count; bin++) {
        const size_t begin = bin > 0 ? ends[bin - 1] : 0, at = begin * width;
        if (ends[bin] > begin)
            sort_array(bins, elements + at, ends[bin] - begin, other + at, to + at);
    }
}

/* Sorts elements, overwriting them; `other` has the same size. */
static void sort_array(struct bins *bins, char *elements, size_t count, char *other, char *to)
{
    const size_t width = bins->radix->width;
    if (count <= (size_t)bins->room && sort_bin(bins, elements, (int)count, to))
        return;
    struct sort_positions by = sort_positions_between(bins->radix, 0, 0);
    uint64_t least = UINT64_MAX, most = 0;
    bins->level->bounds(&by.key, elements, width, (int)count, &least, &most);
    if (least == most) {
        memcpy(to, elements, count * width);
        return;
    }
    by = sort_positions_between(bins->radix, least, most);
    const size_t wanted = count / (size_t)mean_of(bins);
    const size_t bin_count = wanted < LEAST_BINS ? LEAST_BINS : wanted < MOST_BINS ? wanted : MOST_BINS;
    uint32_t ends[MOST_BINS];
    const struct bucket_reader reader = read_array(elements, count, width);
    partition_counted(bins, &reader, &by, bin_count, ends, other);
    sort_arrays(bins, other, bin_count, ends, elements, to);
}

static void sort_rooms(struct bins *bins, size_t bin_count)
{
    const size_t width = bins->radix->width, stride = stride_of(bins, width) * width;
    char *to = bins->sorted;
    for (size_t bin = 0; bin < bin_count; bin++) {
        const size_t count = bins->counts[bin];
        if (count > 0)
            sort_array(bins, bins->spaces[0] + bin * stride, count, bins->spaces[1], to);
        to += count * width;
    }
}

static void gather(struct bucket_reader reader, char *to, size_t width)
{
    int count;
    for (const void *piece; (piece = bucket_reader_next(&reader, &count)); to += (size_t)count * width)
        memcpy(to, piece, (size_t)count * width);
}

void *bins_sort(struct bins *bins, const struct bucket_reader *reader, size_t count, const struct sort_positions *by)
{
    if (!by) {
        gather(*reader, bins->sorted, bins->radix->width);
        return bins->sorted;
    }
    const size_t wanted = count / (size_t)mean_of(bins) + 1;
    const size_t bin_count = wanted < SORT_STRETCHES ? wanted : SORT_STRETCHES;
    if (partition_into_rooms(bins, *reader, by, bin_count)) {
        sort_rooms(bins, bin_count);
    } else {
        partition_counted(bins, reader, by, bin_count, bins->counts, bins->spaces[0]);
        sort_arrays(bins, bins->spaces[0], bin_count, bins->counts, bins->spaces[1], bins->sorted);
    }
    return bins->sorted;
}
