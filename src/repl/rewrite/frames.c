/* Lines of pandas: a frame, what is taken of it, its methods one after another. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *parse_names(struct translator *t)
{
    const bool list = accept(t, "[");
    const char *names = NULL;
    while (next_kind(t) == REWRITE_QUOTED) {
        const struct phrase column = translate_name(t, NULL, token_raw(t, t->at++));
        if (!column.text)
            return NULL;
        list_add(t, &names, "%s", column.text);
        if (!list || !accept(t, ","))
            break;
    }
    return !list || accept(t, "]") ? names : NULL;
}

const char *terminal_of(struct translator *t, const struct phrase *aggregate)
{
    const size_t name = strcspn(aggregate->text, "("), length = strlen(aggregate->text);
    int depth = 0;
    for (size_t i = name; i < length; i++) {
        depth += aggregate->text[i] == '(' ? 1 : aggregate->text[i] == ')' ? -1 : 0;
        if (depth == 0 && i + 1 < length)
            return NULL;
    }
    if (name == length || strncmp(aggregate->text, "distinct", name) == 0 ||
        strspn(aggregate->text, "abcdefghijklmnopqrstuvwxyz") != name)
        return NULL;
    return arena_printf(t->arena, "%.*s%s%.*s", (int)name, aggregate->text, length - name > 2 ? " " : "",
                        (int)(length - name - 2), aggregate->text + name + 1);
}

void drop_missing_keys(struct translator *t, struct chain *chain, const char *keys)
{
    for (size_t i = 0; i < t->scope.count && !chain->keeps_missing; i++) {
        const struct known_column *column = &t->scope.columns[i];
        if (column->optional && list_has(t, keys, column->text))
            chain->text = arena_printf(t->arena, "%s | select %s is not missing", chain->text, column->text);
    }
}

bool chain_group(struct translator *t, struct chain *chain, const char *aggregates)
{
    const char *keys = chain->keys, *place = known_find(&t->scope, NULL, "place") ? "place_of_group" : "place";
    chain->keys = chain->columns = NULL;
    return chain->appears ? chain_add(t, chain, "group %s: %s, min(row) as %s | sort %s | drop %s", keys, aggregates,
                                      place, place, place)
                          : chain_add(t, chain, "group %s: %s", keys, aggregates);
}

/* Aggregates of the group: `groupby(...).agg(m = ("x", "mean"))`, `["x"].mean()`. */
static bool add_group(struct translator *t, struct chain *chain, const char *aggregates)
{
    drop_missing_keys(t, chain, chain->keys);
    return chain_group(t, chain, aggregates);
}

static const char *aggregate_of(struct translator *t, const char *name, struct phrase column)
{
    if (strcmp(name, "lambda") == 0)
        return translate_fail(t, "functions of Python are not run here: `group K: max(x) - min(x)` computes with "
                                 "aggregates")
            .text;
    if (!is_aggregate_name(t, name) || !column.text) {
        (void)translate_fail(t, "there is no `%s` here; `.help aggregates` lists what there is", name);
        return NULL;
    }
    const struct phrase result = translate_aggregate(t, name, &column, 1, false, NULL);
    return result.text;
}

/* The same aggregate of each selected column. */
static bool add_aggregates(struct translator *t, const char **list, const char *name, const char *columns)
{
    for (const char *column; (column = list_next(t, &columns));) {
        const char *text = aggregate_of(t, name, translate_name(t, NULL, column));
        if (!text)
            return false;
        list_add(t, list, "%s", text);
    }
    return *list;
}

