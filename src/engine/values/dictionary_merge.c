/* Two dictionaries side by side: both are sorted, so one walk along both compares them. */
#include "engine/values/text_bytes.h"

#include "base/heap.h"

#include <stdlib.h>

void dictionary_map(const struct dictionary *from, const struct dictionary *to, int32_t *map)
{
    enum { SEARCH_COST = 32 }; /* about as much as this many steps of the walk */
    int64_t other = 0;
    bool few = from->count < to->count / SEARCH_COST;
    for (int64_t code = 0; code < from->count; code++) {
        struct text text = dictionary_text(from, code);
        if (few) {
            map[code] = (int32_t)dictionary_find(to, text);
            continue;
        }
        int order = 1;
        while (other < to->count && (order = text_compare(dictionary_text(to, other), text)) < 0)
            other++;
        map[code] = other < to->count && order == 0 ? (int32_t)other : -1;
    }
}

/* Sets the maps to codes of the union. Returns how many strings it has, and adds up their bytes. */
static size_t number_union(const struct dictionary *a, const struct dictionary *b, uint32_t *map_a, uint32_t *map_b,
                           size_t *bytes)
{
    int64_t i = 0, k = 0;
    size_t count = 0;
    for (*bytes = 0; i < a->count || k < b->count; count++) {
        int order = i == a->count ? 1 : k == b->count ? -1 : text_compare(dictionary_text(a, i), dictionary_text(b, k));
        *bytes += order <= 0 ? dictionary_text(a, i).length : dictionary_text(b, k).length;
        if (order <= 0)
            map_a[i++] = (uint32_t)count;
        if (order >= 0)
            map_b[k++] = (uint32_t)count;
    }
    return count;
}

/* Sets offsets[k + 1] to the length of string k. */
static void place_lengths(const struct dictionary *from, const uint32_t *map, uint64_t *offsets)
{
    for (int64_t code = 0; code < from->count; code++)
        offsets[map[code] + 1] = dictionary_text(from, code).length;
}

static void place_strings(const struct dictionary *from, const uint32_t *map, const uint64_t *offsets, char *bytes)
{
    for (int64_t code = 0; code < from->count; code++) {
        struct text text = dictionary_text(from, code);
        copy_bytes(bytes + offsets[map[code]], text.at, text.length);
    }
}

struct dictionary *dictionary_union(struct dictionary *a, struct dictionary *b, uint32_t *maps[2])
{
    size_t bytes;
    maps[0] = heap_array((size_t)a->count, sizeof *maps[0]);
    maps[1] = heap_array((size_t)b->count, sizeof *maps[1]);
    size_t count = number_union(a, b, maps[0], maps[1], &bytes);
    if (count > DICTIONARY_MAX) {
        for (int k = 0; k < 2; k++) {
            free(maps[k]);
            maps[k] = NULL;
        }
        return NULL;
    }
    if (count == (size_t)a->count)
        return dictionary_ref(a);
    if (count == (size_t)b->count)
        return dictionary_ref(b);
    struct dictionary *joined = dictionary_reserve(count, bytes);
    uint64_t *offsets = dictionary_offsets(joined);
    place_lengths(a, maps[0], offsets);
    place_lengths(b, maps[1], offsets);
    for (size_t k = 0; k < count; k++)
        offsets[k + 1] += offsets[k];
    place_strings(a, maps[0], offsets, dictionary_bytes(joined));
    place_strings(b, maps[1], offsets, dictionary_bytes(joined));
    return joined;
}
