/* Columns of text of which a queue only looks at single strings. */
#ifndef RQL_ENGINE_PLAN_TEXT_ORDER_H
#define RQL_ENGINE_PLAN_TEXT_ORDER_H

#include "engine/plan/task.h"

/* Of each task's inputs and outputs, [task number][place], whether they are compared, sorted, grouped, or leave the
 * statement with their order. */
struct text_order {
    bool **inputs, **outputs;
};

/* Finds it as far as the typed code says; of text whose dictionary is known, what binder->ordered tells beside it is
 * left out. `leaving`: of each output of the last task, whether its text leaves with its order; NULL: all do.
 * In the queue's arena; queue_prune has set what is needed. */
struct text_order text_order_find(const struct queue *queue, const bool *leaving);

/* Whether no codes of an unsorted dictionary are compared, as far as the typed code says: anything else would give
 * wrong rows, and is a bug of the binder. */
bool text_order_is_kept(const struct queue *queue);

/* Sets ordered[k] of each input of the task that is compared and so on by what is marked in its code. */
void text_order_of_code(const struct queue *queue, const struct task *task, const bool *marks, bool *ordered);

#endif
