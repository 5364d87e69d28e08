/* Building the syntax tree: sets of columns. */
#include "parser/ast_build.h"

static struct column_set *set_new(struct tree *tree, struct column_set *limits)
{
    return limits ? limits : arena_alloc(tree->arena, sizeof *limits);
}

static struct expr *expr_of_set(struct tree *tree, struct column_set *set, struct span span)
{
    if (set->span.source)
        span = span_join(span, set->span);
    struct expr *expr = expr_new(tree, EXPR_SET, span, NULL, 0);
    expr->set = set;
    return expr;
}

struct expr *set_of_pattern(struct tree *tree, struct token pattern, struct column_set *limits)
{
    struct column_set *set = set_new(tree, limits);
    set->pattern = token_name(tree, pattern);
    return expr_of_set(tree, set, set->pattern.span);
}

struct expr *set_of_span(struct tree *tree, struct expr *first, struct expr *last, struct column_set *limits)
{
    struct column_set *set = set_new(tree, limits);
    set->first = first;
    set->last = last;
    return expr_of_set(tree, set, span_join(first->span, last->span));
}

struct column_set *set_of_type(struct tree *tree, struct column_set *limits, struct token type)
{
    struct column_set *set = set_new(tree, limits);
    const struct name name = token_name(tree, type);
    if (set->type.text && !tree->failed) {
        tree->failed = true;
        diag_error(tree->diags, name.span, "a set of columns has one type");
        diag_hint(tree->diags, "name two sets, with a comma between them");
    }
    set->type = name;
    set->span = set->span.source ? span_join(set->span, name.span) : name.span;
    return set;
}

struct column_set *set_without(struct tree *tree, struct column_set *limits, const struct item_list *members,
                               struct token end)
{
    struct column_set *set = set_new(tree, limits);
    for (size_t i = 0; i < members->count; i++) {
        const struct span span = members->at[i].span;
        set->without = expr_list_add(tree, set->without, members->at[i].expr);
        set->span = set->span.source ? span_join(set->span, span) : span;
    }
    if (end.end != 0)
        set->span = span_join(set->span, token_span(tree, end));
    return set;
}

struct item *item_of_set(struct tree *tree, struct expr *expr, struct token name)
{
    struct item *item = item_new(tree, expr, name);
    item->pattern = true;
    return item;
}

struct item *item_assigned(struct tree *tree, struct expr *set, struct expr *expr)
{
    struct item *item = item_new(tree, expr, (struct token){0});
    item->columns = set;
    item->span = span_join(set->span, expr->span);
    return item;
}
