/* Grouping by a hash table of each thread, for few groups: with more than fit the cache, partitioning rows first is
 * faster. Groups of keys of one word are emitted in order. */
#include "engine/grouping/group_tables.h"
#include "engine/sorting/radix_sort.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum {
    PART_ROWS = 1 << 15,
    FEW_GROUPS = 1 << 13, /* of a thread: their states fit a cache */
    FEW_ROWS = 1 << 16,   /* of several words are not worth partitioning */
    EMIT_GROUPS = 1 << 12
};

struct hashing {
    const struct grouping *grouping;
    struct group_tables tables;
    int64_t few; /* groups of a thread */
    _Atomic bool too_many;
    struct radix_pair *groups; /* code, table and place of each */
    struct radix_pair *sorted;
    _Atomic bool failed;
};

static void read_keys(const struct keys *keys, int64_t row, int count, uint64_t *words)
{
    uint64_t codes[KEY_BLOCK];
    if (keys->words == 1)
        keys_read(keys, 0, row, count, words);
    for (int word = 0; word < keys->words && keys->words > 1; word++) {
        keys_read(keys, word, row, count, codes);
        for (int i = 0; i < count; i++)
            words[i * keys->words + word] = codes[i];
    }
    group_keys_mix(words, (size_t)keys->words, keys->words, count);
}

static void add_part(void *context, struct part part)
{
    struct hashing *hashing = context;
    const struct grouping *grouping = hashing->grouping;
    struct group_table *table = group_tables_get(&hashing->tables, part.member);
    uint64_t words[CARRIED_WORDS * KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    for (int64_t row = part.begin;
         table && row < part.end && !hashing->too_many && !workers_cancelled(grouping->workers); row += KEY_BLOCK) {
        const int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
        read_keys(grouping->keys, row, count, words);
        if (group_table_find(table, words, (size_t)grouping->keys->words, count, places) &&
            table->groups <= hashing->few)
            group_states_add(grouping, table->states, NULL, places, &(struct row_block){.row = row, .count = count});
        else
            hashing->too_many = true;
    }
}

/* ---- in order ---- */

static void read_groups(void *context, int64_t row, int count, void *elements)
{
    const struct hashing *hashing = context;
    memcpy(elements, hashing->groups + row, (size_t)count * sizeof *hashing->groups);
}

static void store_groups(void *context, int member, int64_t row, const void *elements, int64_t count)
{
    (void)member;
    const struct hashing *hashing = context;
    memcpy(hashing->sorted + row, elements, (size_t)count * sizeof *hashing->sorted);
}

static void list_groups(const struct hashing *hashing)
{
    int64_t count = 0;
    for (int i = 0; i < hashing->grouping->workers->threads; i++) {
        const struct group_table *table = hashing->tables.at[i];
        for (int64_t place = 0; table && place < table->groups; place++)
            hashing->groups[count++] =
                (struct radix_pair){group_table_code(table, place), (uint64_t)i << 32 | (uint64_t)place};
    }
}

/* Emits groups with copies of their states, which come from several tables. */
static void emit_part(void *context, struct part part)
{
    struct hashing *hashing = context;
    const struct grouping *grouping = hashing->grouping;
    void **states = group_states_new(grouping, KEY_BLOCK);
    if (!states) {
        hashing->failed = true;
        return;
    }
    uint64_t codes[KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    struct found found = {.codes = codes, .states = states, .places = places};
    for (found.at = part.begin; found.at < part.end; found.at += found.count) {
        found.count = part.end - found.at < KEY_BLOCK ? (int)(part.end - found.at) : KEY_BLOCK;
        group_states_clear(grouping, states, 0, found.count);
        for (int i = 0; i < found.count; i++) {
            const struct radix_pair *group = &hashing->sorted[found.at + i];
            codes[i] = group->key;
            places[i] = (uint32_t)i;
            group_states_merge(grouping, states, i, hashing->tables.at[group->payload >> 32]->states,
                               (int64_t)(uint32_t)group->payload);
        }
        grouping->emit(grouping->context, &found);
    }
    group_states_free(grouping, states, KEY_BLOCK);
}

static enum status emit_in_order(struct hashing *hashing, int64_t count)
{
    const struct grouping *grouping = hashing->grouping;
    const struct radix radix = {
        .workers = grouping->workers,
        .rows = count,
        .width = sizeof(struct radix_pair),
        .bits = grouping->keys->word_bits[0],
        .read = read_groups,
        .emit = store_groups,
        .context = hashing,
    };
    hashing->groups = heap_array((size_t)count, sizeof *hashing->groups);
    hashing->sorted = heap_array((size_t)count, sizeof *hashing->sorted);
    list_groups(hashing);
    enum status status = radix_sort(&radix);
    if (status == STATUS_OK && !workers_run_rows(grouping->workers, count, EMIT_GROUPS, emit_part, hashing))
        status = STATUS_CANCELLED;
    free(hashing->groups);
    free(hashing->sorted);
    return status == STATUS_OK && hashing->failed ? STATUS_FAILED : status;
}

static enum status emit_groups(struct hashing *hashing, int64_t *groups)
{
    const struct grouping *grouping = hashing->grouping;
    if (!group_tables_merge(&hashing->tables))
        return STATUS_CANCELLED;
    *groups = group_tables_count(&hashing->tables);
    if (hashing->tables.failed || !grouping->prepare(grouping->context, *groups))
        return STATUS_FAILED;
    if (grouping->keys->words == 1)
        return emit_in_order(hashing, *groups);
    group_tables_emit(&hashing->tables, 0);
    return STATUS_OK;
}

enum status group_hash(const struct grouping *grouping, bool *few, int64_t *groups)
{
    const bool all = grouping->keys->words > 1 && grouping->rows <= FEW_ROWS;
    struct hashing hashing = {.grouping = grouping, .few = all ? grouping->rows : FEW_GROUPS};
    group_tables_init(&hashing.tables, grouping);
    group_tables_renew(&hashing.tables, all ? grouping->rows : FEW_GROUPS + KEY_BLOCK, 0);
    enum status status = STATUS_OK;
    if (!workers_run_rows(grouping->workers, grouping->rows, PART_ROWS, add_part, &hashing))
        status = STATUS_CANCELLED;
    else if (hashing.tables.failed)
        status = STATUS_FAILED;
    *few = !hashing.too_many;
    if (status == STATUS_OK && *few)
        status = emit_groups(&hashing, groups);
    group_tables_free(&hashing.tables);
    return status;
}
