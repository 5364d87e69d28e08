#include "cl/operators/operator.h"

#include <stddef.h>

cl_operator_fn *cl_operator(enum operator_kind kind)
{
    static cl_operator_fn *const table[] = {
        [OPERATOR_SCAN] = cl_scan,         [OPERATOR_SORT] = cl_sort,       [OPERATOR_GROUP] = cl_group,
        [OPERATOR_DISTINCT] = cl_distinct, [OPERATOR_SCATTER] = cl_scatter, [OPERATOR_HIST] = cl_hist,
        [OPERATOR_MOVING] = NULL,          [OPERATOR_IDS] = NULL,           [OPERATOR_PARTITION] = NULL,
    };
    return (size_t)kind < sizeof table / sizeof *table ? table[kind] : NULL;
}

/* 10 M rows on two cores: the host partitions rows into buckets that fit the cache, which takes half the time of a pass
 * per digit. The host has no such advantage for other operators. */
bool cl_operator_pays(enum operator_kind kind, const struct kernel_config *config)
{
    return cl_operator(kind) && (kind != OPERATOR_SORT || !config->host_memory);
}
