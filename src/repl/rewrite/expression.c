/* Expressions of other languages: operators by their strengths, operands, and what follows them. */
#include "repl/rewrite/chain.h"

#include <string.h>
#include <strings.h>

/* From the loosest; `not` is between `and` and comparisons. */
enum strength {
    STRENGTH_OR = 1,
    STRENGTH_AND,
    STRENGTH_NOT,
    STRENGTH_COMPARISON,
    STRENGTH_MASK_OR, /* `|`, `^` and `&` of pandas bind tighter than comparisons */
    STRENGTH_MASK_UNEQUAL,
    STRENGTH_MASK_AND,
    STRENGTH_JOIN,
    STRENGTH_SUM,
    STRENGTH_PRODUCT,
    STRENGTH_POWER
};

enum action { ACTION_LOGIC, ACTION_COMPARE, ACTION_JOIN, ACTION_SUM, ACTION_PRODUCT, ACTION_POWER };

struct operator
{
    const char *sign;
    int dialects;
    enum strength strength;
    enum action action;
    const char *written;
};

enum {
    WORDS = DIALECT_SQL | DIALECT_PYTHON | DIALECT_KQL,
    ANY = WORDS | DIALECT_R,
    Q = DIALECT_Q,
};

static const struct operator operators[] = {
    {"or", WORDS | Q, STRENGTH_OR, ACTION_LOGIC, " or "},
    {"and", WORDS | Q, STRENGTH_AND, ACTION_LOGIC, " and "},
    {"||", DIALECT_R, STRENGTH_OR, ACTION_LOGIC, " or "},
    {"|", DIALECT_R | Q, STRENGTH_OR, ACTION_LOGIC, " or "},
    {"&&", DIALECT_R, STRENGTH_AND, ACTION_LOGIC, " and "},
    {"&", DIALECT_R | Q, STRENGTH_AND, ACTION_LOGIC, " and "},
    {"|", DIALECT_PYTHON, STRENGTH_MASK_OR, ACTION_LOGIC, " or "},
    {"^", DIALECT_PYTHON, STRENGTH_MASK_UNEQUAL, ACTION_COMPARE, " != "},
    {"&", DIALECT_PYTHON, STRENGTH_MASK_AND, ACTION_LOGIC, " and "},
    {"=", DIALECT_SQL | Q, STRENGTH_COMPARISON, ACTION_COMPARE, " == "},
    {"==", ANY, STRENGTH_COMPARISON, ACTION_COMPARE, " == "},
    {"<>", DIALECT_SQL | DIALECT_KQL | Q, STRENGTH_COMPARISON, ACTION_COMPARE, " != "},
    {"!=", ANY, STRENGTH_COMPARISON, ACTION_COMPARE, " != "},
    {"<=", ANY | Q, STRENGTH_COMPARISON, ACTION_COMPARE, " <= "},
    {">=", ANY | Q, STRENGTH_COMPARISON, ACTION_COMPARE, " >= "},
    {"<", ANY | Q, STRENGTH_COMPARISON, ACTION_COMPARE, " < "},
    {">", ANY | Q, STRENGTH_COMPARISON, ACTION_COMPARE, " > "},
    {"||", DIALECT_SQL, STRENGTH_JOIN, ACTION_JOIN, ""},
    {"+", ANY | Q, STRENGTH_SUM, ACTION_SUM, " + "},
    {"-", ANY | Q, STRENGTH_SUM, ACTION_SUM, " - "},
    {"*", ANY | Q, STRENGTH_PRODUCT, ACTION_PRODUCT, " * "},
    {"/", ANY, STRENGTH_PRODUCT, ACTION_PRODUCT, " / "},
    {"%", Q, STRENGTH_PRODUCT, ACTION_PRODUCT, " / "},
    {"//", DIALECT_SQL | DIALECT_PYTHON, STRENGTH_PRODUCT, ACTION_PRODUCT, " // "},
    {"%", WORDS, STRENGTH_PRODUCT, ACTION_PRODUCT, " % "},
    {"**", DIALECT_SQL | DIALECT_PYTHON, STRENGTH_POWER, ACTION_POWER, ""},
    {"^", DIALECT_SQL | DIALECT_R, STRENGTH_POWER, ACTION_POWER, ""},
};

