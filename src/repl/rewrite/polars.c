/* Lines of Polars: what its frames and expressions have that those of pandas do not, or that means something else. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>

/* Methods that pandas has not. */
static const char own_methods[] = "with_columns group_by drop_nulls join_asof with_row_index top_k lazy collect select "
                                  "unpivot slice with_row_count to_pandas sort";

bool is_polars(const struct translator *t)
{
    for (size_t i = 0; i + 1 < t->end; i++) {
        const bool module = is_one_of(token_text(t, i), "pl polars") && token_is(t, i + 1, ".");
        const bool method = token_is(t, i, ".") && token_is(t, i + 2, "(") &&
                            is_one_of(token_text(t, i + 1), own_methods) &&
                            (i == 0 || !token_is(t, i - 1, "str")); /* whose `slice` both have */
        const bool drops = token_is(t, i, ".") && token_is(t, i + 1, "drop") && i + 4 < t->end &&
                           token_at(t, i + 3)->kind == REWRITE_QUOTED && token_is(t, i + 4, ",") &&
                           token_at(t, i + 5)->kind == REWRITE_QUOTED;
        if (module || method || drops || (token_is(t, i, "descending") && token_is(t, i + 1, "=")))
            return true;
    }
    return false;
}

/* pl.when(C).then(A).when(D).then(B).otherwise(E), after `when` */
static struct phrase choice(struct translator *t)
{
    enum { MOST = 12 };
    struct phrase conditions[MOST], values[MOST], other = phrase_missing();
    size_t count = 0;
    do {
        if (!expect(t, "("))
            return (struct phrase){0};
        conditions[count] = translate_expression(t);
        if (!expect(t, ")") || !expect(t, ".") || !accept_two(t, "then", "("))
            return (struct phrase){0};
        values[count++] = translate_expression(t);
        if (!expect(t, ")"))
            return (struct phrase){0};
    } while (count < MOST && accept_two(t, ".", "when"));
    if (accept_two(t, ".", "otherwise")) {
        if (!expect(t, "("))
            return (struct phrase){0};
        other = translate_expression(t);
        if (!expect(t, ")"))
            return (struct phrase){0};
    }
    return choose_first(t, conditions, values, count, other);
}

static struct phrase aggregate_of(struct translator *t, const char *name, struct phrase x)
{
    if (x.text && x.optional && is_one_of(name, "first last n_unique"))
        return translate_fail(t, "`first`, `last` and `distinct` pass over missing values");
    if (x.text && is_one_of(name, "quantile mode"))
        return translate_fail(
            t, "`quantile(0.5, x)` is in proportion between two values, `mode(x)` the smallest of several");
    const char *root = x.root;
    struct phrase result = translate_aggregate(t, strcmp(name, "n_unique") == 0 ? "nunique" : name, &x, 1, false, NULL);
    result.root = root;
    return result;
}

/* pl.concat_str(["a", "b"], separator="-") */
static struct phrase concat_str(struct translator *t, size_t close)
{
    struct phrase items[12];
    size_t count = 0;
    const char *between = NULL;
    while (t->at < close && count < 12) {
        if (accept_keyword(t, "separator"))
            between = token_raw(t, t->at++);
        else if (!accept(t, "[") && !accept(t, "]"))
            items[count++] = next_kind(t) == REWRITE_QUOTED ? translate_name(t, NULL, token_raw(t, t->at++))
                                                            : translate_expression(t);
        (void)accept(t, ",");
    }
    struct phrase result = items[0];
    for (size_t i = 1; i < count; i++) {
        const struct phrase sign = phrase_text(between ? between : "", t->arena);
        result = join_text(t, between && *between ? join_text(t, result, sign) : result, items[i]);
    }
    t->at = close + 1;
    return count > 1 ? result : translate_fail(t, "`concat(a, '-', b)` joins values to one text");
}

