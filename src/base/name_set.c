#include "base/name_set.h"

#include "base/hash.h"

#include <string.h>

/* A name, and how many of name_2, name_3, ... have been tried: all of these are taken. */
struct numbered_name {
    const char *name;
    unsigned numbers;
};

void name_set_init(struct name_set *set, struct arena *arena, size_t most)
{
    size_t buckets = 8;
    while (buckets < 2 * most)
        buckets *= 2;
    *set = (struct name_set){arena, arena_array(arena, buckets, sizeof(struct numbered_name)), buckets};
}

/* The bucket of the name, which is empty unless the name is there. */
static struct numbered_name *find(const struct name_set *set, const char *name)
{
    size_t at = (size_t)hash_text(hash_init(), name) & (set->bucket_count - 1);
    while (set->buckets[at].name && strcmp(set->buckets[at].name, name) != 0)
        at = (at + 1) & (set->bucket_count - 1);
    return &set->buckets[at];
}

bool name_set_has(const struct name_set *set, const char *name)
{
    return find(set, name)->name;
}

const char *name_set_add(struct name_set *set, const char *name)
{
    struct numbered_name *first = find(set, name), *at = first;
    const char *unique = name;
    while (at->name) {
        unique = arena_printf(set->arena, "%s_%u", name, 2 + first->numbers++);
        at = find(set, unique);
    }
    at->name = unique;
    return unique;
}
