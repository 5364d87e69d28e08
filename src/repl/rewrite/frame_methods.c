/* Methods of frames of pandas, and functions of frames. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* lambda d: E, or E */
static struct phrase computed(struct translator *t)
{
    const struct translator before = *t;
    if (accept(t, "lambda")) { /* of the rows at hand */
        t->frame = token_text(t, t->at);
        t->at += 2;
        t->rows = ROWS_ALL;
        t->changed = NULL;
    }
    const struct phrase value = translate_expression(t);
    t->frame = before.frame;
    t->rows = before.rows;
    t->changed = before.changed;
    return value.type == PHRASE_BOOL ? as_value(t, value) : value;
}

/* The columns of a list, which are computed of the same rows: true. */
static bool add_columns(struct translator *t, struct chain *chain, const char *names, const char *list)
{
    const enum rows_of_frame rows = t->rows;
    if (!list)
        return true;
    (void)chain_add(t, chain, "derive %s", list);
    t->rows = rows;
    list_add(t, &t->changed, "%s", names);
    return true;
}

/* assign(x = E, ...), eval("x = E"): what begins with the frame's name reads the columns as they were. */
static bool assign(struct translator *t, struct chain *chain, size_t close)
{
    const char *names = NULL, *list = NULL;
    while (t->at < close) {
        const char *name = token_is(t, t->at + 1, "=") ? phrase_name(token_text(t, t->at), t->arena) : NULL;
        t->at += 2;
        if (next_is(t, "lambda") && add_columns(t, chain, names, list))
            names = list = NULL;
        const struct phrase value = name ? computed(t) : (struct phrase){0};
        if (!value.text)
            return tell(t, "`derive NAME = E` adds a column");
        if (value.window) {
            (void)add_columns(t, chain, names, list);
            names = list = NULL;
            if (!chain_derive(t, chain, name, &value))
                return false;
        } else {
            if (!is_of_one_kind(t, &value))
                return false;
            list_add(t, &names, "%s", name);
            list_add(t, &list, "%s = %s", name, value.text);
        }
        if (!accept(t, ","))
            break;
    }
    return add_columns(t, chain, names, list);
}

/* sort_values("x", ascending = False), sort_values(["x", "y"], ascending = [True, False]) */
const char *frame_keys(struct translator *t, const char *last, size_t close)
{
    (void)accept_keyword(t, "by");
    const bool values = last && (t->at == close || next_is(t, "ascending")); /* of a group's values */
    const char *names = values ? last : parse_names(t);
    bool descending[16] = {false}, first = false;
    size_t given = 0;
    while (names && ((values && t->at < close) || accept(t, ","))) {
        if (accept_keyword(t, "ascending")) {
            const bool list = accept(t, "[");
            do {
                descending[given++] = next_is(t, "False") || next_is(t, "0");
                t->at++;
            } while (list && given < 16 && accept(t, ","));
            t->at += list;
        } else if (accept_keyword(t, "ignore_index") || accept_keyword(t, "kind")) {
            t->rows = token_is(t, t->at - 2, "kind") ? t->rows : ROWS_OTHER;
            t->at++;
        } else if (accept_keyword(t, "na_position")) {
            first = strcmp(token_raw(t, t->at++), "first") == 0;
        } else if (accept_keyword(t, "key")) {
            return translate_fail(t, "`sort lower(x), y desc` sorts by what is computed").text;
        } else {
            return translate_fail(t, "`sort x, y desc` sorts; missing values come last").text;
        }
    }
    if (!names || t->at != close)
        return NULL;
    const char *keys = NULL;
    size_t i = 0;
    for (const char *name; (name = list_next(t, &names)); i++) {
        if (first)
            list_add(t, &keys, "%s is not missing", name);
        list_add(t, &keys, "%s%s", name, (given == 1 ? descending[0] : i < given && descending[i]) ? " desc" : "");
    }
    return keys;
}

