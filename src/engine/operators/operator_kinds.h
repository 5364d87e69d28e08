/* One function for each kind of operator. */
#ifndef RQL_ENGINE_OPERATORS_OPERATOR_KINDS_H
#define RQL_ENGINE_OPERATORS_OPERATOR_KINDS_H

#include "base/parallel.h"
#include "engine/operators/operator.h"

typedef enum status operator_fn(const struct operator_job *job, const struct workers *workers, bool *flagged);
operator_fn operator_scan, operator_sort, operator_group, operator_distinct, operator_scatter, operator_hist,
    operator_moving, operator_append, operator_expand, operator_ids, operator_partition, operator_combine;

#endif