/* agg("mean"), agg(["min", "max"]), agg({"x": "mean"}), agg(m = ("x", "mean")) */
static const char *parse_agg(struct translator *t, const char *columns, size_t close)
{
    const char *result = NULL;
    const bool braces = accept(t, "{"), brackets = !braces && accept(t, "[");
    while (t->at < close && next_kind(t) != REWRITE_SIGN) {
        const char *name = NULL, *aggregate = NULL;
        struct phrase column = {0};
        if (next_kind(t) == REWRITE_WORD && token_is(t, t->at + 1, "=") && token_is(t, t->at + 2, "(")) {
            name = token_text(t, t->at);
            column = translate_name(t, NULL, token_raw(t, t->at + 3));
            aggregate = token_raw(t, t->at + 5);
            t->at += 7;
        } else if (braces && token_is(t, t->at + 1, ":")) {
            column = translate_name(t, NULL, token_raw(t, t->at));
            t->at += 2;
            const bool several = accept(t, "[");
            while (several && next_kind(t) == REWRITE_QUOTED && token_is(t, t->at + 1, ",")) {
                const char *one = aggregate_of(t, token_raw(t, t->at), column);
                if (!one)
                    return NULL;
                list_add(t, &result, "%s", one);
                t->at += 2;
            }
            if (next_kind(t) != REWRITE_QUOTED)
                return translate_fail(t, "each aggregate is written: `group K: min(x), max(x)`").text;
            aggregate = token_raw(t, t->at++);
            if (several && !accept(t, "]"))
                return NULL;
        } else if (!braces && columns && next_kind(t) == REWRITE_QUOTED) {
            if (!add_aggregates(t, &result, token_raw(t, t->at++), columns))
                return NULL;
            if (!accept(t, ","))
                break;
            continue;
        }
        const char *text = aggregate ? aggregate_of(t, aggregate, column) : NULL;
        if (!text)
            return translate_fail(t, "the aggregates of a group follow its keys: `group K: mean(x) as m`").text;
        list_add(t, &result, name ? "%s as %s" : "%s", text, name ? phrase_name(name, t->arena) : "");
        if (!accept(t, ","))
            break;
    }
    if (braces || brackets)
        t->at++;
    return result;
}

/* ["x"], [["x", "y"]], .x */
static bool select_of_group(struct translator *t, struct chain *chain)
{
    if (accept(t, ".")) {
        chain->columns = translate_name(t, NULL, token_raw(t, t->at++)).text;
        return chain->columns;
    }
    t->at += !token_is(t, t->at + 1, "[");
    if (next_is(t, "[") && token_is(t, t->at + 1, "["))
        t->at++;
    chain->columns = parse_names(t);
    return chain->columns && expect(t, "]");
}

struct phrase grouped_value(struct translator *t)
{
    struct chain chain = {0};
    struct phrase_window *window = arena_alloc(t->arena, sizeof *window);
    struct phrase value = {0};
    const size_t close = after_brackets(t, t->at + 1) - 1;
    if (t->rows != ROWS_ALL)
        return translate_fail(t, "in a chain the frame's name is the frame as it was, with all its rows in their "
                                 "order: compute the values of its groups first, `per K: derive NAME = E`");
    t->at += 2;
    (void)accept_keyword(t, "by");
    *window = (struct phrase_window){.partition = parse_names(t)};
    t->at = close + 1;
    if (!window->partition || (!next_is(t, "[") && token_is(t, t->at + 2, "(")))
        value = phrase_operand("row", PHRASE_INT);
    else if (select_of_group(t, &chain))
        value = translate_name(t, NULL, chain.columns);
    if (!window->partition || !value.text || !accept(t, "."))
        return translate_fail(t, "`per K: derive NAME = E` computes within groups");
    const char *name = token_raw(t, t->at);
    const size_t end = after_brackets(t, t->at + 1);
    t->at--;
    if (is_one_of(name, "cumcount size")) {
        value = phrase_operand(*name == 's' ? "count()" : "row", PHRASE_INT);
    } else if (strcmp(name, "transform") == 0) {
        const char *aggregate = token_raw(t, t->at + 3);
        value = next_kind(t) == REWRITE_SIGN && token_at(t, t->at + 3)->kind == REWRITE_QUOTED &&
                        is_aggregate_name(t, aggregate)
                    ? translate_aggregate(t, aggregate, &value, 1, false, NULL)
                    : translate_fail(t, "`per K: derive NAME = E` computes within groups");
    } else if (is_one_of(name, "cumsum cummax shift diff rank pct_change ffill bfill")) {
        value = frame_method(t, value);
    } else {
        return translate_fail(t, "`per K: derive NAME = E` computes within groups");
    }
    for (size_t i = 0; value.text && i < t->scope.count; i++) {
        const struct known_column *key = &t->scope.columns[i];
        if (key->optional && list_has(t, window->partition, key->text))
            value.text = arena_printf(t->arena, "missing(%s) ? missing : %s", key->text, value.text),
            value.level = LEVEL_CHOICE, value.optional = true;
    }
    t->at = end;
    value.window = window;
    value.aggregate = value.other_rows = false;
    value.column = NULL;
    return value;
}

