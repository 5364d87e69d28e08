/* Calls of built-in functions: their arguments, and the functions of numbers. */
#include "engine/builtin/builtin.h"
#include "engine/lists/lists.h"

#include <string.h>

enum { OPERAND_SHOWN = 40 };

struct term builtin_result(const struct builtin *call, value v, struct logical_type logical)
{
    struct term result = term_of_type(v, logical);
    for (size_t i = 0; i < call->count; i++)
        result.present = present_both(call->scope->code, result.present, call->arguments[i].present, call->expr->span);
    result.settled = result.present == NO_VALUE;
    return result;
}

struct term builtin_refuse(const struct builtin *call, size_t k, const char *needs, const char *hint)
{
    const struct expr *argument = call->expr->args[k];
    return term_error(call->scope->binder, argument->span, hint, "`%s` needs %s, but `%s` is %s", call->function->name,
                      needs, text_of_span(call->scope->binder->arena, argument->span, OPERAND_SHOWN),
                      class_noun(class_of(call->scope->code, call->arguments[k])));
}

void builtin_not_constant(const struct builtin *call, size_t k, const char *what)
{
    struct binder *binder = call->scope->binder;
    const struct expr *argument = call->expr->args[k];
    if (bind_reads_rows(call->scope, call->arguments[k].value))
        bind_error(binder, argument->span, arena_printf(binder->arena, "usage: %s", call->function->usage),
                   "%s of `%s` must be a constant, but `%s` differs from row to row", what, call->function->name,
                   text_of_span(binder->arena, argument->span, OPERAND_SHOWN));
}

bool builtin_constant(const struct builtin *call, size_t k, const char *what, int64_t *integer)
{
    const struct code *code = call->scope->code;
    const struct term *term = &call->arguments[k];
    if (class_of(code, *term) != CLASS_INT) {
        builtin_refuse(call, k, "an integer here",
                       arena_printf(call->scope->binder->arena, "usage: %s", call->function->usage));
        return false;
    }
    *integer = code->at[term->value].integer;
    if (code_is_const(code, term->value))
        return true;
    builtin_not_constant(call, k, what);
    return false;
}

/* How to make a number of what is none. */
static const char *number_hint(const struct builtin *call, size_t k)
{
    struct arena *arena = call->scope->binder->arena;
    const char *text = text_of_span(arena, call->expr->args[k]->span, OPERAND_SHOWN);
    switch (class_of(call->scope->code, call->arguments[k])) {
    case CLASS_TEXT:
        return arena_printf(arena, "`float(%s)` is the number that a text writes", text);
    case CLASS_DURATION:
        return arena_printf(arena, "`int(%s)` is its microseconds, `%s / 1s` whole seconds", text, text);
    case CLASS_DECIMAL:
        return arena_printf(arena, "`int(%s)` truncates it towards zero", text);
    case CLASS_LIST:
        return arena_printf(arena, "`sum(%s)` adds its elements, `%s[0]` is one, and `len(%s)` says how many", text,
                            text, text);
    case CLASS_BOOL:
    case CLASS_INT:
    case CLASS_FLOAT:
    case CLASS_DATE:
    case CLASS_TIMESTAMP:
    case CLASS_MONTHS:
    case CLASS_MISSING:
        break;
    }
    return NULL;
}

bool builtin_is_number(const struct builtin *call, size_t k, bool integer)
{
    struct term term = call->arguments[k];
    const struct expr *argument = call->expr->args[k];
    const char *quoted = arena_printf(call->scope->binder->arena, "`%s`", call->function->name);
    if (!class_is_number(class_of(call->scope->code, term))) {
        builtin_refuse(call, k, integer ? "integers" : "a number", number_hint(call, k));
        return false;
    }
    return integer ? bind_is_integer(call->scope, term, argument, quoted, NULL)
                   : bind_is_number(call->scope, term, argument, quoted, NULL);
}

