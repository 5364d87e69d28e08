#include "engine/sorting/radix_sort.h"

#include "engine/sorting/sort_element.h"

#include "base/heap.h"

#include <stdlib.h>

enum {
    LEAST_ROWS = 1 << 16,
    PART_ROWS = 1 << 16,
    RUN = 8, /* consecutive rows of the sample, */
    MOST_RUNS = 512,
    RUN_SHARE = 128,  /* and as many rows for each run at least */
    SAMPLE_SHARE = 2, /* of the sample's rows: where this part of them or more are different values, they are many */
    TABLE_BITS = 14,  /* a thread's table stays in the second-level cache */
    MOST_VALUES = 1 << 12 /* in it: so few that most are found at the first place */
};

/* Inlined where the width is a constant: one loop for each width. */
#define SPECIALISED static inline __attribute__((always_inline))

/* A place without a count has the value 0. */
struct table {
    uint64_t *values; /* uint32_t, if elements have 4 bytes */
    uint32_t *counts;
    size_t used;
};

struct counter {
    const struct radix *radix;
    struct table *tables; /* of each thread */
    _Atomic bool many;
};

static void table_init(struct table *table)
{
    table->values = heap_array((size_t)1 << TABLE_BITS, sizeof *table->values);
    table->counts = heap_array((size_t)1 << TABLE_BITS, sizeof *table->counts);
}

static void table_free(struct table *table)
{
    free(table->values);
    free(table->counts);
}

/* Multiplicative hashing (Knuth, The Art of Computer Programming, vol. 3, 6.4). */
SPECIALISED size_t place_of(uint64_t value, size_t width)
{
    return width == 4 ? (uint32_t)value * UINT32_C(0x9e3779b1) >> (32 - TABLE_BITS)
                      : value * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_BITS);
}

SPECIALISED void set_value(struct table *table, size_t place, uint64_t value, size_t width)
{
    if (width == 4)
        ((uint32_t *)(void *)table->values)[place] = (uint32_t)value;
    else
        table->values[place] = value;
}

/* The place of a value that is not at the first one. */
SPECIALISED size_t search(struct table *table, size_t place, uint64_t value, size_t width)
{
    const size_t mask = ((size_t)1 << TABLE_BITS) - 1;
    while (table->counts[place] > 0 && sort_element_word(table->values, place, width) != value)
        place = (place + 1) & mask;
    if (table->counts[place] == 0) {
        set_value(table, place, value, width);
        table->used++;
    }
    return place;
}

/* Adds elements; there is room for more than MOST_VALUES and a block of values. */
SPECIALISED void add_elements(struct table *table, const void *elements, int count, size_t width)
{
    for (int i = 0; i < count; i++) {
        const uint64_t value = sort_element_word(elements, (size_t)i, width);
        size_t place = place_of(value, width);
        if (sort_element_word(table->values, place, width) != value)
            place = search(table, place, value, width);
        table->counts[place]++;
    }
}

static void add_block(struct table *table, const void *elements, int count, size_t width)
{
    if (width == 4)
        add_elements(table, elements, count, 4);
    else
        add_elements(table, elements, count, 8);
}

static void count_part(void *context, struct part part)
{
    struct counter *counter = context;
    const struct radix *radix = counter->radix;
    struct table *table = &counter->tables[part.member];
    if (!table->values)
        table_init(table);
    for (int64_t row = part.begin; row < part.end && !counter->many && !workers_cancelled(radix->workers);
         row += RADIX_BLOCK) {
        uint64_t block[RADIX_BLOCK];
        const int count = part.end - row < RADIX_BLOCK ? (int)(part.end - row) : RADIX_BLOCK;
        radix->read(radix->context, row, count, block);
        add_block(table, block, count, radix->width);
        if (table->used > MOST_VALUES)
            counter->many = true;
    }
}

bool value_counts_pay(const struct radix *radix)
{
    if (radix->rows < LEAST_ROWS || radix->rows > UINT32_MAX)
        return false;
    const int64_t runs = radix->rows / RUN_SHARE < MOST_RUNS ? radix->rows / RUN_SHARE : MOST_RUNS;
    const int64_t apart = radix->rows / runs;
    struct table table = {0};
    table_init(&table);
    for (int64_t run = 0; run < runs; run++) {
        uint64_t block[RUN];
        const uint64_t hash = ((uint64_t)run + 1) * UINT64_C(0x9e3779b97f4a7c15) >> 32;
        radix->read(radix->context, run * apart + (int64_t)(hash % (uint64_t)(apart - RUN + 1)), RUN, block);
        add_block(&table, block, RUN, radix->width);
    }
    table_free(&table);
    return table.used * SAMPLE_SHARE < (size_t)(runs * RUN);
}

struct value_count {
    uint64_t value;
    int64_t count;
};

static int compare_values(const void *a, const void *b)
{
    const uint64_t x = ((const struct value_count *)a)->value, y = ((const struct value_count *)b)->value;
    return (x > y) - (x < y);
}

/* Appends a thread's values to a list. */
static size_t list_values(const struct table *table, size_t width, struct value_count *list)
{
    size_t count = 0;
    for (size_t place = 0; place < (size_t)1 << TABLE_BITS && table->values; place++) {
        if (table->counts[place] > 0)
            list[count++] = (struct value_count){sort_element_word(table->values, place, width), table->counts[place]};
    }
    return count;
}

static void merge(const struct counter *counter, struct value_counts *found)
{
    const int threads = counter->radix->workers->threads;
    size_t most = 0;
    for (int member = 0; member < threads; member++)
        most += counter->tables[member].used + 1; /* 0 may be there without having been searched for */
    struct value_count *list = heap_array(most, sizeof *list);
    size_t count = 0;
    for (int member = 0; member < threads; member++)
        count += list_values(&counter->tables[member], counter->radix->width, list + count);
    qsort(list, count, sizeof *list, compare_values);
    found->values = heap_array(count, sizeof *found->values);
    found->ends = heap_array(count, sizeof *found->ends);
    int64_t end = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || list[i].value != list[i - 1].value)
            found->values[found->count++] = list[i].value;
        found->ends[found->count - 1] = end += list[i].count;
    }
    free(list);
}

enum status value_counts_find(const struct radix *radix, struct value_counts *found)
{
    *found = (struct value_counts){0};
    struct counter counter = {.radix = radix};
    counter.tables = heap_array((size_t)radix->workers->threads, sizeof *counter.tables);
    const bool done = workers_run_rows(radix->workers, radix->rows, PART_ROWS, count_part, &counter);
    const enum status status = !done ? STATUS_CANCELLED : counter.many ? STATUS_FAILED : STATUS_OK;
    if (status == STATUS_OK)
        merge(&counter, found);
    for (int member = 0; member < radix->workers->threads; member++)
        table_free(&counter.tables[member]);
    free(counter.tables);
    return status;
}

void value_counts_free(struct value_counts *found)
{
    free(found->values);
    free(found->ends);
}
