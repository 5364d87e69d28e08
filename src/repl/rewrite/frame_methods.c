/* Methods of frames of pandas, and functions of frames. */
#include "repl/rewrite/frames.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool fail(struct translator *t, const char *instead)
{
    (void)translate_fail(t, "%s", instead);
    return false;
}

/* A condition of another text, as of `query("x > 3")`. */
static const char *condition_of_text(struct translator *t, const char *text)
{
    struct translator inner = *t;
    const struct rewrite_text tokens = rewrite_tokenize(text, strlen(text), t->arena);
    inner.text = &tokens;
    inner.at = 0;
    inner.end = tokens.count;
    const struct phrase condition = translate_expression(&inner);
    t->told = inner.told;
    return condition.text && inner.at == inner.end ? condition.text : NULL;
}

/* lambda d: E, or E */
static struct phrase computed(struct translator *t)
{
    const char *frame = t->frame;
    if (accept(t, "lambda")) {
        t->frame = token_text(t, t->at);
        t->at += 2;
    }
    const struct phrase value = translate_expression(t);
    t->frame = frame;
    return value;
}

/* assign(x = E, ...), eval("x = E") */
static bool assign(struct translator *t, struct chain *chain, size_t close)
{
    while (t->at < close) {
        const char *name = token_is(t, t->at + 1, "=") ? token_text(t, t->at) : NULL;
        t->at += 2;
        const struct phrase value = name ? computed(t) : (struct phrase){0};
        if (!value.text)
            return fail(t, "`derive NAME = E` adds a column");
        chain_add(t, chain, arena_printf(t->arena, "derive %s = %s", phrase_name(name, t->arena), value.text));
        if (!accept(t, ","))
            break;
    }
    return true;
}

/* sort_values("x", ascending = False), sort_values(["x", "y"], ascending = [True, False]) */
static const char *sort_keys(struct translator *t, const char *last, size_t close)
{
    (void)accept_keyword(t, "by");
    const bool values = last && (t->at == close || next_is(t, "ascending")); /* of a group's values */
    const char *names = values ? last : parse_names(t);
    bool descending[16] = {false};
    size_t given = 0;
    while (names && ((values && t->at < close) || accept(t, ","))) {
        if (accept_keyword(t, "ascending")) {
            const bool list = accept(t, "[");
            do {
                descending[given++] = next_is(t, "False") || next_is(t, "0");
                t->at++;
            } while (list && given < 16 && accept(t, ","));
            t->at += list;
        } else if (accept_keyword(t, "ignore_index")) {
            t->at++;
        } else {
            return translate_fail(t, "missing values come last in order").text;
        }
    }
    if (!names || t->at != close)
        return NULL;
    const char *keys = NULL;
    for (size_t i = 0; *names; i++) {
        const size_t length = strcspn(names, ",");
        const bool down = given == 1 ? descending[0] : i < given && descending[i];
        keys = arena_printf(t->arena, "%s%s%.*s%s", keys ? keys : "", keys ? ", " : "", (int)length, names,
                            down ? " desc" : "");
        names += length + strspn(names + length, ", ");
    }
    return keys;
}

/* Which columns may be missing, as `a is missing or b is missing`; "": none. */
static const char *missing_columns(struct translator *t, const char *only)
{
    const char *condition = "";
    for (size_t i = 0; i < t->scope.count; i++) {
        const struct known_column *column = &t->scope.columns[i];
        if (column->optional && (!only || is_one_of(column->text, only)))
            condition = arena_printf(t->arena, "%s%smissing(%s)", condition, *condition ? " || " : "", column->text);
    }
    return condition;
}

static char *blanks_for_commas(struct translator *t, const char *names)
{
    char *list = arena_text(t->arena, names, strlen(names));
    for (char *at = list; *at; at++)
        *at = *at == ',' ? ' ' : *at;
    return list;
}

static bool drop_missing(struct translator *t, struct chain *chain, size_t close)
{
    const char *only = NULL;
    if (t->scope.open)
        return fail(t, "`reject missing(a) || missing(b)` drops the rows without one of these values: name all columns "
                       "that count");
    if (t->at < close && !accept_keyword(t, "subset"))
        return fail(t, "`reject missing(a) || missing(b)` drops the rows without one of these values");
    if (t->at < close && !(only = parse_names(t)))
        return false;
    const char *condition = missing_columns(t, only ? blanks_for_commas(t, only) : NULL);
    if (*condition)
        chain_add(t, chain, arena_printf(t->arena, "reject %s", condition));
    return true;
}