struct phrase polars_operand(struct translator *t)
{
    const char *name = token_raw(t, t->at++);
    struct phrase result = {0};
    if (strcmp(name, "when") == 0)
        return choice(t);
    if (strcmp(name, "col") == 0 && accept(t, ".")) {
        result = translate_name(t, NULL, token_raw(t, t->at++));
        result.root = result.column;
        return result;
    }
    if (!expect(t, "("))
        return result;
    const size_t close = after_brackets(t, t->at - 1) - 1;
    if (strcmp(name, "duration") == 0)
        return duration_of(t, close);
    const bool one = next_kind(t) == REWRITE_QUOTED && t->at + 1 == close;
    if (strcmp(name, "concat_str") == 0)
        return concat_str(t, close);
    if (is_one_of(name, "sum_horizontal max_horizontal min_horizontal mean_horizontal"))
        return translate_fail(
            t, "`max(a, b)` and `min(a, b)` are of the values of a row, `(a ?? 0) + (b ?? 0)` adds them");
    if (strcmp(name, "corr") == 0)
        return translate_fail(t, "`group: corr(x, y)` is of two columns");
    if (is_one_of(name, "len count") && t->at == close) {
        result = phrase_operand("count()", PHRASE_INT);
        result.aggregate = true;
    } else if (strcmp(name, "lit") == 0) {
        result = translate_expression(t);
    } else if (one) {
        result = translate_name(t, NULL, token_raw(t, t->at++));
        result.root = result.column;
        if (is_aggregate_name(t, name))
            result = aggregate_of(t, name, result);
        else if (strcmp(name, "col") != 0)
            result.text = NULL;
    }
    if (!result.text || t->at != close)
        return translate_fail(
            t, "a column is its name here; `pick * but (a, b)`, `* of numeric` and `a*` are sets of them");
    t->at = close + 1;
    return result;
}

/* x.rolling_mean(3) */
static struct phrase rolling(struct translator *t, const char *name, struct phrase x)
{
    const long size = strtol(token_text(t, t->at++), NULL, 10);
    const char *aggregate = strcmp(name, "std") == 0 ? "stddev" : name;
    if (!is_one_of(name, "mean sum min max median std var") || size < 1)
        return translate_fail(t, "`mean(x) over -2..0` is of the row and the two before it");
    const char *frame = arena_printf(t->arena, " over -%ld..0", size - 1);
    const char *form = arena_printf(t->arena, "count(A)%s < %ld ? missing : %s(A)%s", frame, size, aggregate, frame);
    struct phrase result = phrase_fill(form, LEVEL_CHOICE, PHRASE_FLOAT, &x, 1, t->arena);
    result.optional = true;
    return result;
}

struct phrase polars_method(struct translator *t, struct phrase x, const char *method, size_t close, bool *found)
{
    static const struct same {
        const char *name, *of_pandas;
    } same[] = {{"is_null", "isna"},     {"is_not_null", "notna"},  {"is_between", "between"},
                {"fill_null", "fillna"}, {"forward_fill", "ffill"}, {"backward_fill", "bfill"},
                {"cum_sum", "cumsum"},   {"cum_max", "cummax"}};
    *found = true;
    if (strcmp(method, "alias") == 0) {
        x.root = token_raw(t, t->at++);
        x.named = true;
        return x;
    }
    if (strcmp(method, "over") == 0) {
        struct phrase_window *window = arena_alloc(t->arena, sizeof *window);
        const char *keys = NULL;
        (void)accept(t, "[");
        do {
            list_add(t, &keys, "%s", translate_name(t, NULL, token_raw(t, t->at++)).text);
        } while (accept(t, ",") && next_kind(t) == REWRITE_QUOTED);
        (void)accept(t, "]");
        if (t->told || t->at != close || x.window)
            return translate_fail(t, "`per K: derive NAME = E` computes within groups");
        *window = (struct phrase_window){.partition = keys};
        x.window = window;
        x.aggregate = x.other_rows = false;
        return x;
    }
    if (strcmp(method, "filter") == 0)
        return choose(t, translate_expression(t), x, phrase_missing());
    if (strcmp(method, "cast") == 0 && accept_two(t, "pl", "."))
        return convert(t, x, token_text(t, t->at++));
    if (strncmp(method, "rolling_", 8) == 0)
        return rolling(t, method + 8, x);
    if (is_aggregate_name(t, method) || is_one_of(method, "n_unique quantile"))
        return t->at == close || strcmp(method, "quantile") == 0
                   ? aggregate_of(t, method, x)
                   : translate_fail(t, "there is no `%s` with these operands here", method);
    const struct same *one = TABLE_ROW(same, method);
    *found = one;
    return one ? call_method(t, x, one->of_pandas, close) : x;
}

/* Expressions of a list, in brackets or not: of `select`, `with_columns` and `agg`. */
struct expressions {
    struct phrase at[24];
    const char *names[24]; /* NULL: as the expression is called here */
    size_t count, aggregates, windows;
};

