/* Lines of q: expressions from right to left, queries, and functions of tables. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>

static struct phrase parse(struct translator *t);

/* `AAPL`MSFT, as texts with commas between them; *count: how many. */
static const char *symbols(struct translator *t, bool names, size_t *count)
{
    const char *list = NULL;
    *count = 0;
    while (next_is(t, "`") || (next_kind(t) == REWRITE_QUOTED && t->text->text[token_at(t, t->at)->begin] == '`')) {
        const bool quoted = next_kind(t) == REWRITE_QUOTED; /* `a` of `a`b */
        const char *word = quoted ? token_raw(t, t->at) : t->at + 1 < t->end ? token_text(t, t->at + 1) : "";
        const char *text = names ? translate_name(t, NULL, word).text : phrase_text(word, t->arena).text;
        if (!text)
            return NULL;
        t->at += quoted ? 1 : 2;
        list_add(t, &list, "%s", text);
        ++*count;
        /* The quote that closed `a` began the next symbol. */
        if (quoted && next_kind(t) == REWRITE_WORD && token_at(t, t->at)->adjacent) {
            word = token_text(t, t->at++);
            text = names ? translate_name(t, NULL, word).text : phrase_text(word, t->arena).text;
            list = text ? arena_printf(t->arena, "%s, %s", list, text) : NULL;
            ++*count;
        }
    }
    return list;
}

static struct phrase noun(struct translator *t)
{
    if (next_kind(t) == REWRITE_QUOTED && t->text->text[token_at(t, t->at)->begin] == '"')
        return phrase_text(token_raw(t, t->at++), t->arena);
    if (next_is(t, "`") || next_kind(t) == REWRITE_QUOTED) {
        size_t count;
        struct phrase list = phrase_operand(symbols(t, false, &count), PHRASE_TEXT);
        if (list.text && count == 1)
            list = phrase_text(arena_text(t->arena, list.text + 1, strlen(list.text) - 2), t->arena);
        return list;
    }
    if (accept(t, "(")) {
        const struct phrase inner = parse(t);
        return expect(t, ")") ? inner : (struct phrase){0};
    }
    if (accept(t, "-")) {
        const struct phrase x = noun(t);
        return phrase_fill("-A", LEVEL_SIGN, x.type, &x, 1, t->arena);
    }
    if (next_kind(t) == REWRITE_NUMBER) {
        /* 2024.03.01, 2024.03.01D09:30 */
        const char *text = token_text(t, t->at++);
        const char *rest = token_is(t, t->at, ".") ? token_text(t, t->at + 1) : NULL;
        if (strlen(text) == 7 && text[4] == '.' && rest) {
            t->at += 2;
            if (strlen(rest) > 2)
                return translate_fail(t, "timestamps are written 2024-01-31T09:30");
            return phrase_operand(arena_printf(t->arena, "%.4s-%s-%s", text, text + 5, rest), PHRASE_DATE);
        }
        return phrase_operand(text, strpbrk(text, ".eE") ? PHRASE_FLOAT : PHRASE_INT);
    }
    if (next_kind(t) != REWRITE_WORD)
        return translate_fail(t,
                              t->at < t->end ? "`%s` is not understood there"
                                             : "`;` ends a statement; `per K: select x == max(x)` is what `fby` does%s",
                              t->at < t->end ? token_text(t, t->at) : "");
    const char *name = token_text(t, t->at++);
    if (strcmp(name, "i") == 0 && !known_find(&t->scope, NULL, name))
        return phrase_operand("row", PHRASE_INT);
    if (next_is(t, ".") && t->at + 1 < t->end)
        return translate_fail(t, "`date(t)`, `hour(t)`, `minute(t)` and `trunc(t, minute)` are parts of a time");
    return translate_name(t, NULL, name);
}