static bool drop_missing(struct translator *t, struct chain *chain, size_t close)
{
    const char *only = NULL;
    if (t->scope.open)
        return tell(t, "`reject missing(a) || missing(b)` drops the rows without one of these values: name all columns "
                       "that count");
    bool all = false;
    while (t->at < close) {
        if (accept_keyword(t, "how")) {
            all = strcmp(token_raw(t, t->at++), "all") == 0;
        } else if (!accept_keyword(t, "subset") && !t->polars) {
            return tell(t, "`reject missing(a) || missing(b)` drops the rows without one of these values, `reject "
                           "missing(a) && missing(b)` those without both");
        } else if (!(only = parse_names(t))) {
            return false;
        }
        (void)accept(t, ",");
    }
    const char *condition = missing_columns(t, only, all);
    return !condition || chain_add(t, chain, "reject %s", condition);
}

static bool fill_missing(struct translator *t, struct chain *chain, size_t close)
{
    const char *columns = NULL;
    const bool each = accept(t, "{");
    if (t->scope.open)
        return tell(t, "`derive NAME = NAME ?? 0` replaces the missing values of a column");
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
        if (value.window || value.other_rows)
            return tell(t, "`derive NAME = NAME ?? 0` replaces the missing values of a column");
        const bool fits = (column->type == PHRASE_TEXT) == (value.type == PHRASE_TEXT);
        if (!value.text || !fits)
            return tell(t, "`derive NAME = NAME ?? 0` replaces the missing values of a column");
        list_add(t, &columns, "%s = %s ?? %s", column->text, column->text, value.text);
    }
    t->at = close;
    return !columns || chain_add(t, chain, "derive %s", columns);
}

/* ffill(), bfill() */
static bool fill_gaps(struct translator *t, struct chain *chain, bool back)
{
    const char *columns = NULL;
    for (size_t i = 0; i < t->scope.count; i++) {
        const struct known_column *column = &t->scope.columns[i];
        if (column->optional)
            list_add(t, &columns, "%s = fill(%s%s)", column->text, column->text, back ? ", back" : "");
    }
    if (t->scope.open)
        return tell(t, "`derive x = fill(x)` fills gaps with the value before, `fill(x, back)` with the next one");
    return !columns || chain_add(t, chain, "derive %s", columns);
}

/* A frame that is an argument: a name, `t[["a", "b"]]`. */
static const char *frame_argument(struct translator *t)
{
    const char *name = token_text(t, t->at++);
    if (!accept_two(t, "[", "["))
        return name;
    t->at--;
    struct translator of = *t;
    of.scope = (struct known_columns){0};
    (void)known_add_source(&of, &of.scope, name, NULL);
    const char *names = parse_names(&of);
    t->at = of.at;
    return names && accept(t, "]") ? arena_printf(t->arena, "(%s | pick %s)", name, names) : NULL;
}

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
            return tell(t, "`join S on KEY` and `left join S on KEY` join");
    }
    on = on ? on : left;
    const struct join_names none = {0};
    if (strcmp(how, "cross") == 0 && !on)
        return chain_join(t, chain, "cross ", other, &none);
    if (!on || !is_one_of(how, t->polars ? "inner left semi anti full" : "inner left outer semi anti") ||
        (left && strcmp(left, right ? right : "") != 0))
        return tell(t, "`join S on KEY`, `left join S on KEY = OTHER` and `full join` join");
    struct join_names names = {0};
    for (const char *name; names.count < 8 && (name = list_next(t, &on)); names.count++)
        names.left[names.count] = names.right[names.count] = name;
    const char *kind = *how == 'i' ? "" : *how == 'o' ? "full " : arena_printf(t->arena, "%s ", how);
    return chain_join(t, chain, kind, other, &names);
}

/* 5, "5min", pd.Timedelta("5min"), timedelta(...): as a distance; NULL: another. */
static const char *parse_distance(struct translator *t)
{
    const bool pandas = accept_two(t, "pd", ".");
    const bool call = pandas && accept_two(t, "Timedelta", "(");
    if (pandas && !call)
        return NULL;
    const bool text = next_kind(t) == REWRITE_QUOTED;
    const char *distance = text ? token_raw(t, t->at) : token_text(t, t->at);
    if (!text && next_kind(t) != REWRITE_NUMBER)
        return NULL;
    t->at++;
    if (text && (strspn(distance, "0123456789") == 0 ||
                 !is_one_of(distance + strspn(distance, "0123456789"), "us ms s min h d w")))
        return NULL;
    return !call || accept(t, ")") ? distance : NULL;
}

