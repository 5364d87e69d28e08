/* The evaluator: the portable backend, which runs typed code on blocks of rows. The kernels are tested against it. */
#ifndef RQL_ENGINE_EVALUATOR_EVALUATOR_H
#define RQL_ENGINE_EVALUATOR_EVALUATOR_H

#include "engine/backend/backend.h"

/* A new evaluator with a thread for each processor the process may use; released by its ops->close. */
struct backend *evaluator_open(void);

/* With `threads` threads, at least 1. Results do not depend on their number. */
struct backend *evaluator_open_threads(int threads);

#endif
