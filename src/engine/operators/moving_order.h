/* Quantiles, and the number of different values, of windows. */
#ifndef RQL_ENGINE_OPERATORS_MOVING_ORDER_H
#define RQL_ENGINE_OPERATORS_MOVING_ORDER_H

#include "engine/operators/moving.h"

/* What a part knows of the order of its values. */
struct moving_order;

/* For AGG_QUANTILE or AGG_DISTINCT of windows within rows begin..end-1. */
struct moving_order *moving_order_new(const struct moving *moving, int64_t begin, int64_t end);
void moving_order_free(struct moving_order *order);

/* What orders take for each row: of windows that may have all rows, several parts order these at once. */
int64_t moving_order_bytes(const struct operator_job *job);

/* As moving_block. */
void moving_order_block(struct moving_part *part, int64_t row, int count);

#endif
