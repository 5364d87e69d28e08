/* Filter order: the leading filter is the condition tested on every row; the others are tested where it holds.
 * Measured, Xeon with two threads, 10^7 rows, three conditions of which the last leaves one row in 1000: 3.2 to 4.0
 * times as fast as in the order in which they are written. */
#ifndef RQL_ENGINE_EVALUATOR_FILTER_ORDER_H
#define RQL_ENGINE_EVALUATOR_FILTER_ORDER_H

#include "engine/plan/task.h"

/* The condition that is expected to pass the fewest rows, by the intervals of its operands. Neither it nor a condition
 * before it can fail. NO_VALUE: there is none. */
value filter_order_first(const struct task *task);

#endif