static struct phrase parse(struct translator *t, int strength);

static bool is_number(enum phrase_type type)
{
    return type == PHRASE_INT || type == PHRASE_FLOAT || type == PHRASE_DECIMAL;
}

static struct phrase add(struct translator *t, struct phrase a, const char *written, struct phrase b)
{
    const bool minus = strcmp(written, " - ") == 0;
    if (a.type == PHRASE_TEXT || b.type == PHRASE_TEXT)
        return minus || t->dialect == DIALECT_SQL
                   ? translate_fail(t, "text is no number: `float(s)` is the number that it writes")
                   : join_text(t, a, b);
    enum phrase_type type = a.type == b.type && is_number(a.type) ? a.type : PHRASE_UNKNOWN;
    if (is_number(a.type) && is_number(b.type) && a.type != b.type)
        type = PHRASE_FLOAT;
    if ((a.type == PHRASE_DATE || a.type == PHRASE_TIMESTAMP) && b.type == PHRASE_DURATION)
        type = a.type;
    if (a.type == PHRASE_TIMESTAMP && b.type == a.type && minus)
        type = PHRASE_DURATION;
    if (a.type == PHRASE_DATE && b.type == a.type && minus)
        type = PHRASE_INT;
    if (a.type == PHRASE_DATE && b.type == PHRASE_INT) {
        type = a.type;
        const bool literal = strspn(b.text, "0123456789") == strlen(b.text);
        b = phrase_fill(literal ? arena_printf(t->arena, "%sd", b.text) : "1d * A",
                        literal ? LEVEL_OPERAND : LEVEL_PRODUCT, PHRASE_DURATION, &b, 1, t->arena);
    }
    return phrase_binary(&a, written, &b, LEVEL_SUM, type, t->arena);
}

static struct phrase multiply(struct translator *t, struct phrase a, const char *written, struct phrase b)
{
    if (strcmp(written, " / ") == 0)
        return divide(t, a, b);
    const bool remainder = strcmp(written, " % ") == 0;
    if ((remainder || strcmp(written, " // ") == 0) && t->dialect == DIALECT_PYTHON) { /* which round down */
        const bool negative = b.level == LEVEL_SIGN && b.text[0] == '-' && strspn(b.text + 1, "0123456789") > 0;
        const bool whole = b.type == PHRASE_INT && (negative || b.level == LEVEL_OPERAND) && !b.column;
        if (!remainder && a.type == PHRASE_INT && b.type == PHRASE_INT && b.column)
            return phrase_fill("floor(float(A) / B)", LEVEL_OPERAND, PHRASE_FLOAT, (struct phrase[]){a, b}, 2,
                               t->arena);
        b.level = LEVEL_OPERAND;
        struct phrase operands[] = {a, b};
        if (!whole || (a.type != PHRASE_INT && a.type != PHRASE_FLOAT) || (remainder && a.type != PHRASE_INT))
            return translate_fail(t, "`a %% b` has the sign of a, and `a // b` of integers drops the fraction; "
                                     "`floor(a / b)` rounds down");
        return phrase_fill(remainder                ? "(A % B + B) % B"
                           : a.type == PHRASE_FLOAT ? "floor(A / B)"
                                                    : "(A - (A % B + B) % B) // B",
                           LEVEL_PRODUCT, a.type, operands, 2, t->arena);
    }
    const bool floats = a.type == PHRASE_FLOAT || b.type == PHRASE_FLOAT;
    if (t->dialect == DIALECT_SQL && strcmp(written, " // ") == 0 && floats)
        return translate_fail(t, "`a // b` is of integers; `floor(a / b)` rounds the quotient of others down");
    const enum phrase_type type = a.type == b.type                         ? a.type
                                  : is_number(a.type) && is_number(b.type) ? PHRASE_FLOAT
                                                                           : PHRASE_UNKNOWN;
    return phrase_binary(&a, written, &b, LEVEL_PRODUCT, type, t->arena);
}

