/* Conversions between types, and rounding. */
#include "engine/builtin/builtin.h"

#include "engine/exact/failure.h"
#include "engine/expression/zoned.h"
#include "engine/plan/calendar_code.h"

#include "base/time/calendar.h"

enum { OPERAND_SHOWN = 40 };

static value operation(const struct builtin *call, enum op op, value a, value b)
{
    return code_binary(call->scope->code, op, a, b, call->expr->span);
}

static value choose(const struct builtin *call, value condition, value yes, value no)
{
    return code_op(call->scope->code, OP_SELECT, condition, yes, no, call->expr->span);
}

static value number(const struct builtin *call, int64_t integer)
{
    return code_exact_int(call->scope->code, integer, call->expr->span);
}

static enum term_class class_of_argument(const struct builtin *call, size_t k)
{
    return class_of(call->scope->code, call->arguments[k]);
}

static const char *list_advice(const struct builtin *call)
{
    struct arena *arena = call->scope->binder->arena;
    const char *text = text_of_span(arena, call->expr->args[0]->span, OPERAND_SHOWN);
    return arena_printf(arena, "`%s[0]` is an element, and `sum(%s)` adds all", text, text);
}

struct term bind_to_int(const struct builtin *call)
{
    const struct logical_type integer = {0};
    struct term term = call->arguments[0];
    switch (class_of_argument(call, 0)) {
    case CLASS_TEXT:
        return bind_text_function(call);
    case CLASS_FLOAT:
        return builtin_result(call, operation(call, OP_TO_INT, term.value, NO_VALUE), integer);
    case CLASS_DECIMAL:
        return builtin_result(call, operation(call, OP_DIV, term.value, number(call, power_of_ten(term.logical.scale))),
                              integer);
    case CLASS_MONTHS:
        return builtin_refuse(call, 0, "a value", "only dates and timestamps can be moved by months: `d + 1mo`");
    case CLASS_LIST:
        return builtin_refuse(call, 0, "a value", list_advice(call));
    case CLASS_BOOL:
    case CLASS_INT:
    case CLASS_DATE:
    case CLASS_TIMESTAMP:
    case CLASS_DURATION:
    case CLASS_MISSING:
        break;
    }
    return builtin_result(call, bind_number(call->scope->code, term.value, call->expr->span), integer);
}

struct term bind_to_float(const struct builtin *call)
{
    struct arena *arena = call->scope->binder->arena;
    const char *text = text_of_span(arena, call->expr->args[0]->span, OPERAND_SHOWN);
    switch (class_of_argument(call, 0)) {
    case CLASS_TEXT:
        return bind_text_function(call);
    case CLASS_DURATION:
        return builtin_refuse(
            call, 0, "a number",
            arena_printf(arena, "`int(%s)` is its microseconds, `%s / 1s` whole seconds", text, text));
    case CLASS_DATE:
    case CLASS_TIMESTAMP:
        return builtin_refuse(call, 0, "a number",
                              arena_printf(arena, "`int(%s)` counts its %s since 1970", text,
                                           class_of_argument(call, 0) == CLASS_DATE ? "days" : "microseconds"));
    case CLASS_MONTHS:
        return builtin_refuse(call, 0, "a number", NULL);
    case CLASS_LIST:
        return builtin_refuse(call, 0, "a number", list_advice(call));
    case CLASS_BOOL:
    case CLASS_INT:
    case CLASS_FLOAT:
    case CLASS_DECIMAL:
    case CLASS_MISSING:
        break;
    }
    return term_to_float(call->scope->code, call->arguments[0], call->expr->span);
}

/* A date or timestamp from its integer, `day` to a day. Fails outside of the years 1 to 9999; failure.c tells so. */
static struct term within_calendar(const struct builtin *call, int64_t day, enum logical kind)
{
    const value v = call->arguments[0].value;
    const struct instr *given = &call->scope->code->at[v];
    if (given->op == OP_CONST && (given->integer < FIRST_DAY * day || given->integer >= (LAST_DAY + 1) * day)) {
        bind_error(call->scope->binder, call->expr->span, day == 1 ? integer_is_days : integer_is_microseconds,
                   "%lld %s from 1970-01-01 are beyond the years 1 to 9999", (long long)given->integer,
                   day == 1 ? "days" : "microseconds");
        return unknown_term;
    }
    const value begun = operation(call, OP_LE, number(call, FIRST_DAY * day), v);
    const value inside = operation(call, OP_AND, begun, operation(call, OP_LT, v, number(call, (LAST_DAY + 1) * day)));
    const value checked = choose(call, operation(call, OP_ASSERT, inside, NO_VALUE), v, v);
    return builtin_result(call, checked, (struct logical_type){.kind = kind});
}

