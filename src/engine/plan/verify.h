/* What typed code and tasks must satisfy, in builds with assertions: checked before and after every pass.
 *
 *     assert(queue_is_valid(queue, "fuse"));
 *
 * A fault is a bug of the binder or of a pass, never of a query. */
#ifndef RQL_ENGINE_PLAN_VERIFY_H
#define RQL_ENGINE_PLAN_VERIFY_H

#include "engine/plan/task.h"

/* How far code is: its annotations count once it is analysed; between guard_place and loops_order a COUNTER's condition
 * may come after it. */
enum code_phase { CODE_BUILT, CODE_ANALYSED, CODE_GUARDED };

/* What is wrong with typed code: text in its arena; NULL: nothing. Arguments come first and have the kinds that their
 * operation takes, lanes hold the intervals, guards are bools, COUNTER, STATEs, CARRYs and LOOP belong together. */
const char *code_fault(const struct code *code, enum code_phase phase);

/* What is wrong with a task and its code: inputs, filters, outputs, aggregates and operands exist and have the kinds
 * and types that are read, and nothing outside of a loop reads a value of its rounds. */
const char *task_fault(const struct task *task, enum code_phase phase);

/* What is wrong with the tasks of a queue, which read earlier ones only, or with those of its loops. */
const char *queue_fault(const struct queue *queue);

/* For assertions: prints the fault, and the pass that made it. */
bool task_is_valid(const struct task *task, enum code_phase phase, const char *pass);
bool queue_is_valid(const struct queue *queue, const char *pass);

#endif
