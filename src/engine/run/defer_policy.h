/* Which results have deferred rows (deferred_rows.h): those of tasks that cannot fail, cost no more operations than
 * fusion would compute again, and keep at least one row in eight. Other formats than tables, output that is no
 * terminal, named devices and machines with a GPU compute all rows at once. */
#ifndef RQL_ENGINE_RUN_DEFER_POLICY_H
#define RQL_ENGINE_RUN_DEFER_POLICY_H

#include "engine/run/run.h"

/* Whether rows of the job's task may be deferred: they cannot fail, and recomputing them costs little more than reading
 * them. A GPU, or a device that the user has named, computes all rows. */
bool can_defer(const struct runner *runner, enum defer_choice choice, const struct job *job);

/* The number of input rows on which such a task runs before it may defer the others; a multiple of 4096. */
int64_t deferred_first_rows(enum defer_choice choice);

/* Whether to defer the remaining rows, after `passed` of the `read` rows have passed the filters. */
bool deferral_pays(int64_t passed, int64_t read, enum defer_choice choice);

#endif
