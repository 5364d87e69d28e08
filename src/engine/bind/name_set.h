/* Columns' names as they are given out, to number duplicates: ids, ids_2. */
#ifndef RQL_ENGINE_BIND_NAME_SET_H
#define RQL_ENGINE_BIND_NAME_SET_H

#include "base/arena.h"

/* In the arena. */
struct name_set {
    struct arena *arena;
    const char **buckets;
    size_t bucket_count;
};

/* For at most `most` names. */
void name_set_init(struct name_set *set, struct arena *arena, size_t most);

/* The name itself, or with the first number that makes it new; remembers it. */
const char *name_set_add(struct name_set *set, const char *name);

#endif
