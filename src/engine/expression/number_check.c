/* Checks that a term is a number, with messages that say how to make it one. */
#include "engine/expression/expression.h"

enum { OPERAND_SHOWN = 40 };

value bind_number(struct code *code, value v, struct span span)
{
    return code->at[v].kind == KIND_BOOL ? code_op(code, OP_BOOL_TO_INT, v, NO_VALUE, NO_VALUE, span) : v;
}

/* "int(a > b)", also if a > b is in parentheses. */
static const char *text_of_int(struct arena *arena, const struct expr *expr)
{
    bool enclosed = expr_leans_left(expr) && expr->span.begin < expr->args[0]->span.begin;
    const char *text = text_of_span(arena, expr->span, OPERAND_SHOWN);
    return arena_printf(arena, enclosed ? "int%s" : "int(%s)", text);
}

/* "`sym` is text" */
static void not_a_number(struct binder *binder, enum term_class which, const struct expr *expr, const char *what,
                         const char *hint)
{
    bind_error(binder, expr->span, hint, "%s needs a number, but `%s` is %s", what,
               text_of_span(binder->arena, expr->span, OPERAND_SHOWN), class_noun(which));
}

bool bind_is_number(struct scope *scope, struct term term, const struct expr *expr, const char *what,
                    const char *logical)
{
    struct binder *binder = scope->binder;
    enum term_class which = class_of(scope->code, term);
    if (which == CLASS_INT || which == CLASS_FLOAT)
        return true;
    if (which != CLASS_BOOL) {
        not_a_number(binder, which, expr, what, NULL);
        return false;
    }
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    const char *hint = logical != NULL
                           ? arena_printf(binder->arena, "use `%s` for conditions", logical)
                           : arena_printf(binder->arena, "`%s` is 1 or 0", text_of_int(binder->arena, expr));
    bind_error(binder, expr->span, hint, "%s needs numbers, but `%s` is a condition", what, text);
    return false;
}

bool bind_is_integer(struct scope *scope, struct term term, const struct expr *expr, const char *what,
                     const char *logical)
{
    struct binder *binder = scope->binder;
    if (class_of(scope->code, term) != CLASS_FLOAT)
        return bind_is_number(scope, term, expr, what, logical);
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    const char *cut = text_of_int(binder->arena, expr);
    bind_error(binder, expr->span, arena_printf(binder->arena, "`%s` truncates it towards zero", cut),
               "%s needs integers, but `%s` is a float", what, text);
    return false;
}

value bind_plain(struct scope *scope, const struct expr *expr, const char *what)
{
    struct term term = bind_term(scope, expr);
    if (!term_is_known(term))
        return NO_VALUE;
    enum term_class which = class_of(scope->code, term);
    if (class_is_number(which) && term.present == NO_VALUE)
        return term.value;
    if (class_is_number(which))
        bind_error(scope->binder, expr->span, NULL, "%s cannot give a missing value", what);
    else
        not_a_number(scope->binder, which, expr, what, NULL);
    return NO_VALUE;
}
