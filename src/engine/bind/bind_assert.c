/* assert: conditions of rows and of values. */
#include "engine/bind/bind_internal.h"

enum { MOST_TEXT = 80 }; /* of an assertion, in listings */

static void bind_row_check(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct expr *expr = stage_expr(binder, stage);
    struct task *task = task_after(binder, stage, flow);
    struct scope scope = scope_of_stage(binder, task, flow, stage->head);
    value holds = expr != NULL ? bind_condition(&scope, expr) : NO_VALUE;
    if (holds != NO_VALUE) {
        task->filters = arena_alloc(binder->arena, sizeof *task->filters);
        value keep = code_op(&task->code, OP_ASSERT, holds, NO_VALUE, NO_VALUE, expr->span);
        task->filters[0] = (struct filter){keep, expr->span};
        task->stages[0].condition = expr;
        task->filter_count = 1;
    }
    flow->rows = -1;
    task_pass(binder, task, flow);
}

/* The condition is bound here for its errors alone: once more when the value is known. */
static bool is_condition(struct binder *binder, const struct expr *expr, const struct subject *subject)
{
    struct code code;
    struct scalar scalar;
    code_init(&code, binder->arena);
    struct scope scope = scope_without_columns(
        binder, &code,
        arena_printf(binder->arena, "the value is `_` or `%s`; the columns are gone", subject->value.name));
    scope.subject = subject;
    enum known known = bind_constant(&scope, expr, &scalar);
    if (known == KNOWN_NOTHING || assertion_check(expr, scalar.kind, binder->diags) == STATUS_OK)
        return known != KNOWN_NOTHING;
    bind_failed(binder);
    return false;
}

static void bind_value_check(struct binder *binder, const struct stage *stage, const struct flow *flow,
                             struct bound *bound)
{
    const struct expr *expr = stage_expr(binder, stage);
    const struct head *head = stage->head;
    struct subject subject = {.head = head};
    if (head != NULL && head->count > 1) {
        bind_error(binder, head->span, NULL, "%s for one value",
                   text_of_count(binder->arena, (int64_t)head->count, "name"));
        return;
    }
    if (expr == NULL || !flow->scalar_known)
        return;
    subject.value = (struct binding){.name = arena_printf(binder->arena, "%s", flow->scalar_name),
                                     .kind = BINDING_SCALAR,
                                     .scalar = {.kind = flow->kind},
                                     .unknown = true};
    if (!is_condition(binder, expr, &subject))
        return;
    bound->checks =
        arena_grow(binder->arena, bound->checks, bound->check_count, bound->check_count + 1, sizeof *bound->checks);
    bound->checks[bound->check_count++] =
        (struct value_check){expr, head, stage->span, text_of_span(binder->arena, stage->span, MOST_TEXT)};
}

void bind_assert(struct binder *binder, const struct stage *stage, struct flow *flow, struct bound *bound)
{
    if (flow->scalar)
        bind_value_check(binder, stage, flow, bound);
    else
        bind_row_check(binder, stage, flow);
}