/* A function of all that follows it. */
static struct phrase apply(struct translator *t, const char *name)
{
    if (strcmp(name, "count") == 0 && accept(t, "distinct")) {
        struct phrase x = parse(t);
        return !x.text || x.optional
                   ? translate_fail(t, "`distinct(x)` counts the different values without the missing one")
                   : place_aggregate(t, translate_aggregate(t, "count", &x, 1, true, NULL));
    }
    if (strcmp(name, "count") == 0 && t->at < t->end) {
        if (!accept(t, "i"))
            (void)parse(t);
        struct phrase count = phrase_operand("count()", PHRASE_INT);
        count.aggregate = true;
        return count;
    }
    if (strcmp(name, "count") == 0 || is_one_of(name, "dev var"))
        return translate_fail(t,
                              "`stddev(x)` and `var(x)` are of a sample, as `sdev` and `svar`; `count()` counts rows");
    struct phrase x = parse(t);
    if (is_one_of(name, "string deltas ratios"))
        return translate_fail(t, *name == 's' ? "`text(x)` is a value as text; texts need no conversion"
                                              : "`x - at(x, -1)` is the change from the row before, missing in the "
                                                "first; `x / at(x, -1)` the ratio");
    if (!x.text || strcmp(name, "not") == 0)
        return negate(t, x);
    if (is_one_of(name, "first last") && x.optional)
        return translate_fail(t, "`first(x)` and `last(x)` are of the rows that have a value");
    return is_aggregate_name(t, name) ? place_aggregate(t, translate_aggregate(t, name, &x, 1, false, NULL))
                                      : translate_function(t, name, &x, 1);
}

static const char functions_of_one[] = "avg sum max min count med first last sdev svar prd abs neg sqrt log exp floor "
                                       "ceiling upper lower trim ltrim rtrim "
                                       "prev next sums maxs mins signum not null dev var fills deltas string ratios";

/* x like "A*" */
static struct phrase like(struct translator *t, struct phrase x)
{
    const struct phrase pattern = parse(t);
    if (!pattern.raw || strpbrk(pattern.raw, "%_["))
        return translate_fail(t, "in `like`, %% stands for any text and _ for a character");
    char *text = arena_text(t->arena, pattern.raw, strlen(pattern.raw));
    for (char *at = text; *at; at++)
        *at = *at == '*' ? '%' : *at == '?' ? '_' : *at;
    const struct phrase written = phrase_text(text, t->arena);
    return phrase_binary(&x, " like ", &written, LEVEL_EQUALITY, PHRASE_BOOL, t->arena);
}

static struct phrase within(struct translator *t, struct phrase x)
{
    if (accept(t, "(")) {
        const struct phrase low = parse(t);
        if (!accept(t, ";"))
            return translate_fail(t, "`x in A..B` is within A and B");
        const struct phrase high = parse(t);
        return expect(t, ")") ? between(t, x, low, high, false) : (struct phrase){0};
    }
    const struct phrase low = noun(t);
    return between(t, x, low, noun(t), false);
}

/* Of equal strength, and from the right: the second operand is all that follows. */
static struct phrase binary(struct translator *t, struct phrase a)
{
    if (accept(t, "in")) {
        size_t count;
        const char *list = symbols(t, false, &count);
        if (!list)
            return translate_fail(t, "`x in [1, 2]` tests for some values");
        struct phrase result = {.level = LEVEL_EQUALITY, .type = PHRASE_BOOL, .optional = a.optional};
        result.text = arena_printf(t->arena, "%s in [%s]", phrase_at(&a, LEVEL_RANGE, t->arena), list);
        return result;
    }
    if (accept(t, "within"))
        return within(t, a);
    if (accept(t, "like"))
        return like(t, a);
    const char *sign = token_text(t, t->at++);
    if (!is_one_of(sign, "= <> <= >= < > + - * % & | and or wavg wsum ^ xbar mod div mavg msum mmax mmin"))
        return translate_fail(t, "`%s` is not understood there", sign);
    struct phrase both[] = {a, parse(t)};
    if (!a.text || !both[1].text)
        return (struct phrase){0};
    if (is_one_of(sign, "and & or |") && (a.type != PHRASE_BOOL || both[1].type != PHRASE_BOOL))
        return translate_fail(t, "of numbers `&` and `|` are `min(a, b)` and `max(a, b)`");
    if (is_one_of(sign, "wavg wsum")) {
        struct phrase result = phrase_fill(strcmp(sign, "wavg") == 0 ? "wmean(B, A)" : "sum(A * B)", LEVEL_OPERAND,
                                           PHRASE_FLOAT, both, 2, t->arena);
        result.aggregate = true;
        return place_aggregate(t, result);
    }
    if (strcmp(sign, "^") == 0)
        return phrase_fill("B ?? A", LEVEL_COALESCE, both[1].type, both, 2, t->arena);
    if (*sign == 'm' && is_one_of(sign, "mavg msum mmax mmin") && strspn(a.text, "0123456789") == strlen(a.text)) {
        const char *form = arena_printf(t->arena, "%s(A) over -%ld..0", sign[1] == 'a' ? "mean" : sign + 1,
                                        strtol(a.text, NULL, 10) - 1);
        return phrase_fill(form, LEVEL_OPERAND, both[1].type, &both[1], 1, t->arena);
    }
    if (strcmp(sign, "xbar") == 0 && a.type == PHRASE_INT && both[1].type == PHRASE_INT)
        return phrase_fill("B - (B % A + A) % A", LEVEL_SUM, PHRASE_INT, both, 2, t->arena);
    if (strcmp(sign, "mod") == 0 && strspn(both[1].text, "0123456789") == strlen(both[1].text))
        return phrase_fill("(A % B + B) % B", LEVEL_PRODUCT, a.type, both, 2, t->arena);
    if (is_one_of(sign, "xbar mod div"))
        return translate_fail(t, "`bucket(t, 5min)` is of timestamps; of numbers it is `floor(x / 5.0) * 5`; `%%` has "
                                 "the sign of the dividend");
    return translate_operator(t, sign, a, both[1]);
}