static struct phrase apply(struct translator *t, const struct operator* operator, struct phrase a, struct phrase b)
{
    if (!a.text || !b.text)
        return (struct phrase){0};
    struct phrase both[] = {a, b};
    switch (operator->action) {
    case ACTION_LOGIC:
        if ((a.type != PHRASE_BOOL && a.type != PHRASE_UNKNOWN) || (b.type != PHRASE_BOOL && b.type != PHRASE_UNKNOWN))
            return translate_fail(t, "conditions are compared: `x != 0`");
        return phrase_binary(&a, operator->written, &b, operator->written[1] == 'o' ? LEVEL_OR : LEVEL_AND, PHRASE_BOOL,
                             t->arena);
    case ACTION_COMPARE:
        if (operator->strength == STRENGTH_MASK_UNEQUAL &&(a.type != PHRASE_BOOL || b.type != PHRASE_BOOL))
            return translate_fail(t, "`x ^ y` of integers is `xor(x, y)`, a power is `pow(x, y)`");
        return compare(t, a, operator->written, b);
    case ACTION_JOIN:
        return join_text(t, a, b);
    case ACTION_SUM:
        return add(t, a, operator->written, b);
    case ACTION_PRODUCT:
        return multiply(t, a, operator->written, b);
    default:
        return phrase_fill("pow(A, B)", LEVEL_OPERAND, PHRASE_FLOAT, both, 2, t->arena);
    }
}

struct phrase translate_operator(struct translator *t, const char *sign, struct phrase a, struct phrase b)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if ((operators[i].dialects & (int)t->dialect) && strcmp(operators[i].sign, sign) == 0)
            return apply(t, &operators[i], a, b);
    }
    return translate_fail(t, "`%s` is not understood there", sign);
}

static const struct operator* operator_at(const struct translator *t)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if ((operators[i].dialects & (int)t->dialect) && next_is(t, operators[i].sign))
            return &operators[i];
    }
    return NULL;
}

struct phrase in_items(struct translator *t, struct phrase x, const char *word, size_t close)
{
    struct phrase result = {.level = LEVEL_EQUALITY, .type = PHRASE_BOOL};
    const char *items = NULL;
    while (t->at < close) {
        const struct phrase item = as_type(t, translate_expression(t), x.type);
        if (!item.text || item.type == PHRASE_MISSING)
            return translate_fail(t, "a list has no missing values: `x is missing or x in [...]`");
        list_add(t, &items, "%s", item.text);
        if (!accept(t, ","))
            break;
    }
    if (t->at != close)
        return translate_fail(t, "a list is written `x in [1, 2]`");
    if (!x.text)
        return x;
    result.text = arena_printf(t->arena, "%s %s [%s]", phrase_at(&x, LEVEL_RANGE, t->arena), word, items ? items : "");
    (void)phrase_inherit(&result, &x);
    return result;
}

/* `(a, b) in ((1, 2), (3, 4))` and `(a, b) = (1, 2)`, whose first part is read. */
struct phrase rows_in_list(struct translator *t, struct phrase first)
{
    enum { MOST = 8 };
    static const char instead[] = "`semi join S on a = c, b = d` keeps the rows that match those of a source, `anti "
                                  "join` the others";
    struct phrase of[MOST] = {first}, result = {0};
    size_t count = 1;
    while (count < MOST && accept(t, ","))
        of[count++] = translate_expression(t);
    const bool equal = expect(t, ")") && accept(t, "=");
    if (!equal && next_is(t, ")"))
        return translate_fail(t, "`map a, b | distinct | count` counts different rows, `group K: distinct(x)` the "
                                 "different values of a group");
    if (t->told || (!equal && !accept_two(t, "in", "(")) || !next_is(t, "("))
        return translate_fail(t, "%s", instead);
    do {
        struct phrase row = {0};
        for (size_t i = 0; i < count; i++) {
            if (!accept(t, i == 0 ? "(" : ","))
                return translate_fail(t, "%s", instead);
            const struct phrase same = compare(t, of[i], " == ", translate_expression(t));
            row = i == 0 ? same : phrase_binary(&row, " and ", &same, LEVEL_AND, PHRASE_BOOL, t->arena);
        }
        if (!row.text || !expect(t, ")"))
            return (struct phrase){0};
        result = result.text ? phrase_binary(&result, " or ", &row, LEVEL_OR, PHRASE_BOOL, t->arena) : row;
    } while (!equal && accept(t, ","));
    return equal || expect(t, ")") ? result : (struct phrase){0};
}

