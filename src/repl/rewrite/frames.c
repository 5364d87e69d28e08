/* Lines of pandas: a frame, what is taken of it, its methods one after another. */
#include "repl/rewrite/frames.h"

#include "base/strbuf.h"

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
        names = names ? arena_printf(t->arena, "%s, %s", names, column.text) : column.text;
        if (!list || !accept(t, ","))
            break;
    }
    return !list || accept(t, "]") ? names : NULL;
}

void chain_columns(struct translator *t, const struct chain *chain)
{
    t->scope = (struct known_columns){0};
    (void)known_add_source(t, &t->scope, chain->text, NULL);
}

void chain_add(struct translator *t, struct chain *chain, const char *stage)
{
    chain->text = arena_printf(t->arena, "%s | %s", chain->text, stage);
    chain_columns(t, chain);
}

static bool fail(struct translator *t, const char *instead)
{
    (void)translate_fail(t, "%s", instead);
    return false;
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

/* The rows of a group with keys: those without a key are left out. */
static void drop_missing_keys(struct translator *t, struct chain *chain)
{
    for (size_t i = 0; i < t->scope.count; i++) {
        const struct known_column *column = &t->scope.columns[i];
        if (column->optional && is_one_of(column->text, chain->keys)) {
            chain->text = arena_printf(t->arena, "%s | select %s is not missing", chain->text, column->text);
        }
    }
}

/* Aggregates of the group: `groupby(...).agg(m = ("x", "mean"))`, `["x"].mean()`. */
static bool add_group(struct translator *t, struct chain *chain, const char *aggregates)
{
    const char *keys = chain->keys;
    char *list = arena_text(t->arena, keys, strlen(keys));
    for (char *at = list; *at; at++)
        *at = *at == ',' ? ' ' : *at;
    chain->keys = list;
    drop_missing_keys(t, chain);
    chain->keys = chain->columns = NULL;
    chain_add(t, chain, arena_printf(t->arena, "group %s: %s", keys, aggregates));
    return true;
}

static const char *aggregate_of(struct translator *t, const char *name, struct phrase column)
{
    if (!is_aggregate_name(t, name) || !column.text) {
        (void)translate_fail(t, "there is no `%s` here; `.help aggregates` lists what there is", name);
        return NULL;
    }
    const struct phrase result = translate_aggregate(t, name, &column, 1, false, NULL);
    return result.text;
}

/* The same aggregate of each selected column. */
static const char *aggregates_of(struct translator *t, const char *name, const char *columns)
{
    const char *result = NULL;
    while (columns && *columns) {
        const size_t length = strcspn(columns, ",");
        const struct phrase column = translate_name(t, NULL, arena_text(t->arena, columns, length));
        const char *text = aggregate_of(t, name, column);
        if (!text)
            return NULL;
        result = result ? arena_printf(t->arena, "%s, %s", result, text) : text;
        columns += length + strspn(columns + length, ", ");
    }
    return result;
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
            if (next_kind(t) != REWRITE_QUOTED)
                return translate_fail(t, "each aggregate is written: `group K: min(x), max(x)`").text;
            aggregate = token_raw(t, t->at++);
        } else if (!braces && columns && next_kind(t) == REWRITE_QUOTED) {
            aggregate = token_raw(t, t->at++);
            const char *all = aggregates_of(t, aggregate, columns);
            result = result && all ? arena_printf(t->arena, "%s, %s", result, all) : all;
            if (!result || !accept(t, ","))
                break;
            continue;
        }
        const char *text = aggregate ? aggregate_of(t, aggregate, column) : NULL;
        if (!text)
            return translate_fail(t, "the aggregates of a group follow its keys: `group K: mean(x) as m`").text;
        if (name)
            text = arena_printf(t->arena, "%s as %s", text, phrase_name(name, t->arena));
        result = result ? arena_printf(t->arena, "%s, %s", result, text) : text;
        if (!accept(t, ","))
            break;
    }
    if (braces || brackets)
        t->at++;
    return result;
}

