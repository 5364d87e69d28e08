/* Looking keys up on the host, as the typed code of match.c does. */
#include "engine/join_index/join_keys.h"

#include <string.h>

static const uint64_t LOW_31 = (UINT64_C(1) << JOIN_HASH_BITS) - 1, LOW_32 = UINT32_MAX;

/* The place among the combinations of all keys but one; -1: some key is beyond its range. */
static void find_places(const struct join_index *index, size_t left_out, const int64_t *const *keys, int count,
                        int64_t *places)
{
    memset(places, 0, (size_t)count * sizeof *places);
    for (size_t k = 0; k < index->key_count; k++) {
        const struct join_key *key = &index->keys[k];
        const uint64_t extent = (uint64_t)key->hi - (uint64_t)key->lo + 1;
        for (int i = 0; i < count && k != left_out; i++) {
            const bool inside = places[i] >= 0 && keys[k][i] >= key->lo && keys[k][i] <= key->hi;
            const uint64_t at = (uint64_t)keys[k][i] - (uint64_t)key->lo;
            places[i] = inside ? (int64_t)((uint64_t)places[i] * extent + at) : -1;
        }
    }
}

static int64_t rank_of(const uint64_t *words, int64_t place)
{
    const uint64_t word = words[place / JOIN_WORD_BITS], from = (word & LOW_32) >> (place % JOIN_WORD_BITS);
    return from & 1 ? (int64_t)(word >> JOIN_WORD_BITS) - __builtin_popcountll(from) : -1;
}

/* The first row of the place with this key. */
static int64_t search(const struct join_search *search, int64_t place, int64_t key)
{
    int64_t begin = column_get_int(search->starts, place);
    const int64_t last = column_get_int(search->starts, place + 1);
    int64_t end = last;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (column_get_int(search->values, middle) < key)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin < last && column_get_int(search->values, begin) == key ? begin : -1;
}

static int64_t slot_of(const struct join_index *index, const int64_t *const *keys, int i)
{
    const struct join_hash *hash = &index->hash;
    uint64_t mixed = 0;
    for (size_t k = 0; k < index->key_count; k++)
        mixed ^= ((uint64_t)keys[k][i] & LOW_32) * (uint64_t)index->keys[k].low_factor ^
                 ((uint64_t)keys[k][i] >> 32) * (uint64_t)index->keys[k].high_factor;
    mixed = (mixed >> JOIN_HASH_BITS) * (uint64_t)hash->mix[0] ^ (mixed & LOW_31) * (uint64_t)hash->mix[1];
    const int64_t bucket = (int64_t)((mixed >> JOIN_HASH_BITS) * (uint64_t)hash->buckets >> 32);
    const uint64_t multiplier = (uint64_t)column_get_int(hash->displacements, bucket);
    const uint64_t y = ((mixed & LOW_31) * multiplier >> 15) & LOW_31;
    const int64_t id = (bucket >> hash->partition_shift) * hash->partition_slots +
                       (int64_t)(y * (uint64_t)hash->partition_slots >> JOIN_HASH_BITS);
    bool same = true;
    for (size_t k = 0; k < index->key_count && same; k++)
        same = column_get_int(hash->keys[k], id) == keys[k][i];
    return same ? id : -1;
}

void join_probe(const struct join_index *index, const int64_t *const *keys, int count, int64_t *ids)
{
    if (index->method == JOIN_SPARSE) {
        for (int i = 0; i < count; i++)
            ids[i] = slot_of(index, keys, i);
        return;
    }
    const size_t left_out = index->method == JOIN_SEARCHED ? index->search.key : SIZE_MAX;
    find_places(index, left_out, keys, count, ids);
    for (int i = 0; i < count && index->method == JOIN_RANKED; i++)
        ids[i] = ids[i] < 0 ? -1 : rank_of(index->words->data, ids[i]);
    for (int i = 0; i < count && index->method == JOIN_SEARCHED; i++)
        ids[i] = ids[i] < 0 ? -1 : search(&index->search, ids[i], keys[left_out][i]);
}
