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

#endif