/* Whether there is a format for what is no text: an error. */
static bool refuse_format(const struct builtin *call)
{
    if (call->count == 1)
        return false;
    const bool number = class_of_argument(call, 0) == CLASS_INT;
    builtin_refuse(call, 0, "text with a format",
                   number ? "`date(text(n), \"%Y%m%d\")` reads the digits of 20240131"
                          : "`text(t, format)` writes a date or time");
    return true;
}

struct term bind_to_date_or_timestamp(const struct builtin *call)
{
    const enum term_class which = class_of_argument(call, 0);
    const enum logical kind = call->function->signature == SIGNATURE_TO_DATE ? LOGICAL_DATE : LOGICAL_TIMESTAMP;
    const bool date = kind == LOGICAL_DATE;
    struct code *code = call->scope->code;
    struct term term = call->arguments[0];
    if (which == CLASS_TEXT)
        return bind_text_function(call);
    if (refuse_format(call))
        return unknown_term;
    if (which == CLASS_INT)
        return within_calendar(call, date ? 1 : DAY_US, kind);
    if (which == CLASS_DATE && date)
        return term;
    if (which == CLASS_TIMESTAMP) {
        const value local = zoned_local(call->scope, term.value, term.logical.zone, call->expr->span);
        return builtin_result(call, date ? code_day_of(code, local, call->expr->span) : local,
                              (struct logical_type){.kind = kind});
    }
    if (which == CLASS_DATE) {
        term_to_timestamp(code, &term, call->expr->span);
        return builtin_result(call, term.value, term.logical);
    }
    const char *wanted = date ? "a timestamp, text or number of days" : "a date, text or number of microseconds";
    return builtin_refuse(call, 0, wanted, NULL);
}

struct term bind_to_time(const struct builtin *call)
{
    struct term term = call->arguments[0];
    const struct logical_type duration = {.kind = LOGICAL_DURATION};
    const enum term_class which = class_of_argument(call, 0);
    if (which == CLASS_TEXT)
        return bind_text_function(call);
    if (refuse_format(call))
        return unknown_term;
    if (which != CLASS_TIMESTAMP)
        return builtin_refuse(call, 0, "a timestamp or text", which == CLASS_DATE ? "a date has no time of day" : NULL);
    term.value = zoned_local(call->scope, term.value, term.logical.zone, call->expr->span);
    const value day = code_day_of(call->scope->code, term.value, call->expr->span);
    const value midnight = operation(call, OP_MUL, day, number(call, DAY_US));
    return builtin_result(call, operation(call, OP_SUB, term.value, midnight), duration);
}

/* A constant number of digits after the point; false after an error or if unknown. */
static bool read_digits(const struct builtin *call, size_t k, int64_t *digits)
{
    struct binder *binder = call->scope->binder;
    if (!builtin_constant(call, k, "the number of digits", digits))
        return false;
    if (*digits >= 0 && *digits <= DECIMAL_MAX_SCALE)
        return true;
    return bind_error(binder, call->expr->args[k]->span,
                      arena_printf(binder->arena, "usage: %s", call->function->usage),
                      "digits after the point are 0 to %d, not %lld", DECIMAL_MAX_SCALE, (long long)*digits);
}

/* quotient * divisor + remainder is the dividend: the quotient, away from zero if the remainder is half of the divisor
 * or more. */
static value round_quotient(const struct builtin *call, value dividend, value divisor)
{
    const value quotient = operation(call, OP_DIV, dividend, divisor);
    const value remainder = operation(call, OP_ABS, operation(call, OP_MOD, dividend, divisor), NO_VALUE);
    const value size = operation(call, OP_ABS, divisor, NO_VALUE);
    const value away = operation(call, OP_LE, operation(call, OP_SUB, size, remainder), remainder);
    const value sign = operation(call, OP_MUL, operation(call, OP_SIGN, dividend, NO_VALUE),
                                 operation(call, OP_SIGN, divisor, NO_VALUE));
    return operation(call, OP_ADD, quotient, choose(call, away, sign, number(call, 0)));
}

static struct term round_decimal(const struct builtin *call, int64_t digits)
{
    struct term term = call->arguments[0];
    const struct logical_type logical = {.kind = LOGICAL_DECIMAL, .scale = (uint8_t)digits};
    if (digits >= term.logical.scale)
        return term;
    const value unit = number(call, power_of_ten(term.logical.scale - (int)digits));
    return builtin_result(call, round_quotient(call, term.value, unit), logical);
}

static value real(const struct builtin *call, double number)
{
    return code_float(call->scope->code, number, call->expr->span);
}

