/* Grouping by partitioning or sorting codes with the values of their rows. Each bucket is aggregated while it is in the
 * cache, as it is if its codes have few possible values, else sorted; its groups are written from the bucket's first
 * row on, and at the end the gaps between buckets are closed. Rows that are in the order of their codes already, as
 * those of a table sorted by its key, are aggregated as they are, in parts. */
#include "engine/grouping/group_bucket.h"
#include "engine/sorting/radix_sort.h"

#include "base/heap.h"

#include <pthread.h>
#include <stdlib.h>

enum { ORDERED_PART = 1 << 16 };

/* Consecutive result rows. */
struct stretch {
    int64_t at, count;
};

struct sorted {
    const struct grouping *grouping;
    struct group_carry carry;
    struct bucket_groups *buckets;
    void ***states; /* of each thread: a block's groups and the one before */
    _Atomic bool failed;
    pthread_mutex_t lock; /* of what follows */
    struct stretch *stretches;
    size_t count, capacity;
};

static void read_rows(void *context, int64_t row, int count, void *elements)
{
    const struct sorted *sorted = context;
    group_carry_read(&sorted->carry, row, count, elements);
}

/* A bucket being aggregated: all groups but the last have been emitted. */
struct bucket {
    struct found found;
    uint64_t codes[KEY_BLOCK + 1];
    uint32_t places[KEY_BLOCK + 1];
    bool open; /* the group at place 0 began in an earlier block */
};

static void add_block(const struct grouping *grouping, void **states, struct bucket *bucket, const uint64_t *codes,
                      const struct row_block *block)
{
    const int count = block->count;
    uint32_t places[KEY_BLOCK];
    uint32_t last = 0;
    if (!bucket->open) {
        bucket->codes[0] = codes[0];
        group_states_clear(grouping, states, 0, 1);
    }
    for (int i = 0; i < count; i++) {
        const bool another = codes[i] != bucket->codes[last];
        last += another;
        bucket->codes[last] = codes[i];
        places[i] = last;
    }
    group_states_clear(grouping, states, 1, last);
    group_states_add(grouping, states, NULL, places, block);
    bucket->open = true;
    bucket->found.count = (int)last;
    if (last == 0)
        return;
    bucket->found.codes = bucket->codes;
    grouping->emit(grouping->context, &bucket->found);
    bucket->found.at += (int64_t)last;
    bucket->codes[0] = bucket->codes[last];
    group_states_clear(grouping, states, 0, 1);
    group_states_merge(grouping, states, 0, states, last);
}

static void note_stretch(struct sorted *sorted, int64_t at, int64_t count)
{
    pthread_mutex_lock(&sorted->lock);
    *HEAP_PUSH(sorted->stretches, sorted->count, sorted->capacity) = (struct stretch){at, count};
    pthread_mutex_unlock(&sorted->lock);
}

/* Without elements, the rows from `row` on are the bucket. */
static void aggregate_bucket(void *context, int member, int64_t row, const void *elements, int64_t count)
{
    struct sorted *sorted = context;
    const struct grouping *grouping = sorted->grouping;
    if (!sorted->states[member])
        sorted->states[member] = group_states_new(grouping, KEY_BLOCK + 1);
    void **states = sorted->states[member];
    if (!states) {
        sorted->failed = true;
        return;
    }
    struct bucket bucket = {.found = {.at = row, .states = states}};
    bucket.found.places = bucket.places;
    for (uint32_t i = 0; i <= KEY_BLOCK; i++)
        bucket.places[i] = i;
    uint64_t codes[KEY_BLOCK], payloads[KEY_BLOCK];
    for (int64_t i = 0; i < count && !workers_cancelled(grouping->workers); i += KEY_BLOCK) {
        struct row_block block = {.row = row + i, .count = count - i < KEY_BLOCK ? (int)(count - i) : KEY_BLOCK};
        if (elements) {
            const char *from = (const char *)elements + (size_t)i * group_carry_width(&sorted->carry);
            group_carry_codes(&sorted->carry, from, block.count, codes);
            block.carry = &sorted->carry;
            block.payloads = group_carry_payloads(&sorted->carry, from, block.count, payloads);
        } else {
            keys_read(grouping->keys, 0, row + i, block.count, codes);
        }
        add_block(grouping, states, &bucket, codes, &block);
    }
    bucket.found.count = 1;
    bucket.found.codes = bucket.codes;
    grouping->emit(grouping->context, &bucket.found);
    note_stretch(sorted, row, bucket.found.at + 1 - row);
}

static bool take_bucket(void *context, int member, const struct radix_bucket *bucket)
{
    struct sorted *sorted = context;
    if (!bucket_groups_pays(bucket))
        return false;
    const int64_t groups = bucket_groups_emit(sorted->buckets, member, bucket);
    if (groups < 0)
        sorted->failed = true;
    else
        note_stretch(sorted, bucket->row, groups);
    return true;
}

static int by_position(const void *a, const void *b)
{
    const struct stretch *left = a, *right = b;
    return (left->at > right->at) - (left->at < right->at);
}

