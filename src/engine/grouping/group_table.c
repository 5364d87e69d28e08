#include "engine/grouping/group_table.h"

#include "base/heap.h"
#include "base/zeroed.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 10, GROUPS_PER_SLOTS = 2 /* slots are at most half full */, WORD_BITS = 64 };

/* The finalizer of MurmurHash3 (A. Appleby) with its factors, and with their inverses the other way round: each is the
 * inverse permutation of the other. */
static inline uint64_t permute(uint64_t x, uint64_t first, uint64_t second)
{
    x = (x ^ x >> 33) * first;
    x = (x ^ x >> 33) * second;
    return x ^ x >> 33;
}

static inline uint64_t mix(uint64_t x)
{
    return permute(x, UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53));
}

static inline uint64_t unmix(uint64_t x)
{
    return permute(x, UINT64_C(0x9cb4b2f8129337db), UINT64_C(0x4f74430c22a54005));
}

/* What the words behind the first add to it. */
static inline uint64_t rest_of(const uint64_t *key, int key_words)
{
    uint64_t rest = 0;
    for (int word = 1; word < key_words; word++)
        rest = (rest << 23 | rest >> (WORD_BITS - 23)) ^ key[word] * UINT64_C(0x9e3779b97f4a7c15);
    return rest;
}

void group_keys_mix(uint64_t *words, size_t step, int key_words, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t *key = words + (size_t)i * step;
        key[0] = mix(key[0] ^ rest_of(key, key_words));
    }
}

static size_t most_slots(int64_t most)
{
    size_t slots = (size_t)1 << FIRST_BITS;
    while (slots < GROUPS_PER_SLOTS * (size_t)most)
        slots *= 2;
    return slots;
}

/* Memory is touched as groups are added. */
struct group_table *group_table_new(const struct grouping *grouping, int64_t most)
{
    struct group_table *table = heap_array(1, sizeof *table);
    *table = (struct group_table){.grouping = grouping,
                                  .key_words = grouping->keys->words,
                                  .slot_bits = FIRST_BITS,
                                  .most = most < UINT32_MAX ? most : UINT32_MAX - 1};
    table->slots = zeroed_alloc(most_slots(table->most) * sizeof *table->slots);
    table->keys = zeroed_alloc((size_t)table->most * (size_t)table->key_words * sizeof *table->keys);
    table->states = group_states_new(grouping, table->most);
    if (table->slots && table->keys && table->states)
        return table;
    group_table_free(table);
    return NULL;
}

void group_table_free(struct group_table *table)
{
    if (!table)
        return;
    if (table->slots)
        zeroed_free(table->slots, most_slots(table->most) * sizeof *table->slots);
    if (table->keys)
        zeroed_free(table->keys, (size_t)table->most * (size_t)table->key_words * sizeof *table->keys);
    group_states_free(table->grouping, table->states, table->most);
    free(table);
}

void group_table_empty(struct group_table *table)
{
    memset(table->slots, 0, sizeof *table->slots << table->slot_bits);
    table->groups = 0;
}

static const uint64_t *key_at(const struct group_table *table, int64_t place)
{
    return table->keys + (size_t)place * (size_t)table->key_words;
}

/* Buckets share the topmost bits of the hash. */
static inline size_t next_slot(const struct group_table *table, size_t slot)
{
    return (slot + 1) & (((size_t)1 << table->slot_bits) - 1);
}

static inline size_t first_slot(const struct group_table *table, uint64_t hash)
{
    return (size_t)hash & (((size_t)1 << table->slot_bits) - 1);
}

static void grow(struct group_table *table)
{
    memset(table->slots, 0, sizeof *table->slots << table->slot_bits);
    table->slot_bits++;
    for (int64_t place = 0; place < table->groups; place++) {
        size_t slot = first_slot(table, key_at(table, place)[0]);
        while (table->slots[slot] != 0)
            slot = next_slot(table, slot);
        table->slots[slot] = (uint32_t)place + 1;
    }
}

static inline bool equal(const uint64_t *a, const uint64_t *b, int words)
{
    uint64_t differ = 0;
    for (int word = 0; word < words; word++)
        differ |= a[word] ^ b[word];
    return differ == 0;
}

/* Inlined where the number of words is a constant: one loop for each. */
static inline __attribute__((always_inline)) bool find(struct group_table *table, const uint64_t *words, size_t step,
                                                       int count, uint32_t *places, int key_words)
{
    for (int i = 0; i < count; i++) {
        const uint64_t *key = words + (size_t)i * step;
        size_t slot = first_slot(table, key[0]);
        while (table->slots[slot] != 0 &&
               !equal(table->keys + (size_t)(table->slots[slot] - 1) * (size_t)key_words, key, key_words))
            slot = next_slot(table, slot);
        if (table->slots[slot] == 0) {
            if (table->groups == table->most)
                return false;
            memcpy(table->keys + (size_t)table->groups * (size_t)key_words, key, (size_t)key_words * sizeof *key);
            table->slots[slot] = (uint32_t)++table->groups;
        }
        places[i] = table->slots[slot] - 1;
    }
    return true;
}

bool group_table_find(struct group_table *table, const uint64_t *words, size_t step, int count, uint32_t *places)
{
    const int64_t before = table->groups;
    bool fits;
    while (GROUPS_PER_SLOTS * (table->groups + count) > INT64_C(1) << table->slot_bits &&
           (size_t)1 << table->slot_bits < most_slots(table->most))
        grow(table);
    if (table->key_words == 1)
        fits = find(table, words, step, count, places, 1);
    else if (table->key_words == 2)
        fits = find(table, words, step, count, places, 2);
    else
        fits = find(table, words, step, count, places, table->key_words);
    group_states_clear(table->grouping, table->states, before, table->groups - before);
    return fits;
}

bool group_table_merge(struct group_table *into, const struct group_table *from)
{
    uint32_t places[KEY_BLOCK];
    for (int64_t at = 0; at < from->groups; at += KEY_BLOCK) {
        const int count = from->groups - at < KEY_BLOCK ? (int)(from->groups - at) : KEY_BLOCK;
        if (!group_table_find(into, key_at(from, at), (size_t)from->key_words, count, places))
            return false;
        for (int i = 0; i < count; i++)
            group_states_merge(into->grouping, into->states, places[i], from->states, at + i);
    }
    return true;
}

void group_table_emit(const struct group_table *table, int64_t at)
{
    const struct grouping *grouping = table->grouping;
    uint64_t codes[CARRIED_WORDS * KEY_BLOCK];
    uint32_t places[KEY_BLOCK];
    struct found found = {.at = at, .codes = codes, .states = table->states, .places = places};
    for (int64_t place = 0; place < table->groups; place += found.count, found.at += found.count) {
        found.count = table->groups - place < KEY_BLOCK ? (int)(table->groups - place) : KEY_BLOCK;
        for (int i = 0; i < found.count; i++) {
            const uint64_t *key = key_at(table, place + i);
            places[i] = (uint32_t)(place + i);
            codes[i] = unmix(key[0]) ^ rest_of(key, table->key_words);
            for (int word = 1; word < table->key_words; word++)
                codes[word * KEY_BLOCK + i] = key[word];
        }
        grouping->emit(grouping->context, &found);
    }
}
