/* Open addressing; slots hold a string's number + 1, 0 where empty. */
#include "engine/text/key_index.h"

#include "base/hash.h"

struct key_index {
    struct arena *arena;
    struct text *keys;
    size_t count, capacity;
    size_t *slots;
    size_t slot_count; /* a power of two, at least twice `capacity` */
};

enum { FIRST_KEYS = 16 };

struct key_index *key_index_new(struct arena *arena)
{
    struct key_index *index =
        ARENA_NEW(arena, struct key_index, .arena = arena, .capacity = FIRST_KEYS, .slot_count = 2 * FIRST_KEYS);
    index->keys = arena_array(arena, index->capacity, sizeof *index->keys);
    index->slots = arena_array(arena, index->slot_count, sizeof *index->slots);
    return index;
}

size_t key_index_count(const struct key_index *index)
{
    return index->count;
}

/* The slot of an equal string, or the empty one where it belongs. */
static size_t slot_of(const struct key_index *index, struct text key)
{
    size_t slot = hash_bytes(hash_init(), key.at, key.length) & (index->slot_count - 1);
    while (index->slots[slot] != 0 && text_compare(index->keys[index->slots[slot] - 1], key) != 0)
        slot = (slot + 1) & (index->slot_count - 1);
    return slot;
}

size_t key_index_find(const struct key_index *index, struct text key)
{
    const size_t number = index->slots[slot_of(index, key)];
    return number > 0 ? number - 1 : index->count;
}

void key_index_add(struct key_index *index, struct text key)
{
    if (index->count == index->capacity) {
        index->keys = arena_grow(index->arena, index->keys, index->count, 2 * index->capacity, sizeof *index->keys);
        index->capacity *= 2;
        index->slot_count *= 2;
        index->slots = arena_array(index->arena, index->slot_count, sizeof *index->slots);
        for (size_t i = 0; i < index->count; i++)
            index->slots[slot_of(index, index->keys[i])] = i + 1;
    }
    index->keys[index->count] = key;
    index->slots[slot_of(index, key)] = ++index->count;
}
