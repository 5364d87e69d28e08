/* repeat: a loop (plan/loop.h) whose body is bound once.
 *
 * The body's tasks are in a queue of their own, which begins with a source that stands for the rows before the round.
 * In the tree this source has a name that cannot be written, beside the one that the user gives it. */
#ifndef RQL_ENGINE_LOOP_BIND_REPEAT_H
#define RQL_ENGINE_LOOP_BIND_REPEAT_H

#include "engine/lower/lower.h"

/* Binds the stage; the flow becomes the rows after the last round. */
void bind_repeat(struct binder *binder, const struct stage *stage, struct flow *flow);

#endif
