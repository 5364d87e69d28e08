/* Sorting distinct strings by their bytes, on all threads. */
#ifndef RQL_ENGINE_VALUES_DICTIONARY_SORT_H
#define RQL_ENGINE_VALUES_DICTIONARY_SORT_H

#include "base/parallel.h"

#include <stdint.h>

/* A string; `prefix` is the sort's own. */
struct sort_entry {
    uint64_t prefix;
    const char *at;
    uint32_t length;
    uint32_t id;
};

/* Sorts; no two strings are equal, and `scratch` has room for as many. Returns `entries` or `scratch`, whichever is
 * sorted, or NULL if cancelled. */
struct sort_entry *sort_strings(struct sort_entry *entries, struct sort_entry *scratch, size_t count,
                                const struct workers *workers);

#endif
