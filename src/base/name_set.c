#include "base/name_set.h"

#include "base/hash.h"

#include <stdbool.h>
#include <string.h>

void name_set_init(struct name_set *set, struct arena *arena, size_t most)
{
    size_t buckets = 8;
    while (buckets < 2 * most)
        buckets *= 2;
    *set = (struct name_set){arena, arena_array(arena, buckets, sizeof(const char *)), buckets};
}

/* Adds the name; false if it was there. */
static bool insert(struct name_set *set, const char *name)
{
    size_t at = (size_t)hash_text(hash_init(), name) & (set->bucket_count - 1);
    for (; set->buckets[at]; at = (at + 1) & (set->bucket_count - 1)) {
        if (strcmp(set->buckets[at], name) == 0)
            return false;
    }
    set->buckets[at] = name;
    return true;
}

const char *name_set_add(struct name_set *set, const char *name)
{
    const char *unique = name;
    for (unsigned number = 2; !insert(set, unique); number++)
        unique = arena_printf(set->arena, "%s_%u", name, number);
    return unique;
}
