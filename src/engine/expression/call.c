/* Calls by name; user functions are inlined. */
#include "engine/expression/expression.h"
#include "engine/expression/names_unknown.h"
#include "engine/lists/lists.h"
#include "engine/lower/over.h"

#include <string.h>

enum { LIMIT_PARAMETERS = 255 };

enum use { USED_AS_VALUE = 1, USED_FOR_ELEMENTS = 2 };

/* How an expression uses a parameter: a set of `enum use`, of which no more is found after a use as a value. `depth`:
 * of calls that may follow. */
static unsigned uses_of(const struct binder *binder, const struct expr *expr, const char *name, int depth)
{
    struct expr element;
    if (expr_of_path(expr, binder->arena, &element))
        expr = &element;
    const bool same = !expr->definition && expr->name.text && strcmp(expr->name.text, name) == 0;
    const struct binding *called = expr->kind == EXPR_CALL ? env_find(binder->env, expr->name.text) : NULL;
    const struct stmt *function =
        called && called->kind == BINDING_FUNCTION && !called->unknown ? called->function : NULL;
    unsigned uses = 0;
    if (same && expr->kind == EXPR_NAME)
        uses = USED_AS_VALUE;
    else if (same && expr->kind == EXPR_INDEX)
        uses = USED_FOR_ELEMENTS;
    for (size_t i = 0; i < expr->arg_count && !(uses & USED_AS_VALUE); i++) {
        const struct expr *argument = expr->args[i];
        if (!argument)
            continue;
        const unsigned here = uses_of(binder, argument, name, depth);
        const bool given =
            here == USED_AS_VALUE && argument->kind == EXPR_NAME && function && depth > 0 && i < function->param_count;
        uses |= given ? uses_of(binder, function->expr, function->params[i].text, depth - 1) : here;
    }
    return uses;
}

/* Whether the function takes elements of parameter i alone, and is given a name: it need not be that of a value. */
static bool takes_elements(const struct scope *scope, const struct stmt *function, const struct expr *call, size_t i)
{
    return function && i < function->param_count && call->args[i]->kind == EXPR_NAME &&
           uses_of(scope->binder, function->expr, function->params[i].text, LIMIT_CALLS) == USED_FOR_ELEMENTS;
}

/* Binds all arguments, to report every mistake in them. `function`: NULL if it is not known. */
static void bind_arguments(struct scope *scope, const struct stmt *function, const struct expr *expr,
                           struct term *arguments)
{
    for (size_t i = 0; i < expr->arg_count && !bind_gave_up(scope->binder); i++)
        arguments[i] = takes_elements(scope, function, expr, i) ? unknown_term : bind_term(scope, expr->args[i]);
}

/* "f(x, y)"; stages without parameters have no brackets. */
static const char *usage_of(struct arena *arena, const struct stmt *def)
{
    struct strbuf text = {0};
    strbuf_puts(&text, def->name.text);
    for (size_t i = 0; i < def->param_count; i++)
        strbuf_printf(&text, "%s%s", i == 0 ? "(" : ", ", def->params[i].text);
    strbuf_puts(&text, def->param_count > 0 ? ")" : def->expr ? "()" : "");
    return strbuf_take(&text, arena);
}

bool bind_takes(struct binder *binder, const struct stmt *def, struct span span, size_t given)
{
    return given == def->param_count ||
           bind_error_second(binder, span, def->span, "defined here",
                             arena_printf(binder->arena, "usage: %s", usage_of(binder->arena, def)),
                             "`%s` takes %s, not %zu", def->name.text,
                             text_of_count(binder->arena, (int64_t)def->param_count, "argument"), given);
}

/* A function can only call functions defined before it, so recursion needs a redefinition: it is found when that is
 * checked. */
static bool is_recursive(const struct binder *binder, const char *name)
{
    return binder->defining && strcmp(binder->defining->name.text, name) == 0;
}

static void refuse_recursion(struct binder *binder, const struct expr *expr)
{
    const char *name = expr->name.text;
    const char *hint = "functions are inlined where they are called, so they cannot be recursive";
    const struct call *outermost = binder->call;
    if (!outermost) {
        bind_error(binder, expr->span, hint, "`%s` calls itself", name);
        return;
    }
    while (outermost->caller)
        outermost = outermost->caller;
    bind_error_second(binder, outermost->span, expr->span, "this call is recursive", hint,
                      "`%s` calls itself through `%s`", name, outermost->function->name.text);
}

static int depth_of_calls(const struct binder *binder)
{
    int depth = 0;
    for (const struct call *call = binder->call; call; call = call->caller)
        depth++;
    return depth;
}

/* Runtime errors point at the call: it is in a stage, so stage and row can be named. */
static void point_at_call(struct code *code, value first, struct span call)
{
    for (value v = first; v < code->count; v++)
        code->at[v].span = call;
}

