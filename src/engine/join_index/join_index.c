/* A join index: the ranges of its keys, and the ids where these have few combinations. */
#include "engine/join_index/join_index.h"

#include "base/heap.h"
#include "base/integer.h"
#include "base/memory_size.h"
#include "base/zeroed.h"
#include "engine/join_index/join_keys.h"
#include "engine/plan/code.h"
#include "engine/storage/kept.h"
#include "engine/storage/narrow_copy.h"
#include "engine/storage/residency.h"
#include "engine/vector/elements.h"

#include <stdlib.h>
#include <string.h>

/* A table of so many ids for each row, and at least so many, is still smaller than what a sparse index needs; and so
 * are bits for so many combinations: a cache line for each row. */
enum { IDS_PER_ROW = 8, FEW_IDS = 1 << 16, BITS_PER_ROW = 256, FEW_BITS = 1 << 22 };

void join_key_values(const struct column *column, int64_t row, int count, int64_t *values)
{
    double numbers[JOIN_BLOCK];
    if (type_table[column->store].kind != KIND_FLOAT) {
        operator_values(column, row, count, values);
        return;
    }
    operator_values(column, row, count, numbers);
    for (int i = 0; i < count; i++)
        values[i] = float_bits(numbers[i]);
}

struct column *join_integers(int64_t rows, int64_t lo, int64_t hi)
{
    struct column *column = column_reserve(TYPE_I64, narrow_type(TYPE_I64, lo, hi), rows);
    if (!column)
        return NULL;
    column_set_range(column, true, lo, hi);
    return column;
}

void join_order_values(const struct column *column, int64_t row, int count, int64_t *values)
{
    join_key_values(column, row, count, values);
    for (int i = 0; type_table[column->store].kind == KIND_FLOAT && i < count; i++)
        values[i] = join_ordered_bits(values[i]);
}

/* Drops the rows in which the column is missing. */
static void drop_missing(const struct column *column, int64_t row, int count, bool *present)
{
    const uint8_t *bytes = column && column->validity ? (const uint8_t *)column->validity->data + row : NULL;
    for (int i = 0; bytes && i < count; i++)
        present[i] = present[i] && bytes[i];
}

static void drop_nan(const struct column *column, int64_t row, int count, bool *present)
{
    double numbers[JOIN_BLOCK];
    if (!column || type_table[column->store].kind != KIND_FLOAT)
        return;
    operator_values(column, row, count, numbers);
    for (int i = 0; i < count; i++)
        present[i] = present[i] && numbers[i] == numbers[i];
}

/* Drops the intervals that contain nothing. */
static void drop_empty(const struct join_keys *asked, int64_t row, int count, bool *present)
{
    int64_t begins[JOIN_BLOCK], ends[JOIN_BLOCK];
    join_order_values(asked->order, row, count, begins);
    join_order_values(asked->second, row, count, ends);
    for (int i = 0; i < count; i++) {
        if (!present[i])
            continue;
        const int64_t begin = join_begin_rank(asked, begins[i]), end = join_end_rank(asked, ends[i]);
        present[i] = begin < end || (asked->closed && begin == end);
    }
}

void join_keys_present(const struct index_build *build, int64_t row, int count, bool *present)
{
    memset(present, true, (size_t)count * sizeof *present);
    for (size_t k = 0; k < build->index->key_count; k++)
        drop_missing(build->columns[k], row, count, present);
    const struct column *ordered[] = {build->asked->order, build->asked->second};
    for (size_t k = 0; k < 2; k++) {
        drop_missing(ordered[k], row, count, present);
        drop_nan(ordered[k], row, count, present);
    }
    if (build->asked->intervals)
        drop_empty(build->asked, row, count, present);
}

/* The range of the keys of rows in which none is missing, of each part. */
struct ranges {
    const struct index_build *build;
    struct join_key *of_parts;
};

static void range_part(void *context, struct part part)
{
    const struct ranges *ranges = context;
    const struct index_build *build = ranges->build;
    const size_t key_count = build->index->key_count;
    struct join_key *keys = &ranges->of_parts[(size_t)part.number * key_count];
    int64_t values[JOIN_BLOCK], end = part.end;
    bool present[JOIN_BLOCK];
    for (size_t k = 0; k < key_count; k++)
        keys[k] = (struct join_key){.lo = INT64_MAX, .hi = INT64_MIN};
    for (int64_t row = part.begin; row < end && !workers_cancelled(build->workers); row += JOIN_BLOCK) {
        const int count = (int)min_int64(end - row, JOIN_BLOCK);
        join_keys_present(build, row, count, present);
        for (size_t k = 0; k < key_count; k++) {
            join_key_values(build->columns[k], row, count, values);
            for (int i = 0; i < count; i++) {
                keys[k].lo = present[i] && values[i] < keys[k].lo ? values[i] : keys[k].lo;
                keys[k].hi = present[i] && values[i] > keys[k].hi ? values[i] : keys[k].hi;
            }
        }
    }
}

