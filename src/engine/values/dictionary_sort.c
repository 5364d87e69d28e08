/* Each thread sorts whole ranges of strings: strings drawn as a sample, sorted, are the borders of ranges of about
 * equal size, whatever the strings have in common (sample sort; W. D. Frazer, A. C. McKellar, 1970). A range is sorted
 * by radix, from the highest byte, on eight bytes of each string at a time, its prefix, kept beside it. What all
 * strings begin with is passed over first. */
#include "engine/values/dictionary_sort.h"

#include "engine/values/text_bytes.h"

#include "base/heap.h"

#include <stdlib.h>

enum {
    FEW = 24,               /* sorted by insertion */
    PARALLEL_MIN = 1 << 15, /* strings */
    PIECE_MIN = 1 << 13,
    RANGES_PER_THREAD = 8,
    MOST_RANGES = 256, /* their numbers fit a byte */
    SAMPLES_PER_RANGE = 32,
};

/* The eight bytes after the first `depth`, at most all, the first one highest; then zeroes. */
static uint64_t prefix_at(const struct sort_entry *entry, size_t depth)
{
    return __builtin_bswap64(load_bytes(entry->at + depth, entry->length - depth));
}

/* The order of two strings that are equal before `depth`, where their prefixes were taken. */
static bool less(const struct sort_entry *a, const struct sort_entry *b, size_t depth)
{
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix;
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int order = shorter > depth + 8 ? memcmp(a->at + depth + 8, b->at + depth + 8, shorter - depth - 8) : 0;
    return order != 0 ? order < 0 : a->length < b->length;
}

static void insertion_sort(struct sort_entry *entries, size_t count, size_t depth)
{
    for (size_t i = 1; i < count; i++) {
        struct sort_entry entry = entries[i];
        size_t k = i;
        for (; k > 0 && less(&entry, &entries[k - 1], depth); k--)
            entries[k] = entries[k - 1];
        entries[k] = entry;
    }
}

/* Reads no strings. */
static void sort_by_prefix(struct sort_entry *entries, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct sort_entry entry = entries[i];
        size_t k = i;
        for (; k > 0 && entry.prefix < entries[k - 1].prefix; k--)
            entries[k] = entries[k - 1];
        entries[k] = entry;
    }
}

/* Of strings whose prefixes are equal, moves those that have ended to the front, shortest first; the others get their
 * next prefixes. Returns how many have ended: at most nine, since they differ. */
static size_t next_prefixes(struct sort_entry *entries, size_t count, size_t depth)
{
    size_t ended = 0;
    for (size_t i = 0; i < count; i++) {
        struct sort_entry entry = entries[i];
        if (entry.length <= depth + 8) {
            entries[i] = entries[ended];
            entries[ended++] = entry;
        } else {
            entries[i].prefix = prefix_at(&entry, depth + 8);
        }
    }
    insertion_sort(entries, ended, depth);
    return ended;
}

/* Scatters by the eight bits from the highest one that differs. `ends` receives the ends of the 256 parts. */
static void radix_pass(struct sort_entry *entries, struct sort_entry *scratch, size_t count, uint64_t differing,
                       size_t *ends)
{
    int shift = 56 - __builtin_clzll(differing);
    shift = shift > 0 ? shift : 0;
    memset(ends, 0, 256 * sizeof *ends);
    for (size_t i = 0; i < count; i++)
        ends[entries[i].prefix >> shift & 255]++;
    size_t begin = 0;
    for (size_t digit = 0; digit < 256; digit++) {
        const size_t size = ends[digit];
        ends[digit] = begin;
        begin += size;
    }
    for (size_t i = 0; i < count; i++)
        scratch[ends[entries[i].prefix >> shift & 255]++] = entries[i];
    memcpy(entries, scratch, count * sizeof *entries);
}