static struct phrase parse(struct translator *t)
{
    const bool function = next_kind(t) == REWRITE_WORD && is_one_of(token_text(t, t->at), functions_of_one);
    if (function) {
        const char *name = token_text(t, t->at++);
        return apply(t, name);
    }
    const struct phrase left = noun(t);
    const bool ends = t->at >= t->end || next_is(t, ")") || next_is(t, ";") || next_is(t, ",") || next_is(t, "]");
    return !left.text || ends ? left : binary(t, left);
}

struct phrase q_expression(struct translator *t)
{
    return parse(t);
}

/* A list with commas between its parts, up to `end`. *aggregates: whether they are aggregates. */
static const char *parts(struct translator *t, size_t end, bool derives, bool *aggregates)
{
    size_t found, count;
    const char *list = translate_list(t, end, derives, &found, &count);
    *aggregates = count > 0 && found == count;
    if (found > 0 && found < count)
        return translate_fail(t, "a group has keys and aggregates; `derive m = mean(x)` adds an aggregate to each row")
            .text;
    return list;
}

/* Aggregates of all rows; `alone`: the list is one of them, without a name. */
static const char *of_all_rows(struct translator *t, const char *text, const char *list, bool alone)
{
    const struct phrase one = phrase_operand(list, PHRASE_UNKNOWN);
    const char *terminal = alone ? terminal_of(t, &one) : NULL;
    return terminal ? arena_printf(t->arena, "%s | %s", text, terminal)
                    : arena_printf(t->arena, "%s | group: %s", text, list);
}

/* What follows `where`, as stages behind the text or, of an update, as one condition. */
static bool conditions(struct translator *t, const char *verb, const char **update, const char **text)
{
    const bool deletes = strcmp(verb, "delete") == 0;
    while (t->at < t->end) {
        const size_t comma = find_word(t, t->at, ",");
        const struct phrase condition = translate_range(t, t->at, comma);
        if (!condition.text)
            return false;
        if (update)
            *update = *update ? arena_printf(t->arena, "%s and %s", *update, phrase_at(&condition, LEVEL_AND, t->arena))
                              : condition.text;
        else
            *text = arena_printf(t->arena, "%s | %s %s", *text, deletes ? "reject" : "select",
                                 deletes ? phrase_certain(condition, t->arena).text : condition.text);
        t->at = comma + (comma < t->end);
    }
    return true;
}