static bool group_method(struct translator *t, struct chain *chain)
{
    if (accept(t, "[")) {
        t->at--;
        const bool list = token_is(t, t->at + 1, "[");
        t->at += list ? 1 : 0;
        if (!list)
            t->at++;
        chain->columns = parse_names(t);
        return chain->columns && expect(t, "]");
    }
    if (!accept(t, "."))
        return false;
    const char *name = token_raw(t, t->at++);
    if (!next_is(t, "(")) {
        chain->columns = translate_name(t, NULL, name).text;
        return chain->columns;
    }
    const size_t close = after_brackets(t, t->at) - 1;
    t->at++;
    const char *keys = chain->keys;
    const struct phrase column =
        chain->columns && !strchr(chain->columns, ',') ? translate_name(t, NULL, chain->columns) : (struct phrase){0};
    const char *stage = NULL;
    if (strcmp(name, "size") == 0 || (strcmp(name, "count") == 0 && !chain->columns)) {
        if (strcmp(name, "count") == 0)
            return fail(t, "`count()` counts the rows of a group, `count(x)` those that have x");
        t->at = close + 1;
        chain->last = t->at < t->end ? "n" : NULL;
        return add_group(t, chain, chain->last ? "count() as n" : "count()");
    }
    if (is_one_of(name, "agg aggregate")) {
        const char *aggregates = parse_agg(t, chain->columns, close);
        if (!aggregates || t->at != close)
            return fail(t, "the aggregates of a group follow its keys: `group K: mean(x) as m`");
        t->at++;
        return add_group(t, chain, aggregates);
    }
    if (strcmp(name, "transform") == 0 && column.text && next_kind(t) == REWRITE_QUOTED) {
        const char *text = aggregate_of(t, token_raw(t, t->at), column);
        stage = text ? arena_printf(t->arena, "map %s", text) : NULL;
    } else if (is_one_of(name, "cumsum shift diff rank cumcount pct_change") &&
               (column.text || strcmp(name, "cumcount") == 0)) {
        t->at -= 3;
        const struct phrase value =
            strcmp(name, "cumcount") == 0 ? phrase_operand("row", PHRASE_INT) : frame_method(t, column);
        stage = value.text ? arena_printf(t->arena, "map %s", value.text) : NULL;
    } else if (is_one_of(name, "head tail") && !chain->columns) {
        stage = arena_printf(t->arena, "%s %s", strcmp(name, "head") == 0 ? "take" : "tail",
                             t->at < close ? token_text(t, t->at) : "5");
    } else if (is_one_of(name, "apply filter")) {
        return fail(t, "functions of Python are not run here: `per K: (STAGES)` runs stages within each group");
    }
    if (stage) {
        t->at = close + 1;
        chain->keys = chain->columns = NULL;
        chain_add(t, chain, arena_printf(t->arena, "per %s: %s", keys, stage));
        if (strncmp(stage, "map", 3) == 0)
            return fail(t, arena_printf(t->arena, "`%s | per %s: derive NAME = %s` adds it to the rows", t->frame, keys,
                                        stage + 4));
        return true;
    }
    if (t->told || t->at != close || !chain->columns)
        return fail(t, "each aggregate of a group is written: `group K: mean(x), mean(y)`");
    t->at = close + 1;
    const char *aggregates = aggregates_of(t, name, chain->columns);
    if (aggregates && column.text && t->at < t->end) { /* what follows calls it as the column */
        aggregates = arena_printf(t->arena, "%s as %s", aggregates, column.text);
        chain->last = column.text;
    }
    return aggregates && add_group(t, chain, aggregates);
}

/* df[...] and df.loc[...] */
bool chain_index(struct translator *t, struct chain *chain, bool loc)
{
    const size_t open = t->at - 1, close = after_brackets(t, open) - 1;
    if (next_is(t, "[") || (next_kind(t) == REWRITE_QUOTED && t->at + 1 == close)) {
        const bool list = next_is(t, "[");
        const char *names = parse_names(t);
        if (!names || t->at != close)
            return fail(t, "`pick NAME, ...` keeps columns");
        t->at++;
        if (list)
            chain_add(t, chain, arena_printf(t->arena, "pick %s", names));
        else {
            chain->column = translate_name(t, NULL, names);
            chain->is_column = true;
        }
        return true;
    }
    const size_t colon = find_word(t, t->at, ":"), comma = find_word(t, t->at, ",");
    if (colon < close && !loc && comma > close) { /* df[a:b] */
        const char *from = t->at < colon ? token_text(t, t->at) : NULL;
        const char *to = colon + 1 < close ? token_text(t, colon + 1) : NULL;
        const bool simple = colon - t->at <= 1 && close - colon <= 2;
        if (from && strcmp(from, "-") == 0 && !to && colon == t->at + 2) {
            chain_add(t, chain, arena_printf(t->arena, "tail %s", token_text(t, t->at + 1)));
        } else {
            if (!simple)
                return fail(t, "`skip N`, `take N` and `tail N` keep rows by their places");
            const long skipped = from ? strtol(from, NULL, 10) : 0;
            if (skipped > 0)
                chain_add(t, chain, arena_printf(t->arena, "skip %ld", skipped));
            if (to)
                chain_add(t, chain, arena_printf(t->arena, "take %ld", strtol(to, NULL, 10) - skipped));
        }
        t->at = close + 1;
        return true;
    }
    const bool all = next_is(t, ":") && comma == t->at + 1;
    if (all) {
        t->at++;
    } else {
        const struct phrase condition = translate_expression(t);
        if (!condition.text)
            return false;
        if (condition.type != PHRASE_BOOL && condition.type != PHRASE_UNKNOWN)
            return fail(t, "rows have places, no labels: `take 1`, `skip N | take 1`");
        chain->text = arena_printf(t->arena, "%s | select %s", chain->text, condition.text);
    }
    if (loc && accept(t, ",")) {
        const bool list = next_is(t, "[");
        const char *names = parse_names(t);
        if (!names)
            return fail(t, "`pick NAME, ...` keeps columns");
        if (list)
            chain_add(t, chain, arena_printf(t->arena, "pick %s", names));
        chain->column = list ? (struct phrase){0} : translate_name(t, NULL, names);
        chain->is_column = !list;
    }
    return expect(t, "]");
}

