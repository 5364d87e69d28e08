/* When rows of a result are left for later (deferred_rows.h). */
#ifndef RQL_ENGINE_RUN_DEFER_POLICY_H
#define RQL_ENGINE_RUN_DEFER_POLICY_H

#include "engine/run/run.h"

/* Whether rows that the job's task gives may be left: they cannot fail, and computing them again costs little more than
 * reading them would. A GPU makes all of them, and so does a device that the user has named. */
bool can_defer(const struct runner *runner, enum defer_choice choice, const struct job *job);

/* How many of its rows such a task runs on before some may be left; a multiple of 4096. */
int64_t deferred_first_rows(enum defer_choice choice);

/* Whether to leave the others: so many of the rows read so far have passed the filters. */
bool deferral_pays(int64_t passed, int64_t read, enum defer_choice choice);

#endif