static bool parse_expressions(struct translator *t, size_t close, bool named, struct expressions *list)
{
    *list = (struct expressions){0};
    const bool brackets = accept(t, "[");
    while (t->at < close && list->count < 24) {
        const char *name = token_is(t, t->at + 1, "=") ? token_raw(t, t->at) : NULL;
        const bool column = !name && next_kind(t) == REWRITE_QUOTED &&
                            (token_is(t, t->at + 1, ",") || token_is(t, t->at + 1, "]") || t->at + 1 == close);
        t->at += name ? 2 : 0;
        struct phrase x = column ? translate_name(t, NULL, token_raw(t, t->at++)) : translate_expression(t);
        if (!x.text)
            return false;
        x.root = column ? x.column : x.root;
        if (x.aggregate && !x.root && strcmp(x.text, "count()") != 0)
            return false;
        if (!name && (x.named || named) && x.root && strcmp(x.root, x.text) != 0)
            name = x.root;
        list->names[list->count] = name ? phrase_name(name, t->arena) : NULL;
        list->at[list->count++] = x;
        list->aggregates += x.aggregate;
        list->windows += x.window != 0;
        if (!accept(t, ","))
            break;
    }
    return (!brackets || accept(t, "]")) && list->count > 0;
}

static const char *written(struct translator *t, const struct expressions *list, bool derives)
{
    const char *text = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const char *name = list->names[i], *x = list->at[i].text;
        if (derives && !name && !list->at[i].root)
            return translate_fail(t, "`derive NAME = E` adds a column").text;
        if (derives)
            list_add(t, &text, "%s = %s", name ? name : list->at[i].root, x);
        else
            list_add(t, &text, name ? "%s as %s" : "%s", x, name ? name : "");
    }
    return text;
}

static bool select_columns(struct translator *t, struct chain *chain, size_t close)
{
    struct expressions list;
    const bool continues = close + 1 < t->end && !token_is(t, close + 2, "collect");
    if (!parse_expressions(t, close, continues, &list))
        return tell(t, "`pick NAME, ...` keeps columns, `map E as NAME` computes them");
    if (list.windows || (list.aggregates && list.aggregates < list.count))
        return tell(t, "`derive m = mean(x)` adds an aggregate to each row, `group: mean(x)` gives one of all");
    bool plain = true;
    for (size_t i = 0; i < list.count; i++)
        plain = plain && list.at[i].column;
    const char *text = written(t, &list, false);
    return chain_add(t, chain, list.aggregates ? "group: %s" : plain ? "pick %s" : "map %s", text);
}

static bool with_columns(struct translator *t, struct chain *chain, size_t close)
{
    struct expressions list;
    if (!parse_expressions(t, close, true, &list))
        return tell(t, "`derive NAME = E` adds a column");
    for (size_t i = 0; i < list.count; i++) {
        if (!list.names[i])
            list.names[i] = list.at[i].root;
        if (!list.names[i])
            return tell(t, "`derive NAME = E` adds a column");
        if (list.windows && list.count > 1 && known_find(&t->scope, NULL, list.names[i]))
            return tell(t, "stages follow one another: each `derive` sees what those before it have computed");
    }
    if (!list.windows)
        return chain_add(t, chain, "derive %s", written(t, &list, true));
    for (size_t i = 0; i < list.count; i++)
        (void)chain_derive(t, chain, list.names[i], &list.at[i]);
    return true;
}

bool polars_group(struct translator *t, struct chain *chain, const char *name, size_t close)
{
    struct expressions list;
    const bool continues = close + 1 < t->end && !token_is(t, close + 2, "collect");
    if (is_one_of(name, "len count") && t->at == close) {
        list = (struct expressions){.at = {phrase_operand("count()", PHRASE_INT)}, .count = 1};
        list.names[0] = continues ? "len" : NULL;
        list.at[0].aggregate = true;
    } else if (strcmp(name, "agg") != 0 || !parse_expressions(t, close, continues, &list) ||
               list.aggregates < list.count) {
        t->told = "the aggregates of a group follow its keys: `group K: mean(x) as m`";
        return false;
    }
    t->at = close + 1;
    return chain_group(t, chain, written(t, &list, false));
}

/* sort("a", "b", descending = [True, False]), in which missing values come first */
static bool sort(struct translator *t, struct chain *chain, size_t close)
{
    struct phrase keys[8];
    bool down[8] = {false};
    size_t count = 0, given = 0;
    const char *text = NULL;
    bool last = false;
    while (t->at < close && count < 8) {
        if (accept_keyword(t, "descending")) {
            const bool list = accept(t, "[");
            do
                down[given++] = token_is(t, t->at++, "True");
            while (list && given < 8 && accept(t, ","));
            t->at += list;
        } else if (accept_keyword(t, "nulls_last")) {
            last = token_is(t, t->at++, "True");
        } else if (!accept(t, "[") && !accept(t, "]") && !accept_keyword(t, "by")) {
            keys[count] = next_kind(t) == REWRITE_QUOTED ? translate_name(t, NULL, token_raw(t, t->at++))
                                                         : translate_expression(t);
            if (!keys[count++].text)
                return false;
        }
        (void)accept(t, ",");
    }
    for (size_t i = 0; i < count; i++) {
        if (keys[i].optional && !last)
            list_add(t, &text, "missing(%s) desc", keys[i].text);
        list_add(t, &text, "%s%s", keys[i].text, down[given == 1 ? 0 : i] ? " desc" : "");
    }
    return text && chain_add(t, chain, "sort %s", text);
}

