#include "cl/operators/operator.h"

cl_operator_fn *cl_operator(enum operator_kind kind)
{
    static cl_operator_fn *const functions[] = {
#define OPERATOR(kind, name, outputs, rows, words, host, exact, device, ...) [OPERATOR_##kind] = device,
#include "engine/plan/operators.def"
    };
    return functions[kind];
}

/* 10 M rows on two cores: the host partitions rows into buckets that fit the cache, which takes half the time of a pass
 * per digit. The host has no such advantage for other operators. */
bool cl_operator_pays(enum operator_kind kind, const struct kernel_config *config)
{
    return cl_operator(kind) && (kind != OPERATOR_SORT || !config->host_memory);
}