/* pd.merge_asof(a, b, on = "time", by = "k", direction = "nearest", tolerance = 5), after its frames */
static bool join_nearest(struct translator *t, struct chain *chain, size_t close, const char *other)
{
    const char *time = NULL, *right = NULL, *by = NULL, *direction = "", *within = NULL;
    bool good = true, equal = true;
    while (good && t->at < close && accept(t, ",")) {
        if (accept_keyword(t, "on") || accept_keyword(t, "left_on"))
            good = (time = parse_names(t)) && !strchr(time, ',');
        else if (accept_keyword(t, "right_on"))
            right = token_raw(t, t->at++);
        else if (accept_keyword(t, "allow_exact_matches"))
            equal = !token_is(t, t->at++, "False");
        else if (accept_keyword(t, "by"))
            good = (by = parse_names(t));
        else if (accept_keyword(t, "direction") || accept_keyword(t, "strategy"))
            direction = token_raw(t, t->at++);
        else if (accept_keyword(t, "tolerance"))
            good = (within = parse_distance(t));
        else
            good = false;
    }
    if (!good || !time || !is_one_of(direction[0] ? direction : "backward", "backward forward nearest"))
        return tell(t, "`asof join S on KEY, TIME nearest within 5min` finds the closest row");
    const bool nearest = direction[0] == 'n', forward = direction[0] == 'f';
    if ((right || !equal) && nearest)
        return tell(t, "`nearest` is of keys of the same name, and of equal times, too");
    struct join_names names = {0};
    for (const char *name; by && names.count < 7 && (name = list_next(t, &by)); names.count++)
        names.left[names.count] = names.right[names.count] = name;
    names.left[names.count] = time;
    names.right[names.count] = time;
    if (right && strcmp(right, time) != 0) { /* it comes along */
        other = arena_printf(t->arena, "(%s | derive key = %s)", other, right);
        names.right[names.count] = "key";
    }
    names.sign = !equal ? (forward ? "<" : ">") : right && strcmp(right, time) != 0 ? (forward ? "<=" : ">=") : NULL;
    names.count++;
    if (!chain_join(t, chain, "asof ", other, &names))
        return false;
    const bool back = names.sign || !(nearest || forward);
    chain->text = arena_printf(t->arena, "%s%s%s%s%s", chain->text, back ? "" : " ", back ? "" : direction,
                               within ? " within " : "", within ? within : "");
    return true;
}

/* pivot_table(index = "a", columns = "b", values = "c", aggfunc = "sum", fill_value = 0), and pivot(...), of which each
 * group and column has one row (`once`) */
static bool pivot(struct translator *t, struct chain *chain, size_t close, bool once)
{
    const char *index = NULL, *columns = NULL, *values = NULL, *function = "mean";
    bool filled = false;
    if (once)
        function = "first";
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
            return tell(t, "`group K: AGG(x) across C` makes a column of each value of C");
        if (!accept(t, ","))
            break;
    }
    if (!index || !columns || !values || strchr(values, ',') || strchr(columns, ',') || !is_aggregate_name(t, function))
        return tell(t, "`group K: AGG(x) across C` makes a column of each value of C");
    struct phrase value = translate_name(t, NULL, values);
    struct phrase result = translate_aggregate(t, function, &value, 1, false, NULL);
    if (!result.text)
        return false;
    const bool zero = is_one_of(function, "sum count nunique size");
    if (!zero && !is_one_of(function, "mean min max median first last"))
        return tell(t, "`group K: AGG(x) across C` makes a column of each value of C");
    if (zero && !filled)
        result.text = arena_printf(t->arena, "count() > 0 ? %s : missing", result.text);
    else if (!zero && filled)
        result.text = arena_printf(t->arena, "%s ?? 0", result.text);
    const char *keys = arena_printf(t->arena, "%s, %s%s%s", index, columns, zero ? "" : ", ", zero ? "" : values);
    drop_missing_keys(t, chain, keys); /* and what is made of missing values alone */
    return chain_add(t, chain, "group %s: %s across %s", index, result.text, columns);
}

/* groupby(df.time.dt.date) */
static const char *group_expression(struct translator *t, struct chain *chain)
{
    if (token_is(t, t->at, "pd") && token_is(t, t->at + 2, "Grouper"))
        return translate_fail(t,
                              "`group trunc(t, day) as t: AGG(x)` groups by intervals of time, `bucket(t, 15min)` by "
                              "others; those without rows are not there")
            .text;
    const struct phrase key = translate_expression(t);
    if (key.text && key.optional)
        chain->text = arena_printf(t->arena, "%s | select %s is not missing", chain->text,
                                   phrase_at(&key, LEVEL_EQUALITY, t->arena));
    return key.aggregate || key.window ? NULL : key.text;
}

