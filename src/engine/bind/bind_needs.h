/* What a pipeline or expression turns out to need, once it is bound with what is known so far. */
#ifndef RQL_ENGINE_BIND_BIND_NEEDS_H
#define RQL_ENGINE_BIND_BIND_NEEDS_H

#include "engine/bind/bind.h"
#include "engine/expression/expression.h"

/* Sets binder->needs to the columns and relations that are lacking after a binding, if some are. `is_bound`: it had no
 * errors. Columns that it does not need are marked in the queue. */
void find_needs(const struct binder *binder, struct bound *bound, bool is_bound);

/* Adds a pipeline that is a value. */
void needs_add_value(struct needs *needs, const struct expr *expr, struct arena *arena);

#endif