/* Methods of a column that give something else than a column. */
static bool column_method(struct translator *t, struct chain *chain)
{
    const char *name = token_raw(t, t->at + 1);
    const size_t open = t->at + 2, close = token_is(t, open, "(") ? after_brackets(t, open) - 1 : open;
    const char *x = chain->column.text;
    const char *argument = close > open + 1 ? token_text(t, open + 1) : NULL;
    const bool plain = close <= open + 2;
    const char *present = chain->column.optional ? arena_printf(t->arena, "select %s is not missing | ", x) : "";
    const char *stage = NULL;
    if (strcmp(name, "value_counts") == 0 && close == open + 1)
        stage = arena_printf(t->arena, "%sgroup %s: count() as n | sort n desc", present, x);
    else if (strcmp(name, "unique") == 0 && close == open + 1)
        stage = arena_printf(t->arena, "map %s | distinct", x);
    else if (strcmp(name, "drop_duplicates") == 0 && close == open + 1)
        stage = arena_printf(t->arena, "map %s | distinct", x);
    else if (strcmp(name, "dropna") == 0 && close == open + 1)
        stage = arena_printf(t->arena, "%smap %s", present, x);
    else if (is_one_of(name, "head tail") && plain)
        stage = arena_printf(t->arena, "map %s | %s %s", x, strcmp(name, "head") == 0 ? "take" : "tail",
                             argument ? argument : "5");
    else if (is_one_of(name, "nlargest nsmallest") && plain)
        stage = arena_printf(t->arena, "map %s as x | top %s by x%s", x, argument ? argument : "5",
                             name[1] == 's' ? " asc" : "");
    else if (strcmp(name, "sort_values") == 0 && (close == open + 1 || token_is(t, open + 1, "ascending")))
        stage = arena_printf(t->arena, "map %s as x | sort x%s", x,
                             close > open + 1 && token_is(t, open + 3, "False") ? " desc" : "");
    else if (is_one_of(name, "describe hist plot") && close == open + 1)
        stage = arena_printf(t->arena, "pick %s | %s", x, name);
    else if (is_one_of(name, "tolist to_list to_frame copy") && close == open + 1)
        stage = arena_printf(t->arena, "map %s", x);
    if (!stage)
        return false;
    t->at = close + 1;
    chain->text = arena_printf(t->arena, "%s | %s", chain->text, stage);
    chain->done = true;
    return true;
}

/* What was made, once all tokens are read. */
static const char *finish(struct translator *t, const struct chain *chain)
{
    if (t->at < t->end)
        return translate_fail(t, "`%s` is not understood after a frame", token_text(t, t->at)).text;
    if (chain->keys)
        return translate_fail(t, "the aggregates of a group follow its keys: `group K: mean(x)`").text;
    if (!chain->is_column || chain->done)
        return chain->text;
    if (!chain->column.aggregate)
        return arena_printf(t->arena, "%s | %s %s", chain->text, chain->column.column ? "pick" : "map",
                            chain->column.text);
    const char *terminal = terminal_of(t, &chain->column);
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
    return finish(t, chain);
}

const char *translate_frame(struct translator *t)
{
    const size_t begin = t->at;
    struct chain chain = {0};
    const char *name = token_raw(t, t->at);
    if (is_one_of(name, "pd pandas pl polars")) {
        if (!token_is(t, t->at + 3, "(") ||
            !is_one_of(token_raw(t, t->at + 2), "read_csv read_parquet read_json read_feather scan_csv scan_parquet"))
            return pandas_function(t);
        chain.text = arena_printf(t->arena, "load %s", token_text(t, t->at + 4));
        t->at += 6;
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
    if (!value.text || again.at != again.end) {
        t->told = t->told ? t->told : again.told;
        return NULL;
    }
    t->at = again.at;
    chain = (struct chain){.text = name, .is_column = true, .column = value};
    t->told = NULL;
    return finish(t, &chain);
}
