#include "engine/sorting/radix_splitters.h"

#include "base/heap.h"

#include <stdlib.h>

enum {
    RUN = 32, /* consecutive rows, */
    RUNS = 256,
    SAMPLE = RUN * RUNS,
    LEAST_ROWS = 1 << 18, /* fewer rows are not sampled */
    FINEST = 18,          /* most bits that splitters distinguish */
    UNEVEN = 4            /* a bucket with this many times the average is too large */
};

/* 2^level keys, aligned to their number: the bits above are equal. */
struct range {
    uint32_t begin;
    int level;
};

struct ranges {
    int count;
    struct range at[1 << RADIX_SPLITTER_BITS];
};

/* Reads the topmost bits of a sample of keys. */
static void sample_keys(const struct radix *radix, int bits, uint32_t *keys)
{
    const int shift = radix->shift + radix->bits - bits;
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (int run = 0; run < RUNS; run++) {
        struct radix_pair block[RUN];
        radix->read(radix->context, (radix->rows - RUN) / (RUNS - 1) * run, RUN, block);
        for (int i = 0; i < RUN; i++) {
            uint64_t key = radix->width == 4   ? ((const uint32_t *)(const void *)block)[i]
                           : radix->width == 8 ? ((const uint64_t *)(const void *)block)[i]
                                               : block[i].key;
            *keys++ = (uint32_t)(key >> shift & mask);
        }
    }
}

/* Whether the topmost `digit` bits partition the sample evenly. */
static bool digit_is_even(const uint32_t *keys, int bits, int digit)
{
    uint32_t *counts = heap_array((size_t)1 << digit, sizeof *counts);
    bool even = true;
    const uint32_t most = UNEVEN * SAMPLE >> digit;
    for (int i = 0; i < SAMPLE; i++)
        even = ++counts[keys[i] >> (bits - digit)] <= most && even;
    free(counts);
    return even;
}

/* Halves ranges with more than `most` of the sample as long as there are any and the number of buckets allows. `below`
 * counts the sample below each key. */
static void halve(struct ranges *ranges, const uint16_t *below, int most)
{
    bool more = true;
    while (more) {
        const struct ranges old = *ranges;
        more = false;
        ranges->count = 0;
        for (int i = 0; i < old.count; i++) {
            const struct range range = old.at[i];
            const uint32_t size = UINT32_C(1) << range.level;
            const bool room = ranges->count + (old.count - i) < 1 << RADIX_SPLITTER_BITS;
            if (below[range.begin + size] - below[range.begin] <= most || range.level == 0 || !room) {
                ranges->at[ranges->count++] = range;
                continue;
            }
            ranges->at[ranges->count++] = (struct range){range.begin, range.level - 1};
            ranges->at[ranges->count++] = (struct range){range.begin + size / 2, range.level - 1};
            more = true;
        }
    }
}

static void fill(struct radix_splitters *map, const struct ranges *ranges, int bits_below)
{
    for (int i = 0; i < ranges->count; i++) {
        const struct range range = ranges->at[i];
        for (uint32_t k = 0; k < UINT32_C(1) << range.level; k++)
            map->bucket[range.begin + k] = (uint16_t)i;
        map->left[i] = (uint8_t)(bits_below + range.level);
    }
    while (1 << map->bits < ranges->count)
        map->bits++;
}

struct radix_splitters *radix_splitters_new(const struct radix *radix, int digit)
{
    const int bits = radix->bits < FINEST ? radix->bits : FINEST;
    if (radix->rows < LEAST_ROWS || digit >= bits)
        return NULL;
    uint32_t *keys = heap_array(SAMPLE, sizeof *keys);
    sample_keys(radix, bits, keys);
    struct radix_splitters *map = NULL;
    if (!digit_is_even(keys, bits, digit)) {
        uint16_t *below = heap_array(((size_t)1 << bits) + 1, sizeof *below);
        struct ranges ranges = {.count = 1, .at = {{0, bits}}};
        for (int i = 0; i < SAMPLE; i++)
            below[keys[i] + 1]++;
        for (uint32_t k = 0; k < UINT32_C(1) << bits; k++)
            below[k + 1] = (uint16_t)(below[k + 1] + below[k]);
        halve(&ranges, below, SAMPLE >> (digit - 1));
        map = heap_array(1, sizeof *map);
        map->shift = radix->shift + radix->bits - bits;
        map->mask = (UINT64_C(1) << bits) - 1;
        map->bucket = heap_array((size_t)1 << bits, sizeof *map->bucket);
        fill(map, &ranges, radix->bits - bits);
        free(below);
    }
    free(keys);
    return map;
}

void radix_splitters_free(struct radix_splitters *map)
{
    if (map)
        free(map->bucket);
    free(map);
}
