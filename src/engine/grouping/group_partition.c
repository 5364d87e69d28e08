/* Grouping by keys of several words: few groups are found in one hash table of each thread; where there are more, rows
 * are partitioned by a hash of their keys, with what their aggregates read beside them, into buckets whose tables fit a
 * core's cache. A bucket with many more rows than others, as one of a frequent key, is divided among all threads.
 * Groups are emitted in any order. */
#include "engine/grouping/group_table.h"
#include "engine/sorting/radix_partition.h"

#include "base/heap.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    PART_ROWS = 1 << 15,
    FEW_GROUPS = 1 << 13,     /* of a thread: their states fit a cache */
    FEW_ROWS = 1 << 16,       /* are not worth partitioning */
    BUCKET_BYTES = 160 << 10, /* on average; with its table it fits the second-level cache */
    LEAST_BITS = 4,           /* of a bucket's number */
    MOST_BITS = 11,
    LARGE = 6 /* a bucket with this many times the average is divided */
};

struct partitioning {
    const struct grouping *grouping;
    struct group_carry carry;
    struct radix_partition partition;
    struct group_table **tables; /* of each thread; NULL until it has rows */
    int64_t most;                /* groups of a table */
    int64_t few;                 /* of a thread, while rows are not partitioned */
    int64_t large;               /* bucket, while it is divided */
    _Atomic int64_t groups;      /* emitted */
    _Atomic bool too_many, failed;
};

static struct group_table *get_table(struct partitioning *partitioning, int member)
{
    if (!partitioning->tables[member])
        partitioning->tables[member] = group_table_new(partitioning->grouping, partitioning->most);
    if (!partitioning->tables[member])
        partitioning->failed = true;
    return partitioning->tables[member];
}

static void free_tables(struct partitioning *partitioning)
{
    for (int i = 0; i < partitioning->grouping->workers->threads; i++) {
        group_table_free(partitioning->tables[i]);
        partitioning->tables[i] = NULL;
    }
}

/* ---- few groups ---- */

