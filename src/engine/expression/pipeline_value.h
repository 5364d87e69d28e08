/* Pipelines in parentheses within expressions. Each is a value, which is known before what reads it is bound, and
 * computed once for a statement. */
#ifndef RQL_ENGINE_EXPRESSION_PIPELINE_VALUE_H
#define RQL_ENGINE_EXPRESSION_PIPELINE_VALUE_H

#include "engine/expression/expression.h"

struct pipeline_value {
    const struct expr *expr; /* what identifies it */
    enum known known;        /* in a check its kind alone; KNOWN_NOTHING: `errors` say why, or it is unknown */
    struct scalar scalar;
    struct diags errors;
};

/* Those of a statement that are known so far. */
struct pipeline_values {
    struct pipeline_value **at;
    size_t count, capacity;
    int64_t now; /* the time of the statement, in microseconds since 1970; 0: not asked for yet */
};

void pipeline_value_add(struct pipeline_values *values, const struct pipeline_value *known, struct arena *arena);

/* An EXPR_PIPELINE. */
struct term bind_pipeline_value(struct scope *scope, const struct expr *expr);

#endif
