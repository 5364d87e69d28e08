/* Arithmetic on all types: which operands fit an operator, and the type of the result. */
#include "engine/expression/expression.h"

#include <string.h>

#include "base/time/calendar.h"
#include "engine/expression/texts.h"
#include "engine/expression/zoned.h"
#include "engine/plan/calendar_code.h"

enum { OPERAND_SHOWN = 40 };

/* The operands of an operation, with their texts for errors. */
struct operation {
    struct scope *scope;
    enum op op;
    struct term a, b;
    const struct expr *a_expr, *b_expr;
    const char *quoted; /* "`+`" */
    struct span span;
};

static value apply(const struct operation *operation, value a, value b)
{
    return code_binary(operation->scope->code, operation->op, a, b, operation->span);
}

/* A result of this type, missing where an operand is. */
static struct term result(const struct operation *operation, value v, struct logical_type logical)
{
    struct term term = term_of_type(v, logical);
    term.present = present_both(operation->scope->code, operation->a.present, operation->b.present, operation->span);
    term.settled = term.present == NO_VALUE;
    return term;
}

static struct term numbers(const struct operation *operation)
{
    struct operation o = *operation;
    if (!terms_unify(o.scope, &o.a, o.a_expr, &o.b, o.b_expr, o.quoted, o.span))
        return unknown_term;
    return result(
        &o, apply(&o, bind_number(o.scope->code, o.a.value, o.span), bind_number(o.scope->code, o.b.value, o.span)),
        (struct logical_type){0});
}

/* Scales add up in a product, and the larger one holds otherwise; a quotient is a float. */
static struct term decimals(const struct operation *operation)
{
    struct operation o = *operation;
    struct code *code = o.scope->code;
    const struct logical_type decimal = {.kind = LOGICAL_DECIMAL};
    const bool product = o.op == OP_MUL;
    if (o.op == OP_DIV) {
        value a = term_to_float(code, o.a, o.span).value, b = term_to_float(code, o.b, o.span).value;
        return result(&o, apply(&o, a, b), (struct logical_type){0});
    }
    if (!product) {
        if (!terms_unify(o.scope, &o.a, o.a_expr, &o.b, o.b_expr, o.quoted, o.span))
            return unknown_term;
        return result(&o, apply(&o, o.a.value, o.b.value), o.a.logical);
    }
    /* Each becomes a decimal of its own scale: unified with itself. */
    struct term zero = term_of_type(code_exact_int(code, 0, o.span), decimal), *both[] = {&o.a, &o.b};
    for (int i = 0; i < 2; i++) {
        struct term other = zero;
        terms_unify(o.scope, both[i], o.a_expr, &other, o.b_expr, o.quoted, o.span);
    }
    if (o.a.logical.kind != LOGICAL_DECIMAL || o.b.logical.kind != LOGICAL_DECIMAL) {
        value a = term_to_float(code, o.a, o.span).value, b = term_to_float(code, o.b, o.span).value;
        return result(&o, apply(&o, a, b), (struct logical_type){0});
    }
    const int scale = o.a.logical.scale + o.b.logical.scale;
    if (scale > DECIMAL_MAX_SCALE)
        return term_error(o.scope->binder, o.span, "round a factor first: `round(x, 4)`",
                          "the product would have %d digits after the point, at most %d are possible", scale,
                          DECIMAL_MAX_SCALE);
    struct logical_type logical = {.kind = LOGICAL_DECIMAL, .scale = (uint8_t)scale};
    return result(&o, apply(&o, o.a.value, o.b.value), logical);
}

static value as_timestamp(const struct operation *operation, value date)
{
    struct code *code = operation->scope->code;
    return code_with(code, OP_MUL, date, DAY_US, operation->span);
}

/* A date moved by whole days stays a date. */
static bool is_whole_days(const struct code *code, value duration)
{
    const struct instr *instr = &code->at[duration];
    return instr->op == OP_CONST && instr->integer % DAY_US == 0;
}

