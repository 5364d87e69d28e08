/* Stages that read several relations. */
#ifndef RQL_ENGINE_JOIN_JOIN_STAGES_H
#define RQL_ENGINE_JOIN_JOIN_STAGES_H

#include "engine/expression/expression.h"

/* join of all kinds, and lookup */
void bind_join(struct binder *binder, const struct stage *stage, struct flow *flow);

/* zip: the columns of other relations beside those of the flow, row by row */
void bind_zip(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Sets the task's row count, which all `count` flows must share: at[0] is the flow before the stage, the others are its
 * sources. An error if they are known to differ. */
void bind_align(struct binder *binder, const struct stage *stage, struct task *task, const struct flow *at,
                size_t count);

/* append: the rows of another relation after those of the flow, columns by name */
void bind_append(struct binder *binder, const struct stage *stage, struct flow *flow);
/* Binds it with the relation given as a flow, which errors call `what`. */
void append_flow(struct binder *binder, const struct stage *stage, const struct flow *second, struct flow *flow);

/* unpivot: columns become rows with the column's name and its value */
void bind_unpivot(struct binder *binder, const struct stage *stage, struct flow *flow);
/* unnest: elements of lists become rows */
void bind_unnest(struct binder *binder, const struct stage *stage, struct flow *flow);

/* sample: some rows at random, in their order */
void bind_sample(struct binder *binder, const struct stage *stage, struct flow *flow);

#endif