/* The items of `x in (...)`. */
static struct phrase parse_in(struct translator *t, struct phrase x, bool negated)
{
    const char *word = negated ? "not in" : "in";
    const bool square = next_is(t, "[");
    if (t->dialect == DIALECT_KQL && next_is(t, "~"))
        return translate_fail(t, "`lower(x) %s ['a', 'b']` compares in any case", word);
    const size_t open = t->at;
    if (!square && !expect(t, "("))
        return (struct phrase){0};
    t->at = open + 1;
    const size_t close = after_brackets(t, open) - 1;
    if (next_is(t, "select") || next_is(t, "with") || next_is(t, "from")) {
        const char *query = translate_query(t, t->at, close);
        struct known_columns found = {0};
        if (!query || !x.text)
            return (struct phrase){0};
        (void)known_add_source(t, &found, query, NULL);
        if (negated && found.count > 0 && found.columns[0].optional && !t->no_missing)
            return translate_fail(
                t, "`not in` of values of which some are null is never true in SQL: `x not in (%s)` passes over them",
                query);
        t->at = close + 1;
        struct phrase result = {
            .text = arena_printf(t->arena, "%s %s (%s)", phrase_at(&x, LEVEL_RANGE, t->arena), word, query),
            .level = LEVEL_EQUALITY,
            .type = PHRASE_BOOL};
        (void)phrase_inherit(&result, &x);
        return result;
    }
    const struct phrase result = in_items(t, x, word, close);
    t->at++;
    return result;
}

/* `x not in [...]` of pandas and KQL, which a missing value is, too. */
static struct phrase parse_not_in(struct translator *t, struct phrase x)
{
    struct phrase test = parse_in(t, x, true);
    if (test.text && test.optional) {
        test.text = arena_printf(t->arena, "%s ?? true", test.text);
        test.level = LEVEL_COALESCE;
        test.optional = false;
    }
    return test;
}

/* `x = any (...)` and `x <> all (...)`, after the sign. */
static struct phrase parse_any(struct translator *t, struct phrase x, const char *sign)
{
    const bool all = token_is(t, t->at++, "all"), array = token_is(t, t->at + 1, "array");
    const bool list = token_is(t, t->at + 1 + array, "[");
    if (array && list)
        t->at++;
    if (strcmp(sign, all ? " != " : " == ") != 0)
        return translate_fail(t, "`x > (S | min y)` holds for some value of S, `x > (S | max y)` for all");
    t->at += list;
    const struct phrase result = parse_in(t, x, all);
    return !list || expect(t, ")") ? result : (struct phrase){0};
}

static struct phrase parse_is(struct translator *t, struct phrase x)
{
    const bool negated = accept(t, "not");
    const char *word = negated ? " is not " : " is ";
    struct phrase other = {.text = "missing", .level = LEVEL_OPERAND};
    if (accept_two(t, "distinct", "from")) {
        word = negated ? " is " : " is not ";
        other = parse(t, STRENGTH_COMPARISON + 1);
    } else if (!accept(t, "null") && !accept(t, "unknown")) {
        other.text = accept(t, "true") ? "true" : accept(t, "false") ? "false" : NULL;
    }
    struct phrase result = phrase_binary(&x, word, &other, LEVEL_EQUALITY, PHRASE_BOOL, t->arena);
    result.optional = false;
    return result;
}

struct phrase in_lower_case(struct translator *t, struct phrase x)
{
    if (!x.raw)
        return phrase_fill("lower(A)", LEVEL_OPERAND, PHRASE_TEXT, &x, 1, t->arena);
    char *lower = arena_text(t->arena, x.raw, strlen(x.raw));
    for (char *at = lower; *at; at++)
        *at = *at >= 'A' && *at <= 'Z' ? (char)(*at + 32) : *at;
    return phrase_text(lower, t->arena);
}

