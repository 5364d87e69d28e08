/* Local names: `let a = E: ...` in an expression. Their definitions are found by the parser, and bound once for each
 * scope that needs them: an aggregate or a window within the expression is bound apart from it, in a scope of its own.
 */
#include "engine/expression/expression.h"

#include <string.h>

struct local {
    const struct expr *definition;
    struct term term;
    const struct local *before;
};

/* A chain of definitions that is bound from its end recurses. */
static bool too_deep(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    if (binder->depth < LIMIT_CALL_DEPTH)
        return false;
    bind_error(binder, expr->span, "give columns names with `derive`", "local names are nested more than %d deep",
               LIMIT_CALL_DEPTH);
    binder->errors = LIMIT_ERRORS;
    return true;
}

/* Whether the definition is the range of a fold, or a copy of one, and no condition: its own index is linked to it. */
bool is_fold_index(const struct expr *definition)
{
    if (!definition || definition->kind != EXPR_IN_RANGE || definition->args[0]->kind != EXPR_NAME)
        return false;
    const struct expr *range = definition->args[0]->definition;
    return range && range->kind == EXPR_IN_RANGE && range->span.begin == definition->span.begin &&
           range->span.end == definition->span.end;
}

struct term bind_local(struct scope *scope, const struct expr *definition)
{
    if (is_fold_index(definition))
        return bind_fold_index(scope, definition);
    for (const struct local *local = scope->locals; local; local = local->before) {
        if (local->definition == definition)
            return local->term;
    }
    if (too_deep(scope, definition))
        return unknown_term;
    struct term term = bind_term(scope, definition);
    struct local *local = ARENA_NEW(scope->binder->arena, struct local, definition, term, scope->locals);
    scope->locals = local;
    return term;
}

/* All definitions are bound, for their errors. */
struct term bind_let(struct scope *scope, const struct expr *expr)
{
    const size_t count = expr->arg_count - 1;
    for (size_t i = 0; i < count && !bind_gave_up(scope->binder); i++) {
        const struct name *name = &expr->names[i], *first = ROW_NAMED(expr->names, i, name->text);
        if (first)
            bind_error_second(scope->binder, name->span, first->span, "here first", NULL, "`%s` is named twice",
                              name->text);
        bind_local(scope, expr->args[i]);
    }
    return bind_term(scope, expr->args[count]);
}
