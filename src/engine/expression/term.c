/* Terms: what they are, how they are stored, bringing two of them to one type, and checks that one is a number. */
#include "base/time/calendar.h"
#include "engine/expression/expression.h"
#include "engine/expression/texts.h"
#include "engine/expression/zoned.h"
#include "engine/lists/lists.h"

const struct term unknown_term = {.value = NO_VALUE, .present = NO_VALUE};

struct term term_of(value v)
{
    return (struct term){.value = v, .present = NO_VALUE, .settled = true};
}

struct term term_of_type(value v, struct logical_type logical)
{
    struct term term = term_of(v);
    term.logical = logical;
    return term;
}

bool term_is_known(struct term term)
{
    return term.value != NO_VALUE;
}

enum term_class class_of(const struct code *code, struct term term)
{
    static const enum term_class logical[] = {
#define LOGICAL_TYPE(kind, ...) [LOGICAL_##kind] = CLASS_##kind,
#include "engine/values/logical_types.def"
    };
    static const enum term_class numbers[] = {
        [KIND_BOOL] = CLASS_BOOL, [KIND_INT] = CLASS_INT, [KIND_FLOAT] = CLASS_FLOAT};
    if (term.missing)
        return CLASS_MISSING;
    if (term.months)
        return CLASS_MONTHS;
    return term.logical.kind != LOGICAL_NUMBER ? logical[term.logical.kind] : numbers[code->at[term.value].kind];
}

bool class_is_number(enum term_class which)
{
    return which == CLASS_BOOL || which == CLASS_INT || which == CLASS_FLOAT;
}

const char *class_noun(enum term_class which)
{
    static const char *const nouns[] = {
        [CLASS_BOOL] = "a condition",          [CLASS_INT] = "an integer",    [CLASS_FLOAT] = "a float",
        [CLASS_MONTHS] = "a number of months", [CLASS_MISSING] = "`missing`",
#define LOGICAL_TYPE(kind, name, stored, family, adds, means, noun, ...) [CLASS_##kind] = noun,
#include "engine/values/logical_types.def"
    };
    return nouns[which];
}

value present_both(struct code *code, value a, value b, struct span span)
{
    if (a == NO_VALUE || a == b)
        return b;
    return b == NO_VALUE ? a : code_binary(code, OP_AND, a, b, span);
}

/* 0 of the value's kind. */
static value zero_like(struct code *code, value v, struct span span)
{
    switch (code->at[v].kind) {
    case KIND_BOOL:
        return code_bool(code, false, span);
    case KIND_FLOAT:
        return code_float(code, 0, span);
    case KIND_INT:
        break;
    }
    return code_exact_int(code, 0, span);
}

value term_settled(struct code *code, struct term term, struct span span)
{
    if (term.present == NO_VALUE || term.settled)
        return term.value;
    if (code->at[term.value].kind == KIND_BOOL)
        return code_binary(code, OP_AND, term.present, term.value, span);
    return code_op(code, OP_SELECT, term.present, term.value, zero_like(code, term.value, span), span);
}

value term_required(struct code *code, struct term term, struct span span)
{
    if (term.present == NO_VALUE)
        return term.value;
    const value there = code_unary(code, OP_ASSERT, term.present, span);
    return code_op(code, OP_SELECT, there, term.value, term.value, span);
}

struct term term_of_column(struct code *code, const struct flow *flow, size_t index, struct span span)
{
    const struct slot *slot = &flow->columns[index];
    if (!slot->known)
        return unknown_term;
    const value v = code_input(code, (int64_t)index, type_table[slot->type].kind, span);
    struct term term = term_of_type(v, slot->logical);
    if (slot->validity != 0)
        term.present = code_input(code, (int64_t)slot->validity, KIND_BOOL, span);
    return term;
}

static enum type type_of_logical(const struct code *code, struct term term)
{
    if (term.logical.kind == LOGICAL_TEXT)
        return term.logical.dictionary ? dictionary_code_type(term.logical.dictionary->count) : TYPE_U32;
    return term.logical.kind == LOGICAL_NUMBER ? type_of_kind(code->at[term.value].kind) : TYPE_I64;
}

