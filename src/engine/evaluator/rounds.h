/* Rounds of a loop on the evaluator: the program of each task is compiled once. */
#ifndef RQL_ENGINE_EVALUATOR_ROUNDS_H
#define RQL_ENGINE_EVALUATOR_ROUNDS_H

#include "base/thread_pool.h"
#include "engine/backend/backend.h"

/* The functions of struct backend_ops for rounds, on the threads of the pool. */
struct backend_rounds *host_rounds_open(const struct rounds_job *job, struct thread_pool *pool);
enum status host_rounds_run(struct backend_rounds *rounds, int64_t first, int64_t count, struct rounds_end *end);
bool host_rounds_finish(struct backend_rounds *rounds);
void host_rounds_close(struct backend_rounds *rounds);

#endif
