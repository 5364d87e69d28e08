/* Operands of expressions: literals, names, calls, `case`, what is in brackets, conversions after them. */
#include "repl/rewrite/chain.h"

#include <string.h>
#include <strings.h>

enum { MOST_CASES = 40 };

static struct phrase number(struct translator *t)
{
    const char *text = token_text(t, t->at++);
    const size_t length = strlen(text);
    static const struct unit {
        const char *unit, *written;
    } units[] = {{"d", "d"}, {"h", "h"}, {"m", "min"}, {"s", "s"}};
    const size_t digits = strspn(text, "0123456789");
    const struct unit *unit = t->dialect == DIALECT_KQL ? TABLE_ROW(units, text + digits) : NULL;
    if (unit)
        return phrase_operand(arena_printf(t->arena, "%.*s%s", (int)digits, text, unit->written), PHRASE_DURATION);
    if (t->dialect == DIALECT_R && text[length - 1] == 'L')
        text = arena_text(t->arena, text, length - 1);
    return phrase_operand(text, strpbrk(text, ".eE") ? PHRASE_FLOAT : PHRASE_INT);
}

/* Quoted text, in which a doubled quote stands for one. */
static struct phrase quoted(struct translator *t)
{
    const char *raw = token_raw(t, t->at++);
    while (t->dialect == DIALECT_SQL && next_kind(t) == REWRITE_QUOTED && token_at(t, t->at)->adjacent)
        raw = arena_printf(t->arena, "%s'%s", raw, token_raw(t, t->at++));
    return phrase_text(raw, t->arena);
}

static struct phrase time_literal(struct translator *t, enum phrase_type type)
{
    const char *text = phrase_time_literal(token_raw(t, t->at++), type, t->arena);
    return text ? phrase_operand(text, type)
                : translate_fail(t, "dates are written 2024-01-31, timestamps 2024-01-31T09:30");
}

/* interval '1 day', interval 1 day */
static struct phrase interval(struct translator *t)
{
    static const struct {
        const char *word, *unit;
    } units[] = {{"second", "s"}, {"minute", "min"}, {"hour", "h"}, {"day", "d"},
                 {"week", "w"},   {"month", "mo"},   {"year", "y"}};
    const char *text = next_kind(t) == REWRITE_END ? "" : token_raw(t, t->at++);
    const size_t digits = strspn(text, "0123456789");
    const char *word = text + digits + strspn(text + digits, " ");
    if (!*word && next_kind(t) == REWRITE_WORD)
        word = token_text(t, t->at++);
    for (size_t i = 0; digits > 0 && i < sizeof units / sizeof *units; i++) {
        const size_t length = strlen(units[i].word);
        if (strncasecmp(word, units[i].word, length) == 0 && (!word[length] || strcasecmp(word + length, "s") == 0))
            return phrase_operand(arena_printf(t->arena, "%.*s%s", (int)digits, text, units[i].unit), PHRASE_DURATION);
    }
    return translate_fail(t, "durations are written 90s, 5min, 2h, 1d, 1w, 3mo, 1y");
}

/* case [x] when c then v ... [else v] end, after its first word */
static struct phrase choice(struct translator *t)
{
    struct phrase conditions[MOST_CASES], values[MOST_CASES];
    struct phrase other = phrase_missing();
    struct phrase of = {0};
    size_t count = 0;
    if (!next_is(t, "when"))
        of = translate_expression(t);
    while (count < MOST_CASES && accept(t, "when")) {
        const struct phrase condition = translate_expression(t);
        conditions[count] = of.text ? compare(t, of, " == ", condition) : condition;
        if (!expect(t, "then"))
            return (struct phrase){0};
        values[count++] = translate_expression(t);
    }
    if (accept(t, "else"))
        other = translate_expression(t);
    if (count == 0 || !expect(t, "end"))
        return (struct phrase){0};
    return choose_first(t, conditions, values, count, other);
}

/* cast(x as type), after the bracket */
static struct phrase cast(struct translator *t, size_t close)
{
    const struct phrase x = translate_expression(t);
    if (!x.text || !expect(t, "as"))
        return (struct phrase){0};
    const struct phrase result = convert(t, x, token_text(t, t->at));
    t->at = close + 1;
    return result;
}

/* extract(unit from x), after the bracket */
static struct phrase extract(struct translator *t)
{
    struct phrase operands[2] = {phrase_text(token_raw(t, t->at), t->arena)};
    t->at += 2;
    operands[1] = translate_expression(t);
    return expect(t, ")") ? translate_function(t, "date_part", operands, 2) : (struct phrase){0};
}

static struct phrase in_brackets(struct translator *t)
{
    const size_t open = t->at++, close = after_brackets(t, open) - 1;
    if (t->dialect == DIALECT_SQL && (next_is(t, "select") || next_is(t, "with") || next_is(t, "from"))) {
        const struct phrase value = translate_scalar_query(t, t->at, close);
        t->at = close + 1;
        return value;
    }
    struct phrase inner = translate_expression(t);
    if (inner.text && t->dialect == DIALECT_SQL && next_is(t, ","))
        return rows_in_list(t, inner);
    return inner.text && expect(t, ")") ? inner : (struct phrase){0};
}

