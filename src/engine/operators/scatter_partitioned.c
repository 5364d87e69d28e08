#include "engine/operators/scatter_partitioned.h"

#include "engine/sorting/radix_partition.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "base/nontemporal_copy.h"

#include <stdlib.h>
#include <string.h>

enum {
    REGION_SIZE_BITS = 17,  /* 128 KiB, part of a second-level cache */
    MOST_BITS = 12,         /* of a region's number */
    LEAST_BYTES = 16 << 20, /* of a result that is partitioned: a smaller one stays in a third-level cache */
    LEAST_ROWS = 1 << 18,
    WORD_BITS = 64
};

/* Inlined where sizes are constants: one loop for each. */
#define SPECIALISED static inline __attribute__((always_inline))

struct partitioned {
    const struct scatter_column *column;
    struct radix radix; /* what is partitioned: uint64_t with the place in the upper half, or radix_pair */
    struct radix_partition partition;
    size_t size; /* of a value */
    int region_bits;
    char **filled; /* by each member: a region and, behind it, a bit for each place that is taken */
    _Atomic bool failed;
};

static int bits_below(int64_t count)
{
    return count > 1 ? WORD_BITS - __builtin_clzll((uint64_t)count - 1) : 1;
}

/* ---- partitioning ---- */

SPECIALISED uint64_t value_at(const char *values, int i, size_t size)
{
    uint64_t element = 0;
    memcpy(&element, values + (size_t)i * size, size);
    return element;
}

SPECIALISED void make_words(const int64_t *positions, const char *values, int count, size_t size, uint64_t *words)
{
    for (int i = 0; i < count; i++)
        words[i] = (uint64_t)positions[i] << 32 | value_at(values, i, size);
}

/* True if a position is out of bounds. */
CPU_CLONES static bool make_elements(const struct partitioned *partitioned, const int64_t *positions,
                                     const char *values, int count, void *elements)
{
    const uint64_t into = (uint64_t)partitioned->column->into;
    uint64_t outside = 0;
    for (int i = 0; i < count; i++)
        outside |= (uint64_t)positions[i] >= into;
    struct radix_pair *pairs = elements;
    if (partitioned->radix.width == sizeof *pairs) {
        for (int i = 0; i < count; i++)
            pairs[i] = (struct radix_pair){(uint64_t)positions[i], value_at(values, i, partitioned->size)};
    } else if (partitioned->size == 1) {
        make_words(positions, values, count, 1, elements);
    } else if (partitioned->size == 2) {
        make_words(positions, values, count, 2, elements);
    } else {
        make_words(positions, values, count, 4, elements);
    }
    return outside;
}

static void read_elements(void *context, int64_t row, int count, void *elements)
{
    struct partitioned *partitioned = context;
    const struct scatter_column *column = partitioned->column;
    int64_t positions[OPERATOR_BLOCK];
    operator_prefetch(column->positions, row + OPERATOR_BLOCK, count);
    operator_prefetch(column->from, row + OPERATOR_BLOCK, count);
    operator_values(column->positions, row, count, positions);
    if (make_elements(partitioned, positions, (const char *)column->from->data + (size_t)row * partitioned->size, count,
                      elements)) {
        partitioned->failed = true;
        memset(elements, 0, (size_t)count * partitioned->radix.width);
    }
}

/* ---- regions ---- */

struct region {
    int64_t first, rows;
    char *values;
    uint64_t *taken;
};

/* True if a position was taken before. */
SPECIALISED bool fill(const struct region *region, const void *elements, int count, size_t width, size_t size,
                      bool claims)
{
    const uint64_t *words = elements;
    const struct radix_pair *pairs = elements;
    const uint64_t first = (uint64_t)region->first;
    char *restrict values = region->values;
    uint64_t *restrict taken = region->taken;
    uint64_t twice = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t place = (width == sizeof *words ? words[i] >> 32 : pairs[i].key) - first;
        const uint64_t element = width == sizeof *words ? words[i] : pairs[i].payload;
        memcpy(values + place * size, &element, size);
        if (claims) {
            const uint64_t before = taken[place / WORD_BITS];
            twice |= before >> place % WORD_BITS;
            taken[place / WORD_BITS] = before | UINT64_C(1) << place % WORD_BITS;
        }
    }
    return twice & 1;
}

