#include "engine/sorting/radix_sort.h"

#include "base/heap.h"

#include <stdlib.h>

enum {
    MOST_BITS = 16,
    TABLE_BITS = 15, /* fewer possible keys are counted in several tables, so that equal keys beside each other do not
                        wait for one count */
    MOST_TABLES = 4,
    LEAST_ROWS = 1 << 16,
    ROWS_PER_KEY = 4, /* at least */
    PART_ROWS = 1 << 16,
    WRITTEN = 4096 /* rows at once */
};

/* Inlined where the width is a constant: one loop for each width. */
#define SPECIALISED static inline __attribute__((always_inline))

struct counting {
    const struct radix *radix;
    size_t keys;            /* possible ones, */
    const uint64_t *values; /* or those that there are; NULL: 0 .. keys-1 */
    int tables;             /* a thread's */
    uint32_t **counts;      /* of each thread: tables one after another */
    int64_t *ends;          /* of the rows with each key; of value_counts if there are values */
};

bool counting_sort_pays(const struct radix *radix)
{
    return radix->width == 4 && radix->shift == 0 && radix->bits <= MOST_BITS && radix->rows >= LEAST_ROWS &&
           radix->rows >> radix->bits >= ROWS_PER_KEY && radix->rows <= UINT32_MAX;
}

static void count_part(void *context, struct part part)
{
    const struct counting *counting = context;
    const struct radix *radix = counting->radix;
    uint32_t *counts[MOST_TABLES], codes[RADIX_BLOCK];
    if (!counting->counts[part.member])
        counting->counts[part.member] = heap_array(counting->keys * (size_t)counting->tables, sizeof **counts);
    for (int i = 0; i < MOST_TABLES; i++)
        counts[i] = counting->counts[part.member] + (size_t)(i % counting->tables) * counting->keys;
    for (int64_t row = part.begin; row < part.end && !workers_cancelled(radix->workers); row += RADIX_BLOCK) {
        const int count = part.end - row < RADIX_BLOCK ? (int)(part.end - row) : RADIX_BLOCK;
        radix->read(radix->context, row, count, codes);
        int i = 0;
        for (; i + MOST_TABLES <= count; i += MOST_TABLES) {
            for (int k = 0; k < MOST_TABLES; k++)
                counts[k][codes[i + k]]++;
        }
        for (; i < count; i++)
            counts[0][codes[i]]++;
    }
}

static void add_up(const struct counting *counting)
{
    int64_t end = 0;
    for (size_t key = 0; key < counting->keys; key++) {
        for (int member = 0; member < counting->radix->workers->threads; member++) {
            for (int i = 0; i < counting->tables && counting->counts[member]; i++)
                end += counting->counts[member][(size_t)i * counting->keys + key];
        }
        counting->ends[key] = end;
    }
}

/* The key of a row of the result. */
static size_t key_at(const struct counting *counting, int64_t row)
{
    size_t least = 0, most = counting->keys - 1;
    while (least < most) {
        const size_t middle = (least + most) / 2;
        if (counting->ends[middle] > row)
            most = middle;
        else
            least = middle + 1;
    }
    return least;
}

/* Writes the keys of rows row .. row+count-1, the first of which has the key number *key. */
SPECIALISED void fill(const struct counting *counting, size_t *key, int64_t row, int count, void *codes, size_t width)
{
    for (int i = 0; i < count; (*key)++) {
        const uint64_t code = counting->values ? counting->values[*key] : *key;
        const int64_t of_key = counting->ends[*key] - row;
        const int run_end = of_key < count ? (int)of_key : count;
        for (; i < run_end; i++) {
            if (width == 4)
                ((uint32_t *)codes)[i] = (uint32_t)code;
            else
                ((uint64_t *)codes)[i] = code;
        }
        if (of_key > count)
            break;
    }
}

static void write_part(void *context, struct part part)
{
    const struct counting *counting = context;
    const struct radix *radix = counting->radix;
    int64_t row = part.begin;
    size_t key = key_at(counting, row);
    while (row < part.end && !workers_cancelled(radix->workers)) {
        uint64_t codes[WRITTEN];
        const int count = part.end - row < WRITTEN ? (int)(part.end - row) : WRITTEN;
        if (radix->width == 4)
            fill(counting, &key, row, count, codes, 4);
        else
            fill(counting, &key, row, count, codes, 8);
        radix->emit(radix->context, part.member, row, codes, count);
        row += count;
    }
}

enum status counting_sort_values(const struct radix *radix)
{
    struct value_counts found;
    enum status status = value_counts_find(radix, &found);
    struct counting counting = {.radix = radix, .keys = found.count, .values = found.values, .ends = found.ends};
    if (status == STATUS_OK && !workers_run_rows(radix->workers, radix->rows, PART_ROWS, write_part, &counting))
        status = STATUS_CANCELLED;
    value_counts_free(&found);
    return status;
}

enum status counting_sort(const struct radix *radix)
{
    const struct workers *workers = radix->workers;
    struct counting counting = {.radix = radix, .keys = (size_t)1 << radix->bits, .tables = 1};
    while (counting.tables < MOST_TABLES && counting.keys * (size_t)counting.tables < 1 << TABLE_BITS)
        counting.tables *= 2;
    counting.counts = heap_array((size_t)workers->threads, sizeof *counting.counts);
    counting.ends = heap_array(counting.keys, sizeof *counting.ends);
    bool done = workers_run_rows(workers, radix->rows, PART_ROWS, count_part, &counting);
    if (done) {
        add_up(&counting);
        done = workers_run_rows(workers, radix->rows, PART_ROWS, write_part, &counting);
    }
    for (int member = 0; member < workers->threads; member++)
        free(counting.counts[member]);
    free(counting.counts);
    free(counting.ends);
    return done ? STATUS_OK : STATUS_CANCELLED;
}
