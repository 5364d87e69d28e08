/* group: one row for each key. */
#include "engine/bind/bind_internal.h"
#include "engine/expression/names_unknown.h"
#include "engine/expression/texts.h"

#include <string.h>

static const char how_to_aggregate[] = "`.help aggregates` lists them: sum(E) count() min(E) max(E) mean(E) ...";

/* "did you mean `mean`?", of a call, if an aggregate has a similar name */
static const char *hint_of_aggregate(struct binder *binder, const struct expr *expr)
{
    const char **names = arena_array(binder->arena, aggregate_function_count, sizeof *names), *nearest;
    for (size_t i = 0; i < aggregate_function_count; i++)
        names[i] = aggregate_functions[i].name;
    const bool similar = expr->kind == EXPR_CALL && !function_find(expr->name.text) &&
                         nearest_names(expr->name.text, names, aggregate_function_count, &nearest, 1) > 0;
    return similar ? arena_printf(binder->arena, "did you mean `%s`? `.help aggregates` lists them", nearest)
                   : how_to_aggregate;
}

/* Reports `count` written without parentheses, or something without an aggregate. */
static void refuse_item(struct binder *binder, const struct expr *expr)
{
    const struct aggregate_function *function = NULL;
    if (expr->kind == EXPR_NAME)
        function = aggregate_find(expr->name.text);
    if (aggregate_named(binder, expr))
        bind_error(
            binder, expr->span,
            arena_printf(binder->arena, "as in `sum(%s)`, of all of them", text_of_span(binder->arena, expr->span, 40)),
            "`%s` is of each row's list: the group needs an aggregate of these values",
            text_of_span(binder->arena, expr->span, 40));
    else if (!function)
        bind_error(binder, expr->span, hint_of_aggregate(binder, expr), "`%s` is not an aggregate",
                   text_of_span(binder->arena, expr->span, 40));
    else
        bind_error(
            binder, expr->span,
            arena_printf(binder->arena, "as in `group K: %s(%s)`", function->name, function->least == 0 ? "" : "E"),
            "in a group, `%s` is written as a function call", function->name);
}

const char *name_of_aggregate(struct binder *binder, const struct stage *stage, const struct flow *flow,
                              const struct expr *expr)
{
    const struct aggregate_function *function = aggregate_of_call(binder, expr);
    if (!function)
        return NULL;
    if (function->kind == AGG_COUNT || expr->arg_count == 0)
        return function->canonical;
    const struct expr *argument = expr->args[function->kind == AGG_QUANTILE ? expr->arg_count - 1 : 0];
    struct code code;
    struct diags diags;
    size_t index;
    if (argument->kind != EXPR_NAME && argument->kind != EXPR_POSITION)
        return function->canonical;
    /* Errors of the name have been reported. */
    struct binder silent = *binder;
    diags_init(&diags, binder->arena);
    code_init(&code, binder->arena);
    silent.diags = &diags;
    struct scope scope = {.binder = &silent, .code = &code, .flow = flow, .head = stage->head, .has_rows = true};
    struct term term = bind_term(&scope, argument);
    return bind_is_column(&scope, argument, term, &index)
               ? arena_printf(binder->arena, "%s_%s", function->canonical, flow->columns[index].name)
               : function->canonical;
}

/* The column of a bare call in the groups' relation; false if it is not one of it. The search begins at `from`, since
 * calls mostly come in their order. */
static bool column_of_call(const struct groups *groups, const struct expr *expr, size_t from, size_t *column)
{
    const size_t count = groups->values.count;
    for (size_t k = 0; k < count; k++) {
        const struct aggregate_value *of_call = &groups->values.at[(from + k) % count];
        *column = of_call->column;
        if (of_call->call == expr)
            return of_call->flow->task == groups->flow.task;
    }
    return false;
}

/* Whether the relation's columns are the result as they are: the keys, then the calls in order. */
static bool is_result(const struct stage *stage, const struct groups *groups)
{
    size_t column;
    for (size_t i = 0; i < stage->aggregate_count; i++) {
        if (!column_of_call(groups, stage->aggregates[i].expr, i, &column) || column != groups->key_count + i)
            return false;
    }
    return groups->flow.count == groups->key_count + stage->aggregate_count;
}

/* The result has the relation's columns: names them. */
static void name_result(struct binder *binder, const struct groups *groups, struct slot *slots, struct flow *flow)
{
    for (size_t i = 0; i < groups->flow.count; i++) {
        const char *name = slots[i].name;
        slots[i] = groups->flow.columns[i];
        slots[i].name = name;
    }
    for (size_t i = 0; i < groups->flow.hidden; i++)
        slots[groups->flow.count + i] = groups->flow.columns[groups->flow.count + i];
    name_columns(binder, slots, groups->flow.count);
    for (size_t i = 0; i < groups->flow.count; i++) {
        groups->flow.task->outputs[i].name = slots[i].name;
        if (i >= groups->key_count && groups->flow.task->sink != SINK_ROWS)
            groups->flow.task->aggregates[i - groups->key_count].name = slots[i].name;
    }
    *flow = groups->flow;
    flow->columns = slots;
}

