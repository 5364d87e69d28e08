/* Finding a perfect hash function for the keys of a join (join_index.h). */
#include "base/hash.h"
#include "base/heap.h"
#include "base/integer.h"
#include "base/zeroed.h"
#include "engine/join_index/join_keys.h"

#include <stdlib.h>
#include <string.h>

/* Buckets have about 4 tuples, and half of the slots are taken: displacements are then found after a few attempts. A
 * partition's buckets and slots fit in a cache. */
enum { BUCKET_ROWS = 4, PARTITION_BITS = 13, SLOTS_TAKEN = 1, SLOTS = 2 };
enum { MAX_DISPLACEMENTS = 1 << 16, MAX_ATTEMPTS = 32 };
static const uint64_t LOW_31 = (UINT64_C(1) << JOIN_HASH_BITS) - 1, LOW_32 = UINT32_MAX;

/* A row, in the order of partitions and then of buckets. */
struct entry {
    uint64_t hash;
    int32_t row;
    int32_t first; /* the place of the first entry with this tuple */
};

struct hash_build {
    struct index_build *build;
    struct join_hash *hash;
    uint64_t *hashes; /* of each row; UINT64_MAX: a key is missing */
    int64_t partitions;
    int64_t *counts; /* of each part of rows, of each partition: entries, then where they go */
    int64_t *begins; /* of each partition, and the end of the last */
    struct entry *entries;
    int64_t *distinct;   /* tuples of each partition */
    _Atomic bool failed; /* another hash is needed */
};

/* An odd factor of 31 bits. */
static int64_t next_factor(uint64_t *state)
{
    return (int64_t)((splitmix64(state) & LOW_31) | (UINT64_C(1) << (JOIN_HASH_BITS - 1)) | 1);
}

static void choose_factors(struct join_index *index, uint64_t *state)
{
    for (size_t k = 0; k < index->key_count; k++) {
        index->keys[k].low_factor = next_factor(state);
        index->keys[k].high_factor = next_factor(state);
    }
    index->hash.mix[0] = next_factor(state);
    index->hash.mix[1] = next_factor(state);
}

static void add_key(const struct join_key *key, const int64_t *values, int count, uint64_t *hashes)
{
    const uint64_t low = (uint64_t)key->low_factor, high = (uint64_t)key->high_factor;
    for (int i = 0; i < count; i++) {
        const uint64_t value = (uint64_t)values[i];
        hashes[i] ^= (value & LOW_32) * low ^ (value >> 32) * high;
    }
}

static int64_t bucket_of(const struct join_hash *hash, uint64_t mixed)
{
    return (int64_t)((mixed >> JOIN_HASH_BITS) * (uint64_t)hash->buckets >> 32);
}

/* Hashes the rows of a part, and counts those of each partition. */
static void hash_part(void *context, struct part part)
{
    const struct hash_build *b = context;
    const struct index_build *build = b->build;
    const struct join_index *index = build->index;
    int64_t values[JOIN_BLOCK], end = part.end;
    bool present[JOIN_BLOCK];
    int64_t *counts = &b->counts[part.number * b->partitions];
    for (int64_t row = part.begin; row < end && !workers_cancelled(build->workers); row += JOIN_BLOCK) {
        const int count = (int)min_int64(end - row, JOIN_BLOCK);
        uint64_t *hashes = &b->hashes[row];
        memset(&build->ids[row], -1, (size_t)count * sizeof *build->ids);
        memset(hashes, 0, (size_t)count * sizeof *hashes);
        for (size_t k = 0; k < index->key_count; k++) {
            join_key_values(build->columns[k], row, count, values);
            add_key(&index->keys[k], values, count, hashes);
        }
        join_keys_present(build, row, count, present);
        for (int i = 0; i < count; i++) {
            const uint64_t h = hashes[i];
            hashes[i] = (h >> JOIN_HASH_BITS) * (uint64_t)b->hash->mix[0] ^ (h & LOW_31) * (uint64_t)b->hash->mix[1];
            if (present[i])
                counts[bucket_of(b->hash, hashes[i]) >> b->hash->partition_shift]++;
            else
                hashes[i] = UINT64_MAX;
        }
    }
}

/* Counts become places. */
static void place_partitions(struct hash_build *b)
{
    int64_t at = 0;
    for (int64_t partition = 0; partition < b->partitions; partition++) {
        b->begins[partition] = at;
        for (int64_t part = 0; part < b->build->parts.count; part++) {
            int64_t *count = &b->counts[part * b->partitions + partition];
            const int64_t before = at;
            at += *count;
            *count = before;
        }
    }
    b->begins[b->partitions] = at;
}

