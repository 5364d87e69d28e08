/* What a task's filters can come to in one zone of its rows, given what the columns' elements are within there. */
#ifndef RQL_ENGINE_OPTIMIZE_ZONE_PREDICATE_H
#define RQL_ENGINE_OPTIMIZE_ZONE_PREDICATE_H

#include "engine/plan/task.h"
#include "engine/storage/zonemap.h"

struct facts;

/* For tests of this task's filters. `arena` holds it. */
struct facts *facts_new(const struct task *task, int64_t rows, struct arena *arena);

/* Whether the filters look at row numbers, of which something is known without any zones. */
bool facts_of_rows(const struct facts *facts);

/* Whether no row among begin .. end-1 (of the task) passes the filters, and none is looked at by an operation that
 * fails. inputs[k] is what input k's elements are within there, whole[k] anywhere. */
bool facts_exclude(struct facts *facts, int64_t begin, int64_t end, const struct zone *inputs,
                   const struct zone *whole);

#endif
