/* Sorting keys of few possible values by counting them. */
#ifndef RQL_ENGINE_SORTING_COUNTING_SORT_H
#define RQL_ENGINE_SORTING_COUNTING_SORT_H

#include "engine/sorting/radix_sort.h"

/* Whether the elements are nothing but keys with so few possible values that this is fastest. */
bool counting_sort_pays(const struct radix *radix);

/* Statuses as of radix_sort. */
enum status counting_sort(const struct radix *radix);

#endif
