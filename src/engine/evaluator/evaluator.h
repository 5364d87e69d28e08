/* The evaluator: the portable backend. Runs typed code a vector of rows at a time. Needs no device, and is what the
 * kernels are tested against. */
#ifndef RQL_ENGINE_EVALUATOR_EVALUATOR_H
#define RQL_ENGINE_EVALUATOR_EVALUATOR_H

#include "engine/backend/backend.h"

/* A new evaluator; closed by its ops->close. It uses as many threads as the process may use processors. */
struct backend *evaluator_open(void);

/* The same with a given number of threads, at least 1. Results do not depend on it. */
struct backend *evaluator_open_threads(int threads);

#endif