/* reset_index(name = "n"), which names the column of a group's values */
static bool name_values(struct translator *t, struct chain *chain)
{
    if (next_kind(t) != REWRITE_QUOTED || !chain->last)
        return tell(t, "`rename OLD as NEW` renames columns");
    const char *last = chain->last;
    chain->last = phrase_name(token_raw(t, t->at++), t->arena);
    return strcmp(last, chain->last) == 0 || chain_add(t, chain, "rename %s as %s", last, chain->last);
}

static bool call(struct translator *t, struct chain *chain, const char *name, size_t close)
{
    bool found = false;
    const bool of_polars = t->polars && polars_call(t, chain, name, close, &found);
    if (found)
        return of_polars;
    if (strcmp(name, "assign") == 0)
        return assign(t, chain, close);
    if (is_one_of(name, "groupby group_by")) {
        (void)accept_keyword(t, "by");
        chain->keys = next_kind(t) == REWRITE_WORD ? group_expression(t, chain) : parse_names(t);
        chain->keeps_missing = chain->appears = false;
        chain->index = chain->keys;
        while (accept(t, ",") && (accept_keyword(t, "as_index") || accept_keyword(t, "sort") ||
                                  accept_keyword(t, "observed") || accept_keyword(t, "dropna"))) {
            chain->keeps_missing = chain->keeps_missing || (token_is(t, t->at - 2, "dropna") && next_is(t, "False"));
            chain->appears = chain->appears || (token_is(t, t->at - 2, "sort") && next_is(t, "False"));
            chain->index = token_is(t, t->at - 2, "as_index") && next_is(t, "False") ? NULL : chain->index;
            t->at++;
        }
        return chain->keys || tell(t, "the keys of a group are names or expressions: `group K: mean(x)`");
    }
    if (strcmp(name, "reset_index") == 0 && t->rows == ROWS_SOME)
        t->rows = ROWS_OTHER;
    if (strcmp(name, "reset_index") == 0 && chain->index) {
        const char *keys = chain->index;
        chain->index = NULL;
        if (accept_keyword(t, "drop") && accept(t, "True"))
            return strchr(keys, '(') ? tell(t, "`drop NAME` leaves out a column")
                                     : chain_add(t, chain, "drop %s", keys);
    }
    if (is_one_of(name, "reset_index to_frame") && (accept_keyword(t, "name") || (*name == 't' && t->at < close)))
        return name_values(t, chain);
    if (is_one_of(name, "dropna drop_nulls"))
        return drop_missing(t, chain, close);
    if (is_one_of(name, "fillna fill_null"))
        return fill_missing(t, chain, close);
    if (is_one_of(name, "ffill bfill") && t->at == close)
        return fill_gaps(t, chain, *name == 'b');
    if (strcmp(name, "explode") == 0 && next_kind(t) == REWRITE_QUOTED &&
        translate_name(t, NULL, token_raw(t, t->at)).type != PHRASE_UNKNOWN)
        return tell(t, "`unnest x` makes a row of each element of a list, `split(s, sep)` a list of a text");
    if (strcmp(name, "melt") == 0 || (strcmp(name, "unpivot") == 0 && t->polars))
        return frame_unpivot(t, chain, close);
    if (is_one_of(name, "merge join join_asof") && next_kind(t) == REWRITE_WORD) {
        const char *other = frame_argument(t);
        return other && (strcmp(name, "join_asof") == 0 ? join_nearest(t, chain, close, other)
                                                        : join_with(t, chain, close, other));
    }
    if (is_one_of(name, "pivot_table pivot") && !t->polars)
        return pivot(t, chain, close, strcmp(name, "pivot") == 0);
    return chain_verb(t, chain, VERB_FRAME, name, close, NULL);
}

