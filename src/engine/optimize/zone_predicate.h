/* Zone predicates: whether a task's filters can pass any row of a zone, by the bounds of the columns in it. */
#ifndef RQL_ENGINE_OPTIMIZE_ZONE_PREDICATE_H
#define RQL_ENGINE_OPTIMIZE_ZONE_PREDICATE_H

#include "engine/plan/task.h"
#include "engine/storage/zonemap.h"

struct zone_predicate;

/* A predicate for this task's filters on `rows` rows, in `arena`. */
struct zone_predicate *zone_predicate_new(const struct task *task, int64_t rows, struct arena *arena);

/* Whether the filters read row numbers, which bound them without zone maps. */
bool zone_predicate_of_rows(const struct zone_predicate *predicate);

/* Whether no task row among begin .. end-1 passes the filters, and none can fail in them. inputs[k] bounds input k in
 * those rows, whole[k] in all. */
bool zone_predicate_exclude(struct zone_predicate *predicate, int64_t begin, int64_t end, const struct zone *inputs,
                            const struct zone *whole);

#endif