/* group_by("a", "b"), group_by(pl.col("t").dt.truncate("1d")) */
static bool group(struct translator *t, struct chain *chain, size_t close)
{
    struct expressions list;
    size_t end = find_word(t, t->at, "maintain_order");
    chain->appears = end < close && token_is(t, end + 2, "True");
    end = end < close ? end - 1 : close;
    if (!parse_expressions(t, end, false, &list))
        return tell(t, "the keys of a group are names or expressions: `group K: mean(x)`");
    t->at = close;
    chain->keys = written(t, &list, false);
    return chain->keys;
}

/* filter(C, D): both hold */
static bool filter(struct translator *t, struct chain *chain, size_t close)
{
    const char *all = NULL;
    while (t->at < close) {
        const struct phrase condition = translate_expression(t);
        if (!condition.text || condition.window || (t->at < close && !accept(t, ",")))
            return false;
        const char *text = phrase_at(&condition, LEVEL_AND, t->arena);
        all = all ? arena_printf(t->arena, "%s and %s", all, text) : condition.text;
    }
    return all && chain_add(t, chain, "select %s", all);
}

static bool drop_columns(struct translator *t, struct chain *chain, size_t close)
{
    struct expressions list;
    return parse_expressions(t, close, false, &list) && chain_add(t, chain, "drop %s", written(t, &list, false));
}

/* slice(5, 3) */
static bool slice(struct translator *t, struct chain *chain, size_t close)
{
    const char *from = token_text(t, t->at), *count = t->at + 2 < close ? token_text(t, t->at + 2) : NULL;
    if (next_kind(t) != REWRITE_NUMBER || (count && !token_is(t, t->at + 1, ",")))
        return tell(t, "`skip N`, `take N` and `tail N` keep rows by their places");
    t->at = close;
    (void)chain_add(t, chain, "skip %s", from);
    return !count || chain_add(t, chain, "take %s", count);
}

/* top_k(3, by = "x") */
static bool top(struct translator *t, struct chain *chain, size_t close)
{
    const char *count = token_text(t, t->at++);
    const char *by = accept(t, ",") && accept_keyword(t, "by") ? parse_names(t) : NULL;
    if (!by || t->at != close || strchr(by, ','))
        return tell(t, "`top N by E` keeps the rows with the largest E");
    return chain_add(t, chain, "top %s by %s", count, by);
}

/* unpivot(["a", "b"], index = "k") and melt(id_vars = "k", value_vars = ["a", "b"]) keep the index alone. */
bool frame_unpivot(struct translator *t, struct chain *chain, size_t close)
{
    const char *on = NULL, *index = NULL, *name = "variable", *value = "value", *rest = NULL;
    while (t->at < close) {
        if (accept_keyword(t, "index") || accept_keyword(t, "id_vars"))
            index = parse_names(t);
        else if (accept_keyword(t, "variable_name") || accept_keyword(t, "var_name"))
            name = token_raw(t, t->at++);
        else if (accept_keyword(t, "value_name"))
            value = token_raw(t, t->at++);
        else if (accept_keyword(t, "on") || accept_keyword(t, "value_vars") || !on)
            on = parse_names(t);
        else
            break;
        (void)accept(t, ",");
    }
    for (size_t i = 0; !on && index && !t->scope.open && i < t->scope.count; i++) {
        if (!list_has(t, index, t->scope.columns[i].text))
            list_add(t, &rest, "%s", t->scope.columns[i].text);
    }
    on = on ? on : rest;
    if (!on || t->at != close)
        return tell(t, "`unpivot a, b as NAME, VALUE` makes a row of each column's value");
    return chain_add(t, chain, "pick %s%s | unpivot %s as %s, %s", index ? arena_printf(t->arena, "%s, ", index) : "",
                     on, on, phrase_name(name, t->arena), phrase_name(value, t->arena));
}

bool polars_call(struct translator *t, struct chain *chain, const char *name, size_t close, bool *found)
{
    static const struct {
        const char *names;
        bool (*add)(struct translator *t, struct chain *chain, size_t close);
    } methods[] = {{"select", select_columns}, {"with_columns", with_columns}, {"sort", sort},   {"group_by", group},
                   {"filter", filter},         {"drop", drop_columns},         {"slice", slice}, {"top_k", top}};
    *found = true;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (is_one_of(name, methods[i].names) && (*name != 'f' || find_word(t, t->at, ",") < close))
            return methods[i].add(t, chain, close);
    }
    *found = false;
    return false;
}
