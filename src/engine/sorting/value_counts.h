/* How often each value occurs among elements that are nothing but keys: a hash table for each thread. */
#ifndef RQL_ENGINE_SORTING_VALUE_COUNTS_H
#define RQL_ENGINE_SORTING_VALUE_COUNTS_H

#include "engine/sorting/radix_sort.h"

struct value_counts {
    size_t count;
    uint64_t *values; /* ascending */
    int64_t *ends;    /* of each value: how many elements are not greater */
};

/* Whether a sample of the elements, which are keys of 4 or 8 bytes, has few values. */
bool value_counts_pay(const struct radix *radix);

/* STATUS_OK, STATUS_CANCELLED, or STATUS_FAILED, without an error: there are many values after all.
 * Call value_counts_free in any case. */
enum status value_counts_find(const struct radix *radix, struct value_counts *found);
void value_counts_free(struct value_counts *found);

#endif
