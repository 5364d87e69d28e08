/* Aggregates of two passes, or of two columns: weighted means, variances, correlations, and the row of an extreme.
 *
 * Variances are sums of squared deviations from the mean, less the square of their sum by their number, which is 0 but
 * for the rounding of the mean (the corrected two-pass algorithm: T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms
 * for computing the sample variance", 1983). The sums are correctly rounded, so all devices agree. */
#include "engine/lower/aggregate_functions.h"

enum { OPERAND_SHOWN = 40 };

static value binary(struct code *code, enum op op, value a, value b, struct span span)
{
    return code_op(code, op, a, b, NO_VALUE, span);
}

static value as_float(struct code *code, value v, struct span span)
{
    return code_op(code, OP_TO_FLOAT, v, NO_VALUE, NO_VALUE, span);
}

/* Argument k as a float, in a pass; unknown after an error. */
static struct term float_argument(struct pass *pass, struct aggregate_call *call, size_t k)
{
    struct scope *scope = &pass->operands.scope;
    const struct expr *expr = call->expr->args[k];
    struct term term = bind_term(scope, expr);
    if (!term_is_known(term))
        return unknown_term;
    enum term_class which = class_of(scope->code, term);
    if (class_is_number(which) || which == CLASS_DECIMAL)
        return term_to_float(scope->code, term, expr->span);
    struct arena *arena = scope->binder->arena;
    const char *text = text_of_span(arena, expr->span, OPERAND_SHOWN);
    bind_error(scope->binder, expr->span,
               which == CLASS_DURATION ? arena_printf(arena, "`%s / 1s` is in seconds", text) : NULL,
               "`%s` needs numbers, but `%s` is %s", call->function->canonical, text, class_noun(which));
    return unknown_term;
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

/* wmean: sum(x * w) / sum(w); part 1 counts. */
static void begin_wmean(struct lowering *lowering, struct aggregate_call *call)
{
    struct pass *pass = &lowering->first;
    const struct span span = call->expr->span;
    const struct arguments arguments = float_arguments(pass, call);
    value product = NO_VALUE, weight = NO_VALUE;
    if (call->known) {
        weight = arguments.at[1].value;
        product = binary(pass->operands.scope.code, OP_MUL, arguments.at[0].value, weight, span);
    }
    call->part[0] = add_sum(pass, product, arguments.present, span);
    call->part[1] = pass_add_count(pass, arguments.present, span);
    call->part[2] = add_sum(pass, weight, arguments.present, span);
    call->lacks = arguments.present != NO_VALUE || aggregation_is_whole(lowering->of);
    begin_float(lowering, call);
}

static struct term quotient(struct reader *reader, const struct aggregate_call *call, value a, value b, value present)
{
    struct term term = term_of(binary(reader->scope.code, OP_DIV, a, b, call->expr->span));
    term.present = present;
    term.settled = present == NO_VALUE;
    return term;
}

static struct term finish_wmean(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    (void)second;
    const struct span span = call->expr->span;
    value sum = reader_value(reader, call->pass, call->part[0], span);
    value weights = reader_value(reader, call->pass, call->part[2], span);
    return quotient(reader, call, sum, weights, any_counted(reader, call));
}

/* The first pass for deviations: sums of each argument, and in part 2 the number of rows that have all. */
static void begin_deviations(struct lowering *lowering, struct aggregate_call *call)
{
    struct pass *pass = &lowering->first;
    const struct arguments arguments = float_arguments(pass, call);
    for (size_t k = 0; k < call->expr->arg_count; k++)
        call->part[k] =
            add_sum(pass, call->known ? arguments.at[k].value : NO_VALUE, arguments.present, call->expr->span);
    call->part[2] = pass_add_count(pass, arguments.present, call->expr->span);
    begin_float(lowering, call);
}

/* Between the passes: the number as a float, and the means. */
static size_t means_between(struct reader *reader, const struct aggregate_call *call, struct term *terms)
{
    const struct span span = call->expr->span;
    value count = reader_value(reader, call->pass, call->part[2], span);
    size_t arguments = call->expr->arg_count;
    terms[0] = term_of(as_float(reader->scope.code, count, span));
    for (size_t k = 0; k < arguments; k++) {
        value sum = reader_value(reader, call->pass, call->part[k], span);
        terms[1 + k] = term_of(binary(reader->scope.code, OP_DIV, sum, terms[0].value, span));
    }
    return 1 + arguments;
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

/* The second pass: the sum of the deviations of each argument, then those of their products. */
static void add_deviations(struct lowering *lowering, struct aggregate_call *call)
{
    struct pass *pass = &lowering->second;
    struct code *code = pass->operands.scope.code;
    const struct span span = call->expr->span;
    const struct arguments arguments = float_arguments(pass, call);
    size_t count = call->expr->arg_count, part = 0;
    value deviation[2];
    for (size_t k = 0; k < count; k++) {
        deviation[k] = binary(code, OP_SUB, arguments.at[k].value, of_group(lowering, call, 1 + k), span);
        call->again[part++] = add_sum(pass, deviation[k], arguments.present, span);
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = k; i < count; i++)
            call->again[part++] =
                add_sum(pass, binary(code, OP_MUL, deviation[k], deviation[i], span), arguments.present, span);
    }
}

/* sum(dx * dy) - sum(dx) * sum(dy) / n */
static value corrected(struct reader *reader, const struct aggregate_call *call, const struct pass *second,
                       const size_t parts[3], value count)
{
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    value a = reader_value(reader, second, call->again[parts[0]], span);
    value b = reader_value(reader, second, call->again[parts[1]], span);
    value products = reader_value(reader, second, call->again[parts[2]], span);
    value error = binary(code, OP_DIV, binary(code, OP_MUL, a, b, span), count, span);
    return binary(code, OP_SUB, products, error, span);
}

static value count_between(struct reader *reader, const struct aggregate_call *call)
{
    return term_of_column(reader->scope.code, reader->flow, call->between[0], call->expr->span).value;
}

/* Missing where there are fewer than two rows. */
static value two_rows(struct reader *reader, const struct aggregate_call *call, value count)
{
    struct code *code = reader->scope.code;
    return binary(code, OP_LT, code_float(code, 1, call->expr->span), count, call->expr->span);
}

static struct term finish_var(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    value count = count_between(reader, call);
    value squares = corrected(reader, call, second, (const size_t[]){0, 0, 1}, count);
    value zero = code_float(code, 0, span);
    squares = code_op(code, OP_SELECT, binary(code, OP_LT, squares, zero, span), zero, squares, span);
    value others = binary(code, OP_SUB, count, code_float(code, 1, span), span);
    struct term term = quotient(reader, call, squares, others, two_rows(reader, call, count));
    if (call->function->id == AGGREGATE_STDDEV)
        term.value = code_op(code, OP_SQRT, term.value, NO_VALUE, NO_VALUE, span);
    return term;
}

static struct term finish_corr(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    /* Parts: dx, dy, dx dx, dx dy, dy dy. */
    struct code *code = reader->scope.code;
    const struct span span = call->expr->span;
    value count = count_between(reader, call);
    value xx = corrected(reader, call, second, (const size_t[]){0, 0, 2}, count);
    value xy = corrected(reader, call, second, (const size_t[]){0, 1, 3}, count);
    value yy = corrected(reader, call, second, (const size_t[]){1, 1, 4}, count);
    value scale = binary(code, OP_MUL, code_op(code, OP_SQRT, xx, NO_VALUE, NO_VALUE, span),
                         code_op(code, OP_SQRT, yy, NO_VALUE, NO_VALUE, span), span);
    struct term term = quotient(reader, call, xy, scale, two_rows(reader, call, count));
    value one = code_float(code, 1, span), least = code_float(code, -1, span);
    value over = binary(code, OP_LT, one, term.value, span), under = binary(code, OP_LT, term.value, least, span);
    term.value = code_op(code, OP_SELECT, over, one, term.value, span);
    term.value = code_op(code, OP_SELECT, under, least, term.value, span);
    return term;
}

/* argmin, argmax: the extreme first, */
static void begin_argmin(struct lowering *lowering, struct aggregate_call *call)
{
    enum aggregate_kind kind = call->function->id == AGGREGATE_ARGMIN ? AGG_MIN : AGG_MAX;
    add_extreme(lowering, call, kind, aggregate_argument(lowering, call, kind, 0));
    call->plain = false;
    call->at = (struct flow){0};
    call->slot = (struct slot){.name = call->function->canonical, .type = TYPE_I64, .known = call->known};
    if (call->expr->arg_count == 2)
        find_elements(lowering, call, 1);
}

static size_t extreme_between(struct reader *reader, const struct aggregate_call *call, struct term *terms)
{
    terms[0] = term_of(reader_value(reader, call->pass, call->part[0], call->expr->span));
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
    value best = of_group(lowering, call, 0), equal = binary(code, OP_EQ, term.value, best, span);
    if (code->at[best].kind == KIND_FLOAT) {
        value neither = binary(code, OP_AND, binary(code, OP_NE, best, best, span),
                               binary(code, OP_NE, term.value, term.value, span), span);
        equal = binary(code, OP_OR, equal, neither, span);
    }
    if (term.present != NO_VALUE)
        equal = binary(code, OP_AND, term.present, equal, span);
    value last = code_exact_int(code, INT64_MAX, span);
    value row = code_op(code, OP_SELECT, equal, code_row(code, span), last, span);
    call->again[0] = pass_add_plain(pass, AGG_MIN, row, span);
}

static struct term finish_argmin(struct reader *reader, const struct aggregate_call *call, const struct pass *second)
{
    value row = reader_value(reader, second, call->again[0], call->expr->span);
    if (call->expr->arg_count == 2)
        return element_at(reader, call, row);
    struct term term = term_of(row);
    term.present = any_counted(reader, call);
    term.settled = term.present == NO_VALUE;
    return term;
}

const struct aggregate_recipe recipe_wmean = {.begin = begin_wmean, .finish = finish_wmean};
const struct aggregate_recipe recipe_var = {
    .begin = begin_deviations, .between = means_between, .again = add_deviations, .finish = finish_var};
const struct aggregate_recipe recipe_corr = {
    .begin = begin_deviations, .between = means_between, .again = add_deviations, .finish = finish_corr};
const struct aggregate_recipe recipe_argmin = {
    .begin = begin_argmin, .between = extreme_between, .again = add_row_of_extreme, .finish = finish_argmin};