/* What there is instead of methods of groups. */
static const struct instead of_groups[] = {
    {"describe",
     "`per K: describe` has a row for each group and column, `group K: count(x), mean(x), stddev(x)` one for "
     "each group"},
    {"nlargest nsmallest",
     "`per K: top N by x` keeps the rows of each group with the largest x, `by x asc` the smallest"},
    {"nth", "`per K: (skip N | take 1)` keeps a row of each group"},
    {"rolling expanding ewm resample", "`per K: derive m = mean(x) over -2..0` is of three rows within each group"},
    {"idxmax idxmin", "`per K: top 1 by x` keeps the row of each group with the largest x"},
    {"apply", "functions of Python are not run here: `group K: max(x) - min(x)` computes with aggregates, `per K: "
              "(STAGES)` within each group"},
};

static bool group_method(struct translator *t, struct chain *chain)
{
    if (token_is(t, t->at + 1, "ngroups") && t->at + 2 == t->end) {
        const char *keys = chain->keys;
        t->at += 2;
        drop_missing_keys(t, chain, keys);
        chain->keys = NULL;
        return chain_end(t, chain, "map %s | distinct | count", keys);
    }
    if (next_is(t, "[") || !token_is(t, t->at + 2, "("))
        return (next_is(t, "[") || next_is(t, ".")) && select_of_group(t, chain);
    const char *name = token_raw(t, t->at + 1);
    const size_t begin = t->at, close = after_brackets(t, t->at + 2) - 1;
    const bool one = chain->columns && !strchr(chain->columns, ',');
    const struct phrase column = one ? translate_name(t, NULL, chain->columns) : (struct phrase){0};
    const char *aggregates = NULL;
    t->at += 3;
    const char *instead = t->polars ? NULL : find_instead(of_groups, sizeof of_groups / sizeof *of_groups, name);
    if (instead)
        return tell(t, instead);
    if (t->polars && !chain->columns)
        return polars_group(t, chain, name, close);
    if (strcmp(name, "count") == 0 && !chain->columns)
        return tell(t, "`count()` counts the rows of a group, `count(x)` those that have x");
    if (strcmp(name, "size") == 0) {
        t->at = close + 1;
        chain->last = t->at < t->end ? "n" : NULL;
        return add_group(t, chain, chain->last ? "count() as n" : "count()");
    }
    if (is_one_of(name, "agg aggregate")) {
        aggregates = parse_agg(t, chain->columns, close);
        if (!aggregates || t->at++ != close)
            return tell(t, "the aggregates of a group follow its keys: `group K: mean(x) as m`");
        return add_group(t, chain, aggregates);
    }
    if ((column.text && is_one_of(name, "transform cumsum shift diff rank pct_change")) ||
        strcmp(name, "cumcount") == 0) { /* a value of each row */
        t->at = begin;
        const char *text = *name == 't'  ? aggregate_of(t, token_raw(t, begin + 3), column)
                           : column.text ? frame_method(t, column).text
                                         : "row";
        return text && translate_fail(t, "`%s | per %s: derive NAME = %s` adds it to the rows", t->frame, chain->keys,
                                      strcmp(name, "cumcount") == 0 ? "row" : text)
                           .text;
    }
    if (!chain->columns) {
        bool found;
        const char *keys = chain->keys;
        drop_missing_keys(t, chain, keys);
        if (chain_verb(t, chain, VERB_GROUP, name, close, &found)) {
            chain->keys = NULL;
            t->at = close + 1;
            return true;
        }
        chain->keys = keys;
    }
    if (column.text && strcmp(name, "quantile") == 0 && next_kind(t) == REWRITE_NUMBER && t->at + 1 == close &&
        close + 1 == t->end) {
        struct phrase both[] = {column, phrase_operand(token_text(t, t->at), PHRASE_FLOAT)};
        t->at = close + 1;
        return add_group(t, chain, translate_aggregate(t, name, both, 2, false, NULL).text);
    }
    if (t->told || t->at != close || !chain->columns)
        return tell(t, "each aggregate of a group is written: `group K: mean(x), mean(y)`, or `mean(* of numeric)`");
    t->at = close + 1;
    if (!add_aggregates(t, &aggregates, name, chain->columns))
        return false;
    if (column.text && t->at < t->end) { /* what follows calls it as the column */
        aggregates = arena_printf(t->arena, "%s as %s", aggregates, column.text);
        chain->last = column.text;
    }
    return add_group(t, chain, aggregates);
}

