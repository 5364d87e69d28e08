/* Two dictionaries side by side: both are sorted, so one walk along both compares them. */
#include "engine/values/text_bytes.h"

#include "base/heap.h"

#include <stdlib.h>

enum {
    CHECK_STRINGS = 1 << 12,
    PART_STRINGS = 1 << 14,
    SEARCH_COST = 32 /* a search: about as much as this many steps of a walk */
};

/* Whether a loop over strings goes on: asked at each of them, looks for a cancellation at some. */
static bool goes_on(const struct workers *workers, int64_t at)
{
    return at % CHECK_STRINGS != 0 || !workers || !workers_cancelled(workers);
}

struct mapping {
    const struct dictionary *from, *to;
    const struct workers *workers;
    int32_t *map;
    bool few; /* strings in `from`: they are searched for */
};

static void map_part(void *context, struct part part)
{
    const struct mapping *mapping = context;
    const struct dictionary *to = mapping->to;
    const int64_t begin = part.begin, end = part.end;
    int64_t other = mapping->few ? 0 : dictionary_lower_bound(to, dictionary_text(mapping->from, begin));
    for (int64_t code = begin; code < end && goes_on(mapping->workers, code); code++) {
        struct text text = dictionary_text(mapping->from, code);
        if (mapping->few) {
            mapping->map[code] = (int32_t)dictionary_find(to, text);
            continue;
        }
        int order = 1;
        while (other < to->count && (order = text_compare(dictionary_text(to, other), text)) < 0)
            other++;
        mapping->map[code] = other < to->count && order == 0 ? (int32_t)other : -1;
    }
}

bool dictionary_map(const struct dictionary *from, const struct dictionary *to, const struct workers *workers,
                    int32_t *map)
{
    const struct workers own = workers ? *workers : (struct workers){.threads = 1};
    struct mapping mapping = {
        .from = from, .to = to, .workers = &own, .map = map, .few = from->count < to->count / SEARCH_COST};
    return workers_run_rows(&own, from->count, PART_STRINGS, map_part, &mapping);
}

bool dictionary_map_order(const struct dictionary *from, const struct dictionary *to, bool equal,
                          const struct workers *workers, int32_t *map)
{
    int64_t less = 0;
    for (int64_t code = 0; code < from->count; code++) {
        const struct text text = dictionary_text(from, code);
        if (!goes_on(workers, code))
            return false;
        int order = 1;
        while (less < to->count && (order = text_compare(dictionary_text(to, less), text)) < 0)
            less++;
        map[code] = (int32_t)(less + (equal && less < to->count && order == 0));
    }
    return true;
}

/* Sets the maps to codes of the union. Returns how many strings it has, and adds up their bytes. */
static size_t number_union(const struct dictionary *a, const struct dictionary *b, uint32_t *map_a, uint32_t *map_b,
                           const struct workers *workers, size_t *bytes)
{
    int64_t i = 0, k = 0;
    size_t count = 0;
    for (*bytes = 0; (i < a->count || k < b->count) && goes_on(workers, (int64_t)count); count++) {
        const int order = i == a->count   ? 1
                          : k == b->count ? -1
                                          : text_compare(dictionary_text(a, i), dictionary_text(b, k));
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

static void place_strings(const struct dictionary *from, const uint32_t *map, const uint64_t *offsets,
                          const struct workers *workers, char *bytes)
{
    for (int64_t code = 0; code < from->count && goes_on(workers, code); code++) {
        struct text text = dictionary_text(from, code);
        copy_bytes(bytes + offsets[map[code]], text.at, text.length);
    }
}

static struct dictionary *no_union(uint32_t *maps[2])
{
    for (int k = 0; k < 2; k++) {
        free(maps[k]);
        maps[k] = NULL;
    }
    return NULL;
}

/* Whether `many` holds the few strings of `few`; then sets the maps. */
static bool holds_all(const struct dictionary *many, const struct dictionary *few, uint32_t *map_many,
                      uint32_t *map_few, const struct workers *workers)
{
    bool all = few->count < many->count / SEARCH_COST;
    for (int64_t code = 0; code < few->count && all && goes_on(workers, code); code++) {
        const int64_t found = dictionary_find(many, dictionary_text(few, code));
        map_few[code] = (uint32_t)found;
        all = found >= 0;
    }
    for (int64_t code = 0; code < many->count && all; code++)
        map_many[code] = (uint32_t)code;
    return all && goes_on(workers, 0);
}

struct dictionary *dictionary_union(struct dictionary *a, struct dictionary *b, uint32_t *maps[2],
                                    const struct workers *workers)
{
    size_t bytes;
    maps[0] = heap_array((size_t)a->count, sizeof *maps[0]);
    maps[1] = heap_array((size_t)b->count, sizeof *maps[1]);
    if (holds_all(a, b, maps[0], maps[1], workers))
        return dictionary_ref(a);
    if (holds_all(b, a, maps[1], maps[0], workers))
        return dictionary_ref(b);
    const size_t count = number_union(a, b, maps[0], maps[1], workers, &bytes);
    if (count > DICTIONARY_MAX || !goes_on(workers, 0))
        return no_union(maps);
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
    place_strings(a, maps[0], offsets, workers, dictionary_bytes(joined));
    place_strings(b, maps[1], offsets, workers, dictionary_bytes(joined));
    if (goes_on(workers, 0))
        return joined;
    dictionary_unref(joined);
    return no_union(maps);
}