static void divide_part(void *context, int member, int64_t part)
{
    (void)member;
    const struct hash_build *b = context;
    const struct parts *parts = &b->build->parts;
    int64_t *places = &b->counts[part * b->partitions];
    const int64_t end = part_begin(parts, part + 1);
    for (int64_t row = part_begin(parts, part); row < end && join_goes_on(b->build, row); row++) {
        const uint64_t hash = b->hashes[row];
        if (hash != UINT64_MAX)
            b->entries[places[bucket_of(b->hash, hash) >> b->hash->partition_shift]++] =
                (struct entry){.hash = hash, .row = (int32_t)row};
    }
}

/* A partition's entries in the order of their buckets. */
static void sort_buckets(const struct hash_build *b, int64_t partition, int64_t *begins)
{
    const int64_t first = b->begins[partition], count = b->begins[partition + 1] - first;
    const int64_t buckets = INT64_C(1) << b->hash->partition_shift;
    struct entry *copy = heap_array((size_t)count + 1, sizeof *copy);
    memcpy(copy, &b->entries[first], (size_t)count * sizeof *copy);
    memset(begins, 0, ((size_t)buckets + 1) * sizeof *begins);
    for (int64_t i = 0; i < count; i++)
        begins[(bucket_of(b->hash, copy[i].hash) & (buckets - 1)) + 1]++;
    for (int64_t k = 0; k < buckets; k++)
        begins[k + 1] += begins[k];
    for (int64_t i = 0; i < count; i++)
        b->entries[first + begins[bucket_of(b->hash, copy[i].hash) & (buckets - 1)]++] = copy[i];
    for (int64_t k = buckets; k > 0; k--)
        begins[k] = begins[k - 1];
    begins[0] = 0;
    free(copy);
}

static bool same_tuple(const struct index_build *build, int32_t a, int32_t b)
{
    for (size_t k = 0; k < build->index->key_count; k++) {
        int64_t values[2];
        join_key_values(build->columns[k], a, 1, &values[0]);
        join_key_values(build->columns[k], b, 1, &values[1]);
        if (values[0] != values[1])
            return false;
    }
    return true;
}

/* Links the entries begin .. end-1 of a bucket to the first of each tuple; returns how many tuples there are. The first
 * ones found are listed in `firsts`. Only tuples with different x can get different slots. */
static int64_t link_bucket(struct hash_build *b, int64_t begin, int64_t end)
{
    enum { MOST = 256 };
    int64_t firsts[MOST], count = 0;
    for (int64_t i = begin; i < end && join_goes_on(b->build, i); i++) {
        struct entry *entry = &b->entries[i];
        int64_t k = 0;
        while (k < count && (b->entries[firsts[k]].hash & LOW_31) != (entry->hash & LOW_31))
            k++;
        const bool found = k < count;
        if ((found && (b->entries[firsts[k]].hash != entry->hash ||
                       !same_tuple(b->build, b->entries[firsts[k]].row, entry->row))) ||
            (!found && count == MOST)) {
            b->failed = true;
            return 0;
        }
        if (!found)
            firsts[count++] = i;
        entry->first = (int32_t)firsts[k];
    }
    return count;
}

static void link_partition(void *context, int member, int64_t partition)
{
    (void)member;
    struct hash_build *b = context;
    const int64_t buckets = INT64_C(1) << b->hash->partition_shift;
    int64_t *begins = heap_array((size_t)buckets + 1, sizeof *begins);
    sort_buckets(b, partition, begins);
    for (int64_t k = 0; k < buckets && !b->failed; k++)
        b->distinct[partition] +=
            link_bucket(b, b->begins[partition] + begins[k], b->begins[partition] + begins[k + 1]);
    free(begins);
}

static int64_t displacement(int attempt)
{
    return (int64_t)(((uint64_t)attempt * UINT64_C(0x9E3779B97F4A7C15) >> (64 - JOIN_HASH_BITS)) | 1);
}

static int64_t slot_of(uint64_t hash, int64_t multiplier, int64_t slots)
{
    const uint64_t y = ((hash & LOW_31) * (uint64_t)multiplier >> 15) & LOW_31;
    return (int64_t)(y * (uint64_t)slots >> JOIN_HASH_BITS);
}

/* The tuples of a partition, by buckets. */
struct bucket {
    int64_t begin, end; /* entries */
    int64_t tuples;
};

/* A partition while its slots are given away. */
struct placing {
    const struct hash_build *b;
    uint8_t *taken;
    int64_t slots;
};

