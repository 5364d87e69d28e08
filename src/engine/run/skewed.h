/* Rounds of a loop of which several are run in one pass over memory: those of a single task that reads nothing but
 * columns, by a loop without conditions. */
#ifndef RQL_ENGINE_RUN_SKEWED_H
#define RQL_ENGINE_RUN_SKEWED_H

#include "engine/run/kept_state.h"

/* The job that runs odd rounds: it reads what the even ones write, and writes what they read. NULL: rounds run one by
 * one. */
struct kept_job *skewed_open(struct kept_rounds *kept);

/* Runs some rounds and moves the state on; false: it has run none, and rounds run one by one from then on. */
bool skewed_run(struct kept_rounds *kept, int64_t *round, enum status *status);

#endif
