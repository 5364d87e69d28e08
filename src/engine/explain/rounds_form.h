/* How the rounds of a loop are run, for `explain`. */
#ifndef RQL_ENGINE_EXPLAIN_ROUNDS_FORM_H
#define RQL_ENGINE_EXPLAIN_ROUNDS_FORM_H

#include "engine/plan/loop.h"

/* A phrase or two, in the arena. `queues` are those of the loop, optimised, in the order of loop_queue. */
const char *rounds_form(const struct loop *loop, const struct queue *const *queues, struct arena *arena);

#endif
