#include "engine/grouping/group_bucket.h"

#include "base/cpu_dispatch.h"
#include "base/heap.h"
#include "engine/sorting/radix_partition.h"

#include <stdlib.h>

enum {
    CODES_PER_ROW = 2, /* at most */
    ADD_ROWS = 256     /* at once, so that a block stays in the first-level cache beside the states */
};

/* A thread's states of a bucket. */
struct member {
    void **states;
    bool used;
};

struct bucket_groups {
    const struct grouping *grouping;
    const struct group_carry *carry;
    struct member *members;
    _Atomic bool failed;
};

struct bucket_groups *bucket_groups_new(const struct grouping *grouping, const struct group_carry *carry)
{
    struct bucket_groups *buckets = heap_array(1, sizeof *buckets);
    buckets->grouping = grouping;
    buckets->carry = carry;
    buckets->members = heap_array((size_t)grouping->workers->threads, sizeof *buckets->members);
    return buckets;
}

void bucket_groups_free(struct bucket_groups *buckets)
{
    for (int i = 0; i < buckets->grouping->workers->threads; i++)
        group_states_free(buckets->grouping, buckets->members[i].states, INT64_C(1) << GROUP_BUCKET_BITS);
    free(buckets->members);
    free(buckets);
}

bool bucket_groups_pays(const struct radix_bucket *bucket)
{
    return bucket->bits <= GROUP_BUCKET_BITS && (INT64_C(1) << bucket->bits) / CODES_PER_ROW <= bucket->count;
}

/* Clears the thread's states of a bucket; NULL: no memory. */
static struct member *begin_member(struct bucket_groups *buckets, int number, const struct radix_bucket *bucket)
{
    struct member *member = &buckets->members[number];
    if (!member->states)
        member->states = group_states_new(buckets->grouping, INT64_C(1) << GROUP_BUCKET_BITS);
    if (!member->states) {
        buckets->failed = true;
        return NULL;
    }
    if (!member->used)
        group_states_clear(buckets->grouping, member->states, 0, INT64_C(1) << bucket->bits);
    member->used = true;
    return member;
}

CPU_CLONES static void places_of(const uint64_t *restrict codes, uint64_t least, int count, uint32_t *restrict places)
{
    for (int i = 0; i < count; i++)
        places[i] = (uint32_t)(codes[i] - least);
}

static void add_elements(const struct bucket_groups *buckets, const struct member *member, struct bucket_reader *reader,
                         uint64_t least)
{
    const struct grouping *grouping = buckets->grouping;
    const size_t width = group_carry_width(buckets->carry);
    uint64_t codes[ADD_ROWS], payloads[ADD_ROWS];
    uint32_t places[ADD_ROWS];
    int count;
    for (const char *piece; (piece = bucket_reader_next(reader, &count)) && !workers_cancelled(grouping->workers);) {
        for (int i = 0; i < count; i += ADD_ROWS) {
            const char *from = piece + (size_t)i * width;
            struct row_block block = {.carry = buckets->carry, .count = count - i < ADD_ROWS ? count - i : ADD_ROWS};
            block.payloads = group_carry_payloads(buckets->carry, from, block.count, payloads);
            group_carry_codes(buckets->carry, from, block.count, codes);
            places_of(codes, least, block.count, places);
            group_states_add(grouping, member->states, NULL, places, &block);
        }
    }
}

/* A bucket whose parts of the rows are added by all threads. */
struct large {
    struct bucket_groups *buckets;
    const struct radix_bucket *bucket;
};

static void add_part(void *context, int number, int64_t part)
{
    const struct large *large = context;
    const struct radix_bucket *bucket = large->bucket;
    const struct member *member = begin_member(large->buckets, number, bucket);
    struct bucket_reader reader = read_bucket_part(bucket->partition, bucket->number, part);
    if (member)
        add_elements(large->buckets, member, &reader, bucket->least);
}

/* Adds the rows with all threads, and merges what they have into the states of thread 0. */
static void add_large(struct bucket_groups *buckets, const struct radix_bucket *bucket)
{
    const struct grouping *grouping = buckets->grouping;
    struct large large = {buckets, bucket};
    struct member *into = begin_member(buckets, 0, bucket);
    (void)workers_run(grouping->workers, bucket->partition->parts.count, add_part, &large);
    if (buckets->failed)
        return;
    into->used = false;
    for (int i = 1; i < grouping->workers->threads; i++) {
        struct member *from = &buckets->members[i];
        if (!from->used)
            continue;
        from->used = false;
        for (int64_t place = 0; place < INT64_C(1) << bucket->bits; place++)
            group_states_merge(grouping, into->states, place, from->states, place);
    }
}

static int64_t emit_groups(const struct grouping *grouping, const struct member *member,
                           const struct radix_bucket *bucket)
{
    const int64_t *counts = member->states[0];
    uint64_t codes[KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    struct found found = {.at = bucket->row, .codes = codes, .states = member->states, .places = places};
    const int64_t end = INT64_C(1) << bucket->bits;
    for (int64_t place = 0; place < end; place++) {
        codes[found.count] = bucket->least + (uint64_t)place;
        places[found.count] = (uint32_t)place;
        found.count += counts[place] > 0;
        if (found.count == KEY_BLOCK || (place == end - 1 && found.count > 0)) {
            grouping->emit(grouping->context, &found);
            found.at += found.count;
            found.count = 0;
        }
    }
    return found.at - bucket->row;
}

int64_t bucket_groups_emit(struct bucket_groups *buckets, int member, const struct radix_bucket *bucket)
{
    if (member < 0) {
        add_large(buckets, bucket);
        member = 0;
    } else if (begin_member(buckets, member, bucket)) {
        struct bucket_reader reader = read_bucket(bucket->partition, bucket->number);
        add_elements(buckets, &buckets->members[member], &reader, bucket->least);
        buckets->members[member].used = false;
    }
    return buckets->failed ? -1 : emit_groups(buckets->grouping, &buckets->members[member], bucket);
}
