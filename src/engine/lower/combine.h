/* reduce and scan by a function of two rows: |p, q| q.a * p.a as a, q.b + p.b as b. */
#ifndef RQL_ENGINE_LOWER_COMBINE_H
#define RQL_ENGINE_LOWER_COMBINE_H

#include "engine/lower/lower.h"

/* Whether the stage's function is one of rows: it has several expressions, or names, or reads a column of its
 * parameters. */
bool combines_rows(const struct stage *stage);

/* Binds the stage: the flow becomes one row, or a row each. */
void lower_combine(struct binder *binder, const struct stage *stage, struct flow *flow);

#endif