static value apply(const struct builtin *call)
{
    const struct function *function = call->function;
    struct code *code = call->scope->code;
    const struct span span = call->expr->span;
    if (function->lower) {
        value *values = arena_array(call->scope->binder->arena, call->count, sizeof *values);
        for (size_t i = 0; i < call->count; i++)
            values[i] = call->arguments[i].value;
        return function->lower(code, values, span);
    }
    value v = call->arguments[0].value;
    if (call->count == 1)
        return code_unary(code, function->op, v, span);
    for (size_t i = 1; i < call->count; i++)
        v = code_binary(code, function->op, v, call->arguments[i].value, span);
    return v;
}

static struct term bind_same(const struct builtin *call)
{
    struct logical_type logical = call->arguments[0].logical;
    if (!logical_table[logical.kind].adds && !builtin_is_number(call, 0, false))
        return unknown_term;
    if (call->function->op == OP_SIGN)
        logical = (struct logical_type){0};
    return builtin_result(call, apply(call), logical);
}

static struct term bind_floats(const struct builtin *call)
{
    bool fits = true;
    for (size_t i = 0; i < call->count; i++)
        fits = (call->arguments[i].logical.kind == LOGICAL_DECIMAL || builtin_is_number(call, i, false)) && fits;
    if (call->function->signature == SIGNATURE_FLOAT_INT)
        fits = fits && builtin_is_number(call, 1, true);
    for (size_t i = 0; fits && i < call->count; i++)
        call->arguments[i] = term_to_float(call->scope->code, call->arguments[i], call->expr->args[i]->span);
    return fits ? builtin_result(call, apply(call), (struct logical_type){0}) : unknown_term;
}

static struct term bind_integers(const struct builtin *call)
{
    bool fits = true;
    for (size_t i = 0; i < call->count; i++)
        fits = builtin_is_number(call, i, true) && fits;
    return fits ? builtin_result(call, apply(call), (struct logical_type){0}) : unknown_term;
}

/* The argument that min or max of two constant texts gives. */
static struct term extreme_of_constants(const struct builtin *call)
{
    struct term extreme = call->arguments[0];
    for (size_t i = 1; i < call->count; i++) {
        const int order = text_compare(*call->arguments[i].text, *extreme.text);
        if (call->function->op == OP_MIN ? order < 0 : order > 0)
            extreme = call->arguments[i];
    }
    return extreme;
}

static bool all_constant_texts(const struct builtin *call)
{
    size_t count = 0;
    while (count < call->count && call->arguments[count].text)
        count++;
    return count == call->count;
}

/* Conditions have no order. */
static bool have_order(const struct builtin *call)
{
    bool fits = true;
    for (size_t i = 0; i < call->count; i++) {
        const enum term_class which = class_of(call->scope->code, call->arguments[i]);
        if (which == CLASS_MONTHS)
            builtin_refuse(call, i, "values with an order", NULL);
        if (which == CLASS_LIST)
            builtin_refuse(call, i, "values with an order", NULL);
        fits = fits && which != CLASS_MONTHS && which != CLASS_LIST &&
               (which != CLASS_BOOL || builtin_is_number(call, i, false));
    }
    return fits;
}

/* min, max and clamp: all arguments become one type, pair by pair; the second pass brings the first ones to what the
 * last ones need. */
static struct term bind_ordered(const struct builtin *call)
{
    struct term *arguments = call->arguments;
    const char *what = arena_printf(call->scope->binder->arena, "`%s`", call->function->name);
    if (!have_order(call))
        return unknown_term;
    if (!call->function->lower && all_constant_texts(call))
        return extreme_of_constants(call);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 1; i < call->count; i++) {
            if (!terms_unify(call->scope, &arguments[0], call->expr->args[0], &arguments[i], call->expr->args[i], what,
                             call->expr->span))
                return unknown_term;
        }
    }
    struct term result = builtin_result(call, apply(call), arguments[0].logical);
    result.missing = arguments[0].missing;
    return result;
}

