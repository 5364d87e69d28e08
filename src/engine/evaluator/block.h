/* Running a program: one worker a thread, a block of rows at a time. Private to eval*.c. */
#ifndef RQL_ENGINE_EVALUATOR_BLOCK_H
#define RQL_ENGINE_EVALUATOR_BLOCK_H

#include "engine/evaluator/program.h"

struct worker;

/* A worker with vectors of its own, in `arena`. */
struct worker *worker_new(const struct program *program, struct arena *arena);

/* Whether a checked operation failed where it matters; what the worker gave is then worthless. */
bool worker_flagged(const struct worker *worker);

/* Bytes of columns that were not read because their rows did not pass the leading filter. */
int64_t worker_skipped_bytes(const struct worker *worker);

/* Aggregates task rows begin .. begin+count-1 into the states. */
void worker_aggregate(struct worker *worker, int64_t begin, int64_t count, struct agg_state *states);

/* Writes the rows among begin .. begin+count-1 that pass to places[i], for the i-th of the program's outputs, and
 * returns how many they are. A place has room for `count` rows; `past_cache`: it will not be read soon. */
int64_t worker_rows(struct worker *worker, int64_t begin, int64_t count, void *const *places, bool past_cache);

#endif
