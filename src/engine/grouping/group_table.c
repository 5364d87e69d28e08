#include "engine/grouping/group_table.h"

#include "base/heap.h"
#include "base/zeroed.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BITS = 10, GROUPS_PER_SLOTS = 2 /* slots are at most half full */, WORD_BITS = 64 };

/* Fibonacci hashing (D. E. Knuth, The Art of Computer Programming, 6.4): a multiplication by 2^64 divided by the golden
 * ratio mixes the topmost bits well, and spreads keys of equal distances evenly. */
static inline uint64_t mix(uint64_t x)
{
    return x * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t unmix(uint64_t x)
{
    return x * UINT64_C(0xf1de83e19937733d);
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
    for (int i = 0; i < count && key_words > 1; i++) {
        uint64_t *key = words + (size_t)i * step;
        key[0] = mix(key[0] ^ rest_of(key, key_words));
    }
}

/* Groups of a table. */
struct selection {
    int count;
    int64_t groups[KEY_BLOCK];
    uint64_t keys[CARRIED_WORDS * KEY_BLOCK];
};

static size_t most_slots(int64_t most)
{
    size_t slots = (size_t)1 << FIRST_BITS;
    while (slots < GROUPS_PER_SLOTS * (size_t)most)
        slots *= 2;
    return slots;
}

/* Memory is touched as groups are added. */
struct group_table *group_table_new(const struct grouping *grouping, int64_t most, int shared_bits)
{
    struct group_table *table = HEAP_NEW(struct group_table, .grouping = grouping, .key_words = grouping->keys->words,
                                         .shared_bits = shared_bits, .slot_bits = FIRST_BITS,
                                         .most = most < UINT32_MAX ? most : UINT32_MAX - 1);
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

/* A key of one word is not mixed in memory. */
static inline uint64_t hash_of(const uint64_t *key, int key_words)
{
    return key_words == 1 ? mix(key[0]) : key[0];
}

static inline size_t first_slot(uint64_t hash, int shared_bits, int slot_bits)
{
    return (size_t)(hash << shared_bits >> (WORD_BITS - slot_bits));
}

static void grow(struct group_table *table)
{
    memset(table->slots, 0, sizeof *table->slots << table->slot_bits);
    table->slot_bits++;
    for (int64_t place = 0; place < table->groups; place++) {
        size_t slot = first_slot(hash_of(key_at(table, place), table->key_words), table->shared_bits, table->slot_bits);
        while (table->slots[slot] != 0)
            slot = (slot + 1) & (((size_t)1 << table->slot_bits) - 1);
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
    uint32_t *slots = table->slots;
    uint64_t *keys = table->keys;
    const int shared_bits = table->shared_bits, slot_bits = table->slot_bits;
    const size_t mask = ((size_t)1 << slot_bits) - 1;
    for (int i = 0; i < count; i++) {
        const uint64_t *key = words + (size_t)i * step;
        size_t slot = first_slot(hash_of(key, key_words), shared_bits, slot_bits);
        while (slots[slot] != 0 && !equal(keys + (size_t)(slots[slot] - 1) * (size_t)key_words, key, key_words))
            slot = (slot + 1) & mask;
        if (slots[slot] == 0) {
            if (table->groups == table->most)
                return false;
            memcpy(keys + (size_t)table->groups * (size_t)key_words, key, (size_t)key_words * sizeof *key);
            slots[slot] = (uint32_t)++table->groups;
        }
        places[i] = slots[slot] - 1;
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

/* Of groups from `at` on, lists those with hashes of the part, at most KEY_BLOCK, with their keys; returns where it
 * ended. */
static int64_t select_part(const struct group_table *from, int64_t at, struct hash_part part,
                           struct selection *selected)
{
    selected->count = 0;
    for (; at < from->groups && selected->count < KEY_BLOCK; at++) {
        const uint64_t *key = key_at(from, at);
        if (part.bits > 0 &&
            hash_of(key, from->key_words) << from->shared_bits >> (WORD_BITS - part.bits) != part.number)
            continue;
        memcpy(selected->keys + selected->count * from->key_words, key, (size_t)from->key_words * sizeof *key);
        selected->groups[selected->count++] = at;
    }
    return at;
}

bool group_table_merge(struct group_table *into, const struct group_table *from, struct hash_part part)
{
    struct selection selected;
    uint32_t places[KEY_BLOCK];
    for (int64_t at = 0; at < from->groups;) {
        at = select_part(from, at, part, &selected);
        if (!group_table_find(into, selected.keys, (size_t)from->key_words, selected.count, places))
            return false;
        for (int i = 0; i < selected.count; i++)
            group_states_merge(into->grouping, into->states, places[i], from->states, selected.groups[i]);
    }
    return true;
}

uint64_t group_table_code(const struct group_table *table, int64_t place)
{
    const uint64_t *key = key_at(table, place);
    return table->key_words == 1 ? key[0] : unmix(key[0]) ^ rest_of(key, table->key_words);
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
            codes[i] = group_table_code(table, place + i);
            for (int word = 1; word < table->key_words; word++)
                codes[word * KEY_BLOCK + i] = key[word];
        }
        grouping->emit(grouping->context, &found);
    }
}