/* Reads the next bytes of strings with equal prefixes once, one after another, rather than in each comparison. */
static void sort_few(struct sort_entry *entries, size_t count, size_t depth)
{
    sort_by_prefix(entries, count);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && entries[end].prefix == entries[begin].prefix; end++)
            ;
        if (end - begin == 1)
            continue;
        const size_t ended = next_prefixes(entries + begin, end - begin, depth);
        insertion_sort(entries + begin + ended, end - begin - ended, depth + 8);
    }
}

/* `scratch` has room for as many. Recursion takes all parts of a pass but the largest, so it is never deep. */
static void sort_range(struct sort_entry *entries, struct sort_entry *scratch, size_t count, size_t depth)
{
    while (count > FEW) {
        uint64_t differing = 0;
        for (size_t i = 1; i < count; i++)
            differing |= entries[i].prefix ^ entries[0].prefix;
        if (differing == 0) {
            const size_t ended = next_prefixes(entries, count, depth);
            entries += ended;
            count -= ended;
            depth += 8;
            continue;
        }
        size_t ends[256], largest = 0, largest_begin = 0, largest_size = 0;
        radix_pass(entries, scratch, count, differing, ends);
        for (size_t digit = 0; digit < 256; digit++) {
            const size_t begin = digit > 0 ? ends[digit - 1] : 0;
            if (ends[digit] - begin > largest_size) {
                largest = digit;
                largest_begin = begin;
                largest_size = ends[digit] - begin;
            }
        }
        for (size_t digit = 0; digit < 256; digit++) {
            const size_t begin = digit > 0 ? ends[digit - 1] : 0;
            if (digit != largest && ends[digit] - begin > 1)
                sort_range(entries + begin, scratch, ends[digit] - begin, depth);
        }
        entries += largest_begin;
        count = largest_size;
    }
    sort_few(entries, count, depth);
}

/* Entries are cut into pieces, which threads take. */
struct sample_sort {
    struct sort_entry *entries, *scratch;
    size_t count;
    const struct workers *workers;
    struct parts pieces;

    size_t depth;               /* all strings are equal before */
    uint64_t first;             /* the first string's prefix */
    _Atomic uint64_t differing; /* bits that are not as there */
    _Atomic uint32_t shortest;

    size_t ranges;              /* a power of two */
    struct sort_entry *borders; /* ranges - 1, ascending: range k holds strings less than border k */
    uint8_t *range_of;          /* of each entry */
    size_t *places;             /* by piece and range: counts, then where the next one goes */
    size_t *begins;             /* of ranges; ranges + 1 */
};

static void load_prefixes(void *context, struct part part)
{
    struct sample_sort *sort = context;
    uint64_t differing = 0;
    uint32_t shortest = UINT32_MAX;
    const size_t end = (size_t)part.end;
    for (size_t i = (size_t)part.begin; i < end; i++) {
        struct sort_entry *entry = &sort->entries[i];
        entry->prefix = prefix_at(entry, sort->depth);
        differing |= entry->prefix ^ sort->first;
        shortest = entry->length < shortest ? entry->length : shortest;
    }
    atomic_fetch_or(&sort->differing, differing);
    uint32_t known = sort->shortest;
    while (shortest < known && !atomic_compare_exchange_weak(&sort->shortest, &known, shortest))
        ;
}

/* Sets the depth to the length of what all strings begin with, and the prefixes. False if cancelled. */
static bool pass_common(struct sample_sort *sort)
{
    size_t common;
    do {
        sort->first = prefix_at(&sort->entries[0], sort->depth);
        sort->differing = 0;
        sort->shortest = UINT32_MAX;
        if (!workers_run_parts(sort->workers, &sort->pieces, load_prefixes, sort))
            return false;
        common = sort->differing == 0 ? 8 : (size_t)__builtin_clzll(sort->differing) / 8;
        if (common > sort->shortest - sort->depth)
            common = sort->shortest - sort->depth;
        sort->depth += common;
    } while (common > 0);
    return true;
}

