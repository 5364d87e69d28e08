/* A set of names, to number duplicates: ids, ids_2. */
#ifndef RQL_BASE_NAME_SET_H
#define RQL_BASE_NAME_SET_H

#include "base/arena.h"

#include <stdbool.h>

/* Allocated in the arena. */
struct name_set {
    struct arena *arena;
    struct numbered_name *buckets;
    size_t bucket_count;
};

/* At most `most` names can be added. */
void name_set_init(struct name_set *set, struct arena *arena, size_t most);

/* Adds the name, numbered if it is in the set, and returns it. */
const char *name_set_add(struct name_set *set, const char *name);

bool name_set_has(const struct name_set *set, const char *name);

#endif