struct phrase translate_constant(struct translator *t)
{
    if (accept(t, "null") || accept(t, "none") || accept(t, "NA"))
        return phrase_missing();
    const bool yes = accept(t, "true");
    return yes || accept(t, "false") ? phrase_operand(yes ? "true" : "false", PHRASE_BOOL) : (struct phrase){0};
}

/* is.na, lubridate::hour */
static const char *name_of_r(struct translator *t)
{
    t->at += token_is(t, t->at + 1, "::") ? 2 : 0;
    const char *name = token_raw(t, t->at++);
    while (next_is(t, ".") && token_at(t, t->at)->adjacent) {
        name = arena_printf(t->arena, "%s.%s", name, token_raw(t, t->at + 1));
        t->at += 2;
    }
    return name;
}

static struct phrase word(struct translator *t)
{
    const struct phrase constant = translate_constant(t);
    if (constant.text)
        return constant;
    const size_t begin = t->at;
    const bool call = token_is(t, begin + 1, "(");
    if (t->dialect == DIALECT_SQL) {
        const bool literal = begin + 1 < t->end && token_at(t, begin + 1)->kind == REWRITE_QUOTED;
        if (literal && accept(t, "date"))
            return time_literal(t, PHRASE_DATE);
        if (literal && accept(t, "timestamp"))
            return time_literal(t, PHRASE_TIMESTAMP);
        if (accept(t, "interval"))
            return interval(t);
        if (accept(t, "case"))
            return choice(t);
        if (call && (accept(t, "cast") || accept(t, "try_cast"))) {
            t->at++;
            return cast(t, after_brackets(t, begin + 1) - 1);
        }
        if (token_is(t, begin + 3, "from") && accept_two(t, "extract", "("))
            return extract(t);
        if (call && accept(t, "exists")) {
            const size_t close = after_brackets(t, begin + 1) - 1;
            const char *told = t->told, *query = translate_query(t, begin + 2, close);
            t->at = close + 1;
            if (query) {
                struct phrase some = phrase_operand(arena_printf(t->arena, "(%s | count) > 0", query), PHRASE_BOOL);
                some.level = LEVEL_COMPARISON;
                return some;
            }
            t->told = told;
            return translate_fail(t, "`semi join S on KEY` keeps the rows that match something");
        }
        if (accept(t, "current_date"))
            return phrase_operand("today()", PHRASE_DATE);
        if (next_is(t, "exists"))
            return translate_fail(t, "`semi join S on KEY` keeps the rows that match something");
    }
    if (t->dialect == DIALECT_KQL && accept_two(t, "datetime", "(")) {
        const size_t close = after_brackets(t, t->at - 1);
        const size_t from = token_at(t, t->at)->begin, to = token_at(t, close - 1)->begin;
        const char *raw = arena_text(t->arena, t->text->text + from, to - from);
        const char *text = phrase_time_literal(raw, PHRASE_TIMESTAMP, t->arena);
        t->at = close;
        return text ? phrase_operand(text, PHRASE_TIMESTAMP)
                    : translate_fail(t, "timestamps are written 2024-01-31T09:30");
    }
    const char *name = t->dialect == DIALECT_R ? name_of_r(t) : token_raw(t, t->at++);
    if (t->dialect == DIALECT_R && strcmp(name, "nrow") == 0 && next_is(t, "(") && token_is(t, t->at + 2, ")") &&
        known_relation(t, token_raw(t, t->at + 1))) {
        t->at += 3;
        return phrase_operand(arena_printf(t->arena, "(%s | count)", token_raw(t, t->at - 2)), PHRASE_INT);
    }
    if (accept(t, "("))
        return translate_call(t, name);
    if (t->dialect == DIALECT_SQL && accept(t, ".")) {
        if (!next_is_name(t))
            return translate_fail(t, "`.` is followed by the name of a column");
        const char *column = token_raw(t, t->at++);
        return translate_name(t, name, column);
    }
    return translate_name(t, NULL, name);
}

/* `payload->'a'->>'b'` of PostgreSQL: the column `payload.a.b` of a file that has such. */
static struct phrase json_path(struct translator *t)
{
    const char *name = token_raw(t, t->at), *field = "name";
    size_t i = t->at + 1;
    while (token_is(t, i, "->")) {
        i += token_is(t, i + 1, ">") ? 2 : 1;
        if (token_at(t, i)->kind != REWRITE_QUOTED)
            return translate_fail(t, "`NAME[K]` is an element of a list, from 0");
        field = token_raw(t, i++);
        name = arena_printf(t->arena, "%s.%s", name, field);
    }
    if (!t->scope.open && !known_find(&t->scope, NULL, name))
        return translate_fail(t,
                              "objects of JSON are columns where they are read, `load FILE jsonl | map %s`; of a text "
                              "that holds JSON `extract(%s, '\"%s\": *\"([^\"]*)\"')` takes a text out",
                              name, token_raw(t, t->at), field);
    t->at = i;
    return translate_name(t, NULL, name);
}