static void choose_borders(struct sample_sort *sort)
{
    size_t samples = sort->ranges * SAMPLES_PER_RANGE, step = sort->count / samples;
    struct sort_entry *sample = heap_array(2 * samples, sizeof *sample);
    for (size_t k = 0; k < samples; k++)
        sample[k] = sort->entries[k * step + step / 2];
    sort_range(sample, sample + samples, samples, sort->depth);
    for (size_t k = 1; k < sort->ranges; k++) {
        sort->borders[k - 1] = sample[k * SAMPLES_PER_RANGE];
        sort->borders[k - 1].prefix = prefix_at(&sort->borders[k - 1], sort->depth);
    }
    free(sample);
}

static void classify_piece(void *context, struct part part)
{
    struct sample_sort *sort = context;
    size_t *counts = sort->places + (size_t)part.number * sort->ranges;
    const size_t end = (size_t)part.end;
    for (size_t i = (size_t)part.begin; i < end; i++) {
        size_t range = 0; /* the number of borders that are not greater */
        for (size_t step = sort->ranges / 2; step > 0; step /= 2)
            range += less(&sort->entries[i], &sort->borders[range + step - 1], sort->depth) ? 0 : step;
        sort->range_of[i] = (uint8_t)range;
        counts[range]++;
    }
}

static void scatter_piece(void *context, struct part part)
{
    struct sample_sort *sort = context;
    size_t *places = sort->places + (size_t)part.number * sort->ranges;
    const size_t end = (size_t)part.end;
    for (size_t i = (size_t)part.begin; i < end; i++)
        sort->scratch[places[sort->range_of[i]]++] = sort->entries[i];
}

static void sort_one_range(void *context, int member, int64_t range)
{
    (void)member;
    struct sample_sort *sort = context;
    size_t begin = sort->begins[range], count = sort->begins[range + 1] - begin;
    sort_range(sort->scratch + begin, sort->entries + begin, count, sort->depth);
}

static void places_of_counts(struct sample_sort *sort)
{
    size_t place = 0;
    for (size_t range = 0; range < sort->ranges; range++) {
        sort->begins[range] = place;
        for (int64_t piece = 0; piece < sort->pieces.count; piece++) {
            size_t *at = &sort->places[(size_t)piece * sort->ranges + range], size = *at;
            *at = place;
            place += size;
        }
    }
    sort->begins[sort->ranges] = place;
}

/* Leaves the result in `scratch`. False if cancelled. */
static bool sort_ranges(struct sample_sort *sort)
{
    const size_t wanted = (size_t)sort->workers->threads * RANGES_PER_THREAD;
    sort->ranges = 2;
    while (sort->ranges < wanted && sort->ranges < MOST_RANGES)
        sort->ranges *= 2;
    sort->borders = heap_array(sort->ranges, sizeof *sort->borders);
    sort->range_of = heap_array(sort->count, sizeof *sort->range_of);
    sort->places = heap_array((size_t)sort->pieces.count * sort->ranges, sizeof *sort->places);
    sort->begins = heap_array(sort->ranges + 1, sizeof *sort->begins);
    choose_borders(sort);
    bool done = workers_run_parts(sort->workers, &sort->pieces, classify_piece, sort);
    if (done) {
        places_of_counts(sort);
        done = workers_run_parts(sort->workers, &sort->pieces, scatter_piece, sort) &&
               workers_run(sort->workers, (int64_t)sort->ranges, sort_one_range, sort);
    }
    free(sort->borders);
    free(sort->range_of);
    free(sort->places);
    free(sort->begins);
    return done;
}

struct sort_entry *sort_strings(struct sort_entry *entries, struct sort_entry *scratch, size_t count,
                                const struct workers *workers)
{
    struct sample_sort sort = {.entries = entries, .scratch = scratch, .count = count, .workers = workers};
    sort.pieces = partition_rows(workers, (int64_t)count, PIECE_MIN);
    if (count == 0)
        return entries;
    if (!pass_common(&sort))
        return NULL;
    if (workers->threads > 1 && count >= PARALLEL_MIN)
        return sort_ranges(&sort) ? scratch : NULL;
    sort_range(entries, scratch, count, sort.depth);
    return entries;
}
