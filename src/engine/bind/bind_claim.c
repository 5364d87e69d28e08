/* Runs assertions about values: the `assert` statement, and `assert` after a terminal. */
#include "engine/bind/bind_claim.h"

#include "engine/bind/bind_internal.h"
#include "engine/exact/assert_failure.h"

enum { MOST_OPERANDS = 4 }; /* more are not worth quoting */

/* A condition of an expression on its own: of a statement, or of a terminal's value. */
struct claim {
    struct env *env;
    const struct subject *subject; /* or NULL */
    struct arena *arena;
};

/* A part of the claim's expression, which is known to have a value; false if it has none by itself. */
static bool part_value(const struct claim *claim, const struct expr *expr, struct scalar *scalar)
{
    struct bound bound;
    struct diags diags;
    diags_init(&diags, claim->arena);
    if (bind_expression(claim->env, expr, claim->subject, false, claim->arena, &bound, &diags) != STATUS_OK ||
        bound.kind != BOUND_CONSTANT)
        return false;
    *scalar = bound.scalar;
    return true;
}

static bool holds(const struct scalar *scalar)
{
    return scalar->kind == KIND_FLOAT ? scalar->number != 0 : scalar->integer != 0;
}

static void tell_part(struct strbuf *told, const struct claim *claim, const struct expr *expr)
{
    struct scalar scalar;
    if (part_value(claim, expr, &scalar))
        tell_value(told, text_of(expr, claim->arena), &scalar);
}

static void tell_parts(struct strbuf *told, const struct claim *claim, const struct expr *expr)
{
    struct scalar left;
    while (expr->kind == EXPR_BINARY && expr->op.binary == BINARY_AND && part_value(claim, expr->args[0], &left))
        expr = holds(&left) ? expr->args[1] : expr->args[0];
    for (size_t i = 0; i < expr->arg_count && i < MOST_OPERANDS; i++)
        tell_part(told, claim, expr->args[i]);
    if (expr->arg_count == 0)
        tell_part(told, claim, expr);
}

static enum status run_claim(const struct claim *claim, const struct expr *expr, struct span span, struct diags *diags)
{
    struct bound bound;
    enum status status = bind_expression(claim->env, expr, claim->subject, false, claim->arena, &bound, diags);
    if (status == STATUS_OK)
        status = assertion_check(expr, bound.scalar_kind, diags);
    if (status != STATUS_OK || holds(&bound.scalar))
        return status;
    struct strbuf told = {0};
    diag_error(diags, span, "assertion failed: `%s`", text_of(expr, claim->arena));
    tell_parts(&told, claim, expr);
    if (told.length)
        diag_hint(diags, "%s", told.text);
    strbuf_free(&told);
    return STATUS_FAILED;
}

enum status assertion_run(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    const struct claim claim = {env, NULL, arena};
    return run_claim(&claim, stmt->expr, stmt->span, diags);
}

enum status assertion_run_checks(struct env *env, const struct bound *bound, const struct scalar *scalar,
                                 struct arena *arena, struct diags *diags)
{
    struct subject subject = {
        .value = {.name = arena_printf(arena, "%s", bound->scalar_name), .kind = BINDING_SCALAR, .scalar = *scalar}};
    const struct claim claim = {env, &subject, arena};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < bound->check_count && status == STATUS_OK; i++) {
        subject.head = bound->checks[i].head;
        status = run_claim(&claim, bound->checks[i].condition, bound->checks[i].span, diags);
    }
    return status;
}