/* The rows for which a condition holds, within its groups if it has some. */
static bool keep_rows(struct translator *t, struct chain *chain)
{
    const struct phrase condition = translate_expression(t);
    if (!condition.text) /* untold: its parts do not go together */
        return tell(t,
                    "values of two groupings: `per A: derive a = mean(x) | per B: derive b = mean(x)`, and a `select` "
                    "behind them compares");
    if (!is_of_one_kind(t, &condition))
        return false;
    const char *keys = condition.window ? condition.window->partition : NULL;
    if (condition.type != PHRASE_BOOL && condition.type != PHRASE_UNKNOWN)
        return tell(t, "rows have places, no labels: `take 1`, `skip N | take 1`");
    chain->text = arena_printf(t->arena, keys ? "%s | per %s: select %s" : "%s | %sselect %s", chain->text,
                               keys ? keys : "", condition.text);
    t->rows = t->rows == ROWS_ALL ? ROWS_SOME : t->rows;
    return true;
}

/* df[...] and df.loc[...] */
bool chain_index(struct translator *t, struct chain *chain, bool loc)
{
    const size_t open = t->at - 1, close = after_brackets(t, open) - 1;
    if (!loc && (next_is(t, "[") || (next_kind(t) == REWRITE_QUOTED && t->at + 1 == close))) {
        const bool list = next_is(t, "[");
        const char *names = parse_names(t);
        if (!names || t->at != close)
            return tell(t, "`pick NAME, ...` keeps columns");
        t->at++;
        if (list)
            return chain_add(t, chain, "pick %s", names);
        chain->column = translate_name(t, NULL, names);
        return chain->is_column = true;
    }
    if (loc && next_kind(t) == REWRITE_QUOTED)
        return tell(t, "rows have no labels: `select k == 'a'` finds rows");
    const size_t colon = find_word(t, t->at, ":"), comma = find_word(t, t->at, ",");
    if (colon < close && !loc && comma > close) { /* df[a:b] */
        const char *from = t->at < colon ? token_text(t, t->at) : NULL;
        const char *to = colon + 1 < close ? token_text(t, colon + 1) : NULL;
        const bool simple = colon - t->at <= 1 && close - colon <= 2;
        if (from && strcmp(from, "-") == 0 && !to && colon == t->at + 2) {
            (void)chain_add(t, chain, "tail %s", token_text(t, t->at + 1));
        } else {
            if (!simple)
                return tell(t, "`skip N`, `take N` and `tail N` keep rows by their places");
            const long skipped = from ? strtol(from, NULL, 10) : 0;
            if (skipped > 0)
                (void)chain_add(t, chain, "skip %ld", skipped);
            if (to)
                (void)chain_add(t, chain, "take %ld", strtol(to, NULL, 10) - skipped);
        }
        t->at = close + 1;
        return true;
    }
    const bool all = next_is(t, ":") && comma == t->at + 1;
    if (all) {
        t->at++;
    } else if (!keep_rows(t, chain)) {
        return false;
    }
    if (loc && accept(t, ",")) {
        const bool list = next_is(t, "[");
        const char *names = parse_names(t);
        if (!names)
            return tell(t, "`pick NAME, ...` keeps columns");
        if (list)
            (void)chain_add(t, chain, "pick %s", names);
        chain->column = list ? (struct phrase){0} : translate_name(t, NULL, names);
        chain->is_column = !list;
    }
    return expect(t, "]");
}

/* Methods of a column that give something else than a column. */
static bool column_method(struct translator *t, struct chain *chain)
{
    const size_t begin = t->at, open = begin + 2, close = token_is(t, open, "(") ? after_brackets(t, open) - 1 : open;
    bool found;
    t->at = open + (close > open);
    const char *name = token_raw(t, begin + 1);
    const bool good = chain_verb(t, chain, VERB_COLUMN, name, close, &found);
    if (good && strcmp(name, "value_counts") == 0) {
        chain->is_column = false;
        chain->last = "n";
    }
    t->at = good ? close + (close > open) : begin;
    return good;
}

