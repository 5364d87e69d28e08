/* Comparisons, exact also between integers and floats, of all types. */
#include "base/time/calendar.h"
#include "engine/expression/expression.h"
#include "engine/expression/texts.h"
#include "engine/expression/zoned.h"
#include "engine/lists/lists.h"

/* Whether every value of this integer is exact as a double. */
static bool fits_double(const struct scope *scope, value v)
{
    const struct instr *instr = &scope->code->at[v];
    const int64_t limit = INT64_C(1) << 53;
    switch (instr->op) {
    case OP_CONST:
        return instr->integer >= -limit && instr->integer <= limit;
    case OP_INPUT:
        return scope->flow && (uint64_t)instr->integer < scope->flow->count &&
               type_table[scope->flow->columns[instr->integer].type].size <= 4;
    case OP_BOOL_TO_INT:
    case OP_POPCOUNT:
    case OP_SIGN:
        return true;
    default:
        return false;
    }
}

/* Compares by the sign of a - b (-1, 0, 1; 2 beside a NaN), or of b - a if `swapped`. */
static value compare_by_sign(struct scope *scope, enum op op, value sign, bool swapped, struct span span)
{
    const value zero = code_exact_int(scope->code, 0, span);
    if (op == OP_EQ || op == OP_NE || !swapped)
        return code_binary(scope->code, op, sign, zero, span);
    const value one = code_exact_int(scope->code, 1, span);
    if (op == OP_LT)
        return code_binary(scope->code, OP_EQ, sign, one, span);
    const value above = code_binary(scope->code, OP_LE, zero, sign, span);
    const value ordered = code_binary(scope->code, OP_LE, sign, one, span);
    return code_binary(scope->code, OP_AND, above, ordered, span);
}

static value compare_numbers(struct scope *scope, enum op op, value a, value b, struct span span)
{
    a = bind_number(scope->code, a, span);
    b = bind_number(scope->code, b, span);
    const enum kind kind = scope->code->at[a].kind;
    if (kind == scope->code->at[b].kind)
        return code_binary(scope->code, op, a, b, span);
    const bool swapped = kind == KIND_FLOAT;
    value *integer = swapped ? &b : &a;
    if (!fits_double(scope, *integer)) {
        const value sign = code_binary(scope->code, OP_CMP_INT_FLOAT, *integer, swapped ? a : b, span);
        return compare_by_sign(scope, op, sign, swapped, span);
    }
    *integer = code_binary(scope->code, OP_TO_FLOAT, *integer, NO_VALUE, span);
    return code_binary(scope->code, op, a, b, span);
}

/* Compares a timestamp with a date by its date, without a division: the day is the microseconds from `first` up to
 * `next`. */
static value compare_with_day(struct scope *scope, enum op op, struct term of, value date, bool swapped,
                              struct span span)
{
    struct code *code = scope->code;
    const struct time_zone *zone = of.logical.zone;
    const value time = of.value, day = code_exact_int(code, DAY_US, span);
    const value midnight = code_binary(scope->code, OP_MUL, date, day, span);
    const value first = zoned_start(scope, midnight, zone, span);
    const value next = zoned_start(scope, code_binary(scope->code, OP_ADD, midnight, day, span), zone, span);
    value from = code_binary(scope->code, OP_LE, first, time, span),
          until = code_binary(scope->code, OP_LT, time, next, span);
    switch (op) {
    case OP_EQ:
        return code_binary(scope->code, OP_AND, from, until, span);
    case OP_NE:
        return code_binary(scope->code, OP_NOT, code_binary(scope->code, OP_AND, from, until, span), NO_VALUE, span);
    case OP_LT: /* date < time, or time < date */
        return swapped ? code_binary(scope->code, OP_LE, next, time, span)
                       : code_binary(scope->code, OP_LT, time, first, span);
    default:
        return swapped ? from : until;
    }
}

/* What a number, date, ... would have to be compared with. */
static const char *comparison_hint(enum term_class of)
{
    static const char *const hints[] = {
        [CLASS_MISSING] = NULL,
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, unit, written, ...) [CLASS_##kind] = written,
#include "engine/values/logical_types.def"
    };
    return hints[of];
}