/* select/exec/update/delete [list] [by keys] from t [where conditions] */
static const char *query(struct translator *t)
{
    const char *verb = token_text(t, t->at++);
    const size_t from = find_word(t, t->at, "from"), by = find_word(t, t->at, "by");
    const size_t where = find_word(t, from, "where"), list_end = by < from ? by : from, list_at = t->at;
    const bool selects = is_one_of(verb, "select exec"), updates = strcmp(verb, "update") == 0;
    bool aggregates = false, key_aggregates;
    if (from + 1 >= t->end || next_is(t, "["))
        return translate_fail(t,
                              "`take N` keeps the first rows, `tail N` the last, `top N by E` those with the largest E")
            .text;
    const char *source = phrase_name(token_raw(t, from + 1), t->arena);
    if (where != t->end && where != from + 2)
        return translate_fail(t, "a query has one source: `join S on KEY` joins").text;
    (void)known_add_source(t, &t->scope, source, NULL);
    const char *text = source, *update_where = NULL;
    const size_t end = t->end;
    t->at = where + 1;
    if (where < end && !conditions(t, verb, updates ? &update_where : NULL, &text))
        return NULL;
    if (strcmp(verb, "delete") == 0 && list_at < list_end) {
        t->at = list_at;
        const char *names = parts(t, list_end, false, &aggregates);
        return names && where == end ? arena_printf(t->arena, "%s | drop %s", text, names) : NULL;
    }
    const char *keys = NULL, *list = NULL;
    t->at = by + 1;
    if (by < from && !(keys = parts(t, from, false, &key_aggregates)))
        return NULL;
    t->at = list_at;
    const bool distinct = selects && accept(t, "distinct");
    if (t->at < list_end && !(list = parts(t, list_end, updates, &aggregates)))
        return NULL;
    t->at = end;
    if (updates && update_where)
        return translate_fail(t, "`derive x = CONDITION ? NEW : x` changes x where the condition holds").text;
    if (updates)
        return list ? arena_printf(t->arena, keys ? "%s | per %s: derive %s" : "%s |%s derive %s", text,
                                   keys ? keys : "", list)
                    : NULL;
    if (keys && !aggregates)
        return translate_fail(t, "`list(x, ', ')` is the values of a group as one text").text;
    if (keys)
        return arena_printf(t->arena, "%s | group %s: %s", text, keys, list);
    if (!list || !aggregates)
        return arena_printf(t->arena, "%s%s%s%s", text, list ? " | map " : "", list ? list : "",
                            distinct ? " | distinct" : "");
    const bool alone = find_word(t, list_at, ",") >= list_end && !token_is(t, list_at + 1, ":");
    return of_all_rows(t, text, list, alone);
}

/* `a`b xasc t, `k xkey t */
static const char *sorted(struct translator *t)
{
    size_t count, down;
    const size_t at = t->at;
    struct translator names = *t;
    const char *source = token_raw(t, t->end - 1);
    (void)known_add_source(&names, &names.scope, source, NULL);
    names.at = at;
    const char *keys = symbols(&names, true, &count);
    down = token_is(t, names.at, "xdesc");
    if (!keys || names.at + 2 != t->end)
        return NULL;
    const char *list = NULL; /* missing values are the smallest there */
    for (const char *key; (key = list_next(t, &keys));) {
        const struct known_column *column = known_find(&names.scope, NULL, key);
        const bool first = column && column->optional && !down;
        list_add(t, &list, first ? "%s is not missing, %s" : "%s%s", key, first ? key : down ? " desc" : "");
    }
    return arena_printf(t->arena, "%s | sort %s", source, list);
}

/* Where both sides have a column, the right one's values come in its place. */
static const char *keyed_join(struct translator *t, const char *stage, const char *source, const char *other,
                              const char *key)
{
    struct known_columns right = {0};
    const bool left = *stage == 'l';
    const char *values = NULL, *names = NULL;
    if (!known_add_source(t, &t->scope, source, NULL) || !known_add_source(t, &right, other, NULL))
        return NULL;
    for (size_t i = 0; i < right.count; i++) {
        const char *name = right.columns[i].name;
        if (strcmp(name, key) == 0 || !known_find(&t->scope, NULL, name))
            continue;
        if (left && right.columns[i].optional)
            return translate_fail(t,
                                  "`left join S as s on KEY` calls a column that both sides have `s_x`: `s_x ?? x` is "
                                  "its value or else the left one's")
                .text;
        const char *theirs = arena_printf(t->arena, "%s_%s", other, name);
        list_add(t, &values, left ? "%s = %s ?? %s" : "%s = %s", name, theirs, name);
        list_add(t, &names, "%s", theirs);
    }
    const char *line = arena_printf(t->arena, "%s | %s %s%s%s on %s", source, stage, other, values ? " as " : "",
                                    values ? other : "", key);
    return values ? arena_printf(t->arena, "%s | derive %s | drop %s", line, values, names) : line;
}