/* Takes the slots of the bucket's tuples; false, and takes none, if one is taken already. */
static bool take_slots(const struct placing *placing, const struct bucket *bucket, int64_t multiplier)
{
    const struct entry *entries = placing->b->entries;
    int64_t i = bucket->begin;
    for (; i < bucket->end; i++) {
        const int64_t slot = slot_of(entries[i].hash, multiplier, placing->slots);
        if (entries[i].first != i)
            continue;
        if (placing->taken[slot])
            break;
        placing->taken[slot] = 1;
    }
    if (i == bucket->end)
        return true;
    while (i-- > bucket->begin) {
        if (entries[i].first == i)
            placing->taken[slot_of(entries[i].hash, multiplier, placing->slots)] = 0;
    }
    return false;
}

/* Finds a displacement, 0 for a bucket without tuples; -1: there is none. */
static int64_t place_bucket(const struct placing *placing, const struct bucket *bucket)
{
    for (int attempt = 1; bucket->tuples > 0; attempt++) {
        if (attempt == MAX_DISPLACEMENTS)
            return -1;
        if (take_slots(placing, bucket, displacement(attempt)))
            return displacement(attempt);
    }
    return 0;
}

static int compare_buckets(const void *a, const void *b)
{
    const struct bucket *first = a, *second = b;
    if (first->tuples != second->tuples)
        return first->tuples < second->tuples ? 1 : -1;
    return (first->begin > second->begin) - (first->begin < second->begin);
}

/* The partition's buckets that have tuples, those with most first. */
static int64_t list_buckets(const struct hash_build *b, int64_t partition, struct bucket *buckets)
{
    int64_t count = 0, end = b->begins[partition + 1];
    for (int64_t i = b->begins[partition]; i < end;) {
        struct bucket *bucket = &buckets[count++];
        const int64_t number = bucket_of(b->hash, b->entries[i].hash);
        *bucket = (struct bucket){.begin = i};
        for (; i < end && bucket_of(b->hash, b->entries[i].hash) == number; i++)
            bucket->tuples += b->entries[i].first == i;
        bucket->end = i;
    }
    qsort(buckets, (size_t)count, sizeof *buckets, compare_buckets);
    return count;
}

/* Sets the ids of the bucket's rows, and the keys of its slots. */
static void fill_slots(const struct hash_build *b, const struct bucket *bucket, int64_t multiplier, int64_t first_id)
{
    const struct index_build *build = b->build;
    for (int64_t i = bucket->begin; i < bucket->end; i++) {
        const struct entry *entry = &b->entries[i];
        const int64_t id = first_id + slot_of(entry->hash, multiplier, b->hash->partition_slots);
        build->ids[entry->row] = (int32_t)id;
        for (size_t k = 0; k < build->index->key_count && entry->first == i; k++) {
            int64_t value;
            join_key_values(build->columns[k], entry->row, 1, &value);
            column_set_int(b->hash->keys[k], id, value);
        }
    }
}

static void place_partition(void *context, int member, int64_t partition)
{
    (void)member;
    struct hash_build *b = context;
    const int64_t most = INT64_C(1) << b->hash->partition_shift;
    struct bucket *buckets = heap_array((size_t)most, sizeof *buckets);
    struct placing placing = {.b = b, .slots = b->hash->partition_slots};
    placing.taken = heap_array((size_t)placing.slots + 1, 1);
    const int64_t count = list_buckets(b, partition, buckets), first_id = partition * placing.slots;
    for (int64_t k = 0; k < count && !b->failed; k++) {
        const int64_t multiplier = place_bucket(&placing, &buckets[k]);
        if (multiplier < 0) {
            b->failed = true;
            break;
        }
        column_set_int(b->hash->displacements, bucket_of(b->hash, b->entries[buckets[k].begin].hash), multiplier);
        fill_slots(b, &buckets[k], multiplier, first_id);
    }
    free(placing.taken);
    free(buckets);
}

/* A column of integers from lo to hi; NULL: no memory. */
static struct column *integers(int64_t rows, int64_t lo, int64_t hi)
{
    const enum type type = lo >= INT32_MIN && hi <= INT32_MAX ? TYPE_I32 : TYPE_I64;
    struct column *column = column_reserve(type, type, rows);
    if (!column)
        return NULL;
    column_set_range(column, true, min_int64(lo, 0), max_int64(hi, 0));
    return column;
}

