/* (PIPELINE) as a value: it is run before what reads it, once for a statement, and is a constant then. */
#include "engine/expression/expression.h"

#include <string.h>

static bool names_round(const struct binder *binder, const struct source_node *source);

/* Whether a pipeline reads the rows of a round, which are no relation outside of the loop. */
static bool reads_round(const struct binder *binder, const struct pipeline *pipeline)
{
    bool reads = names_round(binder, &pipeline->source);
    for (size_t i = 0; i < pipeline->stage_count && !reads; i++) {
        for (size_t k = 0; k < pipeline->stages[i].source_count && !reads; k++)
            reads = names_round(binder, &pipeline->stages[i].sources[k]);
    }
    return reads;
}

static bool names_round(const struct binder *binder, const struct source_node *source)
{
    if (source->kind == SOURCE_PIPELINE)
        return reads_round(binder, source->pipeline);
    const struct rounds *rounds = source->kind == SOURCE_NAME ? binder->rounds : NULL;
    while (rounds != NULL && (rounds->name.text == NULL || strcmp(rounds->name.text, source->name.text) != 0))
        rounds = rounds->outer;
    return rounds != NULL;
}

struct term bind_pipeline_value(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct scalar scalar = {0};
    if (reads_round(binder, expr->source->pipeline)) {
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
