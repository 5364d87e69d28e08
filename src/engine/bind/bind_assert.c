/* assert: a checked filter of rows, or a condition on a terminal's value. */
#include "engine/bind/bind_internal.h"

enum { STAGE_SHOWN = 80 };

static void bind_row_check(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct expr *expr = stage_expr(binder, stage);
    struct task *task = task_of_stage(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    const value holds = expr ? bind_condition(&scope, expr) : NO_VALUE;
    if (holds != NO_VALUE) {
        task_filter(binder, task, code_unary(&task->code, OP_ASSERT, holds, expr->span), expr->span);
        task->stages[0].condition = expr;
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
    struct scope scope = scope_without_columns(
        binder, NULL,
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
