/* The first row of each different key of many possible values: rows are partitioned by their codes into buckets that
 * fit the cache, and a bucket's codes are looked up in a hash table, in the order of rows. */
#include "engine/grouping/first_rows.h"
#include "engine/grouping/group_carry.h"
#include "engine/sorting/radix_partition.h"
#include "engine/sorting/radix_sort.h"

#include "base/heap.h"
#include "base/zeroed.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BITS = 64, PART_WORDS = 1 << 12, SLOTS_PER_ROW = 2 /* at least */ };

/* A thread's memory. */
struct member {
    uint64_t *kept; /* a bitmap of rows; NULL until it has found one */
    uint64_t *slots;
    size_t slot_count;
    int64_t found;
};

struct partitioning {
    const struct workers *workers;
    struct group_carry carry;
    struct member *members;
    size_t kept_bytes;
    _Atomic uint64_t *kept;
    _Atomic bool failed;
};

static void read_rows(void *context, int64_t row, int count, void *elements)
{
    const struct partitioning *partitioning = context;
    group_carry_read(&partitioning->carry, row, count, elements);
}

static bool get_kept(struct partitioning *partitioning, struct member *member)
{
    if (!member->kept)
        member->kept = zeroed_alloc(partitioning->kept_bytes);
    if (!member->kept)
        partitioning->failed = true;
    return !partitioning->failed;
}

static inline void keep(struct member *member, uint64_t row)
{
    member->kept[row / WORD_BITS] |= UINT64_C(1) << (row % WORD_BITS);
    member->found++;
}

/* Reads a block's codes and row numbers. */
static void read_block(const struct partitioning *partitioning, const void *elements, int count, uint64_t *codes,
                       uint64_t *rows)
{
    uint64_t space[KEY_BLOCK];
    const uint64_t *payloads = group_carry_payloads(&partitioning->carry, elements, count, space);
    group_carry_codes(&partitioning->carry, elements, count, codes);
    group_carry_values(&partitioning->carry, NULL, payloads, count, rows);
}

/* Sorted elements: the first of equal ones has the first row. */
static void keep_sorted(void *context, int number, int64_t row, const void *elements, int64_t count)
{
    (void)row;
    struct partitioning *partitioning = context;
    struct member *member = &partitioning->members[number];
    const size_t width = group_carry_width(&partitioning->carry);
    uint64_t codes[KEY_BLOCK], rows[KEY_BLOCK], before = 0;
    if (!get_kept(partitioning, member))
        return;
    for (int64_t at = 0; at < count && !workers_cancelled(partitioning->workers); at += KEY_BLOCK) {
        const int block = count - at < KEY_BLOCK ? (int)(count - at) : KEY_BLOCK;
        read_block(partitioning, (const char *)elements + (size_t)at * width, block, codes, rows);
        for (int i = 0; i < block; i++) {
            if ((at == 0 && i == 0) || codes[i] != before)
                keep(member, rows[i]);
            before = codes[i];
        }
    }
}

/* Fibonacci hashing; a slot holds the code's distance from the least one, plus 1. */
static void look_up(struct member *member, int slot_bits, uint64_t least, const uint64_t *codes, const uint64_t *rows,
                    int count)
{
    uint64_t *slots = member->slots;
    const size_t mask = ((size_t)1 << slot_bits) - 1;
    for (int i = 0; i < count; i++) {
        const uint64_t code = codes[i] - least + 1;
        size_t slot = (size_t)(code * UINT64_C(0x9e3779b97f4a7c15) >> (WORD_BITS - slot_bits));
        while (slots[slot] != 0 && slots[slot] != code)
            slot = (slot + 1) & mask;
        if (slots[slot] == code)
            continue;
        slots[slot] = code;
        keep(member, rows[i]);
    }
}

/* Clears slots for a bucket; returns the bits of their number. */
static int clear_slots(struct member *member, int64_t rows)
{
    int bits = 1;
    while (INT64_C(1) << bits < SLOTS_PER_ROW * rows)
        bits++;
    const size_t count = (size_t)1 << bits;
    if (count > member->slot_count) {
        free(member->slots);
        member->slots = heap_array(count, sizeof *member->slots);
        member->slot_count = count;
    } else {
        memset(member->slots, 0, count * sizeof *member->slots);
    }
    return bits;
}

static bool take_bucket(void *context, int number, const struct radix_bucket *bucket)
{
    struct partitioning *partitioning = context;
    if (bucket->bits > 0 && (number < 0 || bucket->bits == WORD_BITS))
        return false;
    struct member *member = &partitioning->members[number < 0 ? 0 : number];
    if (!get_kept(partitioning, member))
        return true;
    const size_t width = group_carry_width(&partitioning->carry);
    const int slot_bits = bucket->bits > 0 ? clear_slots(member, bucket->count) : 0;
    uint64_t codes[KEY_BLOCK], rows[KEY_BLOCK];
    struct bucket_reader reader = read_bucket(bucket->partition, bucket->number);
    int count;
    for (const char *piece;
         (piece = bucket_reader_next(&reader, &count)) && !workers_cancelled(partitioning->workers);) {
        for (int i = 0; i < count; i += KEY_BLOCK) {
            const int block = count - i < KEY_BLOCK ? count - i : KEY_BLOCK;
            read_block(partitioning, piece + (size_t)i * width, block, codes, rows);
            if (bucket->bits > 0) {
                look_up(member, slot_bits, bucket->least, codes, rows, block);
                continue;
            }
            keep(member, rows[0]); /* its codes are equal */
            return true;
        }
    }
    return true;
}

static void join_part(void *context, struct part part)
{
    const struct partitioning *partitioning = context;
    for (int64_t i = part.begin; i < part.end; i++) {
        uint64_t kept = 0;
        for (int thread = 0; thread < partitioning->workers->threads; thread++) {
            if (partitioning->members[thread].kept)
                kept |= partitioning->members[thread].kept[i];
        }
        atomic_store_explicit(&partitioning->kept[i], kept, memory_order_relaxed);
    }
}

enum status first_rows_partitioned(const struct keys *keys, int64_t rows, const struct workers *workers,
                                   _Atomic uint64_t *kept, int64_t *count)
{
    const struct group_aggregate first = {.kind = AGG_FIRST};
    const int64_t words = rows / WORD_BITS + 1;
    struct partitioning partitioning = {.workers = workers,
                                        .members = heap_array((size_t)workers->threads, sizeof *partitioning.members),
                                        .kept_bytes = (size_t)words * sizeof(uint64_t),
                                        .kept = kept};
    group_carry_init(&partitioning.carry, keys, rows, &first, 1, 1);
    const struct radix radix = {
        .workers = workers,
        .rows = rows,
        .width = group_carry_width(&partitioning.carry),
        .shift = partitioning.carry.words > 1 ? 0 : partitioning.carry.payload_bits,
        .bits = keys->word_bits[0],
        .read = read_rows,
        .emit = keep_sorted,
        .take = take_bucket,
        .context = &partitioning,
    };
    enum status status = radix_sort(&radix);
    if (status == STATUS_OK && !workers_run_rows(workers, words, PART_WORDS, join_part, &partitioning))
        status = STATUS_CANCELLED;
    *count = 0;
    for (int i = 0; i < workers->threads; i++) {
        *count += partitioning.members[i].found;
        zeroed_free(partitioning.members[i].kept, partitioning.kept_bytes);
        free(partitioning.members[i].slots);
    }
    free(partitioning.members);
    group_carry_free(&partitioning.carry);
    return status == STATUS_OK && partitioning.failed ? STATUS_FAILED : status;
}