bool frame_step(struct translator *t, struct chain *chain)
{
    if (next_kind(t) != REWRITE_WORD)
        return tell(t, "a stage follows its relation after a `|`");
    const char *name = token_raw(t, t->at++);
    if (!next_is(t, "(")) {
        if (strcmp(name, "iloc") == 0 && next_is(t, "[") && find_word(t, t->at + 1, ",") < after_brackets(t, t->at))
            return tell(t, "`take N` and `skip N` keep rows by their places, `pick $1, $2` columns");
        if (is_one_of(name, "at iat") && next_is(t, "["))
            return tell(t, "`NAME.COLUMN[K]` is the value in row K, from 0");
        if (is_one_of(name, "loc iloc") && accept(t, "["))
            return chain_index(t, chain, name[0] == 'l');
        if (strcmp(name, "shape") == 0 && accept(t, "[")) {
            const bool rows = accept(t, "0");
            (void)chain_end(t, chain, "count");
            return rows && accept(t, "]") ? true : tell(t, "`describe` lists the columns");
        }
        if (strcmp(name, "shape") == 0)
            return tell(t, "`count` counts the rows, `describe` lists the columns");
        if (strcmp(name, "height") == 0 && t->at == t->end)
            return chain_end(t, chain, "count");
        if (is_one_of(name, "columns dtypes schema index") && t->at == t->end)
            return chain_end(t, chain, "describe");
        if (is_one_of(name, "columns plot") && next_is(t, "."))
            return tell(t, *name == 'c' ? "`describe` lists the columns" : "`pick x, y | plot` draws y against x");
        if (is_one_of(name, "head tail") && t->at == t->end)
            return chain_end(t, chain, "%s", name);
        if (strcmp(name, "T") == 0)
            return tell(
                t, "`unpivot a, b as NAME, VALUE` makes rows of columns, `group K: first(x) across C` columns of rows");
        chain->column = translate_name(t, NULL, name);
        chain->is_column = true;
        return chain->column.text;
    }
    const size_t close = after_brackets(t, t->at) - 1;
    t->at++;
    if (is_one_of(name, "isna isnull") && t->at == close && token_is(t, close + 1, ".") &&
        token_is(t, close + 2, "sum") && close + 5 == t->end) {
        t->at = t->end;
        return chain_end(t, chain, "describe | pick column, missing");
    }
    if (!call(t, chain, name, close) || (t->at != close && !chain->done))
        return translate_fail(t, "`%s` has other arguments here; `.help stages` lists the stages", name).text;
    t->at = close + 1;
    return true;
}

/* pd.concat([a, b]), pd.melt(t, ...): what follows are methods of its result. */
bool pandas_frame(struct translator *t, struct chain *chain)
{
    const char *name = token_raw(t, t->at + 2);
    if (!is_one_of(name, "concat melt") || !token_is(t, t->at + 3, "("))
        return false;
    const size_t begin = t->at, close = after_brackets(t, t->at + 3) - 1;
    const bool concat = *name == 'c' && token_is(t, t->at + 4, "[");
    t->at += concat ? 5 : 4;
    chain->text = token_text(t, t->at++);
    t->frame = "";
    chain_columns(t, chain);
    while (concat && accept(t, ","))
        chain->text = arena_printf(t->arena, "%s | append %s", chain->text, token_text(t, t->at++));
    const bool good = concat ? accept(t, "]") : *name == 'm' && accept(t, ",") && frame_unpivot(t, chain, close);
    if (concat)
        chain_columns(t, chain);
    t->at = good ? close + 1 : begin;
    return good;
}

const char *pandas_function(struct translator *t)
{
    const char *name = token_raw(t, t->at + 2);
    const size_t close = token_is(t, t->at + 3, "(") ? after_brackets(t, t->at + 3) - 1 : t->end;
    const bool last = close + 1 == t->end;
    struct chain chain = {.text = token_raw(t, t->at + 4)};
    if (is_one_of(name, "merge merge_asof") && last && token_is(t, t->at + 5, ",")) {
        t->frame = chain.text;
        t->at += 6;
        const char *other = frame_argument(t);
        chain_columns(t, &chain);
        const bool joined =
            strcmp(name, "merge") == 0 ? join_with(t, &chain, close, other) : join_nearest(t, &chain, close, other);
        return joined && t->at == close ? chain.text : NULL;
    }
    const char *instead = instead_of_pandas(name);
    if (instead)
        return translate_fail(t, "%s", instead).text;
    return translate_fail(t, "there is no `pd.%s` here; `.help stages` lists what there is", name).text;
}