static struct term refuse(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                          const struct expr *b_expr, struct span span)
{
    struct arena *arena = scope->binder->arena;
    enum term_class first = class_of(scope->code, a), second = class_of(scope->code, b);
    if (first == CLASS_MISSING || second == CLASS_MISSING) {
        const struct expr *other = first == CLASS_MISSING ? b_expr : a_expr;
        return term_error(
            scope->binder, span,
            arena_printf(arena, "`missing(%s)` is true where there is no value", text_of_span(arena, other->span, 40)),
            "a comparison with `missing` is never true");
    }
    const bool number_first = class_is_number(first) || first == CLASS_DECIMAL;
    const char *hint = comparison_hint(number_first ? second : first);
    if (!number_first && a.text)
        hint = comparison_hint(second);
    if ((number_first ? b : a).text && (number_first || !hint))
        hint = "without quotes it would be a number or a name";
    if ((first == CLASS_LIST) != (second == CLASS_LIST))
        hint = arena_printf(arena, "`any(%s == %s)` compares all elements, `len(%s)` counts them",
                            text_of_span(arena, a_expr->span, 40), text_of_span(arena, b_expr->span, 40),
                            text_of_span(arena, (first == CLASS_LIST ? a_expr : b_expr)->span, 40));
    return term_error(scope->binder, span, hint, "`%s` is %s and `%s` is %s: they cannot be compared",
                      text_of_span(arena, a_expr->span, 40), class_noun(first), text_of_span(arena, b_expr->span, 40),
                      class_noun(second));
}

static struct term comparison(struct scope *scope, value v, struct term a, struct term b, struct span span)
{
    struct term result = term_of(v);
    result.present = present_both(scope->code, a.present, b.present, span);
    result.settled = result.present == NO_VALUE;
    return result;
}

static struct term compare_lists(struct scope *scope, enum op op, struct term a, const struct expr *a_expr,
                                 struct term b, const struct expr *b_expr, struct span span)
{
    if (op != OP_EQ && op != OP_NE)
        return term_error(scope->binder, span,
                          arena_printf(scope->binder->arena, "`len(%s)` and `min(%s)` have one",
                                       text_of_span(scope->binder->arena, a_expr->span, 40),
                                       text_of_span(scope->binder->arena, a_expr->span, 40)),
                          "lists have no order");
    struct term equal = bind_list_equal(scope, a, a_expr, b, b_expr, span);
    if (term_is_known(equal) && op == OP_NE)
        equal.value = code_binary(scope->code, OP_NOT, equal.value, NO_VALUE, span);
    return equal;
}

struct term bind_compare(struct scope *scope, enum op op, struct term a, const struct expr *a_expr, struct term b,
                         const struct expr *b_expr, struct span span)
{
    if (!term_is_known(a) || !term_is_known(b))
        return unknown_term;
    enum term_class first = class_of(scope->code, a), second = class_of(scope->code, b);
    if (first == CLASS_TEXT && second == CLASS_TEXT)
        return comparison(scope, texts_compare(scope, op, a, b, span), a, b, span);
    if (first == CLASS_TIMESTAMP && second == CLASS_DATE)
        return comparison(scope, compare_with_day(scope, op, a, b.value, false, span), a, b, span);
    if (first == CLASS_DATE && second == CLASS_TIMESTAMP)
        return comparison(scope, compare_with_day(scope, op, b, a.value, true, span), a, b, span);
    if (class_is_number(first) && class_is_number(second))
        return comparison(scope, compare_numbers(scope, op, a.value, b.value, span), a, b, span);
    bool decimals =
        (first == CLASS_DECIMAL || class_is_number(first)) && (second == CLASS_DECIMAL || class_is_number(second));
    if (!decimals && (first != second || first == CLASS_MONTHS || first == CLASS_MISSING))
        return refuse(scope, a, a_expr, b, b_expr, span);
    if (first == CLASS_LIST)
        return compare_lists(scope, op, a, a_expr, b, b_expr, span);
    if (!terms_unify(scope, &a, a_expr, &b, b_expr, "a comparison", span))
        return unknown_term;
    return comparison(scope, code_binary(scope->code, op, a.value, b.value, span), a, b, span);
}

struct term bind_is(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                    const struct expr *b_expr, struct span span)
{
    struct code *code = scope->code;
    if (!term_is_known(a) || !term_is_known(b))
        return unknown_term;
    if (a.missing || b.missing) {
        struct term other = a.missing ? b : a;
        if (other.missing || other.present == NO_VALUE)
            return term_of(code_bool(code, other.missing, span));
        return term_of(code_binary(scope->code, OP_NOT, other.present, NO_VALUE, span));
    }
    struct term equal = bind_compare(scope, OP_EQ, a, a_expr, b, b_expr, span);
    if (!term_is_known(equal) || equal.present == NO_VALUE)
        return equal;
    const value both = code_binary(scope->code, OP_AND, equal.present, equal.value, span);
    value absent[2];
    for (int i = 0; i < 2; i++) {
        const value present = (i == 0 ? a : b).present;
        absent[i] = present == NO_VALUE ? code_bool(code, false, span)
                                        : code_binary(scope->code, OP_NOT, present, NO_VALUE, span);
    }
    const value neither = code_binary(scope->code, OP_AND, absent[0], absent[1], span);
    return term_of(code_binary(scope->code, OP_OR, both, neither, span));
}