static int64_t close_gaps(struct sorted *sorted)
{
    const struct grouping *grouping = sorted->grouping;
    int64_t groups = 0;
    if (sorted->count > 0)
        qsort(sorted->stretches, sorted->count, sizeof *sorted->stretches, by_position);
    for (size_t i = 0; i < sorted->count && !workers_cancelled(grouping->workers); i++) {
        const struct stretch *stretch = &sorted->stretches[i];
        if (stretch->at > groups && grouping->move)
            grouping->move(grouping->context, stretch->at, groups, stretch->count);
        groups += stretch->count;
    }
    return groups;
}

/* Rows in the order of their codes, in parts that begin with a group. */
struct ordered {
    struct sorted *sorted;
    struct parts parts;
    int64_t *begins; /* of each part, and the end of the last */
    _Atomic bool disordered;
};

static uint64_t code_of(const struct grouping *grouping, int64_t row)
{
    uint64_t code;
    keys_read(grouping->keys, 0, row, 1, &code);
    return code;
}

static void check_part(void *context, struct part part)
{
    struct ordered *ordered = context;
    const struct grouping *grouping = ordered->sorted->grouping;
    const int64_t begin = part.begin, end = part.end;
    uint64_t codes[KEY_BLOCK], before = begin > 0 ? code_of(grouping, begin - 1) : 0;
    for (int64_t row = begin; row < end && !ordered->disordered; row += KEY_BLOCK) {
        const int count = end - row < KEY_BLOCK ? (int)(end - row) : KEY_BLOCK;
        keys_read(grouping->keys, 0, row, count, codes);
        bool ascend = before <= codes[0];
        for (int i = 1; i < count; i++)
            ascend &= codes[i - 1] <= codes[i];
        before = codes[count - 1];
        if (!ascend)
            ordered->disordered = true;
    }
}

/* The first row from `row` on that begins a group; rows are in order. */
static int64_t find_begin(const struct grouping *grouping, int64_t row)
{
    if (row == 0)
        return row;
    const uint64_t before = code_of(grouping, row - 1);
    int64_t end = grouping->rows;
    while (row < end) {
        const int64_t middle = row + (end - row) / 2;
        if (code_of(grouping, middle) == before)
            row = middle + 1;
        else
            end = middle;
    }
    return row;
}

static void aggregate_part(void *context, int member, int64_t part)
{
    const struct ordered *ordered = context;
    const int64_t begin = ordered->begins[part], count = ordered->begins[part + 1] - begin;
    if (count > 0)
        aggregate_bucket(ordered->sorted, member, begin, NULL, count);
}

/* Aggregates the rows if they are in order. */
static enum status aggregate_ordered(struct sorted *sorted, bool *is_ordered)
{
    const struct grouping *grouping = sorted->grouping;
    const struct workers *workers = grouping->workers;
    struct ordered ordered = {.sorted = sorted};
    ordered.parts = partition_rows(workers, grouping->rows, ORDERED_PART);
    bool done = workers_run_parts(workers, &ordered.parts, check_part, &ordered);
    *is_ordered = done && !ordered.disordered;
    if (!*is_ordered)
        return done ? STATUS_OK : STATUS_CANCELLED;
    ordered.begins = heap_array((size_t)ordered.parts.count + 1, sizeof *ordered.begins);
    for (int64_t part = 0; part <= ordered.parts.count; part++) {
        const int64_t begin = part_begin(&ordered.parts, part);
        const int64_t least = part > 0 ? ordered.begins[part - 1] : 0;
        ordered.begins[part] = begin > least ? find_begin(grouping, begin) : least;
    }
    done = workers_run(workers, ordered.parts.count, aggregate_part, &ordered);
    free(ordered.begins);
    return done ? STATUS_OK : STATUS_CANCELLED;
}

enum status group_sorted(const struct grouping *grouping, int64_t *groups)
{
    const int members = grouping->workers->threads;
    struct sorted sorted = {.grouping = grouping};
    if (!grouping->prepare(grouping->context, grouping->rows))
        return STATUS_FAILED;
    group_carry_init(&sorted.carry, grouping->keys, grouping->rows, grouping->group_aggs, grouping->group_agg_count, 1);
    sorted.buckets = bucket_groups_new(grouping, &sorted.carry);
    sorted.states = heap_array((size_t)members, sizeof *sorted.states);
    pthread_mutex_init(&sorted.lock, NULL);
    const struct radix radix = {
        .workers = grouping->workers,
        .rows = grouping->rows,
        .width = group_carry_width(&sorted.carry),
        .shift = sorted.carry.words > 1 ? 0 : sorted.carry.payload_bits,
        .bits = grouping->keys->word_bits[0],
        .read = read_rows,
        .emit = aggregate_bucket,
        .take = take_bucket,
        .take_bits = GROUP_BUCKET_BITS,
        .context = &sorted,
    };
    bool is_ordered = false;
    enum status status = aggregate_ordered(&sorted, &is_ordered);
    if (status == STATUS_OK && !is_ordered)
        status = radix_sort(&radix);
    if (sorted.failed)
        status = STATUS_FAILED;
    if (status == STATUS_OK) {
        *groups = close_gaps(&sorted);
        status = workers_cancelled(grouping->workers) ? STATUS_CANCELLED : STATUS_OK;
    }
    for (int i = 0; i < members; i++)
        group_states_free(grouping, sorted.states[i], KEY_BLOCK + 1);
    free(sorted.states);
    free(sorted.stretches);
    bucket_groups_free(sorted.buckets);
    group_carry_free(&sorted.carry);
    pthread_mutex_destroy(&sorted.lock);
    return status;
}