static struct phrase parse_like(struct translator *t, struct phrase x, bool negated, bool any_case)
{
    struct phrase pattern = parse(t, STRENGTH_COMPARISON + 1);
    if (!pattern.raw || next_is(t, "escape"))
        return translate_fail(t, "`like` takes a text, without `escape`; `x ~ 'REGEX'` matches a regular expression");
    if (any_case) {
        pattern = in_lower_case(t, pattern);
        x = in_lower_case(t, x);
    }
    return phrase_binary(&x, negated ? " not like " : " like ", &pattern, LEVEL_EQUALITY, PHRASE_BOOL, t->arena);
}

/* contains "x" and such, which ignore case; between (A .. B) */
static struct phrase parse_words_of_kql(struct translator *t, struct phrase x, bool *found)
{
    static const struct {
        const char *word, *form;
        bool any_case;
    } tests[] = {{"contains", "contains(A, B)", true}, {"contains_cs", "contains(A, B)", false},
                 {"startswith", "starts(A, B)", true}, {"startswith_cs", "starts(A, B)", false},
                 {"endswith", "ends(A, B)", true},     {"endswith_cs", "ends(A, B)", false},
                 {"matches regex", "A ~ B", false}};
    *found = true;
    if (accept(t, "!")) {
        const bool in = accept(t, "in");
        const struct phrase test = in ? parse_not_in(t, x) : parse_words_of_kql(t, x, found);
        return in || !*found ? test : negate(t, test);
    }
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        if (!accept(t, tests[i].word) &&
            !(strcmp(tests[i].word, "matches regex") == 0 && accept_two(t, "matches", "regex")))
            continue;
        struct phrase operands[] = {x, translate_operand(t)};
        if (!operands[1].raw)
            return translate_fail(t, "`contains(s, a)` tells whether a is somewhere in s");
        if (tests[i].any_case) {
            operands[0] = in_lower_case(t, x);
            operands[1] = in_lower_case(t, operands[1]);
        }
        return phrase_fill(tests[i].form, LEVEL_OPERAND, PHRASE_BOOL, operands, 2, t->arena);
    }
    if (next_is(t, "has") || next_is(t, "has_any") || next_is(t, "has_all"))
        return translate_fail(t, "`s ~ '\\bWORD\\b'` finds a word, `contains(s, a)` any text");
    if (accept_two(t, "between", "(")) {
        const struct phrase low = parse(t, STRENGTH_COMPARISON + 1);
        if (!expect(t, ".."))
            return (struct phrase){0};
        const struct phrase high = parse(t, STRENGTH_COMPARISON + 1);
        return expect(t, ")") ? between(t, x, low, high, false) : (struct phrase){0};
    }
    *found = false;
    return x;
}

/* What follows an operand as words. *found: whether there was some. */
static struct phrase parse_words(struct translator *t, struct phrase x, bool *found)
{
    const size_t before = t->at;
    const bool negated = (t->dialect == DIALECT_SQL || t->dialect == DIALECT_PYTHON) && accept(t, "not");
    *found = true;
    if (t->dialect != DIALECT_R && accept(t, "in"))
        return negated && t->dialect == DIALECT_PYTHON ? parse_not_in(t, x) : parse_in(t, x, negated);
    if (t->dialect == DIALECT_SQL && accept(t, "between")) {
        const struct phrase low = parse(t, STRENGTH_COMPARISON + 1);
        if (!expect(t, "and"))
            return (struct phrase){0};
        return between(t, x, low, parse(t, STRENGTH_COMPARISON + 1), negated);
    }
    if (t->dialect == DIALECT_SQL && (next_is(t, "like") || next_is(t, "ilike"))) {
        t->at++;
        return parse_like(t, x, negated, token_is(t, t->at - 1, "ilike"));
    }
    if (t->dialect == DIALECT_KQL)
        return parse_words_of_kql(t, x, found);
    if (t->dialect == DIALECT_SQL && !negated && accept(t, "is"))
        return parse_is(t, x);
    if (t->dialect == DIALECT_SQL && (next_is(t, "similar") || next_is(t, "glob") || next_is(t, "~")))
        return translate_fail(t, "`x ~ 'REGEX'` matches a regular expression anywhere in a text, `^...$` all of it");
    if (t->dialect == DIALECT_SQL && !negated && accept(t, "isnull"))
        return phrase_fill("A is missing", LEVEL_EQUALITY, PHRASE_BOOL, &x, 1, t->arena);
    t->at = before;
    *found = false;
    return x;
}

