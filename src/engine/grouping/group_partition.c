/* Grouping by keys of several words where there are many groups: rows are partitioned by a hash of their keys, with
 * what their aggregates read beside them, into buckets whose tables fit a core's cache. A bucket with many more rows
 * than others, as one of a frequent key, is divided among all threads. Groups are emitted in any order. */
#include "engine/grouping/group_tables.h"
#include "engine/sorting/radix_partition.h"

#include "base/heap.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    BUCKET_BYTES = 160 << 10, /* on average; with its table it fits the second-level cache */
    LEAST_BITS = 4,           /* of a bucket's number */
    MOST_BITS = 11,
    LARGE = 6 /* a bucket with this many times the average is divided */
};

struct partitioning {
    const struct grouping *grouping;
    struct group_carry carry;
    struct radix_partition partition;
    struct group_tables tables;
    int64_t large;          /* bucket, while it is divided */
    _Atomic int64_t groups; /* emitted */
};

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
                partitioning->tables.failed = true; /* too many to be numbered */
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

static void small_bucket(void *context, int member, int64_t bucket)
{
    struct partitioning *partitioning = context;
    const int64_t rows = rows_of(partitioning, bucket);
    struct group_table *table =
        rows > 0 && rows <= partitioning->tables.most ? group_tables_get(&partitioning->tables, member) : NULL;
    if (!table)
        return;
    struct bucket_reader reader = read_bucket(&partitioning->partition, bucket);
    group_table_empty(table);
    add_elements(partitioning, table, &reader);
    group_table_emit(table, atomic_fetch_add(&partitioning->groups, table->groups));
}

static void part_of_bucket(void *context, int member, int64_t part)
{
    struct partitioning *partitioning = context;
    struct group_table *table = group_tables_get(&partitioning->tables, member);
    if (!table)
        return;
    struct bucket_reader reader = read_bucket_part(&partitioning->partition, partitioning->large, part);
    add_elements(partitioning, table, &reader);
}

static enum status large_bucket(struct partitioning *partitioning, int64_t bucket)
{
    const struct workers *workers = partitioning->grouping->workers;
    group_tables_renew(&partitioning->tables, rows_of(partitioning, bucket), partitioning->partition.bits);
    partitioning->large = bucket;
    if (!workers_run(workers, partitioning->partition.parts.count, part_of_bucket, partitioning) ||
        !group_tables_merge(&partitioning->tables))
        return STATUS_CANCELLED;
    partitioning->groups += group_tables_emit(&partitioning->tables, partitioning->groups);
    return STATUS_OK;
}

static int bucket_bits(int64_t rows, size_t width)
{
    int bits = LEAST_BITS;
    while (bits < MOST_BITS && (rows * (int64_t)width) >> bits > BUCKET_BYTES)
        bits++;
    return bits;
}

static enum status take_buckets(struct partitioning *partitioning)
{
    const struct grouping *grouping = partitioning->grouping;
    struct radix_partition *partition = &partitioning->partition;
    const int64_t buckets = INT64_C(1) << partition->bits;
    const int64_t most = LARGE * (grouping->rows / buckets + 1);
    group_tables_renew(&partitioning->tables, most, partition->bits);
    if (!workers_run(grouping->workers, buckets, small_bucket, partitioning))
        return STATUS_CANCELLED;
    for (int64_t bucket = 0; bucket < buckets && !partitioning->tables.failed; bucket++) {
        if (rows_of(partitioning, bucket) > most && large_bucket(partitioning, bucket) != STATUS_OK)
            return STATUS_CANCELLED;
    }
    return STATUS_OK;
}

static enum status group_buckets(struct partitioning *partitioning)
{
    const struct grouping *grouping = partitioning->grouping;
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
        status = take_buckets(partitioning);
    radix_partition_free(&partitioning->partition);
    group_carry_free(&partitioning->carry);
    return status;
}

enum status group_partitioned(const struct grouping *grouping, int64_t *groups)
{
    struct partitioning partitioning = {.grouping = grouping};
    group_tables_init(&partitioning.tables, grouping);
    enum status status = group_buckets(&partitioning);
    group_tables_free(&partitioning.tables);
    if (status == STATUS_OK && workers_cancelled(grouping->workers))
        status = STATUS_CANCELLED;
    *groups = partitioning.groups;
    return status == STATUS_OK && partitioning.tables.failed ? STATUS_FAILED : status;
}
