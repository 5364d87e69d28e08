/* Calls of aggregates in expressions. Their values have been computed by earlier tasks (engine/lower/aggregates.h). */
#include "engine/expression/expression.h"
#include "engine/expression/named_aggregates.h"
#include "engine/lists/lists.h"

#include <string.h>

const struct aggregate_function *aggregate_named(const struct binder *binder, const struct expr *expr)
{
    if (expr->kind != EXPR_CALL)
        return NULL;
    const struct aggregate_function *function = aggregate_find(expr->name.text);
    if (!function || !aggregate_is_call(function, expr->arg_count))
        return NULL;
    const struct binding *binding = env_find(binder->env, expr->name.text);
    return binding && binding->kind == BINDING_FUNCTION ? NULL : function;
}

const struct aggregate_function *aggregate_of_call(const struct binder *binder, const struct expr *expr)
{
    const struct aggregate_function *function = aggregate_named(binder, expr);
    union {
        const struct binder *shared;
        struct binder *own;
    } of = {.shared = binder};
    const struct scope rows = {
        .binder = of.own, .flow = binder->rows, .head = binder->rows && binder->stage ? binder->stage->head : NULL};
    return function && binder->rows && list_is_aggregated(&rows, expr) ? NULL : function;
}

/* The number of the input that has this column of a relation, as a whole. */
static int64_t whole_input(struct scope *scope, const struct flow *flow, size_t index)
{
    const struct input input = flow_whole(flow, index);
    return (int64_t)task_add_input(scope->task, &input, scope->binder->arena);
}

struct term term_at(struct scope *scope, const struct flow *flow, size_t index, value row, struct span span)
{
    const struct slot *slot = &flow->columns[index];
    if (!slot->known || !flow->task)
        return unknown_term;
    const value v = code_lookup(scope->code, whole_input(scope, flow, index), type_table[slot->type].kind, row, span);
    struct term term = term_of_type(v, slot->logical);
    if (slot->validity != 0)
        term.present = code_lookup(scope->code, whole_input(scope, flow, slot->validity), KIND_BOOL, row, span);
    return term;
}

static const struct aggregate_value *value_of(const struct aggregate_values *values, const struct expr *call)
{
    for (size_t i = 0; values && i < values->count; i++) {
        if (values->at[i].call == call)
            return &values->at[i];
    }
    return NULL;
}

struct term bind_aggregate_call(struct scope *scope, const struct aggregate_function *function, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    const struct aggregate_value *of_call = value_of(binder->aggregates, expr);
    if (!of_call || !scope->task) {
        const char *hint =
            arena_printf(binder->arena, "in a pipeline it is a value of the rows at hand: `... | map %s`",
                         function->usage ? function->usage : function->canonical);
        if (scope->parameters || binder->call || binder->defining)
            hint = "give its value to the function, as in `f(x, mean(x))`";
        return term_error(binder, expr->span, hint, "there are no rows here for the aggregate `%s`", function->name);
    }
    const struct aggregate_values *values = binder->aggregates;
    struct term term;
    if (values->rows == AGGREGATES_OF_GROUP && of_call->flow->task == scope->flow->task) {
        term = term_of_column(scope->code, of_call->flow, of_call->column, expr->span);
    } else {
        value row = code_exact_int(scope->code, 0, expr->span);
        if (values->rows == AGGREGATES_BY_ID)
            row = code_input(scope->code, (int64_t)values->ids, KIND_INT, expr->span);
        else if (values->rows == AGGREGATES_OF_GROUP)
            row = code_row(scope->code, expr->span);
        term = term_at(scope, of_call->flow, of_call->column, row, expr->span);
    }
    scope->reads_row = scope->reads_row || values->rows != AGGREGATES_OF_ALL;
    term.aggregate = true;
    return term;
}

static const struct named_aggregate *find_named(const struct named_aggregate *named, const char *name)
{
    while (named && strcmp(named->name.text, name) != 0)
        named = named->before;
    return named;
}

const struct named_aggregate *named_aggregate_find(const struct binder *binder, const char *name)
{
    return find_named(binder->named, name);
}

/* Whether the expression, of a name, has aggregates or an earlier name that has. */
static bool reads_aggregates(const struct named_aggregate *named, const struct expr *expr)
{
    if (value_of(named->values, expr))
        return true;
    const bool free = expr->kind == EXPR_NAME && !expr->definition;
    const struct named_aggregate *other = free ? find_named(named->before, expr->name.text) : NULL;
    if (other && reads_aggregates(other, other->expr))
        return true;
    for (size_t i = 0; i < expr->arg_count; i++) {
        if (reads_aggregates(named, expr->args[i]))
            return true;
    }
    return false;
}

struct term bind_named_aggregate(struct scope *scope, const struct named_aggregate *named, struct span span)
{
    static const char own_hint[] =
        "`with` names aggregates, as in `with m = max(x)`, and constants; later stages know the names";
    struct binder *binder = scope->binder;
    if (named->unknown)
        return unknown_term;
    if (scope->combines && reads_aggregates(named, named->expr)) {
        refuse_in_combiner(scope, span, named->name.text, "is known only when the rows before it are");
        return unknown_term;
    }
    const struct aggregate_values *values = binder->aggregates;
    const struct named_aggregate *names = binder->named;
    struct scope own = scope_without_columns(binder, scope->code, own_hint);
    own.task = scope->task;
    binder->aggregates = named->values;
    binder->named = named->before;
    struct term term = bind_term(&own, named->expr);
    binder->aggregates = values;
    binder->named = names;
    return term;
}
