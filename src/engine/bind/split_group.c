#include "engine/bind/split_group.h"

#include <string.h>

struct splitting {
    struct binder *binder;
    const struct stage *group;
    struct item *calls; /* the aggregates, with names */
    size_t count, capacity;
    bool computes; /* something is computed of one */
};

static struct expr *name_expr(const struct splitting *splitting, const char *name, struct span span)
{
    struct expr *expr = ARENA_NEW(splitting->binder->arena, struct expr, .kind = EXPR_NAME, .span = span, .depth = 1);
    expr->name = (struct name){name, span};
    return expr;
}

/* The name of the column that a key becomes; NULL: it is not known here. */
static const char *name_of_key(const struct item *item)
{
    return item->name.text ? item->name.text : item->expr->kind == EXPR_NAME ? item->expr->name.text : NULL;
}

static bool is_key(const struct splitting *splitting, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < splitting->group->item_count && !found; i++)
        found = strcmp(name_of_key(&splitting->group->items[i]), name) == 0;
    return found;
}

static bool has_aggregate(const struct splitting *splitting, const struct expr *expr)
{
    bool found = aggregate_of_call(splitting->binder, expr);
    for (size_t i = 0; i < expr->arg_count && !found; i++)
        found = has_aggregate(splitting, expr->args[i]);
    return found;
}

static struct expr *split(struct splitting *splitting, const struct expr *expr);

/* The aggregate becomes a column. */
static struct expr *split_call(struct splitting *splitting, const struct expr *expr)
{
    struct arena *arena = splitting->binder->arena;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (has_aggregate(splitting, expr->args[i]))
            return NULL;
    }
    const char *name = arena_printf(arena, "aggregate %zu", splitting->count + 1);
    struct item *item = ARENA_PUSH(arena, splitting->calls, splitting->count, splitting->capacity);
    *item =
        (struct item){.expr = arena_copy(arena, expr, sizeof *expr), .name = {name, expr->span}, .span = expr->span};
    return name_expr(splitting, name, expr->span);
}

/* The expression of the aggregates' columns; NULL: it has something else. */
static struct expr *split(struct splitting *splitting, const struct expr *expr)
{
    struct arena *arena = splitting->binder->arena;
    if (aggregate_of_call(splitting->binder, expr))
        return split_call(splitting, expr);
    switch (expr->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
        return arena_copy(arena, expr, sizeof *expr);
    case EXPR_NAME:
        return is_key(splitting, expr->name.text) ? name_expr(splitting, expr->name.text, expr->span) : NULL;
    case EXPR_UNARY:
    case EXPR_BINARY:
    case EXPR_TERNARY:
    case EXPR_CALL:
        break;
    default:
        return NULL;
    }
    struct expr *made = arena_copy(arena, expr, sizeof *expr);
    made->args = arena_array(arena, expr->arg_count + 1, sizeof(struct expr *));
    splitting->computes = true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        made->args[i] = split(splitting, expr->args[i]);
        if (!made->args[i])
            return NULL;
    }
    return made;
}

/* The name that the group gives a column; NULL: it is not known here. */
static const char *name_of_result(const struct splitting *splitting, const struct item *item, size_t place)
{
    struct binder *binder = splitting->binder;
    const struct aggregate_function *function = aggregate_of_call(binder, item->expr);
    if (item->name.text)
        return item->name.text;
    if (!function)
        return arena_printf(binder->arena, "c%zu", place + 1);
    if (function->kind == AGG_COUNT || item->expr->arg_count == 0)
        return function->canonical;
    const struct expr *argument = item->expr->args[function->kind == AGG_QUANTILE ? item->expr->arg_count - 1 : 0];
    if (argument->kind == EXPR_POSITION || (argument->kind == EXPR_NAME && env_find(binder->env, argument->name.text)))
        return NULL;
    return argument->kind == EXPR_NAME ? arena_printf(binder->arena, "%s_%s", function->canonical, argument->name.text)
                                       : function->canonical;
}

static bool is_plain(const struct stage *stage)
{
    bool plain = stage->word->stage == STAGE_GROUP && stage->aggregate_count > 0 && !stage->across &&
                 stage->rollup.end == 0 && !stage->along.text && !stage->head;
    for (size_t i = 0; i < stage->item_count && plain; i++)
        plain = name_of_key(&stage->items[i]);
    return plain;
}

struct pipeline *split_group(struct binder *binder, const struct pipeline *pipeline, size_t k)
{
    const struct stage *group = &pipeline->stages[k];
    struct arena *arena = binder->arena;
    struct splitting splitting = {.binder = binder, .group = group};
    if (!is_plain(group))
        return NULL;
    const size_t keys = group->item_count;
    struct item *items = arena_array(arena, keys + group->aggregate_count, sizeof *items);
    for (size_t i = 0; i < keys; i++) {
        const struct item *key = &group->items[i];
        items[i] = (struct item){.expr = name_expr(&splitting, name_of_key(key), key->span), .span = key->span};
    }
    for (size_t i = 0; i < group->aggregate_count; i++) {
        items[keys + i] = group->aggregates[i];
        items[keys + i].expr = split(&splitting, group->aggregates[i].expr);
        items[keys + i].name.text = name_of_result(&splitting, &group->aggregates[i], keys + i);
        items[keys + i].name.span = group->aggregates[i].span;
        if (!items[keys + i].expr || !items[keys + i].name.text)
            return NULL;
    }
    struct pipeline *made = arena_copy(arena, pipeline, sizeof *made);
    struct stage *stages = arena_array(arena, pipeline->stage_count + 1, sizeof *stages);
    memcpy(stages, pipeline->stages, (k + 1) * sizeof *stages);
    memcpy(stages + k + 1, pipeline->stages + k, (pipeline->stage_count - k) * sizeof *stages);
    stages[k].aggregates = splitting.calls;
    stages[k].aggregate_count = splitting.count;
    stages[k + 1] = (struct stage){.word = word_canonical(word_find("map", strlen("map"))),
                                   .span = group->span,
                                   .word_span = group->word_span,
                                   .items = items,
                                   .item_count = keys + group->aggregate_count};
    stages[k + 1].span.begin = group->aggregates[0].span.begin;
    made->stages = stages;
    made->stage_count++;
    return splitting.computes ? made : NULL;
}
