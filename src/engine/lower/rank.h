/* rank(E): the place of a row's value among those of its group. */
#ifndef RQL_ENGINE_LOWER_RANK_H
#define RQL_ENGINE_LOWER_RANK_H

#include "engine/expression/expression.h"

/* rank(E [, desc] [, dense]) as a value of the scope's task; unknown after an error. */
struct term lower_rank(struct scope *scope, const struct expr *expr);

#endif