/* `%in%`, `%%` and `%/%` of R. */
static struct phrase parse_percent(struct translator *t, struct phrase x, bool *found)
{
    *found = t->dialect == DIALECT_R && next_is(t, "%");
    if (!*found)
        return x;
    t->at++;
    if (accept_two(t, "in", "%")) {
        (void)accept(t, "c");
        return phrase_certain(parse_in(t, x, false), t->arena); /* never NA */
    }
    return translate_fail(
        t, "`a %% b` is the remainder, with the sign of a; `a // b` is the quotient of integers, without its fraction");
}

/* Operators between operands from this strength on. */
static struct phrase parse(struct translator *t, int strength)
{
    struct phrase left;
    if (accept(t, "not") || (t->dialect != DIALECT_SQL && accept(t, "!")) ||
        (t->dialect == DIALECT_PYTHON && accept(t, "~"))) {
        const bool sign = !token_is(t, t->at - 1, "not");
        const bool none = !sign && next_is(t, "exists");
        left = none ? translate_fail(t, "`anti join S on KEY` keeps the rows that match nothing")
                    : negate(t, parse(t, sign ? STRENGTH_POWER + 1 : STRENGTH_NOT));
    } else {
        left = translate_operand(t);
    }
    while (left.text && t->at < t->end) {
        bool found = false;
        const struct operator* operator= operator_at(t);
        if (operator&&(int) operator->strength >= strength) {
            t->at++;
            if (t->dialect == DIALECT_SQL && operator->action == ACTION_COMPARE && token_is(t, t->at + 1, "(") &&
                (next_is(t, "any") || next_is(t, "some") || next_is(t, "all"))) {
                left = parse_any(t, left, operator->written);
                continue;
            }
            left = apply(t, operator, left,
                         parse(t, operator->action == ACTION_POWER ? STRENGTH_POWER : (int)operator->strength + 1));
            continue;
        }
        if (strength <= STRENGTH_COMPARISON)
            left = parse_words(t, left, &found);
        if (!found && !operator&& strength <= STRENGTH_PRODUCT)
            left = parse_percent(t, left, &found);
        if (!found)
            break;
    }
    return left;
}

struct phrase translate_expression(struct translator *t)
{
    return t->dialect == DIALECT_Q ? q_expression(t) : parse(t, STRENGTH_OR);
}

struct phrase translate_range(struct translator *t, size_t begin, size_t end)
{
    const size_t at = t->at, before = t->end;
    t->at = begin;
    t->end = end;
    struct phrase phrase = translate_expression(t);
    if (phrase.text && t->at != end)
        phrase = translate_fail(t, "`%s` is not understood there", token_text(t, t->at));
    t->at = at;
    t->end = before;
    return phrase;
}

const char *translate_list(struct translator *t, size_t end, bool derives, size_t *aggregates, size_t *count)
{
    const char *list = NULL;
    *aggregates = *count = 0;
    while (t->at < end) {
        if (t->dialect == DIALECT_R && next_is(t, "sort") && token_is(t, t->at + 1, "="))
            break;                                        /* an option behind the list */
        if (t->dialect == DIALECT_R && next_is(t, ".")) { /* .groups = "drop", .by = g */
            if (!token_is(t, t->at + 1, "groups"))
                return translate_fail(t, "the keys of a group come first: `group K: ...`").text;
            t->at += 4 + token_is(t, t->at + 4, ",");
            continue;
        }
        const bool named = token_is(t, t->at + 1, t->dialect == DIALECT_Q ? ":" : "=");
        const char *name = named ? phrase_name(token_raw(t, t->at), t->arena) : NULL;
        const size_t comma = find_word(t, t->at, ","), stop = comma < end ? comma : end;
        const struct phrase value = translate_range(t, t->at + (named ? 2 : 0), stop);
        if (!value.text)
            return NULL;
        ++*count;
        *aggregates += value.aggregate;
        if (!name || (!derives && strcmp(name, value.text) == 0))
            list_add(t, &list, "%s", value.text);
        else
            list_add(t, &list, derives ? "%s = %s" : "%s as %s", derives ? name : value.text,
                     derives ? value.text : name);
        t->at = stop + (stop < end);
    }
    return list;
}