/* t lj `k xkey u */
static const char *joined(struct translator *t)
{
    static const struct {
        const char *word, *stage;
    } joins[] = {{"lj", "left join"}, {"ij", "join"}};
    size_t count;
    if (token_is(t, t->at + 1, "sublist") && t->at + 3 == t->end && next_kind(t) == REWRITE_NUMBER)
        return arena_printf(t->arena, "%s | take %s", token_raw(t, t->at + 2), token_text(t, t->at));
    if (accept(t, "aj"))
        return translate_fail(t, "`asof join S on KEY, TIME` finds the latest row").text;
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
        if (!token_is(t, t->at + 1, joins[i].word))
            continue;
        const char *source = token_text(t, t->at);
        t->at += 2;
        const char *keys = symbols(t, false, &count);
        if (!keys || count != 1 || !token_is(t, t->at, "xkey") || t->at + 2 != t->end || !known_relation(t, source))
            break;
        return keyed_join(t, joins[i].stage, source, token_text(t, t->at + 1),
                          arena_printf(t->arena, "%.*s", (int)strlen(keys) - 2, keys + 1));
    }
    return translate_fail(t, "`left join S on KEY` is `lj`, `join` is `ij`, `append` is `uj`; S may be a pipeline in "
                             "parentheses")
        .text;
}

bool is_q(const struct translator *t, size_t at)
{
    const size_t from = find_word(t, at, "from"), by = find_word(t, at, "by");
    const size_t join = find_word(t, at, "lj ij uj pj");
    if (token_is(t, at + 1, "sublist") || (token_is(t, at, "select") && token_is(t, at + 1, "[")) ||
        (token_is(t, at, "delete") && from < t->end && find_word(t, at, "`") < t->end))
        return true;
    if ((join < t->end && join > at && join + 1 < t->end) || (token_is(t, at, "aj") && token_is(t, at + 1, "[")) ||
        (token_is(t, t->end - 2, "xasc") || token_is(t, t->end - 2, "xdesc")))
        return true;
    if (token_is(t, at, "count") && token_is(t, at + 1, "select"))
        return true;
    if (token_is(t, at, "exec") || (token_is(t, at, "delete") && from > at + 1) ||
        (token_is(t, at, "update") && from < t->end))
        return from < t->end;
    if (!token_is(t, at, "select") || from == t->end)
        return false;
    const bool keys = by < from && !token_is(t, by - 1, "group") && !token_is(t, by - 1, "order");
    const bool function =
        token_at(t, at + 1)->kind == REWRITE_WORD && is_one_of(token_text(t, at + 1), functions_of_one) &&
        token_at(t, at + 2)->kind == REWRITE_WORD && !token_is(t, at + 2, "from") && find_word(t, at, "as") > from;
    const size_t where = find_word(t, from, "where"), comma = find_word(t, where, ",");
    const bool conditions = comma < t->end && find_word(t, where, "group order limit having union") == t->end;
    const bool symbol = find_word(t, at, "` wavg wsum xbar fby mavg msum mmax mmin") < t->end ||
                        (token_is(t, at + 1, "0") && token_is(t, at + 2, "^")); /* 0^x fills */
    return keys || function || conditions || symbol || from == at + 1 || find_word(t, at, ":") < from;
}

const char *translate_q(struct translator *t)
{
    t->dialect = DIALECT_Q;
    if (next_is(t, "`"))
        return sorted(t);
    if (next_kind(t) == REWRITE_QUOTED)
        return sorted(t);
    if (accept(t, "count")) {
        const char *counted = query(t);
        return counted ? arena_printf(t->arena, "%s | count", counted) : NULL;
    }
    if (is_one_of(token_text(t, t->at), "select exec update delete"))
        return query(t);
    return joined(t);
}
