/* What a task's filters can come to in one zone of its rows, given what the columns' elements are within there. */
#ifndef RQL_ENGINE_OPTIMIZE_ZONE_PREDICATE_H
#define RQL_ENGINE_OPTIMIZE_ZONE_PREDICATE_H

#include "engine/plan/task.h"
#include "engine/storage/zonemap.h"

struct zone_predicate;

/* For tests of this task's filters. `arena` holds it. */
struct zone_predicate *zone_predicate_new(const struct task *task, int64_t rows, struct arena *arena);

/* Whether the filters look at row numbers, of which something is known without any zones. */
bool zone_predicate_of_rows(const struct zone_predicate *predicate);

/* Whether no row among begin .. end-1 (of the task) passes the filters, and none is looked at by an operation that
 * fails. inputs[k] is what input k's elements are within there, whole[k] anywhere. */
bool zone_predicate_exclude(struct zone_predicate *predicate, int64_t begin, int64_t end, const struct zone *inputs,
                            const struct zone *whole);

#endif
