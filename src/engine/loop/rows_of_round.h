/* Sources of the body of a loop: the rows before the round, and for its condition those after it. */
#ifndef RQL_ENGINE_LOOP_ROWS_OF_ROUND_H
#define RQL_ENGINE_LOOP_ROWS_OF_ROUND_H

#include "engine/lower/lower.h"

/* Their names in the tree, which cannot be written; compared by address. */
extern const char ROWS_BEFORE_ROUND[], ROWS_AFTER_ROUND[];

/* Binds the rows before the round of a loop. */
void bind_rows_before(struct binder *binder, const struct rounds *rounds, struct span span, struct flow *flow);

/* Binds a source that is named so, if it is the rows of a loop that is being bound; false if it is not. */
bool bind_rows_of_round(struct binder *binder, const struct name *name, struct flow *flow);

#endif
