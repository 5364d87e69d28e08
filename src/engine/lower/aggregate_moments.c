/* Aggregates of deviations, of two columns, and of two passes: the row of an extreme. */
#include "engine/lower/aggregate_functions.h"

enum { OPERAND_SHOWN = 40 };

/* Whether argument k is a number or decimal; an error if not. */
static bool is_float(struct scope *scope, const struct aggregate_call *call, size_t k, struct term term)
{
    const struct expr *expr = call->expr->args[k];
    struct arena *arena = scope->binder->arena;
    const enum term_class which = class_of(scope->code, term);
    if (class_is_number(which) || which == CLASS_DECIMAL)
        return true;
    const char *text = operand_shown(scope, expr, expr->span);
    return bind_error(scope->binder, expr->span,
                      which == CLASS_DURATION ? arena_printf(arena, "`%s / 1s` is in seconds", text) : NULL,
                      "`%s` needs numbers, but `%s` is %s", call->function->canonical, text, class_noun(which));
}

/* Argument k as a float, in a pass; unknown after an error. */
static struct term float_argument(struct pass *pass, struct aggregate_call *call, size_t k)
{
    struct scope *scope = &pass->operands.scope;
    struct term term = bind_term(scope, call->expr->args[k]);
    if (!term_is_known(term) || !is_float(scope, call, k, term))
        return unknown_term;
    return term_to_float(scope->code, term, call->expr->span);
}

/* The arguments as floats, 0 where one of them is missing. */
struct arguments {
    struct term at[2];
    value present; /* where all are */
};
static struct arguments float_arguments(struct pass *pass, struct aggregate_call *call)
{
    struct code *code = pass->operands.scope.code;
    struct arguments arguments = {.present = NO_VALUE};
    call->known = true;
    for (size_t k = 0; k < call->expr->arg_count; k++) {
        arguments.at[k] = float_argument(pass, call, k);
        call->known = call->known && term_is_known(arguments.at[k]);
    }
    for (size_t k = 0; k < call->expr->arg_count && call->known; k++)
        arguments.present = present_both(code, arguments.present, arguments.at[k].present, call->expr->span);
    return arguments;
}

/* A sum over the rows that have all arguments. */
static size_t add_sum(struct pass *pass, value v, value present, struct span span)
{
    struct term term = {.value = v, .present = present};
    return pass_add_plain(pass, AGG_SUM, v != NO_VALUE ? term_settled(pass->operands.scope.code, term, span) : v, span);
}

static void begin_float(struct lowering *lowering, struct aggregate_call *call)
{
    call->pass = &lowering->first;
    call->slot = (struct slot){.name = call->function->canonical, .type = TYPE_F64, .known = call->known};
}

/* wmean: sum(x * w) / sum(w); partial 1 counts. */
static void begin_wmean(struct lowering *lowering, struct aggregate_call *call)
{
    struct pass *pass = &lowering->first;
    const struct span span = call->expr->span;
    const struct arguments arguments = float_arguments(pass, call);
    value product = NO_VALUE, weight = NO_VALUE;
    if (call->known) {
        weight = arguments.at[1].value;
        product = code_binary(pass->operands.scope.code, OP_MUL, arguments.at[0].value, weight, span);
    }
    call->partial[0] = add_sum(pass, product, arguments.present, span);
    call->partial[1] = pass_add_count(pass, arguments.present, span);
    call->partial[2] = add_sum(pass, weight, arguments.present, span);
    call->lacks = arguments.present != NO_VALUE || aggregation_is_whole(lowering->of);
    begin_float(lowering, call);
}

static struct term quotient(struct reader *reader, const struct aggregate_call *call, value a, value b, value present)
{
    struct term term = term_of(code_binary(reader->scope.code, OP_DIV, a, b, call->expr->span));
    term.present = present;
    term.settled = present == NO_VALUE;
    return term;
}

static struct term finish_wmean(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    const struct span span = call->expr->span;
    const value sum = reader_value(reader, call->pass, call->partial[0], span);
    const value weights = reader_value(reader, call->pass, call->partial[2], span);
    return quotient(reader, call, sum, weights, any_counted(reader, call));
}

/* Column `between[k]` of the row's group. */
static value of_group(struct lowering *lowering, const struct aggregate_call *call, size_t k)
{
    const struct aggregation *of = lowering->of;
    struct scope *scope = &lowering->second.operands.scope;
    const struct span span = call->expr->span;
    value row =
        of->by_ids ? code_input(scope->code, (int64_t)of->ids, KIND_INT, span) : code_exact_int(scope->code, 0, span);
    return term_at(scope, lowering->between, call->between[k], row, span).value;
}