static void add_part(void *context, struct part part)
{
    struct partitioning *partitioning = context;
    const struct grouping *grouping = partitioning->grouping;
    struct group_table *table = get_table(partitioning, part.member);
    const int words = grouping->keys->words;
    uint64_t codes[KEY_BLOCK], keys[CARRIED_WORDS * KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    for (int64_t row = part.begin;
         table && row < part.end && !partitioning->too_many && !workers_cancelled(grouping->workers);
         row += KEY_BLOCK) {
        const int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
        for (int word = 0; word < words; word++) {
            keys_read(grouping->keys, word, row, count, codes);
            for (int i = 0; i < count; i++)
                keys[i * words + word] = codes[i];
        }
        group_keys_mix(keys, (size_t)words, words, count);
        if (group_table_find(table, keys, (size_t)words, count, places) && table->groups <= partitioning->few)
            group_states_add(grouping, table->states, NULL, places, &(struct row_block){.row = row, .count = count});
        else
            partitioning->too_many = true;
    }
}

/* Merges the tables of all threads into one, which it returns; NULL if that fails. */
static struct group_table *merge_tables(struct partitioning *partitioning)
{
    struct group_table *merged = NULL;
    for (int i = 0; i < partitioning->grouping->workers->threads; i++) {
        struct group_table *table = partitioning->tables[i];
        if (!merged)
            merged = table;
        else if (table && !group_table_merge(merged, table))
            return NULL;
    }
    return merged;
}

static enum status group_few(struct partitioning *partitioning)
{
    const struct grouping *grouping = partitioning->grouping;
    const bool all = grouping->rows <= FEW_ROWS;
    partitioning->few = all ? grouping->rows : FEW_GROUPS;
    partitioning->most = all ? grouping->rows : (int64_t)grouping->workers->threads * (FEW_GROUPS + KEY_BLOCK);
    if (!workers_run_rows(grouping->workers, grouping->rows, PART_ROWS, add_part, partitioning))
        return STATUS_CANCELLED;
    const struct group_table *merged = partitioning->too_many ? NULL : merge_tables(partitioning);
    if (partitioning->failed)
        return STATUS_FAILED;
    partitioning->too_many = !merged;
    if (!merged)
        return STATUS_OK;
    if (!grouping->prepare(grouping->context, merged->groups))
        return STATUS_FAILED;
    group_table_emit(merged, 0);
    partitioning->groups = merged->groups;
    return STATUS_OK;
}

/* ---- buckets ---- */

static void read_rows(void *context, int64_t row, int count, void *elements)
{
    const struct partitioning *partitioning = context;
    group_carry_read(&partitioning->carry, row, count, elements);
    group_keys_mix(elements, group_carry_width(&partitioning->carry) / sizeof(uint64_t),
                   partitioning->grouping->keys->words, count);
}

static void add_elements(struct partitioning *partitioning, struct group_table *table, struct bucket_reader *reader)
{
    const struct grouping *grouping = partitioning->grouping;
    const size_t step = group_carry_width(&partitioning->carry) / sizeof(uint64_t);
    uint64_t payloads[CARRIED_WORDS * KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    int count;
    for (const uint64_t *piece;
         (piece = bucket_reader_next(reader, &count)) && !workers_cancelled(grouping->workers);) {
        for (int i = 0; i < count; i += KEY_BLOCK) {
            const uint64_t *elements = piece + (size_t)i * step;
            struct row_block block = {.carry = &partitioning->carry,
                                      .count = count - i < KEY_BLOCK ? count - i : KEY_BLOCK};
            block.payloads = group_carry_payloads(&partitioning->carry, elements, block.count, payloads);
            if (!group_table_find(table, elements, step, block.count, places)) {
                partitioning->failed = true; /* too many to be numbered */
                return;
            }
            group_states_add(grouping, table->states, NULL, places, &block);
        }
    }
}

static int64_t rows_of(const struct partitioning *partitioning, int64_t bucket)
{
    return partitioning->partition.begins[bucket + 1] - partitioning->partition.begins[bucket];
}

static void emit(struct partitioning *partitioning, const struct group_table *table)
{
    group_table_emit(table, atomic_fetch_add(&partitioning->groups, table->groups));
}

static void small_bucket(void *context, int member, int64_t bucket)
{
    struct partitioning *partitioning = context;
    const int64_t rows = rows_of(partitioning, bucket);
    struct group_table *table = rows > 0 && rows <= partitioning->most ? get_table(partitioning, member) : NULL;
    if (!table)
        return;
    struct bucket_reader reader = read_bucket(&partitioning->partition, bucket);
    group_table_empty(table);
    add_elements(partitioning, table, &reader);
    emit(partitioning, table);
}

static void part_of_bucket(void *context, int member, int64_t part)
{
    struct partitioning *partitioning = context;
    struct group_table *table = get_table(partitioning, member);
    if (!table)
        return;
    struct bucket_reader reader = read_bucket_part(&partitioning->partition, partitioning->large, part);
    add_elements(partitioning, table, &reader);
}

static enum status large_bucket(struct partitioning *partitioning, int64_t bucket)
{
    const struct workers *workers = partitioning->grouping->workers;
    free_tables(partitioning);
    partitioning->large = bucket;
    partitioning->most = rows_of(partitioning, bucket);
    if (!workers_run(workers, partitioning->partition.parts.count, part_of_bucket, partitioning))
        return STATUS_CANCELLED;
    const struct group_table *merged = merge_tables(partitioning);
    if (merged)
        emit(partitioning, merged);
    return STATUS_OK;
}

static int bucket_bits(int64_t rows, size_t width)
{
    int bits = LEAST_BITS;
    while (bits < MOST_BITS && (rows * (int64_t)width) >> bits > BUCKET_BYTES)
        bits++;
    return bits;
}

static enum status group_buckets(struct partitioning *partitioning)
{
    const struct grouping *grouping = partitioning->grouping;
    struct radix_partition *partition = &partitioning->partition;
    const int64_t buckets = INT64_C(1) << partition->bits;
    const int64_t most = LARGE * (grouping->rows / buckets + 1);
    partitioning->most = most;
    if (!workers_run(grouping->workers, buckets, small_bucket, partitioning))
        return STATUS_CANCELLED;
    for (int64_t bucket = 0; bucket < buckets && !partitioning->failed; bucket++) {
        if (rows_of(partitioning, bucket) > most && large_bucket(partitioning, bucket) != STATUS_OK)
            return STATUS_CANCELLED;
    }
    return STATUS_OK;
}

static enum status group_many(struct partitioning *partitioning)
{
    const struct grouping *grouping = partitioning->grouping;
    free_tables(partitioning);
    if (!grouping->prepare(grouping->context, grouping->rows))
        return STATUS_FAILED;
    group_carry_init(&partitioning->carry, grouping->keys, grouping->rows, grouping->group_aggs,
                     grouping->group_agg_count, ELEMENT_WORDS - grouping->keys->words);
    const struct radix radix = {
        .workers = grouping->workers,
        .rows = grouping->rows,
        .width = group_carry_width(&partitioning->carry),
        .bits = 64,
        .read = read_rows,
        .context = partitioning,
    };
    const struct sort_positions by = sort_positions_between(&radix, 0, UINT64_MAX);
    partitioning->partition = (struct radix_partition){
        .radix = &radix, .level = sort_level_at(0), .by = &by, .bits = bucket_bits(grouping->rows, radix.width)};
    enum status status = radix_partition_run(&partitioning->partition, grouping->rows);
    if (status == STATUS_OK)
        status = group_buckets(partitioning);
    radix_partition_free(&partitioning->partition);
    group_carry_free(&partitioning->carry);
    return status;
}

enum status group_partitioned(const struct grouping *grouping, int64_t *groups)
{
    struct partitioning partitioning = {.grouping = grouping};
    partitioning.tables = heap_array((size_t)grouping->workers->threads, sizeof(struct group_table *));
    enum status status = group_few(&partitioning);
    if (status == STATUS_OK && partitioning.too_many)
        status = group_many(&partitioning);
    free_tables(&partitioning);
    free(partitioning.tables);
    if (status == STATUS_OK && workers_cancelled(grouping->workers))
        status = STATUS_CANCELLED;
    *groups = partitioning.groups;
    return status == STATUS_OK && partitioning.failed ? STATUS_FAILED : status;
}