/* The body sees its arguments, which are values of the caller, and `let` scalars. Unused arguments stay unread in the
 * code and are never computed. */
static struct term inline_call(struct scope *scope, const struct stmt *function, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct term *arguments = arena_array(binder->arena, expr->arg_count + 1, sizeof *arguments);
    bind_arguments(scope, function, expr, arguments);
    if (!bind_takes(binder, function, expr->span, expr->arg_count))
        return unknown_term;
    if (depth_of_calls(binder) >= LIMIT_CALLS)
        return term_error(binder, expr->span, NULL, "function calls are nested more than %d deep", LIMIT_CALLS);
    if (bind_gave_up(binder))
        return unknown_term;

    struct call call = {function, expr->span, binder->call, false};
    struct scope body =
        scope_without_columns(binder, scope->code, "a function can use its parameters and `let` values only");
    body.parameters = function->params;
    body.parameter_count = function->param_count;
    body.arguments = arguments;
    body.call = expr;
    body.caller = scope;
    body.has_rows = scope->has_rows;
    body.shape = scope->shape;
    body.task = scope->task;
    body.group = scope->group;
    body.place = scope->place;
    body.scattered = scope->scattered;
    body.needed = scope->needed;
    binder->call = &call;
    const int32_t before = scope->code->count;
    struct term term = bind_term(&body, function->expr);
    binder->call = call.caller;
    if (!call.caller || call.caller->stage)
        point_at_call(scope->code, before, expr->span);
    scope->reads_row = scope->reads_row || body.reads_row;
    return term;
}

/* Functions that read other rows. */
static const struct of_rows {
    const char *name;
    struct term (*bind)(struct scope *scope, const struct expr *expr);
} of_rows[] = {{"rank", lower_rank}, {"ntile", lower_ntile}, {"fill", lower_fill}, {"ewma", lower_ewma}};

struct term bind_call(struct scope *scope, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    if (strcmp(expr->name.text, "at") == 0)
        return scope->neighbours ? bind_at(scope, expr) : bind_at_row(scope, expr);
    if (strcmp(expr->name.text, "before") == 0 && !env_find(binder->env, "before"))
        return bind_before(scope, expr);
    if (list_is_aggregated(scope, expr))
        return bind_list_aggregate(scope, expr);
    const struct aggregate_function *aggregate = aggregate_of_call(binder, expr);
    if (aggregate)
        return bind_aggregate_call(scope, aggregate, expr);
    const struct of_rows *reads_others = TABLE_ROW(of_rows, expr->name.text);
    if (reads_others)
        return reads_others->bind(scope, expr);
    const struct function *function = function_find(expr->name.text);
    if (function)
        return bind_builtin(scope, function, expr);
    if (is_recursive(binder, expr->name.text)) {
        refuse_recursion(binder, expr);
        return unknown_term;
    }
    const struct binding *binding = env_find(binder->env, expr->name.text);
    if (binding && binding->kind == BINDING_FUNCTION && !binding->unknown)
        return inline_call(scope, binding->function, expr);
    if (binding && binding->unknown) {
        /* Its definition failed and was reported. Its arguments may have errors of their own. */
        bind_arguments(scope, NULL, expr, arena_array(binder->arena, expr->arg_count + 1, sizeof(struct term)));
        return unknown_term;
    }
    name_unknown_function(scope, &expr->name);
    return unknown_term;
}

void check_parameters(struct binder *binder, const struct stmt *def)
{
    if (def->param_count > LIMIT_PARAMETERS) {
        bind_error(binder, def->params[LIMIT_PARAMETERS].span, NULL, "a function has at most %d parameters",
                   LIMIT_PARAMETERS);
        return;
    }
    for (size_t i = 1; i < def->param_count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (strcmp(def->params[i].text, def->params[k].text) != 0)
                continue;
            bind_error_second(binder, def->params[i].span, def->params[k].span, "here first", NULL,
                              "duplicate parameter `%s`", def->params[i].text);
            break;
        }
    }
}

/* Binds the body once, with unknown parameters. */
void bind_function_body(struct binder *binder, const struct stmt *def)
{
    if (function_find(def->name.text))
        bind_error(binder, def->name.span, "choose another name", "`%s` is a built-in function", def->name.text);
    check_parameters(binder, def);
    if (def->param_count > LIMIT_PARAMETERS)
        return;
    struct term *arguments = arena_array(binder->arena, def->param_count + 1, sizeof *arguments);
    for (size_t i = 0; i < def->param_count; i++)
        arguments[i] = unknown_term;
    struct scope body = scope_without_columns(binder, NULL, "a function can use its parameters and `let` values only");
    body.parameters = def->params;
    body.parameter_count = def->param_count;
    body.arguments = arguments;
    body.has_rows = true;
    body.shape = (struct shape){.axes = 2, .extents = {1, 1}}; /* it may be called in a stage with a shape */
    binder->defining = def;
    bind_term(&body, def->expr);
}
