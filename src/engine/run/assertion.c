/* Conditions of `assert` that hold or fail as a whole: of a statement, and of a terminal's value. */
#include "engine/run/run_bound.h"

#include "engine/exact/failure.h"

enum { MOST_OPERANDS = 4 };

/* A condition must not be a float. */
static enum status check_kind(const struct expr *expr, enum kind kind, struct diags *diags)
{
    if (kind != KIND_FLOAT)
        return STATUS_OK;
    const char *text = expr_text(expr, diags->arena);
    diag_error(diags, expr->span, "a condition cannot be a float, but `%s` is one", text);
    return diag_hint(diags, "compare it: `%s != 0.0`", text);
}

/* A condition that failed, and what its names mean. */
struct failed_condition {
    struct runner *runner;
    const struct facts *facts; /* as it was bound */
    struct arena *arena;
};

/* Evaluates a part of the condition; false if it cannot be evaluated alone. */
static bool part_value(const struct failed_condition *failed, const struct expr *expr, struct scalar *scalar)
{
    struct facts facts = *failed->facts;
    struct bound bound;
    struct diags diags;
    facts.expr = expr;
    diags_init(&diags, failed->arena);
    if (bind_ready(failed->runner, &facts, failed->arena, &bound, &diags) != STATUS_OK || bound.kind != BOUND_CONSTANT)
        return false;
    *scalar = bound.scalar;
    return true;
}

static void add_part(struct strbuf *hint, const struct failed_condition *failed, const struct expr *expr)
{
    struct scalar scalar;
    if (part_value(failed, expr, &scalar))
        append_value(hint, expr_text(expr, failed->arena), &scalar);
}

static bool is_true(const struct scalar *scalar)
{
    return !scalar->missing && (scalar->kind == KIND_FLOAT ? scalar->number != 0 : scalar->integer != 0);
}

/* Records the error, with the operands of the comparison that decided. */
static enum status report_failure(const struct failed_condition *failed, const struct expr *expr, struct span span,
                                  struct diags *diags)
{
    struct strbuf hint = {0};
    struct scalar left;
    diag_error(diags, span, "assertion failed: `%s`", expr_text(expr, failed->arena));
    while (expr->kind == EXPR_BINARY && expr->op.binary == BINARY_AND && part_value(failed, expr->args[0], &left))
        expr = is_true(&left) ? expr->args[1] : expr->args[0];
    for (size_t i = 0; i < expr->arg_count && i < MOST_OPERANDS; i++)
        add_part(&hint, failed, expr->args[i]);
    if (expr->arg_count == 0)
        add_part(&hint, failed, expr);
    if (hint.length)
        diag_hint(diags, "%s", hint.text);
    strbuf_free(&hint);
    return STATUS_FAILED;
}

enum status assertion_check(const struct stmt *stmt, const struct bound *bound, struct diags *diags)
{
    return bound->kind == BOUND_UNKNOWN ? STATUS_OK : check_kind(stmt->expr, bound->scalar_kind, diags);
}

/* Evaluates the condition; if it does not hold, that is an error at `span`. */
static enum status run_condition(struct runner *runner, struct facts *facts, struct span span, struct arena *arena,
                                 struct diags *diags)
{
    struct bound bound;
    enum status status = bind_ready(runner, facts, arena, &bound, diags);
    if (status == STATUS_OK && !facts->subject)
        status = check_kind(facts->expr, bound.scalar_kind, diags);
    if (status != STATUS_OK || is_true(&bound.scalar))
        return status;
    return report_failure(&(struct failed_condition){runner, facts, arena}, facts->expr, span, diags);
}

enum status assertion_run(struct runner *runner, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct facts facts = {.env = runner->env, .expr = stmt->expr};
    return run_condition(runner, &facts, stmt->span, arena, diags);
}

enum status assertion_run_checks(struct runner *runner, const struct facts *of, const struct bound *bound,
                                 const struct scalar *scalar, struct arena *arena, struct diags *diags)
{
    struct subject subject = {
        .value = {.name = arena_printf(arena, "%s", bound->scalar_name), .kind = BINDING_SCALAR, .scalar = *scalar}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < bound->check_count && status == STATUS_OK; i++) {
        const struct value_check *check = &bound->checks[i];
        struct facts facts = {.env = runner->env, .expr = check->condition, .subject = &subject, .values = of->values};
        subject.head = check->head;
        status = run_condition(runner, &facts, check->span, arena, diags);
    }
    return status;
}
