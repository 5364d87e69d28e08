/* Operations whose meaning depends on types: comparisons with dates, quotients, choices, conversions. */
#include "repl/rewrite/translator.h"

#include <string.h>
#include <strings.h>

static bool is_number(enum phrase_type type)
{
    return type == PHRASE_INT || type == PHRASE_FLOAT || type == PHRASE_DECIMAL;
}

static bool is_numeral(const char *text)
{
    const size_t digits = strspn(text + (*text == '-'), "0123456789.");
    return digits > 0 && !text[(*text == '-') + digits];
}

struct phrase as_type(struct translator *t, struct phrase x, enum phrase_type type)
{
    const char *text = NULL;
    if (!x.text || type == PHRASE_UNKNOWN || x.type == PHRASE_UNKNOWN)
        return x;
    if (x.type == PHRASE_DATE && type == PHRASE_TIMESTAMP) {
        text = phrase_time_literal(x.text, type, t->arena);
        if (!text)
            return phrase_fill("timestamp(A)", LEVEL_OPERAND, type, &x, 1, t->arena);
    }
    if (x.raw && (type == PHRASE_DATE || type == PHRASE_TIMESTAMP)) {
        text = phrase_time_literal(x.raw, type, t->arena);
        if (!text)
            return translate_fail(t, type == PHRASE_DATE ? "dates are written 2024-01-31"
                                                         : "timestamps are written 2024-01-31T09:30");
    }
    if (x.raw && is_number(type)) {
        text = is_numeral(x.raw) ? x.raw : NULL;
        if (!text)
            return translate_fail(t, "a number is not compared with text: `float(s)` is the number that it writes");
    }
    return text ? phrase_operand(text, type) : x;
}

/* Integers of 16 bits beside a date. */
static struct phrase of_days(struct translator *t, struct phrase x, const struct phrase *other)
{
    const bool date =
        other->type == PHRASE_DATE || (other->raw && phrase_time_literal(other->raw, PHRASE_DATE, t->arena));
    for (size_t i = 0; date && x.column && i < t->scope.count; i++) {
        if (t->scope.columns[i].days && strcmp(t->scope.columns[i].text, x.text) == 0)
            return phrase_fill("date(A)", LEVEL_OPERAND, PHRASE_DATE, &x, 1, t->arena);
    }
    return x;
}

struct phrase compare(struct translator *t, struct phrase a, const char *op, struct phrase b)
{
    if (!a.text || !b.text)
        return (struct phrase){0};
    if (a.type == PHRASE_MISSING || b.type == PHRASE_MISSING) {
        const struct phrase *x = a.type == PHRASE_MISSING ? &b : &a;
        return translate_fail(
            t, "a comparison with a missing value is never true: `%s is missing` tells whether there is none", x->text);
    }
    const bool text_and_number = (a.type == PHRASE_TEXT && !a.raw && is_number(b.type)) ||
                                 (b.type == PHRASE_TEXT && !b.raw && is_number(a.type));
    if (text_and_number)
        return translate_fail(t, "a number is not compared with text: `float(s)` is the number that it writes");
    if (a.type == PHRASE_BOOL && b.type == PHRASE_BOOL) {
        a = as_value(t, a);
        b = as_value(t, b);
    }
    a = of_days(t, a, &b);
    b = of_days(t, b, &a);
    const enum phrase_type of_a = a.type;
    a = as_type(t, a, b.type);
    b = as_type(t, b, of_a);
    const bool equality = op[1] == '=' || op[1] == '!';
    struct phrase result =
        phrase_binary(&a, op, &b, equality ? LEVEL_EQUALITY : LEVEL_COMPARISON, PHRASE_BOOL, t->arena);
    /* Elsewhere a missing value is unequal to each other one; in q it is less, too. */
    const bool unequal = op[1] == '!' && ((t->dialect == DIALECT_PYTHON && !t->polars) || t->dialect == DIALECT_Q ||
                                          t->dialect == DIALECT_KQL);
    const bool less = op[1] == '<' && t->dialect == DIALECT_Q;
    if (result.text && result.optional && (unequal || less)) {
        result.text = arena_printf(t->arena, "%s ?? true", result.text);
        result.level = LEVEL_COALESCE;
        result.optional = false;
    }
    return result;
}