/* What `product`, the rounded x * unit, lacks: exactly, by halves of the factors (T. J. Dekker, 1971). */
static value lost_product(const struct builtin *call, value x, double unit, value product)
{
    const double split = 0x1p27 + 1, more = split * unit, unit_high = more - (more - unit);
    const double unit_low = unit - unit_high;
    const value wide = operation(call, OP_MUL, x, real(call, split));
    const value high = operation(call, OP_SUB, wide, operation(call, OP_SUB, wide, x));
    const value low = operation(call, OP_SUB, x, high);
    value lost = operation(call, OP_SUB, operation(call, OP_MUL, high, real(call, unit_high)), product);
    if (unit_low != 0)
        lost = operation(call, OP_ADD, lost, operation(call, OP_MUL, high, real(call, unit_low)));
    lost = operation(call, OP_ADD, lost, operation(call, OP_MUL, low, real(call, unit_high)));
    if (unit_low != 0)
        lost = operation(call, OP_ADD, lost, operation(call, OP_MUL, low, real(call, unit_low)));
    return lost;
}

/* Correctly rounded: the float nearest to the multiple of 10^-digits that is nearest to the value of the float itself,
 * of two the one away from zero. 10^digits is a float. The product says which multiple, but where it is a half between
 * two and the exact one is not: |lost| is at most half a unit in its last place. From 2^53 on the floats around x are
 * no nearer to each other than multiples are, and x is the result. */
static struct term round_float(const struct builtin *call, int64_t digits)
{
    const value v = call->arguments[0].value;
    if (digits == 0)
        return builtin_result(call, operation(call, OP_ROUND, v, NO_VALUE), (struct logical_type){0});
    const double unit = (double)power_of_ten((int)digits);
    const value x = operation(call, OP_ABS, v, NO_VALUE);
    const value product = operation(call, OP_MUL, x, real(call, unit));
    const value lost = lost_product(call, x, unit, product);
    const value near = operation(call, OP_ROUND, product, NO_VALUE);
    const value half = operation(call, OP_EQ, operation(call, OP_SUB, near, product), real(call, 0.5));
    const value down = operation(call, OP_AND, half, operation(call, OP_LT, lost, real(call, 0)));
    const value up = operation(call, OP_LE, real(call, 0.5), lost);
    const value step = choose(call, down, real(call, -1), choose(call, up, real(call, 1), real(call, 0)));
    const value rounded = operation(call, OP_DIV, operation(call, OP_ADD, near, step), real(call, unit));
    const value negative = operation(call, OP_LT, v, real(call, 0));
    const value is_small = operation(call, OP_LT, product, real(call, 0x1p53));
    const value result = choose(call, negative, operation(call, OP_NEG, rounded, NO_VALUE), rounded);
    return builtin_result(call, choose(call, is_small, result, v), (struct logical_type){0});
}

struct term bind_round(const struct builtin *call)
{
    int64_t digits = 0;
    struct term *term = &call->arguments[0];
    const enum term_class which = class_of_argument(call, 0);
    if (which != CLASS_INT && which != CLASS_FLOAT && which != CLASS_DECIMAL) {
        const char *hint = which == CLASS_TEXT ? "`float(s)` is the number that a text writes"
                           : which == CLASS_DATE || which == CLASS_TIMESTAMP
                               ? "`trunc(d, month)` is the start of a unit"
                               : NULL;
        return builtin_refuse(call, 0, "a number", hint);
    }
    if (call->count == 2 && !read_digits(call, 1, &digits))
        return unknown_term;
    if (which == CLASS_INT)
        return *term; /* has no digits after the point */
    if (which == CLASS_DECIMAL)
        return round_decimal(call, digits);
    *term = term_to_float(call->scope->code, *term, call->expr->span);
    return round_float(call, digits);
}

struct term bind_div(const struct builtin *call)
{
    struct code *code = call->scope->code;
    const struct span span = call->expr->span;
    int64_t digits;
    bool fits = true;
    for (size_t k = 0; k < 2; k++) {
        const enum term_class which = class_of_argument(call, k);
        const bool fit = which == CLASS_INT || which == CLASS_DECIMAL || call->arguments[k].decimal;
        if (!fit)
            builtin_refuse(call, k, "integers or decimals", which == CLASS_FLOAT ? "`/` divides floats" : NULL);
        fits = fits && fit;
    }
    if (!fits || !read_digits(call, 2, &digits))
        return unknown_term;
    struct term *x = &call->arguments[0], *y = &call->arguments[1];
    term_to_decimal(code, x, span);
    term_to_decimal(code, y, span);
    /* x / 10^a / (y / 10^b) = x * 10^(digits - a + b) / y / 10^digits */
    const int shift = (int)digits - x->logical.scale + y->logical.scale;
    value *scaled = shift >= 0 ? &x->value : &y->value;
    const int size = shift >= 0 ? shift : -shift;
    for (int left = size; left > 0; left -= DECIMAL_MAX_SCALE)
        *scaled = operation(call, OP_MUL, *scaled,
                            number(call, power_of_ten(left < DECIMAL_MAX_SCALE ? left : DECIMAL_MAX_SCALE)));
    return builtin_result(call, round_quotient(call, x->value, y->value),
                          (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = (uint8_t)digits});
}
