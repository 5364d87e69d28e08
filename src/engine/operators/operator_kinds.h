/* One function for each kind of breaker, and what they share. Private to break*.c. */
#ifndef RQL_ENGINE_OPERATORS_OPERATOR_KINDS_H
#define RQL_ENGINE_OPERATORS_OPERATOR_KINDS_H

#include "base/parallel.h"
#include "engine/operators/operator.h"

typedef enum status break_fn(const struct break_job *job, const struct crew *crew, bool *flagged);
break_fn break_scan, break_sort, break_group, break_distinct, break_scatter, break_hist;

#endif
