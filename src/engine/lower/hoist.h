/* Operators on values of a stage's expression: `sum(qty * price) over ..0` is a task that computes qty * price, an
 * operator that reads it, and an input of the stage's task, which comes after both in the queue. */
#ifndef RQL_ENGINE_LOWER_HOIST_H
#define RQL_ENGINE_LOWER_HOIST_H

#include "engine/lower/lower.h"

/* Adds a task that computes values of the scope's task, on the same rows: the columns of `computed`. */
void hoist_values(struct scope *scope, struct span span, struct slot *slots, const value *values, size_t count,
                  struct flow *computed);

/* Moves the scope's task behind those that it is going to read. Nothing reads it yet. */
void hoist_finish(struct scope *scope);

/* Output `k` of an earlier task with the same rows, as a value of the scope's task. */
value hoist_input(struct scope *scope, struct task *from, size_t k, struct span span);

#endif
