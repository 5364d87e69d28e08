#include "engine/expression/pipeline_value.h"

#include "engine/bind/bind_needs.h"

void pipeline_value_add(struct pipeline_values *values, const struct pipeline_value *known, struct arena *arena)
{
    struct pipeline_value *copy = arena_copy(arena, known, sizeof *copy);
    *ARENA_PUSH(arena, values->at, values->count, values->capacity) = copy;
}

static const struct pipeline_value *find_value(const struct pipeline_values *values, const struct expr *expr)
{
    for (size_t i = 0; i < values->count; i++) {
        if (values->at[i]->expr == expr)
            return values->at[i];
    }
    return NULL;
}

/* The value of the pipeline if it is known, with the errors of computing it; else it is needed. After other errors none
 * is computed. */
static enum known value_of(struct binder *binder, const struct expr *expr, struct scalar *scalar)
{
    const struct pipeline_value *found = find_value(binder->facts->values, expr);
    if (found && found->known != KNOWN_NOTHING) {
        *scalar = found->scalar;
        return found->known;
    }
    if (!binder->checking && binder->errors > 0)
        return KNOWN_NOTHING;
    if (!found) {
        needs_add_value(binder->needs, expr, binder->arena);
        return KNOWN_NOTHING;
    }
    for (size_t i = 0; i < found->errors.count; i++)
        diags_add(binder->diags, &found->errors.at[i]);
    if (found->errors.count > 0)
        bind_failed(binder);
    return KNOWN_NOTHING;
}

struct term bind_pipeline_value(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct scalar scalar = {0};
    if (pipeline_reads_round(binder, expr->source->pipeline))
        return term_error(binder, expr->span, "in a loop, an aggregate as in `max(x)` is one of the rows at hand",
                          "this value would differ from round to round, but it is computed before the loop");
    const enum known known = value_of(binder, expr, &scalar);
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
