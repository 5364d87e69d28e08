/* Sorting distinct strings by their bytes, on all threads. */
#ifndef RQL_ENGINE_VALUES_DICTIONARY_SORT_H
#define RQL_ENGINE_VALUES_DICTIONARY_SORT_H

#include "base/parallel.h"

#include <stdint.h>

/* A string with its first bytes. */
struct sort_entry {
    uint64_t prefix; /* its first eight bytes, the first one highest, then zeroes; changed by sorting */
    const char *at;
    uint32_t length;
    uint32_t id;
};

/* Sorts; no two strings are equal. Returns false if cancelled. */
bool sort_strings(struct sort_entry *entries, size_t count, const struct workers *workers);

uint64_t sort_prefix(const char *at, size_t length);

#endif