/* `@lim` of a query of pandas: a value of `let`, or an argument of the command line. */
static struct phrase outer_value(struct translator *t, const char *name)
{
    const struct binding *binding = env_find(t->env, name);
    if (binding ? binding->kind == BINDING_SCALAR : known_relation(t, name)) /* of a statement before */
        return phrase_operand(name, PHRASE_UNKNOWN);
    return env_argument(t->env, name, strlen(name))
               ? phrase_operand(arena_printf(t->arena, "$%s", name), PHRASE_UNKNOWN)
               : translate_fail(t,
                                "`%s` is no value here: `let %s = VALUE` makes it one, or `--arg %s=VALUE`, which is "
                                "read as `$%s`",
                                name, name, name, name);
}

static struct phrase primary(struct translator *t)
{
    switch (next_kind(t)) {
    case REWRITE_NUMBER:
        return number(t);
    case REWRITE_QUOTED: {
        const char quote = t->text->text[token_at(t, t->at)->begin];
        if (quote == '`')
            return word(t);
        const bool name = quote == '"' && t->dialect == DIALECT_SQL &&
                          (token_is(t, t->at + 1, ".") || known_find(&t->scope, NULL, token_raw(t, t->at)));
        return name ? word(t) : quoted(t);
    }
    case REWRITE_WORD:
        if (t->dialect == DIALECT_R && t->frame && token_is(t, t->at + 1, "$"))
            return base_r_column(t);
        if (t->dialect == DIALECT_SQL && token_is(t, t->at + 1, "->"))
            return json_path(t);
        return t->dialect == DIALECT_PYTHON ? frame_operand(t) : word(t);
    case REWRITE_SIGN:
        if (next_is(t, "("))
            return in_brackets(t);
        if (accept(t, "-")) {
            const struct phrase x = translate_operand(t);
            struct phrase result = phrase_fill("-A", LEVEL_SIGN, x.type, &x, 1, t->arena);
            return result;
        }
        if (accept(t, "+"))
            return translate_operand(t);
        if (next_is(t, "["))
            return translate_fail(t, "`[1, 2, 3]` is a source: a column of these values");
        if (t->dialect == DIALECT_PYTHON && token_at(t, t->at + 1)->kind == REWRITE_WORD && accept(t, "@"))
            return outer_value(t, token_text(t, t->at++));
        break;
    default:
        break;
    }
    return translate_fail(t, t->at < t->end ? "`%s` is not understood there" : "the line is not complete%s",
                          t->at < t->end ? token_text(t, t->at) : "");
}

struct phrase translate_operand(struct translator *t)
{
    struct phrase x = primary(t);
    while (x.text && t->dialect == DIALECT_SQL && accept(t, "::")) {
        x = convert(t, x, token_text(t, t->at++));
        if (next_is(t, "("))
            t->at = after_brackets(t, t->at);
    }
    /* Of a time without a zone it is an instant, of that a time without a zone, and so on. */
    for (bool instant = false; x.text && t->dialect == DIALECT_SQL && next_is(t, "at") &&
                               token_is(t, t->at + 1, "time") && token_is(t, t->at + 2, "zone");
         instant = !instant) {
        t->at += 3;
        struct phrase both[] = {x, primary(t)};
        if (!both[1].text)
            return both[1];
        x = translate_function(t, "tz_convert", both, 2);
        if (instant)
            x = phrase_fill("timestamp(A)", LEVEL_OPERAND, PHRASE_TIMESTAMP, &x, 1, t->arena);
    }
    while (x.text && t->dialect == DIALECT_PYTHON && (next_is(t, ".") || next_is(t, "[")))
        x = frame_method(t, x);
    return x;
}

struct phrase pad_text(struct translator *t, struct phrase *operands, size_t count, size_t close)
{
    const char *side = "left", *fill = NULL;
    while (t->at < close && (next_is(t, "side") || next_is(t, "fillchar"))) {
        const bool of_side = accept_keyword(t, "side");
        if (!of_side && !accept_keyword(t, "fillchar"))
            break;
        *(of_side ? &side : &fill) = token_raw(t, t->at++);
        (void)accept(t, ",");
    }
    if (t->at != close || count != 2 || !side || !is_one_of(side, "left right"))
        return translate_function(t, "lpad", operands, count);
    t->at = close + 1;
    if (fill)
        operands[count++] = phrase_text(fill, t->arena);
    const bool right = strcmp(side, "right") == 0;
    const char *form = right ? (fill ? "pad(A, -B, C)" : "pad(A, -B)") : (fill ? "pad(A, B, C)" : "pad(A, B)");
    return phrase_fill(form, LEVEL_OPERAND, PHRASE_TEXT, operands, count, t->arena);
}
