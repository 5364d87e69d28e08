/* Rows that lead their groups. */
#ifndef RQL_ENGINE_OPERATORS_MOVING_LEADING_H
#define RQL_ENGINE_OPERATORS_MOVING_LEADING_H

#include "engine/operators/moving.h"

/* AGG_LEADING of this many groups. False: cancelled. */
bool moving_leading(const struct moving *moving, int64_t groups, struct parts parts, const struct workers *workers);

#endif
