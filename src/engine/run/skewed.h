/* Time skewing: several rounds of a loop in one pass over memory. For loops without conditions whose round is a single
 * row-wise task. */
#ifndef RQL_ENGINE_RUN_SKEWED_H
#define RQL_ENGINE_RUN_SKEWED_H

#include "engine/run/kept_state.h"

/* The job that runs odd rounds: it reads the columns that even rounds write, and writes those that they read. NULL: run
 * the rounds one by one. */
struct kept_job *skewed_open(struct kept_rounds *kept);

/* Runs some rounds from *round on, and advances *round and the state. False: it has run none; run all remaining rounds
 * one by one. */
bool skewed_run(struct kept_rounds *kept, int64_t *round, enum status *status);

#endif
