/* Filter order: the leading filter is the condition tested on every row; the others are tested where it holds. */
#ifndef RQL_ENGINE_EVALUATOR_FILTER_ORDER_H
#define RQL_ENGINE_EVALUATOR_FILTER_ORDER_H

#include "engine/plan/task.h"

/* The condition that is expected to pass the fewest rows, by the intervals of its operands. Neither it nor a condition
 * before it can fail. NO_VALUE: there is none. */
value filter_order_first(const struct task *task);

#endif
