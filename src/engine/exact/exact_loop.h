/* Loops and folds in the exact evaluator, a round at a time: a round's values are demanded like all others, and
 * forgotten before the next one. */
#ifndef RQL_ENGINE_EXACT_EXACT_LOOP_H
#define RQL_ENGINE_EXACT_EXACT_LOOP_H

#include "engine/exact/exact_lazy.h"

/* Continue the FOLD or LOOP `v` at the task's row; `ready` is false if a value has to be computed first. */
enum status exact_run_fold(struct exact *exact, struct lazy_task *lazy, value v, union datum *result, bool *ready);
enum status exact_run_loop(struct exact *exact, struct lazy_task *lazy, value v, bool *ready);
/* The number of the round of the LOOP that is running and that the instruction is of; -1: none. */
int64_t exact_round(const struct lazy_task *lazy, const struct instr *instr);

/* A FINAL of a LOOP that has been run. */
union datum exact_final(const struct lazy_task *lazy, const struct instr *final);

#endif
