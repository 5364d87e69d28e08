/* Grouping by hash tables with linear probing, one for each thread. They never grow: with more groups than fit the
 * cache sorting is faster. */
#include "engine/grouping/grouping.h"
#include "engine/sorting/radix_sort.h"

#include "base/heap.h"

#include <stdlib.h>
#include <string.h>

enum {
    PART_ROWS = 1 << 15,
    SLOT_BITS = 14,
    SLOTS = 1 << SLOT_BITS,
    MOST_GROUPS = SLOTS / 2 /* of a thread */
};

struct table {
    uint64_t codes[SLOTS];
    uint32_t places[SLOTS]; /* of the code's group, plus 1; 0: a free slot */
    uint32_t groups;
    uint64_t group_codes[MOST_GROUPS];
    void **states;
};

struct hashing {
    const struct grouping *grouping;
    struct table **tables; /* of each thread; NULL until it has run a part */
    _Atomic bool too_many, failed;
    struct radix_pair *groups; /* code, thread and place of all threads' groups */
    struct radix_pair *sorted;
};

/* Fibonacci hashing (D. E. Knuth, The Art of Computer Programming, 6.4): a multiplication by 2^64 divided by the golden
 * ratio mixes the topmost bits well. */
static inline size_t first_slot(uint64_t code)
{
    return (size_t)(code * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS));
}

/* Finds the places of codes, adding new ones; false if there are too many. */
static bool look_up(struct table *table, const uint64_t *codes, int count, uint32_t *places)
{
    for (int i = 0; i < count; i++) {
        size_t slot = first_slot(codes[i]);
        while (table->places[slot] != 0 && table->codes[slot] != codes[i])
            slot = (slot + 1) % SLOTS;
        if (table->places[slot] == 0) {
            if (table->groups == MOST_GROUPS)
                return false;
            table->codes[slot] = codes[i];
            table->group_codes[table->groups] = codes[i];
            table->places[slot] = ++table->groups;
        }
        places[i] = table->places[slot] - 1;
    }
    return true;
}

static struct table *get_table(struct hashing *hashing, int member)
{
    if (!hashing->tables[member]) {
        struct table *table = heap_array(1, sizeof *table);
        table->states = group_states_new(hashing->grouping, MOST_GROUPS);
        if (!table->states) {
            hashing->failed = true;
            free(table);
            return NULL;
        }
        group_states_clear(hashing->grouping, table->states, 0, MOST_GROUPS);
        hashing->tables[member] = table;
    }
    return hashing->tables[member];
}

static void add_part(void *context, struct part part)
{
    struct hashing *hashing = context;
    struct table *table = get_table(hashing, part.member);
    uint64_t codes[KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    for (int64_t row = part.begin;
         table && row < part.end && !hashing->too_many && !workers_cancelled(hashing->grouping->workers);
         row += KEY_BLOCK) {
        const int count = part.end - row < KEY_BLOCK ? (int)(part.end - row) : KEY_BLOCK;
        keys_read(hashing->grouping->keys, 0, row, count, codes);
        if (look_up(table, codes, count, places))
            group_states_add(hashing->grouping, table->states, NULL, places,
                             &(struct row_block){.row = row, .count = count});
        else
            hashing->too_many = true;
    }
}

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

/* Lists the groups of all threads; a group counts once for each thread that has it. */
static int64_t list_groups(struct hashing *hashing)
{
    int64_t count = 0;
    for (int i = 0; i < hashing->grouping->workers->threads; i++) {
        const struct table *table = hashing->tables[i];
        for (uint32_t place = 0; table && place < table->groups; place++)
            hashing->groups[count++] = (struct radix_pair){table->group_codes[place], (uint64_t)i << 32 | place};
    }
    return count;
}

static int64_t different_codes(const struct radix_pair *sorted, int64_t count)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < count; i++)
        groups += i == 0 || sorted[i].key != sorted[i - 1].key;
    return groups;
}

static void flush(const struct grouping *grouping, struct found *found)
{
    if (found->count > 0)
        grouping->emit(grouping->context, found);
    group_states_clear(grouping, (void **)found->states, 0, found->count);
    found->at += found->count;
    found->count = 0;
}

static enum status emit_groups(const struct hashing *hashing, int64_t count, int64_t *groups)
{
    const struct grouping *grouping = hashing->grouping;
    void **states = group_states_new(grouping, KEY_BLOCK);
    if (!states || !grouping->prepare(grouping->context, different_codes(hashing->sorted, count))) {
        group_states_free(grouping, states, KEY_BLOCK);
        return STATUS_FAILED;
    }
    uint64_t codes[KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    for (uint32_t i = 0; i < KEY_BLOCK; i++)
        places[i] = i;
    struct found found = {.codes = codes, .states = states, .places = places};
    group_states_clear(grouping, states, 0, KEY_BLOCK);
    for (int64_t i = 0; i < count; i++) {
        const struct radix_pair *group = &hashing->sorted[i];
        if (i == 0 || group->key != group[-1].key) {
            if (found.count == KEY_BLOCK)
                flush(grouping, &found);
            codes[found.count++] = group->key;
        }
        group_states_merge(grouping, states, found.count - 1, hashing->tables[group->payload >> 32]->states,
                           (int64_t)(uint32_t)group->payload);
    }
    flush(grouping, &found);
    *groups = found.at;
    group_states_free(grouping, states, KEY_BLOCK);
    return STATUS_OK;
}

static enum status merge(struct hashing *hashing, int64_t *groups)
{
    const struct workers *workers = hashing->grouping->workers;
    const size_t most = (size_t)workers->threads * MOST_GROUPS;
    hashing->groups = heap_array(most, sizeof *hashing->groups);
    hashing->sorted = heap_array(most, sizeof *hashing->sorted);
    const int64_t count = list_groups(hashing);
    struct radix radix = {
        .workers = workers,
        .rows = count,
        .width = sizeof(struct radix_pair),
        .bits = hashing->grouping->keys->word_bits[0],
        .read = read_groups,
        .emit = store_groups,
        .context = hashing,
    };
    enum status status = radix_sort(&radix);
    if (status == STATUS_OK)
        status = emit_groups(hashing, count, groups);
    free(hashing->groups);
    free(hashing->sorted);
    return status;
}

enum status group_hash(const struct grouping *grouping, bool *few, int64_t *groups)
{
    const struct workers *workers = grouping->workers;
    struct hashing hashing = {.grouping = grouping};
    hashing.tables = heap_array((size_t)workers->threads, sizeof *hashing.tables);
    enum status status = STATUS_OK;
    if (!workers_run_rows(workers, grouping->rows, PART_ROWS, add_part, &hashing))
        status = STATUS_CANCELLED;
    else if (hashing.failed)
        status = STATUS_FAILED;
    *few = !hashing.too_many;
    if (status == STATUS_OK && *few)
        status = merge(&hashing, groups);
    for (int i = 0; i < workers->threads; i++) {
        if (hashing.tables[i])
            group_states_free(grouping, hashing.tables[i]->states, MOST_GROUPS);
        free(hashing.tables[i]);
    }
    free(hashing.tables);
    return status;
}