static enum status find_ranges(const struct index_build *build)
{
    struct join_index *index = build->index;
    struct ranges ranges = {.build = build};
    ranges.of_parts = heap_array((size_t)build->parts.count * index->key_count + 1, sizeof *ranges.of_parts);
    const bool done = workers_run_parts(build->workers, &build->parts, range_part, &ranges);
    for (size_t k = 0; k < index->key_count; k++) {
        struct join_key *key = &index->keys[k];
        *key = (struct join_key){.lo = INT64_MAX, .hi = INT64_MIN};
        for (int64_t part = 0; part < build->parts.count; part++) {
            key->lo = min_int64(key->lo, ranges.of_parts[(size_t)part * index->key_count + k].lo);
            key->hi = max_int64(key->hi, ranges.of_parts[(size_t)part * index->key_count + k].hi);
        }
        if (key->lo > key->hi)
            *key = (struct join_key){.lo = 0, .hi = -1}; /* no rows */
    }
    free(ranges.of_parts);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

enum status join_key_ranges(const struct join_keys *keys, const struct workers *workers, struct join_key *ranges)
{
    struct join_index index = {.key_count = keys->count, .keys = ranges, .rows = keys->rows};
    const struct index_build build = {.index = &index,
                                      .columns = keys->columns,
                                      .order = keys->order,
                                      .asked = keys,
                                      .workers = workers,
                                      .parts = partition_rows(workers, keys->rows, JOIN_PART_ROWS)};
    return find_ranges(&build);
}

/* The number of combinations of all keys but one; above the limit if there are more. */
static int128 combinations(const struct join_index *index, size_t left_out, int128 limit)
{
    int128 ids = 1;
    for (size_t k = 0; k < index->key_count && ids <= limit; k++)
        ids *= k == left_out ? 1 : (int128)index->keys[k].hi - index->keys[k].lo + 1;
    return ids;
}

int64_t join_combinations(const struct join_index *index, size_t left_out)
{
    const int128 limit = max_int128((int128)index->rows * IDS_PER_ROW, FEW_IDS);
    const int128 ids = combinations(index, left_out, limit);
    return ids <= limit && ids < INT32_MAX - 2 ? (int64_t)ids : -1;
}

/* The number of combinations if they are worth a bit each, else -1. */
static int64_t ranked_combinations(const struct join_index *index)
{
    const int128 limit = max_int128((int128)index->rows * BITS_PER_ROW, FEW_BITS);
    const int128 bits = combinations(index, SIZE_MAX, limit);
    return bits <= limit ? (int64_t)bits : -1;
}

void join_row_places(const struct index_build *build, size_t left_out, int64_t row, int count, int64_t *places)
{
    const struct join_index *index = build->index;
    int64_t values[JOIN_BLOCK];
    bool present[JOIN_BLOCK];
    join_keys_present(build, row, count, present);
    memset(places, 0, (size_t)count * sizeof *places);
    for (size_t k = 0; k < index->key_count; k++) {
        const uint64_t lo = (uint64_t)index->keys[k].lo, extent = (uint64_t)index->keys[k].hi - lo + 1;
        if (k == left_out)
            continue;
        join_key_values(build->columns[k], row, count, values);
        /* Of a missing key it may be any number. */
        for (int i = 0; i < count; i++)
            places[i] = (int64_t)((uint64_t)places[i] * extent + ((uint64_t)values[i] - lo));
    }
    for (int i = 0; i < count; i++)
        places[i] = present[i] ? places[i] : -1;
}

struct placing {
    const struct index_build *build;
    size_t left_out;
};

static void place_part(void *context, struct part part)
{
    const struct placing *placing = context;
    const struct index_build *build = placing->build;
    int64_t places[JOIN_BLOCK], end = part.end;
    for (int64_t row = part.begin; row < end && !workers_cancelled(build->workers); row += JOIN_BLOCK) {
        const int count = (int)min_int64(end - row, JOIN_BLOCK);
        join_row_places(build, placing->left_out, row, count, places);
        for (int i = 0; i < count; i++)
            build->ids[row + i] = (int32_t)places[i];
    }
}

enum status join_places(struct index_build *build, size_t left_out)
{
    struct placing placing = {build, left_out};
    return workers_run_parts(build->workers, &build->parts, place_part, &placing) ? STATUS_OK : STATUS_CANCELLED;
}

bool join_has_memory(struct join_index *index, int64_t bytes)
{
    const bool has = system_memory_has(bytes);
    index->refused = has ? 0 : bytes;
    return has;
}

/* Bytes of the tables by id and by row; of a sparse index without its slots, whose number is not known yet. */
static int64_t bytes_of_tables(const struct index_build *build, bool members_only)
{
    const struct join_index *index = build->index;
    const bool dense = index->method == JOIN_DENSE;
    const int64_t row_bytes = (members_only ? 0 : (int64_t)sizeof(int32_t)) +
                              (build->order ? 2 * (int64_t)sizeof(int64_t) : 0) +
                              (build->asked->second ? 2 * (int64_t)sizeof(int64_t) : 0) +
                              (index->method == JOIN_SPARSE ? JOIN_HASH_ROW_BYTES : 0);
    return index->rows * row_bytes + (dense ? index->ids * (members_only ? 1 : (int64_t)sizeof(int32_t)) : 0);
}

int64_t join_choose_method(struct join_index *index)
{
    index->ids = join_combinations(index, SIZE_MAX);
    const int64_t bits = index->ids >= 0 ? -1 : ranked_combinations(index);
    index->method = index->ids >= 0 ? JOIN_DENSE : bits >= 0 ? JOIN_RANKED : JOIN_SPARSE;
    return bits;
}

static enum status build_index(struct index_build *build, bool members_only)
{
    struct join_index *index = build->index;
    enum status status = find_ranges(build);
    if (status != STATUS_OK)
        return status;
    const int64_t bits = join_choose_method(index);
    if (index->method == JOIN_SPARSE && !build->order)
        status = join_search_build(build, members_only);
    if (status != STATUS_OK || index->method == JOIN_SEARCHED)
        return status;
    if (!join_has_memory(index, bytes_of_tables(build, members_only)))
        return STATUS_FAILED;
    status = index->method == JOIN_DENSE    ? join_places(build, SIZE_MAX)
             : index->method == JOIN_RANKED ? join_rank_build(build, bits)
                                            : join_hash_build(build);
    if (status == STATUS_OK && (index->method != JOIN_RANKED || !members_only))
        status = join_rows_build(build, members_only);
    if (status == STATUS_OK && build->order)
        status = join_order_build(build);
    return status == STATUS_OK && build->asked->second ? join_second_build(build) : status;
}

static bool fetch(struct column *column)
{
    return column_fetch(column, 0, column->rows) &&
           (!column->validity || column_fetch(column->validity, 0, column->rows));
}

enum status join_index_new(const struct join_keys *keys, const struct workers *workers,
                           const struct join_device *device, struct join_index **index)
{
    const int64_t rows = keys->rows;
    struct join_index *made = *index = heap_array(1, sizeof *made);
    made->refs = 1;
    made->key_count = keys->count;
    made->rows = rows;
    made->keys = heap_array(keys->count + 1, sizeof *made->keys);
    enum status status = join_device_build(made, keys, workers, device);
    if (status != STATUS_UNABLE)
        return status;
    bool fetched = (!keys->order || fetch(keys->order)) && (!keys->second || fetch(keys->second));
    for (size_t k = 0; k < keys->count && fetched; k++)
        fetched = fetch(keys->columns[k]);
    if (!fetched)
        return STATUS_FAILED;
    const size_t size = ((size_t)rows + 1) * sizeof(int32_t);
    struct index_build build = {.index = made,
                                .columns = keys->columns,
                                .order = keys->order,
                                .asked = keys,
                                .workers = workers,
                                .parts = partition_rows(workers, rows, JOIN_PART_ROWS),
                                .ids = rows <= INT32_MAX ? zeroed_alloc(size) : NULL};
    status = build.ids ? build_index(&build, keys->members_only) : STATUS_FAILED;
    zeroed_free(build.ids, size);
    return status;
}

struct join_index *join_index_ref(struct join_index *index)
{
    index->refs++;
    return index;
}

bool join_index_lost(const struct join_index *index)
{
    return (index->words && index->words->lost) || (index->members && index->members->lost) ||
           (index->row_of && index->row_of->lost) || (index->search.starts && index->search.starts->lost) ||
           (index->search.values && index->search.values->lost);
}

int64_t join_index_bytes(const struct join_index *index)
{
    const struct column *const tables[] = {index->hash.displacements,
                                           index->words,
                                           index->search.starts,
                                           index->search.values,
                                           index->members,
                                           index->row_of,
                                           index->starts,
                                           index->order,
                                           index->second.values,
                                           index->second.peaks};
    int64_t bytes = 0;
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
        bytes += kept_bytes(tables[k]);
    for (size_t k = 0; k < index->key_count && index->hash.keys; k++)
        bytes += kept_bytes(index->hash.keys[k]);
    return bytes;
}

void join_index_unref(struct join_index *index)
{
    if (!index || --index->refs > 0)
        return;
    for (size_t k = 0; k < index->key_count && index->hash.keys; k++)
        column_unref(index->hash.keys[k]);
    free(index->hash.keys);
    column_unref(index->hash.displacements);
    column_unref(index->words);
    column_unref(index->search.starts);
    column_unref(index->search.values);
    column_unref(index->members);
    column_unref(index->row_of);
    column_unref(index->starts);
    column_unref(index->order);
    column_unref(index->second.values);
    column_unref(index->second.peaks);
    free(index->keys);
    free(index);
}
