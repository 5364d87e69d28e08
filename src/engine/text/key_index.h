/* Finding strings in a list by a hash table. */
#ifndef RQL_ENGINE_TEXT_KEY_INDEX_H
#define RQL_ENGINE_TEXT_KEY_INDEX_H

#include "base/arena.h"
#include "engine/values/dictionary.h"

#include <stddef.h>

/* The strings are numbered from 0 as they are added; they stay the caller's. */
struct key_index;

struct key_index *key_index_new(struct arena *arena);

/* The number of an equal string, or `count` (the number of strings) if there is none. */
size_t key_index_find(const struct key_index *index, struct text key);

size_t key_index_count(const struct key_index *index);

/* Adds a string that is not in the index. */
void key_index_add(struct key_index *index, struct text key);

#endif
