/* Constant expressions: those of range, list, take and let. */
#include "engine/expression/expression.h"

#include "engine/exact/exact.h"
#include "engine/expression/texts.h"

struct scope scope_without_columns(struct binder *binder, struct code *code, const char *why)
{
    struct scope scope = {.binder = binder, .code = code, .no_columns = why};
    if (!code) {
        scope.code = arena_alloc(binder->arena, sizeof *scope.code);
        code_init(scope.code, binder->arena);
    }
    return scope;
}

/* Whether the value depends on a `let` scalar that only running can compute. */
static bool reads_unknown(const struct scope *scope, value v)
{
    bool *live = arena_array(scope->binder->arena, (size_t)scope->code->count, sizeof *live);
    code_mark(scope->code, v, live);
    for (value i = 0; i <= v; i++) {
        if (live[i] && scope->code->at[i].op == OP_INPUT)
            return true;
    }
    return false;
}

struct term constant_of(struct scope *scope, const struct scalar *scalar, struct span span)
{
    struct code *code = scope->code;
    value v;
    if (scalar->logical.kind == LOGICAL_TEXT && !scalar->missing)
        return text_term(scope, scalar->text, span);
    if (scalar->kind == KIND_FLOAT)
        v = code_float(code, scalar->number, span);
    else if (scalar->kind == KIND_BOOL)
        v = code_bool(code, scalar->integer != 0, span);
    else
        v = scalar_fits(scalar) ? code_int(code, (int64_t)scalar->integer, span) : NO_VALUE;
    struct term term = term_of_type(v, scalar->logical);
    if (scalar->missing) {
        term.present = code_bool(code, false, span);
        term.missing = true;
    }
    return term;
}

/* Plain numbers need no code: lists of them can be long. */
static bool is_literal(const struct expr *expr, struct scalar *scalar)
{
    const bool negative = expr->kind == EXPR_UNARY && expr->op.unary == UNARY_NEG;
    const struct expr *literal = negative ? expr->args[0] : expr;
    if (literal->kind == EXPR_FLOAT) {
        *scalar = scalar_float(negative ? -literal->number : literal->number);
        return true;
    }
    if (literal->kind != EXPR_INT || (negative && literal->integer == INT64_MIN))
        return false;
    *scalar = scalar_int(negative ? -literal->integer : literal->integer);
    return true;
}

enum known bind_constant_int(struct scope *scope, const struct expr *expr, const char *what, const char *hint,
                             int64_t *integer)
{
    struct scalar scalar;
    const enum known known = bind_constant(scope, expr, &scalar);
    if (known != KNOWN_NOTHING &&
        (scalar.kind != KIND_INT || scalar.logical.kind != LOGICAL_NUMBER || scalar.missing)) {
        bind_error(scope->binder, expr->span, hint, "%s must be an integer", what);
        return KNOWN_NOTHING;
    }
    if (known == KNOWN_VALUE)
        *integer = (int64_t)scalar.integer;
    return known;
}

/* Evaluates a value of the scope's code. */
static enum known evaluate(struct scope *scope, value v, struct scalar *scalar)
{
    const struct instr *instr = &scope->code->at[v];
    *scalar = (struct scalar){.kind = instr->kind, .integer = instr->integer, .number = instr->number};
    if (code_is_const(scope->code, v))
        return KNOWN_VALUE;
    if (reads_unknown(scope, v))
        return KNOWN_KIND;
    struct binder *binder = scope->binder;
    const enum status status = exact_constant(scope->code, v, env_cancel(binder->env), scalar, binder->diags);
    return bind_succeeded(binder, status) ? KNOWN_VALUE : KNOWN_NOTHING;
}

enum known bind_constant(struct scope *scope, const struct expr *expr, struct scalar *scalar)
{
    struct binder *binder = scope->binder;
    if (is_literal(expr, scalar))
        return KNOWN_VALUE;
    struct term term = bind_term(scope, expr);
    if (!term_is_known(term) || bind_gave_up(binder))
        return KNOWN_NOTHING;
    enum known known = evaluate(scope, term_settled(scope->code, term, expr->span), scalar);
    scalar->logical = term.logical;
    if (term.text)
        scalar->text = *term.text;
    if (term.present == NO_VALUE || known != KNOWN_VALUE)
        return known;
    struct scalar present;
    known = evaluate(scope, term.present, &present);
    scalar->missing = known == KNOWN_VALUE && present.integer == 0;
    return known;
}
