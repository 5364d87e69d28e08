/* assert: a checked filter of rows, a condition on a terminal's value, or a statement of its own. */
#include "engine/bind/bind_internal.h"
#include "engine/exact/assert_failure.h"

enum { STAGE_SHOWN = 80, MOST_OPERANDS = 4 };

/* A condition must not be a float. */
static enum status check_kind(const struct expr *expr, enum kind kind, struct diags *diags)
{
    if (kind != KIND_FLOAT)
        return STATUS_OK;
    const char *text = expr_text(expr, diags->arena);
    diag_error(diags, expr->span, "a condition cannot be a float, but `%s` is one", text);
    diag_hint(diags, "compare it: `%s != 0.0`", text);
    return STATUS_FAILED;
}

static void bind_row_check(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct expr *expr = stage_expr(binder, stage);
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    const value holds = expr ? bind_condition(&scope, expr) : NO_VALUE;
    if (holds != NO_VALUE) {
        task->filters = arena_alloc(binder->arena, sizeof *task->filters);
        const value keep = code_op(&task->code, OP_ASSERT, holds, NO_VALUE, NO_VALUE, expr->span);
        task->filters[0] = (struct filter){keep, expr->span};
        task->stages[0].condition = expr;
        task->filter_count = 1;
    }
    flow->rows = -1;
    task_pass_inputs(binder, task, flow);
}

/* Checks the condition before the value is known. */
static void bind_value_check(struct binder *binder, const struct stage *stage, const struct flow *flow,
                             struct bound *bound)
{
    const struct expr *expr = stage_expr(binder, stage);
    const struct head *head = stage->head;
    if (head && head->count > 1) {
        bind_error(binder, head->span, NULL, "%s for one value",
                   text_of_count(binder->arena, (int64_t)head->count, "name"));
        return;
    }
    if (!expr || !flow->scalar_known)
        return;
    const struct subject subject = {
        .value = {.name = arena_printf(binder->arena, "%s", flow->scalar_name),
                  .kind = BINDING_SCALAR,
                  .scalar = {.kind = flow->kind, .logical = flow->logical},
                  .unknown = true},
        .head = head,
    };
    struct value_check check = {
        .condition = expr,
        .head = head,
        .span = stage->span,
        .text = text_of_span(binder->arena, stage->span, STAGE_SHOWN),
    };
    struct code code;
    code_init(&code, binder->arena);
    struct scope scope = scope_without_columns(
        binder, &code,
        arena_printf(binder->arena, "the value is `_` or `%s`; the columns are gone", subject.value.name));
    scope.subject = &subject;
    if (bind_condition(&scope, expr) == NO_VALUE)
        return;
    bound->checks =
        arena_grow(binder->arena, bound->checks, bound->check_count, bound->check_count + 1, sizeof *bound->checks);
    bound->checks[bound->check_count++] = check;
}

void bind_assert(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    if (flow->scalar)
        bind_value_check(binder, stage, flow, bound);
    else
        bind_row_check(binder, stage, flow);
}

/* A condition that failed, and what its names mean. */
struct failed_condition {
    struct env *env;
    const struct subject *subject; /* or NULL */
    struct arena *arena;
};

/* Evaluates a part of the condition; false if it cannot be evaluated alone. */
static bool part_value(const struct failed_condition *failed, const struct expr *expr, struct scalar *scalar)
{
    struct bound bound;
    struct diags diags;
    diags_init(&diags, failed->arena);
    if (bind_expression(failed->env, expr, failed->subject, false, failed->arena, &bound, &diags) != STATUS_OK ||
        bound.kind != BOUND_CONSTANT)
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

enum status assertion_run(struct env *env, const struct stmt *stmt, struct arena *arena, struct diags *diags)
{
    struct bound bound;
    enum status status = bind_expression(env, stmt->expr, NULL, false, arena, &bound, diags);
    if (status == STATUS_OK)
        status = check_kind(stmt->expr, bound.scalar_kind, diags);
    if (status != STATUS_OK || is_true(&bound.scalar))
        return status;
    return report_failure(&(struct failed_condition){env, NULL, arena}, stmt->expr, stmt->span, diags);
}

enum status assertion_run_checks(struct env *env, const struct bound *bound, const struct scalar *scalar,
                                 struct arena *arena, struct diags *diags)
{
    struct subject subject = {
        .value = {.name = arena_printf(arena, "%s", bound->scalar_name), .kind = BINDING_SCALAR, .scalar = *scalar}};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < bound->check_count && status == STATUS_OK; i++) {
        const struct value_check *check = &bound->checks[i];
        struct bound condition;
        subject.head = check->head;
        status = bind_expression(env, check->condition, &subject, false, arena, &condition, diags);
        if (status == STATUS_OK && !is_true(&condition.scalar))
            status =
                report_failure(&(struct failed_condition){env, &subject, arena}, check->condition, check->span, diags);
    }
    return status;
}