static struct term date_and_duration(const struct operation *operation)
{
    struct code *code = operation->scope->code;
    const value duration = operation->b.value;
    if (is_whole_days(code, duration)) {
        const value days = code_int(code, code->at[duration].integer / DAY_US, operation->span);
        return result(operation, apply(operation, operation->a.value, days), operation->a.logical);
    }
    return result(operation, apply(operation, as_timestamp(operation, operation->a.value), duration),
                  (struct logical_type){.kind = LOGICAL_TIMESTAMP});
}

/* Of timestamps and dates, of which one may be an instant. */
static struct term difference_of_times(const struct operation *operation)
{
    struct term a = operation->a, b = operation->b;
    const struct time_zone *zone = zoned_both(a, b);
    zoned_as(operation->scope, &a, zone, operation->span);
    zoned_as(operation->scope, &b, zone, operation->span);
    return result(operation, apply(operation, a.value, b.value), (struct logical_type){.kind = LOGICAL_DURATION});
}

/* A date or timestamp some calendar months later or earlier. */
static struct term move_by_months(const struct operation *operation)
{
    struct code *code = operation->scope->code;
    value months = operation->b.value;
    if (operation->op == OP_SUB)
        months = code_unary(code, OP_NEG, months, operation->span);
    const struct logical_type logical = operation->a.logical;
    if (logical.kind == LOGICAL_DATE)
        return result(operation, code_date_add_months(code, operation->a.value, months, operation->span), logical);
    const value local = zoned_local(operation->scope, operation->a.value, logical.zone, operation->span);
    const value moved = code_timestamp_add_months(code, local, months, operation->span);
    return result(operation, zoned_instant(operation->scope, moved, logical.zone, operation->span), logical);
}

/* A number of months times an integer, or two of them together. */
static struct term count_months(const struct operation *operation)
{
    struct term months =
        result(operation, apply(operation, operation->a.value, operation->b.value), (struct logical_type){0});
    months.months = true;
    return months;
}

static struct term refuse(const struct operation *operation, enum term_class first, enum term_class second)
{
    struct arena *arena = operation->scope->binder->arena;
    const char *hint = NULL;
    if (first == CLASS_TIMESTAMP && second == CLASS_INT)
        hint = "write a unit, as in `+ 15min` or `- 2d`";
    else if (first == CLASS_MISSING || second == CLASS_MISSING)
        hint = "the result would always be missing";
    return term_error(operation->scope->binder, operation->span, hint,
                      "%s does not take %s and %s: `%s` is %s, `%s` is %s", operation->quoted, class_noun(first),
                      class_noun(second), text_of_span(arena, operation->a_expr->span, 40), class_noun(first),
                      text_of_span(arena, operation->b_expr->span, 40), class_noun(second));
}

/* Operations with a date, timestamp, duration or months on the left. */
static struct term times(const struct operation *operation, enum term_class first, enum term_class second)
{
    const enum op op = operation->op;
    const bool sum = op == OP_ADD || op == OP_SUB;
    value a = operation->a.value, b = operation->b.value;
    if (first == CLASS_DATE && second == CLASS_INT && sum)
        return result(operation, apply(operation, a, b), operation->a.logical);
    if (first == CLASS_DATE && second == CLASS_DURATION && sum)
        return date_and_duration(operation);
    if ((first == CLASS_DATE || first == CLASS_TIMESTAMP) && second == CLASS_MONTHS && sum)
        return move_by_months(operation);
    if (first == CLASS_MONTHS && ((second == CLASS_MONTHS && sum) || (second == CLASS_INT && op == OP_MUL)))
        return count_months(operation);
    if (first == CLASS_DATE && second == CLASS_DATE && op == OP_SUB)
        return result(operation, apply(operation, a, b), (struct logical_type){0});
    if (first == CLASS_TIMESTAMP && second == CLASS_DURATION && sum)
        return result(operation, apply(operation, a, b), operation->a.logical);
    if (op == OP_SUB && (first == CLASS_TIMESTAMP || second == CLASS_TIMESTAMP) &&
        (first == CLASS_DATE || first == CLASS_TIMESTAMP) && (second == CLASS_DATE || second == CLASS_TIMESTAMP))
        return difference_of_times(operation);
    if (first == CLASS_DURATION && second == CLASS_DURATION && (sum || op == OP_MOD))
        return result(operation, apply(operation, a, b), operation->a.logical);
    if (first == CLASS_DURATION && second == CLASS_DURATION && op == OP_DIV)
        return result(operation, apply(operation, a, b), (struct logical_type){0});
    if (first == CLASS_DURATION && second == CLASS_INT && (op == OP_MUL || op == OP_DIV))
        return result(operation, apply(operation, a, b), operation->a.logical);
    return refuse(operation, first, second);
}