/* missing(x): whether there is no value. */
static struct term bind_missing(const struct builtin *call)
{
    const struct span span = call->expr->span;
    const value present = call->arguments[0].present;
    if (present == NO_VALUE)
        return term_of(code_bool(call->scope->code, false, span));
    return term_of(code_unary(call->scope->code, OP_NOT, present, span));
}

static struct term bind_by_signature(const struct builtin *call)
{
    static struct term (*const binds[])(const struct builtin *call) = {
        [SIGNATURE_SAME] = bind_same,
        [SIGNATURE_ORDERED] = bind_ordered,
        [SIGNATURE_FLOAT] = bind_floats,
        [SIGNATURE_FLOAT_INT] = bind_floats,
        [SIGNATURE_INT] = bind_integers,
        [SIGNATURE_TEXT] = bind_text_function,
        [SIGNATURE_PART] = bind_part,
        [SIGNATURE_TO_INT] = bind_to_int,
        [SIGNATURE_TO_FLOAT] = bind_to_float,
        [SIGNATURE_TO_DATE] = bind_to_date_or_timestamp,
        [SIGNATURE_TO_TIMESTAMP] = bind_to_date_or_timestamp,
        [SIGNATURE_ROUND] = bind_round,
        [SIGNATURE_DIV] = bind_div,
        [SIGNATURE_TRUNC] = bind_trunc,
        [SIGNATURE_BUCKET] = bind_bucket,
        [SIGNATURE_TO_TEXT] = bind_to_text,
        [SIGNATURE_TO_TIME] = bind_to_time,
        [SIGNATURE_NOW] = bind_now,
        [SIGNATURE_TODAY] = bind_today,
        [SIGNATURE_FORMAT] = bind_format,
        [SIGNATURE_CONCAT] = bind_concat,
        [SIGNATURE_MISSING] = bind_missing,
        [SIGNATURE_RANDOM] = bind_random,
    };
    /* A function of the literal `missing` is missing, of whatever type. */
    bool takes_missing =
        call->function->signature == SIGNATURE_MISSING || call->function->signature == SIGNATURE_ORDERED;
    for (size_t i = 0; i < call->count && !takes_missing; i++) {
        if (call->arguments[i].missing)
            return call->arguments[i];
    }
    return binds[call->function->signature](call);
}

/* "1 argument", "1 or 2 arguments", "2 arguments or more" */
static const char *text_of_arity(struct arena *arena, const struct function *function)
{
    const char *least = text_of_count(arena, function->least, "argument");
    if (function->most == function->least)
        return least;
    return function->most == MANY_ARGUMENTS
               ? arena_printf(arena, "%s or more", least)
               : arena_printf(arena, "%d or %d arguments", function->least, function->most);
}

struct term bind_builtin(struct scope *scope, const struct function *function, const struct expr *expr)
{
    struct binder *binder = scope->binder;
    struct term *arguments = arena_array(binder->arena, expr->arg_count + 1, sizeof *arguments);
    struct term of_list;
    bool known = true;
    if (bind_list_function(scope, expr, &of_list))
        return of_list;
    for (size_t i = 0; i < expr->arg_count && !bind_gave_up(binder); i++) {
        const bool unit =
            function->signature == SIGNATURE_TRUNC && i == 1 && bind_unit(scope, expr->args[i], &arguments[i]);
        if (!unit)
            arguments[i] = bind_term(scope, expr->args[i]);
        known = known && term_is_known(arguments[i]);
    }
    size_t least = (size_t)function->least, most = (size_t)function->most;
    if (expr->arg_count < least || (expr->arg_count > most && most < MANY_ARGUMENTS))
        return term_error(binder, expr->span, arena_printf(binder->arena, "usage: %s", function->usage),
                          "`%s` takes %s, not %zu", function->name, text_of_arity(binder->arena, function),
                          expr->arg_count);
    const struct builtin call = {scope, function, expr, arguments, expr->arg_count};
    return known && !bind_gave_up(binder) ? bind_by_signature(&call) : unknown_term;
}
