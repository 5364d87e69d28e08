/* Many rounds of a job in one pass over memory: round t + 1 follows round t at the distance at which rows read each
 * other, so that the rows in between stay in a core's cache (time skewing: Wonnacott, 2002). Threads take groups of
 * rounds, and each follows the one before it. */
#ifndef RQL_ENGINE_EVALUATOR_SKEWED_ROUNDS_H
#define RQL_ENGINE_EVALUATOR_SKEWED_ROUNDS_H

#include "engine/evaluator/kept_job.h"

/* Runs `rounds` rounds, even ones by jobs[0], odd ones by jobs[1], which reads what jobs[0] writes and writes what it
 * reads. STATUS_UNABLE, before anything is done: it would not pay, or a value may fail. STATUS_CANCELLED: the columns
 * are worthless. */
enum status skewed_rounds_run(struct kept_job *const jobs[2], int64_t rounds);

#endif
