/* A column that is called `missing`, as `describe` gives. Where the missing value has no meaning, as in `missing > 0`,
 * `sum(missing)` and `sort missing`, the word is the column's name. */
#include "engine/bind/bind_internal.h"

#include <string.h>

static const char missing_name[] = "missing";

static struct expr *column_expr(struct binder *binder, const struct expr *expr)
{
    return ARENA_NEW(binder->arena, struct expr, .kind = EXPR_NAME, .span = expr->span,
                     .name = {missing_name, expr->span}, .depth = 1);
}

/* Whether an operand `missing` would make the whole missing, or an error. */
static bool has_no_meaning(const struct expr *expr)
{
    const enum binary_op op = expr->op.binary;
    return expr->kind == EXPR_CALL || expr->kind == EXPR_IN_RANGE || expr->kind == EXPR_IN_LIST ||
           (expr->kind == EXPR_BINARY && op != BINARY_COALESCE && op != BINARY_IS);
}

/* The expression with the column's name; what does not have it is shared. */
static struct expr *with_column(struct binder *binder, struct expr *expr)
{
    struct expr *copy = NULL;
    for (size_t i = 0; i < expr->arg_count; i++) {
        struct expr *argument = expr->args[i], *changed = argument;
        if (argument && argument->kind == EXPR_MISSING && has_no_meaning(expr))
            changed = column_expr(binder, argument);
        else if (argument && expr->kind != EXPR_LET && expr->kind != EXPR_FOLD)
            changed = with_column(binder, argument);
        if (changed == argument)
            continue;
        if (!copy) {
            copy = arena_alloc(binder->arena, sizeof *copy);
            *copy = *expr;
            copy->args = arena_grow(binder->arena, expr->args, expr->arg_count, expr->arg_count, sizeof *copy->args);
        }
        copy->args[i] = changed;
    }
    return copy ? copy : expr;
}

static struct item *items_with_column(struct binder *binder, const struct stage *stage, const struct item *items,
                                      size_t count)
{
    struct item *copies = arena_array(binder->arena, count + 1, sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        copies[i] = items[i];
        const bool bare = items[i].expr->kind == EXPR_MISSING;
        if (!bare)
            copies[i].expr = with_column(binder, items[i].expr);
        else if (stage->word->stage != STAGE_DERIVE && stage->word->stage != STAGE_WITH)
            copies[i].expr = column_expr(binder, items[i].expr);
    }
    return copies;
}

const struct stage *stage_of_missing(struct binder *binder, const struct stage *stage, const struct flow *flow)
{
    if (!flow_column(flow, missing_name) || flow->scalar)
        return stage;
    struct stage *copy = arena_copy(binder->arena, stage, sizeof *copy);
    copy->items = items_with_column(binder, stage, stage->items, stage->item_count);
    copy->aggregates = items_with_column(binder, stage, stage->aggregates, stage->aggregate_count);
    return copy;
}