static bool fill_missing(struct translator *t, struct chain *chain, size_t close)
{
    const char *columns = NULL;
    const bool each = accept(t, "{");
    if (t->scope.open)
        return fail(t, "`derive NAME = NAME ?? 0` replaces the missing values of a column");
    const size_t value_at = t->at;
    for (size_t i = 0; i < t->scope.count; i++) {
        const struct known_column *column = &t->scope.columns[i];
        t->at = value_at;
        bool named = !each;
        while (each && t->at < close && !named) {
            named = strcmp(token_raw(t, t->at), column->name) == 0 && token_is(t, t->at + 1, ":");
            t->at += named ? 2 : 1;
        }
        if (!column->optional || !named)
            continue;
        const struct phrase value = translate_expression(t);
        const bool fits = (column->type == PHRASE_TEXT) == (value.type == PHRASE_TEXT);
        if (!value.text || !fits)
            return fail(t, "`derive NAME = NAME ?? 0` replaces the missing values of a column");
        columns = arena_printf(t->arena, "%s%s%s = %s ?? %s", columns ? columns : "", columns ? ", " : "", column->text,
                               column->text, value.text);
    }
    t->at = close;
    if (columns)
        chain_add(t, chain, arena_printf(t->arena, "derive %s", columns));
    return true;
}

/* A frame that is an argument: a name. */
static bool join_with(struct translator *t, struct chain *chain, size_t close, const char *other)
{
    const char *how = "inner", *on = NULL, *left = NULL, *right = NULL;
    while (t->at < close && accept(t, ",")) {
        if (accept_keyword(t, "on"))
            on = parse_names(t);
        else if (accept_keyword(t, "how"))
            how = token_raw(t, t->at++);
        else if (accept_keyword(t, "left_on"))
            left = parse_names(t);
        else if (accept_keyword(t, "right_on"))
            right = token_raw(t, t->at++);
        else
            return fail(t, "`join S on KEY` and `left join S on KEY` join");
    }
    if (!(on ? on : left) || !is_one_of(how, "inner left outer") || (left && strcmp(left, right ? right : "") != 0))
        return fail(t, "`join S on KEY`, `left join S on KEY = OTHER` and `full join` join");
    on = on ? on : left;
    struct known_columns others = {0};
    const bool known = known_add_source(t, &others, other, NULL);
    bool collides = false;
    char *keys = blanks_for_commas(t, on);
    for (size_t i = 0; known && i < others.count; i++) {
        const struct known_column *column = known_find(&t->scope, NULL, others.columns[i].name);
        const bool key = is_one_of(others.columns[i].text, keys);
        collides = collides || (column && !key);
        if (key && column && column->optional && others.columns[i].optional)
            return fail(t, "missing keys match nothing in a join, and each other in pandas");
    }
    chain_add(t, chain,
              arena_printf(t->arena, "%sjoin %s%s%s on %s",
                           how[0] == 'l'   ? "left "
                           : how[0] == 'o' ? "full "
                                           : "",
                           other, collides ? " as " : "", collides ? other : "", on));
    return true;
}

/* pivot_table(index = "a", columns = "b", values = "c", aggfunc = "sum", fill_value = 0) */
static bool pivot(struct translator *t, struct chain *chain, size_t close)
{
    const char *index = NULL, *columns = NULL, *values = NULL, *function = "mean";
    bool filled = false;
    while (t->at < close) {
        if (accept_keyword(t, "index"))
            index = parse_names(t);
        else if (accept_keyword(t, "columns"))
            columns = parse_names(t);
        else if (accept_keyword(t, "values"))
            values = parse_names(t);
        else if (accept_keyword(t, "aggfunc"))
            function = token_raw(t, t->at++);
        else if (accept_keyword(t, "fill_value"))
            filled = strcmp(token_text(t, t->at++), "0") == 0;
        else
            return fail(t, "`group K: AGG(x) across C` makes a column of each value of C");
        if (!accept(t, ","))
            break;
    }
    if (!index || !columns || !values || strchr(values, ',') || strchr(columns, ',') || !is_aggregate_name(t, function))
        return fail(t, "`group K: AGG(x) across C` makes a column of each value of C");
    struct phrase value = translate_name(t, NULL, values);
    struct phrase result = translate_aggregate(t, function, &value, 1, false, NULL);
    if (!result.text)
        return false;
    const bool zero = is_one_of(function, "sum count nunique size");
    if (zero && !filled)
        result.text = arena_printf(t->arena, "count(%s) > 0 ? %s : missing", value.text, result.text);
    else if (!zero && filled)
        result.text = arena_printf(t->arena, "%s ?? 0", result.text);
    chain_add(t, chain, arena_printf(t->arena, "group %s: %s across %s", index, result.text, columns));
    return true;
}

