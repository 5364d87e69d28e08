/* Groups by direct addressing, to which rows are added a few at a time. */
#ifndef RQL_ENGINE_GROUPING_GROUP_DENSE_H
#define RQL_ENGINE_GROUPING_GROUP_DENSE_H

#include "engine/grouping/grouping.h"

struct dense_groups;

/* For the grouping's keys, of few bits, and aggregates; each of its threads has states of its own. The grouping
 * outlives it; its rows are not read. */
struct dense_groups *dense_groups_new(const struct grouping *grouping);
void dense_groups_free(struct dense_groups *dense); /* NULL: nothing */

/* Adds rows begin .. end-1 of `from`, which is the grouping or has the same keys and aggregates of other columns, to
 * the states of thread `member`, which calls it. */
void dense_groups_add(struct dense_groups *dense, int member, const struct grouping *from, int64_t begin, int64_t end);

/* Emits the groups and sets their number. STATUS_FAILED, without an error: not enough memory. */
enum status dense_groups_finish(struct dense_groups *dense, int64_t *groups);

#endif