static enum status reserve_slots(struct hash_build *b)
{
    struct join_index *index = b->build->index;
    struct join_hash *hash = b->hash;
    int64_t most = 0;
    for (int64_t partition = 0; partition < b->partitions; partition++)
        most = max_int64(most, b->distinct[partition]);
    hash->partition_slots = most * SLOTS / SLOTS_TAKEN + 1;
    index->ids = hash->partition_slots * b->partitions;
    if (index->ids > INT32_MAX - 3)
        return STATUS_FAILED;
    const int64_t id_bytes = (int64_t)(sizeof(int32_t) + index->key_count * sizeof(int64_t));
    if (!join_has_memory(index, hash->buckets * (int64_t)sizeof(int32_t) + index->ids * id_bytes))
        return STATUS_FAILED;
    hash->displacements = integers(hash->buckets, 0, INT32_MAX);
    hash->keys = heap_array(index->key_count, sizeof(struct column *));
    bool made = hash->displacements;
    for (size_t k = 0; k < index->key_count; k++) {
        hash->keys[k] = integers(index->ids + 1, index->keys[k].lo, index->keys[k].hi);
        made = made && hash->keys[k];
    }
    return made ? STATUS_OK : STATUS_FAILED;
}

static enum status place_tuples(struct hash_build *b)
{
    const struct workers *workers = b->build->workers;
    struct join_hash *hash = b->hash;
    const enum status status = reserve_slots(b);
    if (status != STATUS_OK)
        return status;
    const bool done = workers_run(workers, b->partitions, place_partition, b);
    column_finish(hash->displacements, hash->buckets);
    for (size_t k = 0; k < b->build->index->key_count; k++)
        column_finish(hash->keys[k], b->build->index->ids + 1);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

/* Releases what a hash that failed has left. */
static void forget_hash(struct hash_build *b)
{
    for (size_t k = 0; b->hash->keys && k < b->build->index->key_count; k++)
        column_unref(b->hash->keys[k]);
    free(b->hash->keys);
    column_unref(b->hash->displacements);
    b->hash->keys = NULL;
    b->hash->displacements = NULL;
}

static enum status try_hash(struct hash_build *b)
{
    const struct index_build *build = b->build;
    const struct workers *workers = build->workers;
    b->failed = false;
    memset(b->counts, 0, (size_t)(build->parts.count * b->partitions) * sizeof *b->counts);
    memset(b->distinct, 0, (size_t)b->partitions * sizeof *b->distinct);
    if (!workers_run_parts(workers, &build->parts, hash_part, b))
        return STATUS_CANCELLED;
    place_partitions(b);
    if (!workers_run(workers, build->parts.count, divide_part, b) ||
        !workers_run(workers, b->partitions, link_partition, b))
        return STATUS_CANCELLED;
    return b->failed ? STATUS_OK : place_tuples(b);
}

static void plan_partitions(struct hash_build *b)
{
    const int64_t rows = b->build->index->rows;
    int shift = 0;
    while (shift < PARTITION_BITS && (INT64_C(1) << shift) < rows / BUCKET_ROWS + 1)
        shift++;
    b->partitions = divide_up(rows / BUCKET_ROWS + 1, INT64_C(1) << shift);
    b->hash->partition_shift = shift;
    b->hash->buckets = b->partitions << shift;
}

enum status join_hash_build(struct index_build *build)
{
    struct hash_build b = {.build = build, .hash = &build->index->hash};
    const size_t rows = (size_t)build->index->rows + 1;
    uint64_t state = 0;
    plan_partitions(&b);
    b.counts = heap_array((size_t)(build->parts.count * b.partitions) + 1, sizeof *b.counts);
    b.begins = heap_array((size_t)b.partitions + 1, sizeof *b.begins);
    b.distinct = heap_array((size_t)b.partitions, sizeof *b.distinct);
    b.hashes = zeroed_alloc(rows * sizeof *b.hashes);
    b.entries = zeroed_alloc(rows * sizeof *b.entries);
    enum status status = b.hashes && b.entries ? STATUS_OK : STATUS_FAILED;
    b.failed = true;
    for (int attempt = 0; attempt < MAX_ATTEMPTS && status == STATUS_OK && b.failed; attempt++) {
        forget_hash(&b);
        choose_factors(build->index, &state);
        status = try_hash(&b);
    }
    if (b.failed && status == STATUS_OK)
        status = STATUS_FAILED;
    zeroed_free(b.hashes, rows * sizeof *b.hashes);
    zeroed_free(b.entries, rows * sizeof *b.entries);
    free(b.counts);
    free(b.begins);
    free(b.distinct);
    return status;
}