static bool renamed(struct translator *t, struct chain *chain, size_t close)
{
    const char *names = NULL;
    if (!accept_keyword(t, "columns") || !accept(t, "{"))
        return fail(t, "`rename OLD as NEW` renames columns");
    while (t->at + 3 <= close && token_is(t, t->at + 1, ":")) {
        names =
            arena_printf(t->arena, "%s%s%s as %s", names ? names : "", names ? ", " : "",
                         phrase_name(token_raw(t, t->at), t->arena), phrase_name(token_raw(t, t->at + 2), t->arena));
        t->at += 3;
        (void)accept(t, ",");
    }
    if (!names || !accept(t, "}"))
        return false;
    chain_add(t, chain, arena_printf(t->arena, "rename %s", names));
    return true;
}

/* Methods whose arguments are a number, names or nothing. */
static bool simple_method(struct translator *t, struct chain *chain, const char *name, size_t close, bool *found)
{
    const bool none = t->at == close, number = t->at + 1 == close && next_kind(t) == REWRITE_NUMBER;
    const char *first = none ? NULL : token_text(t, t->at);
    *found = true;
    if (is_one_of(name, "head tail limit") && (none || number)) {
        chain_add(t, chain, arena_printf(t->arena, "%s %s", name[0] == 't' ? "tail" : "take", none ? "5" : first));
        t->at = close;
    } else if (is_one_of(name, "reset_index copy collect to_frame rename_axis")) {
        t->at = close; /* rows have no index */
    } else if (is_one_of(name, "drop_duplicates unique") && none) {
        chain_add(t, chain, "distinct");
    } else if (strcmp(name, "drop_duplicates") == 0) {
        (void)accept_keyword(t, "subset");
        const char *names = parse_names(t);
        const bool last = accept(t, ",") && accept_keyword(t, "keep") && strcmp(token_raw(t, t->at++), "last") == 0;
        if (!names)
            return false;
        chain_add(t, chain, arena_printf(t->arena, "per %s: %s 1", names, last ? "tail" : "take"));
    } else if (is_one_of(name, "describe info") && none) {
        chain->text = arena_printf(t->arena, "%s | describe", chain->text);
        chain->done = true;
    } else if (is_one_of(name, "plot hist") && none) {
        chain->text = arena_printf(t->arena, "%s | %s", chain->text, name);
        chain->done = true;
    } else if (is_one_of(name, "to_csv to_parquet write_csv write_parquet to_json to_feather") &&
               next_kind(t) == REWRITE_QUOTED) {
        chain->text = arena_printf(t->arena, "%s | save %s", chain->text, first);
        chain->done = true;
        t->at = close;
    } else if (is_one_of(name, "nlargest nsmallest") && next_kind(t) == REWRITE_NUMBER) {
        t->at++;
        const char *names = chain->last && t->at == close ? chain->last : accept(t, ",") ? parse_names(t) : NULL;
        if (!names)
            return false;
        chain_add(t, chain, arena_printf(t->arena, "top %s by %s%s", first, names, name[1] == 's' ? " asc" : ""));
    } else if (strcmp(name, "sample") == 0) {
        return fail(t, "`sample N` takes rows at random, the same ones each time; `seed S` gives others");
    } else if (is_one_of(name, "isna isnull notna count sum mean min max std nunique corr quantile median") && none) {
        return fail(t, "`describe` shows the missing values, extremes and means of all columns; `group: mean(a), "
                       "mean(b)` those of some");
    } else if (is_one_of(name, "apply applymap pipe transform iterrows itertuples map")) {
        return fail(t, "functions of Python are not run here: `map E` and `derive NAME = E` compute, `def f(x) = E` "
                       "names a function");
    } else {
        *found = false;
    }
    return true;
}

