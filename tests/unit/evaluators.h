/* Evaluators as test state. Every function is static inline because a test program is one source file. */
#ifndef RQL_TESTS_EVALUATORS_H
#define RQL_TESTS_EVALUATORS_H

#include "engine/evaluator/evaluator.h"

#include <stdlib.h>

struct evaluators {
    struct backend *alone, *workers; /* on one thread and on several */
    uint64_t seed;                   /* of the running random task, or 0 */
};

static inline int open_evaluators(void **state)
{
    struct evaluators *evaluators = calloc(1, sizeof *evaluators);
    assert_non_null(evaluators);
    evaluators->alone = evaluator_open_threads(1);
    evaluators->workers = evaluator_open_threads(3);
    *state = evaluators;
    return 0;
}

static inline int close_evaluators(void **state)
{
    struct evaluators *evaluators = *state;
    evaluators->alone->ops->close(evaluators->alone);
    evaluators->workers->ops->close(evaluators->workers);
    free(evaluators);
    return 0;
}

static inline int open_evaluator(void **state)
{
    *state = evaluator_open_threads(1);
    return 0;
}

static inline int close_evaluator(void **state)
{
    struct backend *evaluator = *state;
    evaluator->ops->close(evaluator);
    return 0;
}

#endif
