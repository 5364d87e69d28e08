/* A hash table of keys of one or more words, and the states of their groups.
 *
 * A group's first word is mixed with the others, so that it is a hash of all of them: with the other words it still
 * determines the key, so that keys are compared by their words and never verified in their columns. */
#ifndef RQL_ENGINE_GROUPING_GROUP_TABLE_H
#define RQL_ENGINE_GROUPING_GROUP_TABLE_H

#include "engine/grouping/grouping.h"

/* Mixes the first word of `count` keys, which lie `step` words apart. */
void group_keys_mix(uint64_t *words, size_t step, int key_words, int count);

struct group_table {
    const struct grouping *grouping;
    int key_words;
    int shared_bits; /* topmost ones of the keys' hashes, which are the same */
    uint32_t *slots; /* a group's place, plus 1; 0: a free slot */
    int slot_bits;
    uint64_t *keys; /* of the groups, mixed, one after another */
    int64_t groups, most;
    void **states; /* as many as `most`, cleared for the groups there are */
};

/* For at most this many groups. NULL: no memory. */
struct group_table *group_table_new(const struct grouping *grouping, int64_t most, int shared_bits);
void group_table_free(struct group_table *table); /* NULL: nothing */
void group_table_empty(struct group_table *table);

/* Finds the places of at most KEY_BLOCK mixed keys, which lie `step` words apart, and adds groups for new ones; false
 * if there are more than `most`. */
bool group_table_find(struct group_table *table, const uint64_t *words, size_t step, int count, uint32_t *places);

/* Keys whose hashes have these bits below those that all share: one of 2^bits parts. */
struct hash_part {
    uint64_t number;
    int bits;
};

/* Merges the groups of another table whose hashes are in the part; false if there are too many. */
bool group_table_merge(struct group_table *into, const struct group_table *from, struct hash_part part);

/* The first word of a group's key, as it was before it was mixed. */
uint64_t group_table_code(const struct group_table *table, int64_t place);

/* Emits the groups, in any order, from result row `at` on. */
void group_table_emit(const struct group_table *table, int64_t at);

#endif