static bool call(struct translator *t, struct chain *chain, const char *name, size_t close)
{
    bool found;
    if (!simple_method(t, chain, name, close, &found) || found)
        return !t->told;
    if (is_one_of(name, "query filter") && next_kind(t) == REWRITE_QUOTED) {
        const char *condition = condition_of_text(t, token_raw(t, t->at++));
        if (condition)
            chain_add(t, chain, arena_printf(t->arena, "select %s", condition));
        return condition;
    }
    if (strcmp(name, "filter") == 0) {
        const struct phrase condition = translate_expression(t);
        if (condition.text)
            chain_add(t, chain, arena_printf(t->arena, "select %s", condition.text));
        return condition.text;
    }
    if (strcmp(name, "assign") == 0)
        return assign(t, chain, close);
    if (is_one_of(name, "sort_values sort")) {
        const char *keys = sort_keys(t, chain->last, close);
        if (keys)
            chain_add(t, chain, arena_printf(t->arena, "sort %s", keys));
        return keys || fail(t, "`sort x, y desc` sorts");
    }
    if (is_one_of(name, "groupby group_by")) {
        (void)accept_keyword(t, "by");
        chain->keys = parse_names(t);
        while (accept(t, ",") &&
               (accept_keyword(t, "as_index") || accept_keyword(t, "sort") || accept_keyword(t, "observed")))
            t->at++;
        return chain->keys || fail(t, "the keys of a group are names or expressions: `group K: mean(x)`");
    }
    if (strcmp(name, "drop") == 0) {
        (void)accept_keyword(t, "columns");
        const char *names = parse_names(t);
        if (accept(t, ",") && accept_keyword(t, "axis"))
            t->at++;
        if (names)
            chain_add(t, chain, arena_printf(t->arena, "drop %s", names));
        return names || fail(t, "`drop NAME, ...` leaves columns out");
    }
    if (strcmp(name, "dropna") == 0)
        return drop_missing(t, chain, close);
    if (strcmp(name, "fillna") == 0)
        return fill_missing(t, chain, close);
    if (is_one_of(name, "merge join") && next_kind(t) == REWRITE_WORD) {
        const char *other = token_text(t, t->at++);
        return join_with(t, chain, close, other);
    }
    if (strcmp(name, "pivot_table") == 0)
        return pivot(t, chain, close);
    if (strcmp(name, "rename") == 0)
        return renamed(t, chain, close);
    if (strcmp(name, "value_counts") == 0) {
        const char *names = parse_names(t);
        if (!names)
            return fail(t, "`group a, b: count() as n | sort n desc` counts the rows of each key");
        chain_add(t, chain, arena_printf(t->arena, "group %s: count() as n | sort n desc", names));
        return true;
    }
    return fail(t, arena_printf(t->arena, "there is no `%s` here; `.help stages` lists what there is", name));
}

bool frame_step(struct translator *t, struct chain *chain)
{
    if (next_kind(t) != REWRITE_WORD)
        return fail(t, "a stage follows its relation after a `|`");
    const char *name = token_raw(t, t->at++);
    if (!next_is(t, "(")) {
        if (is_one_of(name, "loc iloc") && accept(t, "["))
            return chain_index(t, chain, name[0] == 'l');
        if (strcmp(name, "shape") == 0 && accept(t, "[")) {
            const bool rows = accept(t, "0");
            chain->text = arena_printf(t->arena, "%s | count", chain->text);
            chain->done = true;
            return rows && accept(t, "]") ? true : fail(t, "`describe` lists the columns");
        }
        if (strcmp(name, "shape") == 0)
            return fail(t, "`count` counts the rows, `describe` lists the columns");
        if (is_one_of(name, "columns dtypes schema index") && t->at == t->end) {
            chain->text = arena_printf(t->arena, "%s | describe", chain->text);
            chain->done = true;
            return true;
        }
        if (is_one_of(name, "head tail") && t->at == t->end) {
            chain->text = arena_printf(t->arena, "%s | %s", chain->text, name);
            chain->done = true;
            return true;
        }
        if (strcmp(name, "T") == 0)
            return fail(
                t, "`unpivot a, b as NAME, VALUE` makes rows of columns, `group K: first(x) across C` columns of rows");
        chain->column = translate_name(t, NULL, name);
        chain->is_column = true;
        return chain->column.text;
    }
    const size_t close = after_brackets(t, t->at) - 1;
    t->at++;
    if (!call(t, chain, name, close) || (t->at != close && !chain->done))
        return fail(t, arena_printf(t->arena, "`%s` has other arguments here; `.help stages` lists the stages", name));
    t->at = close + 1;
    return true;
}

const char *pandas_function(struct translator *t)
{
    const char *name = token_raw(t, t->at + 2);
    const size_t close = token_is(t, t->at + 3, "(") ? after_brackets(t, t->at + 3) - 1 : t->end;
    const bool last = close + 1 == t->end;
    struct chain chain = {.text = token_raw(t, t->at + 4)};
    if (strcmp(name, "merge") == 0 && last && token_is(t, t->at + 5, ",")) {
        const char *other = token_text(t, t->at + 6);
        t->frame = chain.text;
        t->at += 7;
        chain_columns(t, &chain);
        return join_with(t, &chain, close, other) && t->at == close ? chain.text : NULL;
    }
    if (strcmp(name, "concat") == 0 && last && token_is(t, t->at + 4, "[")) {
        t->at += 5;
        chain.text = token_text(t, t->at++);
        while (accept(t, ","))
            chain.text = arena_printf(t->arena, "%s | append %s", chain.text, token_text(t, t->at++));
        return accept(t, "]") ? chain.text : translate_fail(t, "`append S` adds the rows of another source").text;
    }
    return translate_fail(t, "there is no `pd.%s` here; `.help stages` lists what there is", name).text;
}
