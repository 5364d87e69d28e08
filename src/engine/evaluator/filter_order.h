/* The lead of a task's filters: the one condition that is asked of every row, where the others are asked only of those
 * for which it holds. Private to eval*.c. */
#ifndef RQL_ENGINE_EVALUATOR_FILTER_ORDER_H
#define RQL_ENGINE_EVALUATOR_FILTER_ORDER_H

#include "engine/plan/task.h"

/* The condition among those that all have to hold which seems to leave the fewest rows, by what is known of its
 * operands' ranges. It cannot fail, nor can what is asked before it. NO_VALUE: there is none. */
value filter_order_first(const struct task *task);

#endif