SPECIALISED bool fill_sized(const struct region *region, const void *elements, int count, size_t width, size_t size,
                            bool claims)
{
    return claims ? fill(region, elements, count, width, size, true)
                  : fill(region, elements, count, width, size, false);
}

static bool fill_piece(const struct partitioned *partitioned, const struct region *region, const void *elements,
                       int count)
{
    const bool claims = partitioned->column->claims;
    if (partitioned->radix.width == sizeof(struct radix_pair))
        return partitioned->size == 8
                   ? fill_sized(region, elements, count, sizeof(struct radix_pair), 8, claims)
                   : fill(region, elements, count, sizeof(struct radix_pair), partitioned->size, claims);
    if (partitioned->size == 4)
        return fill_sized(region, elements, count, sizeof(uint64_t), 4, claims);
    return partitioned->size == 2 ? fill_sized(region, elements, count, sizeof(uint64_t), 2, claims)
                                  : fill_sized(region, elements, count, sizeof(uint64_t), 1, claims);
}

static void fill_region(void *context, int member, int64_t bucket)
{
    struct partitioned *partitioned = context;
    const struct scatter_column *column = partitioned->column;
    const int64_t most = INT64_C(1) << partitioned->region_bits, first = bucket << partitioned->region_bits;
    if (first >= column->into || partitioned->failed)
        return;
    const int64_t rows = column->into - first < most ? column->into - first : most;
    const size_t bytes = (size_t)most * partitioned->size, taken_bytes = (size_t)most / WORD_BITS * sizeof(uint64_t);
    if (!partitioned->filled[member])
        partitioned->filled[member] = heap_array(1, bytes + taken_bytes);
    const struct region region = {.first = first,
                                  .rows = rows,
                                  .values = partitioned->filled[member],
                                  .taken = (void *)(partitioned->filled[member] + bytes)};
    if (partitioned->partition.begins[bucket + 1] - partitioned->partition.begins[bucket] < rows)
        memset(region.values, 0, (size_t)rows * partitioned->size);
    if (column->claims)
        memset(region.taken, 0, taken_bytes);
    struct bucket_reader reader = read_bucket(&partitioned->partition, bucket);
    const void *elements;
    int count;
    bool twice = false;
    while ((elements = bucket_reader_next(&reader, &count)))
        twice |= fill_piece(partitioned, &region, elements, count);
    if (twice)
        partitioned->failed = true;
    copy_nontemporal(column_at(column->to, first), region.values, (size_t)rows * partitioned->size);
}

/* ---- columns ---- */

bool scatter_partitioned_pays(int64_t rows, int64_t into, size_t size)
{
    return rows >= LEAST_ROWS && into * (int64_t)size >= LEAST_BYTES;
}

enum status scatter_partitioned(const struct scatter_column *column, bool *failed)
{
    const size_t size = type_table[column->from->store].size;
    const int bits = bits_below(column->into);
    const bool word = size <= sizeof(uint32_t) && bits <= 32;
    struct partitioned partitioned = {
        .column = column,
        .size = size,
        .radix = {.workers = column->workers,
                  .rows = column->rows,
                  .width = word ? sizeof(uint64_t) : sizeof(struct radix_pair),
                  .shift = word ? 32 : 0,
                  .bits = bits,
                  .read = read_elements},
        .region_bits = REGION_SIZE_BITS - __builtin_ctzll(size),
    };
    if (bits - partitioned.region_bits > MOST_BITS)
        partitioned.region_bits = bits - MOST_BITS;
    partitioned.radix.context = &partitioned;
    const struct sort_positions by = sort_positions_between(&partitioned.radix, 0, UINT64_MAX >> (WORD_BITS - bits));
    partitioned.partition = (struct radix_partition){
        .radix = &partitioned.radix, .level = sort_level_at(0), .by = &by, .bits = bits - partitioned.region_bits};
    partitioned.filled = heap_array((size_t)column->workers->threads, sizeof *partitioned.filled);
    enum status status = radix_partition_run(&partitioned.partition, column->rows);
    if (status == STATUS_OK &&
        !workers_run(column->workers, INT64_C(1) << partitioned.partition.bits, fill_region, &partitioned))
        status = STATUS_CANCELLED;
    radix_partition_free(&partitioned.partition);
    for (int member = 0; member < column->workers->threads; member++)
        free(partitioned.filled[member]);
    free(partitioned.filled);
    *failed = partitioned.failed;
    return status;
}
