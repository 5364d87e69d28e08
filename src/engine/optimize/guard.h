/* Guards: where a checked operation's failure matters.
 *
 * What is not needed cannot fail. For each live checked instruction this finds the condition, as a bool value added to
 * the code, under which some filter, needed output or aggregate really reads it: filters before it hold, the && or ||
 * before it did not decide, the ?: took its branch. The condition may be conservative (too often true), never the
 * other way: on any flag the exact evaluator decides. */
#ifndef RQL_ENGINE_OPTIMIZE_GUARD_H
#define RQL_ENGINE_OPTIMIZE_GUARD_H

#include "engine/plan/task.h"

/* Sets instr.guard for every live checked instruction; may add instructions, so range analysis' fields are filled in
 * for those too (guards are bools). Call after range_analyse. */
void guard_place(struct task *task);

#endif