/* Argument k as a number, decimals as their integers; unknown after an error. */
static struct term number_argument(struct lowering *lowering, struct aggregate_call *call, size_t k)
{
    struct scope *scope = &lowering->first.operands.scope;
    struct term term = bind_term(scope, call->expr->args[k]);
    if (!term_is_known(term) || !is_float(scope, call, k, term))
        return unknown_term;
    term.value = bind_number(scope->code, term.value, call->expr->span);
    return term;
}

/* Variances and correlations: partial 1 counts the rows that have all arguments. */
static void begin_var(struct lowering *lowering, struct aggregate_call *call)
{
    struct pass *pass = &lowering->first;
    const struct span span = call->expr->span;
    struct term x = number_argument(lowering, call, 0), y = unknown_term;
    const bool pairs = call->expr->arg_count == 2;
    value present = x.present;
    call->known = term_is_known(x);
    if (pairs) {
        y = number_argument(lowering, call, 1);
        call->known = call->known && term_is_known(y);
        present = call->known ? present_both(pass->operands.scope.code, x.present, y.present, span) : NO_VALUE;
    }
    begin_float(lowering, call);
    call->partial[0] = pass_add_moment(pass, pairs ? AGG_CORR : AGG_VAR, x.value, y.value, present, call->slot, span);
    pass->partials[call->partial[0]].what.scale = x.logical.kind == LOGICAL_DECIMAL ? x.logical.scale : 0;
    call->partial[1] = pass_add_count(pass, present, span);
}

/* Missing where there are fewer than two rows. */
static struct term finish_var(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    struct term term = reader_partial(reader, call->pass, call->partial[0], span);
    const value count = reader_value(reader, call->pass, call->partial[1], span);
    term.present = code_binary(code, OP_LT, code_exact_int(code, 1, span), count, span);
    term.settled = true;
    if (call->function->kind == AGG_STDDEV)
        term.value = code_unary(code, OP_SQRT, term.value, span);
    return term;
}

/* argmin, argmax: the extreme first, */
static void begin_argmin(struct lowering *lowering, struct aggregate_call *call)
{
    const enum aggregate_kind kind = call->function->kind == AGG_ARGMIN ? AGG_MIN : AGG_MAX;
    add_extreme(lowering, call, kind, aggregate_argument(lowering, call, kind, 0));
    call->plain = false;
    call->at = (struct flow){0};
    call->slot = (struct slot){.name = call->function->canonical, .type = TYPE_I64, .known = call->known};
    if (call->expr->arg_count == 2)
        find_elements(lowering, call, 1);
}

static size_t extreme_between(struct reader *reader, const struct aggregate_call *call, struct term *terms)
{
    terms[0] = term_of(reader_value(reader, call->pass, call->partial[0], call->expr->span));
    return 1;
}

/* then the first row that has it. */
static void add_row_of_extreme(struct lowering *lowering, struct aggregate_call *call)
{
    struct pass *pass = &lowering->second;
    struct scope *scope = &pass->operands.scope;
    struct code *code = scope->code;
    const struct span span = call->expr->span;
    struct term term = bind_term(scope, call->expr->args[0]);
    bind_aggregated(scope, AGG_MIN, &term, call->expr->args[0], call->function->canonical, span);
    term.value = bind_number(code, term.value, span);
    value best = of_group(lowering, call, 0), equal = code_binary(code, OP_EQ, term.value, best, span);
    if (code->at[best].kind == KIND_FLOAT) {
        const value neither = code_binary(code, OP_AND, code_binary(code, OP_NE, best, best, span),
                                          code_binary(code, OP_NE, term.value, term.value, span), span);
        equal = code_binary(code, OP_OR, equal, neither, span);
    }
    if (term.present != NO_VALUE)
        equal = code_binary(code, OP_AND, term.present, equal, span);
    const value last = code_exact_int(code, INT64_MAX, span);
    const value row = code_op(code, OP_SELECT, equal, code_row(code, span), last, span);
    call->again[0] = pass_add_plain(pass, AGG_MIN, row, span);
}

static struct term finish_argmin(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    const value row = reader_value(reader, second, call->again[0], call->expr->span);
    if (call->expr->arg_count == 2)
        return element_at(reader, call, row);
    struct term term = term_of(row);
    term.present = any_counted(reader, call);
    term.settled = term.present == NO_VALUE;
    return term;
}

const struct aggregate_recipe recipe_wmean = {.begin = begin_wmean, .finish = finish_wmean};
const struct aggregate_recipe recipe_var = {.begin = begin_var, .finish = finish_var};
const struct aggregate_recipe recipe_argmin = {
    .begin = begin_argmin, .between = extreme_between, .again = add_row_of_extreme, .finish = finish_argmin};