struct slot slot_of_term(const struct scope *scope, struct term term)
{
    struct slot slot = {.type = TYPE_I64, .known = term_is_known(term), .logical = term.logical};
    if (!slot.known)
        return slot;
    const struct instr *instr = &scope->code->at[term.value];
    const bool column = instr->op == OP_INPUT && scope->flow && (size_t)instr->integer < scope->flow->count;
    slot.type = type_of_logical(scope->code, term);
    if (column && scope->flow->columns[instr->integer].logical.kind == term.logical.kind)
        slot.type = scope->flow->columns[instr->integer].type;
    return slot;
}

int64_t power_of_ten(int exponent)
{
    int64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

/* A decimal, or a number without a point, with more digits after its point. */
static value decimal_rescale(struct code *code, value v, int from, int to, struct span span)
{
    v = bind_number(code, v, span);
    if (from == to)
        return v;
    return code_with(code, OP_MUL, v, power_of_ten(to - from), span);
}

struct term term_to_float(struct code *code, struct term term, struct span span)
{
    const bool decimal = term.logical.kind == LOGICAL_DECIMAL;
    value v = bind_number(code, term.value, span);
    if (code->at[v].kind != KIND_FLOAT)
        v = code_unary(code, OP_TO_FLOAT, v, span);
    if (decimal && term.logical.scale > 0) {
        const value unit = code_float(code, (double)power_of_ten(term.logical.scale), span);
        v = code_binary(code, OP_DIV, v, unit, span);
    }
    struct term number = term_of(v);
    number.present = term.present;
    number.settled = term.settled;
    return number;
}

bool term_to_decimal(struct code *code, struct term *term, struct span span)
{
    if (term->logical.kind == LOGICAL_DECIMAL)
        return true;
    if (term->decimal) {
        *term = term_of_type(code_int(code, term->mantissa, span),
                             (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = term->scale});
        return true;
    }
    if (code->at[term->value].kind == KIND_FLOAT)
        return false;
    term->value = bind_number(code, term->value, span);
    term->logical = (struct logical_type){.kind = LOGICAL_DECIMAL};
    return true;
}

/* Two numbers, or decimals, of the same kind and scale. */
static void unify_numbers(struct code *code, struct term *a, struct term *b, struct span span)
{
    if (a->logical.kind == LOGICAL_DECIMAL || b->logical.kind == LOGICAL_DECIMAL) {
        if (term_to_decimal(code, a, span) && term_to_decimal(code, b, span)) {
            const uint8_t scale = a->logical.scale > b->logical.scale ? a->logical.scale : b->logical.scale;
            a->value = decimal_rescale(code, a->value, a->logical.scale, scale, span);
            b->value = decimal_rescale(code, b->value, b->logical.scale, scale, span);
            a->logical.scale = b->logical.scale = scale;
            return;
        }
        *a = term_to_float(code, *a, span);
        *b = term_to_float(code, *b, span);
        return;
    }
    a->value = bind_number(code, a->value, span);
    b->value = bind_number(code, b->value, span);
    if (code->at[a->value].kind == code->at[b->value].kind)
        return;
    struct term *integer = code->at[a->value].kind == KIND_INT ? a : b;
    integer->value = code_unary(code, OP_TO_FLOAT, integer->value, span);
}

void term_to_timestamp(struct code *code, struct term *term, struct span span)
{
    if (term->logical.kind != LOGICAL_DATE)
        return;
    const value day = code_exact_int(code, DAY_US, span);
    term->value = code_binary(code, OP_MUL, term->value, day, span);
    term->logical = (struct logical_type){.kind = LOGICAL_TIMESTAMP};
}

/* The literal `missing` becomes a missing value of the other's type. */
static void missing_like(struct code *code, struct term *term, const struct term *other, struct span span)
{
    term->value = zero_like(code, other->value, span);
    term->logical = other->logical;
    term->missing = other->missing;
}

static bool types_differ(struct scope *scope, struct term a, const struct expr *a_expr, struct term b,
                         const struct expr *b_expr, const char *what, struct span span)
{
    struct arena *arena = scope->binder->arena;
    return bind_error(scope->binder, span, NULL, "%s needs values of one type, but `%s` is %s and `%s` is %s", what,
                      text_of_span(arena, a_expr->span, 40), class_noun(class_of(scope->code, a)),
                      text_of_span(arena, b_expr->span, 40), class_noun(class_of(scope->code, b)));
}

bool terms_unify(struct scope *scope, struct term *a, const struct expr *a_expr, struct term *b,
                 const struct expr *b_expr, const char *what, struct span span)
{
    struct code *code = scope->code;
    enum term_class first = class_of(code, *a), second = class_of(code, *b);
    if (first == CLASS_MISSING || second == CLASS_MISSING) {
        struct term *literal = first == CLASS_MISSING ? a : b, *other = literal == a ? b : a;
        if (other->text)
            *other = term_as_column(scope->binder, *other);
        missing_like(code, literal, other, span);
        return true;
    }
    bool numbers =
        (class_is_number(first) || first == CLASS_DECIMAL) && (class_is_number(second) || second == CLASS_DECIMAL);
    const bool times = (first == CLASS_DATE || first == CLASS_TIMESTAMP) &&
                       (second == CLASS_DATE || second == CLASS_TIMESTAMP) &&
                       (first != second || a->logical.zone != b->logical.zone);
    if (first == CLASS_BOOL && second == CLASS_BOOL)
        return true;
    if (first == CLASS_LIST && second == CLASS_LIST)
        return lists_unify(scope, a, a_expr, b, b_expr, what, span);
    if (first == CLASS_TEXT && second == CLASS_TEXT)
        texts_unify(scope, a, b, span);
    else if (numbers)
        unify_numbers(code, a, b, span);
    else if (times) {
        const struct time_zone *zone = zoned_both(*a, *b);
        zoned_as(scope, a, zone, span);
        zoned_as(scope, b, zone, span);
    } else if (first != second)
        return types_differ(scope, *a, a_expr, *b, b_expr, what, span);
    return true;
}

enum { OPERAND_SHOWN = 40 };

value bind_number(struct code *code, value v, struct span span)
{
    return code->at[v].kind == KIND_BOOL ? code_unary(code, OP_BOOL_TO_INT, v, span) : v;
}

value bind_truth(struct code *code, value v, struct span span)
{
    return code_with(code, OP_NE, v, 0, span);
}

/* "int(a > b)", also if a > b is in parentheses. */
static const char *text_of_int(struct arena *arena, const struct expr *expr)
{
    const bool enclosed = expr_leans_left(expr) && expr->span.begin < expr->args[0]->span.begin;
    const char *text = text_of_span(arena, expr->span, OPERAND_SHOWN);
    return arena_printf(arena, enclosed ? "int%s" : "int(%s)", text);
}

/* "`sym` is text" */
static void not_a_number(struct binder *binder, enum term_class which, const struct expr *expr, const char *what,
                         const char *hint)
{
    bind_error(binder, expr->span, hint, "%s needs a number, but `%s` is %s", what,
               text_of_span(binder->arena, expr->span, OPERAND_SHOWN), class_noun(which));
}

bool bind_is_number(struct scope *scope, struct term term, const struct expr *expr, const char *what,
                    const char *logical)
{
    struct binder *binder = scope->binder;
    const enum term_class which = class_of(scope->code, term);
    if (which == CLASS_INT || which == CLASS_FLOAT)
        return true;
    if (which != CLASS_BOOL) {
        not_a_number(binder, which, expr, what, NULL);
        return false;
    }
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    const char *hint = logical ? arena_printf(binder->arena, "use `%s` for conditions", logical)
                               : arena_printf(binder->arena, "`%s` is 1 or 0", text_of_int(binder->arena, expr));
    return bind_error(binder, expr->span, hint, "%s needs numbers, but `%s` is a condition", what, text);
}

bool bind_is_integer(struct scope *scope, struct term term, const struct expr *expr, const char *what,
                     const char *logical)
{
    struct binder *binder = scope->binder;
    if (class_of(scope->code, term) != CLASS_FLOAT)
        return bind_is_number(scope, term, expr, what, logical);
    const char *text = text_of_span(binder->arena, expr->span, OPERAND_SHOWN);
    const char *cut = text_of_int(binder->arena, expr);
    return bind_error(binder, expr->span, arena_printf(binder->arena, "`%s` truncates it towards zero", cut),
                      "%s needs integers, but `%s` is a float", what, text);
}

value bind_plain(struct scope *scope, const struct expr *expr, const char *what)
{
    struct term term = bind_term(scope, expr);
    if (!term_is_known(term))
        return NO_VALUE;
    const enum term_class which = class_of(scope->code, term);
    if (class_is_number(which) && term.present == NO_VALUE)
        return term.value;
    if (class_is_number(which))
        bind_error(scope->binder, expr->span, NULL, "%s cannot give a missing value", what);
    else
        not_a_number(scope->binder, which, expr, what, NULL);
    return NO_VALUE;
}
