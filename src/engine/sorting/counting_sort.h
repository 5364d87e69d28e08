/* Sorting keys of few possible values by counting them. */
#ifndef RQL_ENGINE_SORTING_COUNTING_SORT_H
#define RQL_ENGINE_SORTING_COUNTING_SORT_H

#include "engine/sorting/radix_sort.h"

/* Whether the elements are nothing but keys with so few possible values that this is fastest. */
bool counting_sort_pays(const struct radix *radix);

/* Statuses as of radix_sort. */
enum status counting_sort(const struct radix *radix);

/* The same for keys of few values in a wide range, as value_counts_pay says of a sample. STATUS_FAILED, without an
 * error: there are many, and nothing has been emitted. */
enum status counting_sort_values(const struct radix *radix);

/* value_counts.c: how often each value occurs among elements that are nothing but keys: a hash table for each thread.
 */

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