struct phrase between(struct translator *t, struct phrase x, struct phrase low, struct phrase high, bool negated)
{
    if (!x.text || !low.text || !high.text)
        return (struct phrase){0};
    x = of_days(t, x, &low);
    low = as_type(t, low, x.type);
    high = as_type(t, high, x.type);
    if (x.type == PHRASE_DATE && (low.type == PHRASE_TIMESTAMP || high.type == PHRASE_TIMESTAMP))
        x = as_type(t, x, PHRASE_TIMESTAMP);
    struct phrase result = {.level = LEVEL_EQUALITY, .type = PHRASE_BOOL};
    if (!low.text || !high.text || !phrase_inherit(&result, &x) || !phrase_inherit(&result, &low) ||
        !phrase_inherit(&result, &high))
        return (struct phrase){0};
    result.text =
        arena_printf(t->arena, "%s %s %s..%s", phrase_at(&x, LEVEL_COMPARISON, t->arena), negated ? "not in" : "in",
                     phrase_at(&low, LEVEL_SUM, t->arena), phrase_at(&high, LEVEL_SUM, t->arena));
    return result;
}

/* Quotients of integers drop their fraction here, as they do in KQL. */
struct phrase divide(struct translator *t, struct phrase a, struct phrase b)
{
    if (!a.text || !b.text)
        return (struct phrase){0};
    const bool fraction = a.type == PHRASE_FLOAT || b.type == PHRASE_FLOAT || a.type == PHRASE_DURATION;
    const bool whole = t->dialect == DIALECT_KQL && a.type == PHRASE_INT && b.type == PHRASE_INT;
    if (whole)
        return phrase_binary(&a, " // ", &b, LEVEL_PRODUCT, PHRASE_INT, t->arena);
    if (!fraction)
        a = phrase_fill("float(A)", LEVEL_OPERAND, PHRASE_FLOAT, &a, 1, t->arena);
    return phrase_binary(&a, " / ", &b, LEVEL_PRODUCT, PHRASE_FLOAT, t->arena);
}

/* A condition that is unknown chooses nothing here, and the second value elsewhere, but in R. */
struct phrase choose(struct translator *t, struct phrase condition, struct phrase yes, struct phrase no)
{
    const struct phrase certain = t->dialect == DIALECT_R ? condition : phrase_certain(condition, t->arena);
    struct phrase result = {.level = LEVEL_CHOICE, .type = yes.type == PHRASE_MISSING ? no.type : yes.type};
    if (is_number(yes.type) && is_number(no.type) && yes.type != no.type)
        result.type = PHRASE_FLOAT;
    if (!certain.text || !yes.text || !no.text || !phrase_inherit(&result, &certain) ||
        !phrase_inherit(&result, &yes) || !phrase_inherit(&result, &no))
        return (struct phrase){0};
    result.text = arena_printf(t->arena, "%s ? %s : %s", phrase_at(&certain, LEVEL_COALESCE, t->arena),
                               phrase_at(&yes, LEVEL_COALESCE, t->arena), no.text);
    return result;
}

struct phrase choose_first(struct translator *t, const struct phrase *conditions, const struct phrase *values,
                           size_t count, struct phrase other)
{
    while (count-- > 0)
        other = choose(t, conditions[count], values[count], other);
    return other;
}

struct phrase replace_value(struct translator *t, struct phrase x, struct phrase old, struct phrase new)
{
    if (old.type == PHRASE_MISSING) {
        struct phrase both[] = {x, new};
        return coalesced(t, both, 2);
    }
    struct phrase same = compare(t, x, " == ", old);
    same.optional = false; /* where it is missing, so is the choice */
    return choose(t, same, new, x);
}

/* Tests of pandas and of q are never missing, nor are those of KQL but whether a value is less. */
struct phrase as_value(struct translator *t, struct phrase x)
{
    const bool certain = (t->dialect == DIALECT_PYTHON && !t->polars) || t->dialect == DIALECT_Q ||
                         (t->dialect == DIALECT_KQL && x.level != LEVEL_COMPARISON);
    return certain && (x.type == PHRASE_BOOL || x.type == PHRASE_UNKNOWN) ? phrase_certain(x, t->arena) : x;
}

struct phrase negate(struct translator *t, struct phrase x)
{
    if (!x.text)
        return x;
    if (x.type != PHRASE_BOOL && x.type != PHRASE_UNKNOWN)
        return translate_fail(t, "conditions are compared: `x == 0`");
    x = as_value(t, x);
    const bool plain = x.level == LEVEL_OPERAND;
    struct phrase result = {.level = plain ? LEVEL_SIGN : LEVEL_NOT, .type = PHRASE_BOOL};
    (void)phrase_inherit(&result, &x);
    result.text = arena_printf(t->arena, plain ? "!%s" : "not (%s)", x.text);
    return result;
}

