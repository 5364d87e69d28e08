/* The relation that the last task of a queue makes. */
#ifndef RQL_ENGINE_PLAN_OUTPUT_RELATION_H
#define RQL_ENGINE_PLAN_OUTPUT_RELATION_H

#include "engine/plan/task.h"

/* A relation of the task's visible outputs: columns[k] is output k. Columns that the task made get their logical type
 * and validity; those that it only passes on have them. Takes references of its own. */
struct relation *relation_of_outputs(const struct task *task, int64_t rows, struct column *const *columns);

#endif
