/* (PIPELINE) as a value: it is run before what reads it, once for a statement, and is a constant then. */
#include "engine/expression/expression.h"

struct term bind_pipeline_value(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct scalar scalar = {0};
    if (pipeline_reads_round(binder, expr->source->pipeline)) {
        bind_error(binder, expr->span, "in a loop, an aggregate as in `max(x)` is one of the rows at hand",
                   "this value would differ from round to round, but it is computed before the loop");
        return unknown_term;
    }
    const enum known known = binder->value_of_pipeline(binder, expr, &scalar);
    if (known == KNOWN_NOTHING)
        return unknown_term;
    /* In a check: numbered by its place, beyond the numbers of `let` values. */
    static const int64_t FIRST = INT64_C(1) << 40;
    struct term term =
        known == KNOWN_VALUE
            ? constant_of(scope, &scalar, expr->span)
            : term_of_type(bind_unknown(scope, FIRST + expr->span.begin, scalar.kind, expr->span), scalar.logical);
    if (!term_is_known(term))
        bind_error(binder, expr->span, NULL, "the value of the pipeline does not fit in 64 bits");
    term.aggregate = true;
    return term;
}