/* Text beside text; numbers have to be written first. */
struct phrase join_text(struct translator *t, struct phrase a, struct phrase b)
{
    struct phrase *both[] = {&a, &b};
    for (size_t i = 0; i < 2; i++) {
        if (!both[i]->text)
            return (struct phrase){0};
        if (both[i]->type == PHRASE_INT)
            *both[i] = phrase_fill("text(A)", LEVEL_OPERAND, PHRASE_TEXT, both[i], 1, t->arena);
        else if (both[i]->type != PHRASE_TEXT && both[i]->type != PHRASE_UNKNOWN)
            return translate_fail(t, "`concat(a, b)` writes values one after another, `text(x)` one");
    }
    return phrase_binary(&a, " + ", &b, LEVEL_SUM, PHRASE_TEXT, t->arena);
}

static struct phrase convert_to_int(struct translator *t, struct phrase x)
{
    const bool whole = x.type == PHRASE_INT || x.type == PHRASE_BOOL || x.type == PHRASE_TEXT;
    if (!whole && t->dialect == DIALECT_SQL)
        return translate_fail(
            t, "SQL rounds, halves to even: `int(x)` drops the fraction, `int(round(x))` rounds halves away from zero");
    if (x.type == PHRASE_DATE || x.type == PHRASE_TIMESTAMP)
        return translate_fail(t, "`int(d)` is the number of days since 1970, of a timestamp microseconds");
    x = x.type == PHRASE_BOOL ? as_value(t, x) : x;
    return x.type == PHRASE_INT ? x : phrase_fill("int(A)", LEVEL_OPERAND, PHRASE_INT, &x, 1, t->arena);
}

struct phrase convert(struct translator *t, struct phrase x, const char *type)
{
    if (!x.text)
        return x;
    if (is_one_of(type, "int integer bigint smallint tinyint hugeint signed int2 int4 int8 int32 int64 long i64"))
        return convert_to_int(t, x);
    if (is_one_of(type, "float double real float4 float8 float32 float64 f64"))
        return phrase_fill("float(A)", LEVEL_OPERAND, PHRASE_FLOAT, &x, 1, t->arena);
    if (is_one_of(type, "date")) {
        if (x.type == PHRASE_DATE)
            return x;
        return x.raw ? as_type(t, x, PHRASE_DATE) : phrase_fill("date(A)", LEVEL_OPERAND, PHRASE_DATE, &x, 1, t->arena);
    }
    if (is_one_of(type, "timestamp datetime timestamptz")) {
        if (x.type == PHRASE_TIMESTAMP)
            return x;
        return x.raw ? as_type(t, x, PHRASE_TIMESTAMP)
                     : phrase_fill("timestamp(A)", LEVEL_OPERAND, PHRASE_TIMESTAMP, &x, 1, t->arena);
    }
    if (is_one_of(type, "text varchar string char str") && x.type == PHRASE_TEXT)
        return x;
    if (is_one_of(type, "text varchar string char str") && (x.type == PHRASE_INT || x.type == PHRASE_DATE))
        return phrase_fill("text(A)", LEVEL_OPERAND, PHRASE_TEXT, &x, 1, t->arena);
    if (is_one_of(type, "text varchar string char") && t->dialect == DIALECT_SQL &&
        (x.type == PHRASE_BOOL || x.type == PHRASE_FLOAT || x.type == PHRASE_DECIMAL || x.type == PHRASE_TIMESTAMP))
        return phrase_fill(x.type == PHRASE_TIMESTAMP ? "replace(text(A), 'T', ' ')" : "text(A)", LEVEL_OPERAND,
                           PHRASE_TEXT, &x, 1, t->arena);
    if (is_one_of(type, "time"))
        return translate_fail(t, "the time of day is `t - trunc(t, day)`, a duration, or `hour(t)` and `minute(t)`");
    return translate_fail(
        t, "`int(x)`, `float(x)`, `date(x)`, `timestamp(x)` and `text(x)` convert; there is none to %s", type);
}

struct phrase coalesced(struct translator *t, struct phrase *operands, size_t count)
{
    struct phrase result = operands[0];
    for (size_t i = 1; i < count && result.text; i++) {
        const bool optional = operands[i].optional && result.optional;
        result = phrase_binary(&result, " ?? ", &operands[i], LEVEL_COALESCE, result.type, t->arena);
        result.optional = optional;
    }
    return result;
}

struct phrase concatenated(struct translator *t, struct phrase *operands, size_t count)
{
    const bool passes_over = t->dialect == DIALECT_SQL || t->dialect == DIALECT_KQL;
    struct phrase result = operands[0];
    for (size_t i = 0; i < count; i++) {
        if (passes_over && operands[i].optional)
            operands[i] = phrase_fill("A ?? \"\"", LEVEL_COALESCE, PHRASE_TEXT, &operands[i], 1, t->arena);
        operands[i].optional = operands[i].optional && !passes_over;
        result = i > 0 ? join_text(t, result, operands[i]) : operands[0];
    }
    return result;
}
