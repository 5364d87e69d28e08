/* Variances and correlations of windows. */
#ifndef RQL_ENGINE_OPERATORS_MOVING_MOMENTS_H
#define RQL_ENGINE_OPERATORS_MOVING_MOMENTS_H

#include "engine/operators/moving.h"

/* What a part knows of its window. */
struct moving_moments;

struct moving_moments *moving_moments_new(const struct moving *moving);
void moving_moments_free(struct moving_moments *moments);

/* As moving_block, of AGG_VAR or AGG_CORR. */
void moving_moments_block(struct moving_part *part, int64_t row, int count);

#endif
