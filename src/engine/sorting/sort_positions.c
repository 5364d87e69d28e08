#include "engine/sorting/sort_positions.h"

#include "engine/sorting/sort_element.h"

#include "base/hash.h"
#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUN = 8, /* consecutive rows of the sample, */
    MOST_RUNS = 1024,
    RUN_SHARE = 128,     /* and as many rows for each run at least */
    LEAST_SAMPLE = 1024, /* a smaller one says nothing */
    UNEVEN = 3,          /* a bucket with this many times the average is too large */
    FEW = 48             /* rows of the sample: where there are no more, the distribution is taken as linear */
};

static uint64_t key_of(const struct sort_positions *by, const void *elements, int64_t i, size_t width)
{
    return sort_element_word(elements, (size_t)i, width) >> by->key.shift & by->key.mask;
}

/* Reads keys of runs of rows, one at a random place in each stretch of the rows. */
static void read_sample(const struct sort_positions *by, const struct radix *radix, const void *from, int64_t rows,
                        int runs, uint64_t *keys)
{
    const int64_t apart = rows / runs;
    for (int run = 0; run < runs; run++) {
        struct radix_pair block[RUN];
        const int64_t row = apart * run + (int64_t)(scattered((uint64_t)run) % (uint64_t)(apart - RUN + 1));
        const void *elements = block;
        if (from)
            elements = (const char *)from + (size_t)row * radix->width;
        else
            radix->read(radix->context, row, RUN, block);
        for (int i = 0; i < RUN; i++)
            keys[run * RUN + i] = key_of(by, elements, i, radix->width);
    }
}

static bool linear_is_even(const struct sort_positions *by, const uint64_t *keys, int count, int bits)
{
    uint32_t *counts = heap_array((size_t)1 << bits, sizeof *counts);
    const uint32_t most = (uint32_t)(UNEVEN * count) >> bits;
    bool even = true;
    for (int i = 0; i < count; i++)
        even = ++counts[(keys[i] - by->least) << by->up >> (64 - bits)] <= most + RUN && even;
    free(counts);
    return even;
}

struct sampled {
    uint32_t below[SEGMENTS + 1]; /* the rows of the sample before each segment */
    uint64_t *segments;
};

/* Sets segments begin .. end-1, which have the positions from .. to-1: halves them as long as the sample says enough.
 */
static void set_segments(struct sampled *sampled, int begin, int end, double from, double to)
{
    const double rows = sampled->below[end] - sampled->below[begin];
    if (end - begin == 1 || rows < FEW) {
        const double each = (to - from) / (end - begin);
        for (int i = begin; i < end; i++) {
            const uint64_t first = (uint64_t)(from + each * (i - begin));
            sampled->segments[i] = first | ((uint64_t)(from + each * (i + 1 - begin)) - first) << 32;
        }
        return;
    }
    const int middle = begin + (end - begin) / 2;
    const double first = sampled->below[middle] - sampled->below[begin];
    const double at = from + (to - from) * (first + 0.5) / (rows + 1); /* no half is empty */
    set_segments(sampled, begin, middle, from, at);
    set_segments(sampled, middle, end, at, to);
}

static int leading_zeros(uint64_t number)
{
    return number ? __builtin_clzll(number) : 64;
}

/* Keys beyond those of the sample have the positions of its least and greatest. */
static void set_distribution(struct sort_positions *by, const uint64_t *keys, int count)
{
    by->segments = heap_array(SEGMENTS, sizeof *by->segments);
    struct sampled *sampled = heap_array(1, sizeof *sampled);
    sampled->segments = by->segments;
    for (int i = 0; i < count; i++)
        sampled->below[((keys[i] - by->least) << by->up >> (64 - SEGMENT_BITS)) + 1]++;
    for (int i = 0; i < SEGMENTS; i++)
        sampled->below[i + 1] += sampled->below[i];
    set_segments(sampled, 0, SEGMENTS, 0, UINT32_MAX);
    free(sampled);
}

struct sort_positions sort_positions_between(const struct radix *radix, uint64_t least, uint64_t most)
{
    return (struct sort_positions){
        .key = {radix->shift, radix->bits > 0 ? UINT64_MAX >> (64 - radix->bits) : 0},
        .least = least,
        .most = most,
        .up = leading_zeros(most - least),
    };
}

void sort_positions_sample(struct sort_positions *by, const struct radix *radix, const void *from, int64_t rows,
                           int bits)
{
    const int runs = rows / RUN_SHARE < MOST_RUNS ? (int)(rows / RUN_SHARE) : MOST_RUNS, count = runs * RUN;
    if (count < LEAST_SAMPLE)
        return;
    uint64_t *keys = heap_array((size_t)count, sizeof *keys);
    read_sample(by, radix, from, rows, runs, keys);
    uint64_t least = UINT64_MAX, most = 0;
    for (int i = 0; i < count; i++) {
        least = keys[i] < least ? keys[i] : least;
        most = keys[i] > most ? keys[i] : most;
    }
    if (least < most && !linear_is_even(by, keys, count, bits)) {
        by->least = least;
        by->most = most;
        by->up = leading_zeros(most - least);
        set_distribution(by, keys, count);
    }
    free(keys);
}

void sort_positions_copy(struct sort_positions *to, const struct sort_positions *from)
{
    *to = *from;
    if (!from->segments)
        return;
    to->segments = heap_array(SEGMENTS, sizeof *to->segments);
    memcpy(to->segments, from->segments, SEGMENTS * sizeof *to->segments);
}

void sort_positions_free(struct sort_positions *by)
{
    free(by->segments);
}
