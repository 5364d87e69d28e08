/* Joins stores of lists, of several files or of both sides of a choice. */
#ifndef RQL_ENGINE_FORMATS_APPEND_LISTS_H
#define RQL_ENGINE_FORMATS_APPEND_LISTS_H

#include "base/parallel.h"
#include "engine/storage/list_store.h"

/* Whether no list of what was read has an element, so that they are of any type. */
bool lists_are_empty(const struct list_store *store);

/* Whether lists of both can be in one store: both have scalars of types that one type holds, or structs whose fields of
 * the same name have such types. A field that only some have is missing in the others. */
bool lists_fit(const struct list_store *a, const struct list_store *b);

/* A new store with the lists of all, in order; list n of store k has the number firsts[k] + n. NULL: no memory,
 * cancelled, or (then *too_large) a value does not fit the scale. They fit. */
struct list_store *append_lists(struct list_store *const *stores, size_t count, int64_t *firsts,
                                const struct workers *workers, bool *too_large);

#endif
