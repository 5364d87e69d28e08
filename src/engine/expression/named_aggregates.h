/* Names of aggregates, that the stage `with` gives: `with m = mean(x)`.
 *
 * A name stands for its expression, whose aggregates are of the rows at that stage. It is bound anew wherever it is
 * used, and reads the one row that holds their values. */
#ifndef RQL_ENGINE_EXPRESSION_NAMED_AGGREGATES_H
#define RQL_ENGINE_EXPRESSION_NAMED_AGGREGATES_H

#include "engine/expression/expression.h"

struct named_aggregate {
    struct name name;
    const struct expr *expr;
    const struct aggregate_values *values; /* of its calls; NULL: it has none */
    const struct pipeline *pipeline;       /* in which it is known */
    const struct named_aggregate *before;  /* names of earlier stages, or of the pipeline around this one */
    bool unknown;                          /* an error was recorded, or it cannot be known yet */
};

/* The last one of this name, perhaps of a pipeline around the one that is bound; or NULL. */
const struct named_aggregate *named_aggregate_find(const struct binder *binder, const char *name);

/* The value of the aggregate, in a scope with a task; the span is that of the name where it is used. */
struct term bind_named_aggregate(struct scope *scope, const struct named_aggregate *named, struct span span);

#endif
