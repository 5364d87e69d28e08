#include "cl/operators/operator.h"

#include <stddef.h>

cl_breaker_fn *cl_breaker(enum breaker_kind kind)
{
    static cl_breaker_fn *const table[] = {
        [BREAK_SCAN] = cl_scan,         [BREAK_SORT] = cl_sort,       [BREAK_GROUP] = cl_group,
        [BREAK_DISTINCT] = cl_distinct, [BREAK_SCATTER] = cl_scatter, [BREAK_HIST] = cl_hist,
    };

    return table[kind];
}

/* Measured on two cores with 10 M rows: the host's sort deals rows into buckets that fit the cache, which takes half
 * the time of a pass for each digit; it has no such lead in the others. */
bool cl_breaker_pays(enum breaker_kind kind, const struct shape *shape)
{
    return kind != BREAK_SORT || !shape->host_memory;
}