/* The result is computed of the relation. */
static void compute_result(struct binder *binder, const struct stage *stage, struct groups *groups, struct slot *slots,
                           struct flow *flow)
{
    const size_t keys = groups->key_count, count = keys + stage->aggregate_count;
    struct task *task = task_reading(binder, "map", stage->span, &groups->flow);
    struct term *terms = arena_array(binder->arena, count + 1, sizeof *terms);
    struct flow visible = groups->flow;
    visible.count = keys;
    visible.hidden = groups->flow.count + groups->flow.hidden - keys;
    struct scope scope = scope_of_stage(binder, task, &visible, NULL);
    scope.of_groups = true;
    binder->aggregates = &groups->values;
    for (size_t i = 0; i < count; i++) {
        const char *name = slots[i].name;
        if (i < keys) {
            terms[i] = term_of_column(scope.code, &groups->flow, i, stage->span);
            slots[i] = groups->flow.columns[i];
        } else {
            size_t column;
            const struct expr *expr = stage->aggregates[i - keys].expr;
            const bool bare = column_of_call(groups, expr, i - keys, &column);
            terms[i] = term_as_column(binder, bind_term(&scope, expr));
            slots[i] = bare ? groups->flow.columns[column] : slot_of_term(&scope, terms[i]);
        }
        slots[i].name = name;
    }
    binder->aggregates = NULL;
    name_columns(binder, slots, count);
    *flow = groups->flow;
    task_set_outputs(binder, task, flow, slots, terms, count);
}

/* A computed key has the name of its column, unless another key has it: then none. */
static const char *name_of_key(const struct stage *stage, const struct groups *groups, size_t i)
{
    const struct expr *expr = stage->items[i].expr;
    const bool given = stage->items[i].name.text || expr->kind == EXPR_NAME || expr->kind == EXPR_POSITION;
    for (size_t k = 0; k < groups->key_count && !given; k++) {
        if (k != i && groups->key_names[i] && groups->key_names[k] &&
            strcmp(groups->key_names[i], groups->key_names[k]) == 0)
            return NULL;
    }
    return groups->key_names[i];
}

void bind_group(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const size_t key_count = stage->item_count, most = key_count + stage->aggregate_count;
    if (too_many_columns(binder, most, stage->span)) {
        flow->open = true;
        return;
    }
    struct slot *slots = arena_array(binder->arena, 4 * most + 4, sizeof *slots);
    struct groups groups;
    bool open = false;
    for (size_t i = 0; i < stage->aggregate_count; i++) {
        if (!aggregates_any(binder, stage->aggregates[i].expr)) {
            refuse_item(binder, stage->aggregates[i].expr);
            open = true;
        }
    }
    for (size_t i = 0; i < key_count; i++) { /* any other constant may be meant */
        const struct item *item = &stage->items[i];
        const char *hint = !item->name.text ? name_hint_of_text(binder, item->expr, flow) : NULL;
        if (hint)
            bind_error(binder, item->expr->span, hint, "this key is the same for all rows");
    }
    const struct flow rows = *flow;
    groups_lower(binder, stage, flow, &groups);
    for (size_t i = 0; i < key_count; i++) {
        slots[i].name = name_of_key(stage, &groups, i);
        open = open || (!slots[i].name && !groups.flow.columns[i].known); /* its full name is not known */
    }
    for (size_t i = 0; i < stage->aggregate_count; i++) {
        const struct item *item = &stage->aggregates[i];
        slots[key_count + i].name =
            item->name.text ? item->name.text : name_of_aggregate(binder, stage, &rows, item->expr);
    }
    if (is_result(stage, &groups) || open)
        name_result(binder, &groups, slots, flow);
    else
        compute_result(binder, stage, &groups, slots, flow);
    flow->shape = (struct shape){0};
    flow->open = open;
}

void group_equal(struct binder *binder, const struct stage *stage, struct flow *flow)
{
    const struct aggregation by_nothing = {.binder = binder, .stage = stage, .flow = flow};
    struct pass pass;
    pass_begin(&pass, &by_nothing);
    pass_group_by(&pass, 0);
    pass_add_count(&pass, NO_VALUE, stage->span);
    pass.partials[0].slot.name = "count";
    pass_end(&pass);
    *flow = pass.flow;
}