/* What was made, once all tokens are read. */
const char *chain_finish(struct translator *t, const struct chain *chain)
{
    if (next_is(t, ","))
        return translate_fail(t, "`group: mean(x), stddev(x)` has several aggregates, `map a, b` several columns").text;
    if (t->at < t->end)
        return translate_fail(t, "`%s` is not understood after a frame", token_text(t, t->at)).text;
    if (chain->keys)
        return translate_fail(t, "the aggregates of a group follow its keys: `group K: mean(x)`").text;
    if (!chain->is_column || chain->done)
        return chain->text;
    const struct phrase *column = &chain->column;
    if (!is_of_one_kind(t, column))
        return NULL;
    if (column->window && column->window->partition)
        return arena_printf(t->arena, "%s | per %s: derive value = %s | pick value", chain->text,
                            column->window->partition,
                            column->type == PHRASE_BOOL ? as_value(t, *column).text : column->text);
    if (!column->aggregate)
        return arena_printf(t->arena, "%s | %s %s", chain->text, column->column ? "pick" : "map",
                            column->type == PHRASE_BOOL && !column->column ? as_value(t, *column).text : column->text);
    struct known_columns of_all = {0};
    const char *values = column->type == PHRASE_BOOL ? as_value(t, *column).text : column->text;
    if (!known_add_source(t, &of_all, arena_printf(t->arena, "%s | group: %s", chain->text, values), NULL) &&
        known_add_source(t, &of_all, arena_printf(t->arena, "%s | map %s", chain->text, values), NULL))
        return arena_printf(t->arena, "%s | map %s", chain->text, values);
    /* Of no rows a stage at the end is an error, where others have a missing value. */
    const bool none = strstr(chain->text, " | select ") && strncmp(chain->column.text, "sum(", 4) != 0 &&
                      strncmp(chain->column.text, "count(", 6) != 0;
    const char *terminal = none ? NULL : terminal_of(t, &chain->column);
    return terminal ? arena_printf(t->arena, "%s | %s", chain->text, terminal)
                    : arena_printf(t->arena, "%s | group: %s", chain->text, chain->column.text);
}

static const char *translate_chain(struct translator *t, struct chain *chain)
{
    while (t->at < t->end && !chain->done) {
        bool good;
        if (chain->keys)
            good = group_method(t, chain);
        else if (chain->is_column && next_is(t, ".") && column_method(t, chain))
            good = true;
        else if (chain->is_column && next_is(t, "."))
            good = (chain->column = frame_method(t, chain->column)).text;
        else if (chain->is_column)
            break;
        else if (accept(t, "["))
            good = chain_index(t, chain, false);
        else if (accept(t, "."))
            good = frame_step(t, chain);
        else
            break;
        if (!good)
            return NULL;
    }
    return chain_finish(t, chain);
}

size_t read_call(const struct translator *t, size_t at)
{
    size_t i = at;
    while (is_one_of(token_text(t, i), "pd pandas pl polars readr arrow data table duckdb vroom") ||
           token_is(t, i, ".") || token_is(t, i, ":") || token_is(t, i, "::"))
        i++;
    const bool dotted = token_is(t, i, "read") && token_is(t, i + 1, ".") && token_is(t, i + 2, "csv");
    const bool known = is_one_of(token_text(t, i), "read_csv read_parquet read_json read_feather read_ipc read_ndjson "
                                                   "read_tsv scan_csv scan_parquet scan_ipc scan_ndjson fread vroom");
    i += dotted ? 3 : 1;
    return (dotted || known) && token_is(t, i, "(") && token_at(t, i + 1)->kind == REWRITE_QUOTED ? i + 1 : at;
}

const char *translate_frame(struct translator *t)
{
    const size_t begin = t->at;
    struct chain chain = {0};
    const char *name = token_raw(t, t->at);
    t->polars = is_polars(t);
    const size_t path = read_call(t, begin);
    if (path > begin || is_one_of(name, "pd pandas pl polars")) {
        if (path == begin)
            return pandas_frame(t, &chain) ? translate_chain(t, &chain) : pandas_function(t);
        chain.text = arena_printf(t->arena, "load %s", token_text(t, path));
        t->at = after_brackets(t, path - 1);
        if (t->at != path + 2)
            return translate_fail(t, "`load FILE` finds out how a file is written, `load FILE sep ';' skip 2` says it")
                .text;
        t->frame = "";
    } else {
        const size_t in = begin + token_is(t, begin, "(");
        chain.text = t->frame = name = token_raw(t, in);
        t->at = in + 1;
    }
    chain_columns(t, &chain);
    struct translator again = *t;
    const char *result = token_is(t, begin, "(") ? NULL : translate_chain(t, &chain);
    if (result)
        return result;
    /* A computation with several columns. */
    again.at = begin;
    again.told = NULL;
    const struct phrase value = translate_expression(&again);
    if (!value.text || value.window || again.at != again.end) {
        if (!t->told || (again.told && strncmp(again.told, "there is no column", 18) != 0 && !next_is(t, "[") &&
                         strstr(t->told, "is not understood")))
            t->told = again.told;
        return NULL;
    }
    t->at = again.at;
    chain = (struct chain){.text = name, .is_column = true, .column = value};
    t->told = NULL;
    return chain_finish(t, &chain);
}