/* A share or a rate, whose fraction would be lost. */
static void refuse_truncation(const struct operation *operation)
{
    struct arena *arena = operation->scope->binder->arena;
    const char *a = text_of_span(arena, operation->a_expr->span, OPERAND_SHOWN);
    const char *b = text_of_span(arena, operation->b_expr->span, OPERAND_SHOWN);
    bind_error(operation->scope->binder, operation->span,
               arena_printf(arena, "`%s // %s` drops the remainder, `float(%s) / %s` keeps it", a, b, a, b),
               "both are integers, and the quotient by an aggregate would have no fraction");
}

struct term bind_arithmetic(struct scope *scope, enum op op, struct term a, const struct expr *a_expr, struct term b,
                            const struct expr *b_expr, const char *quoted, struct span span)
{
    if (!term_is_known(a) || !term_is_known(b))
        return unknown_term;
    struct operation operation = {scope, op, a, b, a_expr, b_expr, quoted, span};
    enum term_class first = class_of(scope->code, a), second = class_of(scope->code, b);
    if (class_is_number(first) && class_is_number(second)) {
        if (!bind_is_number(scope, a, a_expr, quoted, NULL) || !bind_is_number(scope, b, b_expr, quoted, NULL))
            return unknown_term;
        if (op == OP_DIV && first == CLASS_INT && second == CLASS_INT && b.aggregate && strcmp(quoted, "`//`") != 0) {
            refuse_truncation(&operation);
            return unknown_term;
        }
        struct term term = numbers(&operation);
        term.aggregate = a.aggregate || b.aggregate;
        return term;
    }
    const bool first_counts = class_is_number(first) || first == CLASS_DECIMAL;
    const bool second_counts = class_is_number(second) || second == CLASS_DECIMAL;
    if (first_counts && second_counts)
        return decimals(&operation);
    if (first == CLASS_TEXT || second == CLASS_TEXT)
        return op == OP_ADD && first == second ? texts_join(scope, a, a_expr, b, b_expr, span)
                                               : refuse(&operation, first, second);
    const bool swaps = (op == OP_ADD && (first == CLASS_DURATION || first == CLASS_INT || first == CLASS_MONTHS) &&
                        (second == CLASS_DATE || second == CLASS_TIMESTAMP)) ||
                       (op == OP_MUL && first == CLASS_INT && (second == CLASS_DURATION || second == CLASS_MONTHS));
    if (swaps) {
        operation = (struct operation){scope, op, b, a, b_expr, a_expr, quoted, span};
        return times(&operation, second, first);
    }
    return times(&operation, first, second);
}

struct term bind_negation(struct scope *scope, struct term term, const struct expr *expr, struct span span)
{
    if (!term_is_known(term))
        return unknown_term;
    const enum term_class which = class_of(scope->code, term);
    if (class_is_number(which)) {
        if (!bind_is_number(scope, term, expr, "`-`", NULL))
            return unknown_term;
    } else if (which != CLASS_DECIMAL && which != CLASS_DURATION && which != CLASS_MONTHS) {
        return term_error(scope->binder, span, NULL, "`-` needs a number, but `%s` is %s",
                          text_of_span(scope->binder->arena, expr->span, 40), class_noun(which));
    }
    term.value = code_unary(scope->code, OP_NEG, term.value, span);
    term.mantissa = -term.mantissa;
    return term;
}
