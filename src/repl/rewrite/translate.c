#include "repl/rewrite/translate.h"

#include "repl/rewrite/chain.h"

#include <string.h>

static const char begins_with_source[] = "a query begins with its source; stages follow, each after a `|`";

/* The tokens before a query, as it is written here: `create table t as` is `let t =`. *begin: the query's first. */
static const char *prefix_of(struct translator *t, size_t *begin)
{
    size_t i = 0;
    const char *prefix = "";
    if (token_is(t, 0, "create")) {
        i = 1;
        i += token_is(t, i, "or") ? 2 : 0;
        i += token_is(t, i, "temp") || token_is(t, i, "temporary") ? 1 : 0;
        if ((!token_is(t, i, "table") && !token_is(t, i, "view")) || !token_is(t, i + 2, "as"))
            return NULL;
        prefix = arena_printf(t->arena, "let %s = ", token_text(t, i + 1));
        i += 3;
    } else if (token_is(t, 0, "let") && (token_is(t, 2, "=") || token_is(t, 2, "<-"))) {
        prefix = arena_printf(t->arena, "let %s = ", token_text(t, 1));
        i = 3;
    } else if (token_at(t, 0)->kind == REWRITE_WORD && (token_is(t, 1, "=") || token_is(t, 1, "<-")) &&
               token_at(t, 2)->kind == REWRITE_WORD) {
        prefix = arena_printf(t->arena, "let %s = ", token_text(t, 0));
        i = 2;
    } else if (token_is(t, 0, "explain")) {
        prefix = "explain ";
        i = 1;
    }
    *begin = i;
    return prefix;
}

/* Whether a query of SQL begins there. */
static bool is_sql(const struct translator *t, size_t at)
{
    while (token_is(t, at, "("))
        at++;
    if (token_is(t, at, "with"))
        return token_is(t, at + 2, "as") || token_is(t, at + 1, "recursive");
    if (token_is(t, at, "from"))
        return find_word(t, at, "select where group order limit having") < t->end;
    if (!token_is(t, at, "select") || find_word(t, at, "|") < t->end)
        return false;
    const size_t from = find_word(t, at, "from");
    return from < t->end && from > at + 1;
}

static const char *translate_sql(struct translator *t)
{
    return translate_query(t, t->at, t->end);
}

/* `select 1 + 1`, without a source: a value. */
static bool translate_value(struct translator *t, size_t at, struct translation *result)
{
    t->at = at + 1;
    const struct phrase value = translate_expression(t);
    const bool name = t->told && strncmp(t->told, "there is no column", 18) == 0;
    result->line = value.text && t->at == t->end && !value.aggregate ? value.text : NULL;
    result->message = "an expression or a pipeline prints its result";
    result->instead = t->told;
    return result->line || (t->told && !name);
}

/* update t set a = E, b = F [where C] */
static bool translate_update(struct translator *t, struct translation *result)
{
    const size_t where = find_word(t, 3, "where"), end = t->end;
    const char *source = phrase_name(token_raw(t, 1), t->arena), *list = NULL;
    struct phrase condition = {0};
    result->message = "`derive` computes a column, and `let` names the result; files do not change";
    (void)known_add_source(t, &t->scope, source, NULL);
    if (where < end)
        condition = translate_range(t, where + 1, end);
    t->end = where;
    for (t->at = 3; t->at < where; (void)accept(t, ",")) {
        const struct phrase column = translate_name(t, NULL, token_raw(t, t->at));
        t->at += 2;
        struct phrase value = translate_expression(t);
        if (where < end)
            value = choose(t, condition, value, column);
        if (!column.text || !value.text || (t->at < where && !next_is(t, ",")))
            break;
        list_add(t, &list, "%s = %s", column.text, value.text);
    }
    result->instead = t->told;
    if (list && !t->told && t->at == where)
        result->line = arena_printf(t->arena, "let %s = %s | derive %s", source, source, list);
    return true;
}

/* copy (QUERY) to 'FILE' ... */
static bool translate_copy(struct translator *t, struct translation *result)
{
    const size_t close = after_brackets(t, 1) - 1;
    if (!token_is(t, close + 1, "to") || close + 2 >= t->end || token_at(t, close + 2)->kind != REWRITE_QUOTED)
        return false;
    const char *query = translate_query(t, 2, close);
    result->message = "`save` writes a file";
    result->line = query ? arena_printf(t->arena, "%s | save %s", query, token_text(t, close + 2)) : NULL;
    result->instead = t->told;
    return true;
}

/* pivot t on c using agg(x) group by k */
static bool translate_pivot(struct translator *t, struct translation *result)
{
    const size_t on = find_word(t, 0, "on"), use = find_word(t, on, "using"), by = find_word(t, use, "group");
    result->message = begins_with_source;
    result->instead =
        "`group K: AGG(x) across C` makes a column of each value of C, `unpivot a, b as NAME, VALUE` the inverse";
    if (on != 2 || use != on + 2 || by >= t->end || !token_is(t, by + 1, "by"))
        return token_is(t, 2, "on");
    const char *source = token_raw(t, 1);
    if (!known_add_source(t, &t->scope, source, NULL))
        return true;
    const struct known_column *across = known_find(&t->scope, NULL, token_raw(t, on + 1));
    const bool gaps = across && across->optional;
    for (size_t i = 0; i < t->scope.count; i++)
        t->scope.columns[i].optional = true; /* where a group has no row of a value */
    const char *values = NULL, *keys = NULL;
    bool good = true;
    size_t count = 0;
    for (t->at = use + 1; good && t->at < by; count++) {
        const struct phrase value = translate_expression(t);
        const bool named = accept(t, "as") || (t->at < by && next_kind(t) == REWRITE_WORD);
        list_add(t, &values, named ? "%s as %s" : "%s", value.text, token_text(t, t->at));
        t->at += named;
        good = value.aggregate && (t->at == by || accept(t, ","));
    }
    for (t->at = by + 2; t->at < t->end && next_kind(t) == REWRITE_WORD; (void)accept(t, ",")) {
        const char *key = translate_name(t, NULL, token_raw(t, t->at++)).text;
        keys = keys && key ? arena_printf(t->arena, "%s, %s", keys, key) : key;
    }
    if (good && across && keys && t->at == t->end)
        result->line = arena_printf(t->arena, "%s | group %s: %s across %s%s", source, keys, values, across->text,
                                    !gaps       ? ""
                                    : count > 1 ? " | drop missing_*"
                                                : " | drop missing");
    return true;
}

/* Whether a line of pandas begins there: a name with a method, an index or an operator. */
static bool is_frame(struct translator *t, size_t at)
{
    at += token_is(t, at, "(");
    if (at >= t->end || token_at(t, at)->kind != REWRITE_WORD || find_word(t, at, "|> %>") < t->end)
        return false;
    const char *name = token_raw(t, at);
    if (is_one_of(name, "np numpy math"))
        return false;
    if ((is_one_of(name, "pd pandas pl polars") && token_is(t, at + 1, ".")) || read_call(t, at) > at)
        return true;
    if ((!token_is(t, at + 1, ".") || token_at(t, at + 2)->kind != REWRITE_WORD) && !token_is(t, at + 1, "["))
        return false;
    /* A name that is not known has to be written as in Python. */
    const bool method = token_is(t, at + 1, ".") && token_is(t, at + 3, "(");
    const bool index = token_is(t, at + 1, "[") && token_at(t, at + 1)->adjacent;
    const bool known = known_relation(t, name) || (!env_find(t->env, name) && (method || index));
    return known && find_word(t, at, "|") == t->end;
}

/* df["x"] = E, df.x = E, df = E, df.loc[c, "x"] = E: what is assigned, with the tokens of E at hand. */
static const char *assigned_column(struct translator *t, size_t *value)
{
    const bool point = token_is(t, 1, ".") && token_is(t, 3, "=");
    const bool brackets = token_is(t, 1, "[") && token_is(t, 3, "]") && token_is(t, 4, "=");
    *value = point ? 4 : 5;
    return known_relation(t, token_raw(t, 0)) && (point || brackets) ? token_raw(t, 2) : NULL;
}

/* df.loc[C, "x"] = E, with the token behind the bracket. */
static const char *assigned_rows(struct translator *t, size_t close)
{
    const char *frame = t->frame = token_raw(t, 0), *name = token_raw(t, close - 2);
    struct chain chain = {.text = frame};
    (void)known_add_source(t, &t->scope, frame, NULL);
    const struct phrase condition = translate_range(t, 4, close - 3), column = translate_name(t, NULL, name);
    const struct phrase value = translate_range(t, close + 1, t->end);
    const struct phrase chosen = choose(t, condition, value, column);
    return chosen.text && chain_derive(t, &chain, column.text, &chosen)
               ? arena_printf(t->arena, "let %s = %s", frame, chain.text)
               : NULL;
}

static bool translate_python(struct translator *t, size_t at, const char *prefix, struct translation *result)
{
    size_t value;
    t->dialect = DIALECT_PYTHON;
    result->message = "a stage follows its relation after a `|`";
    const size_t close = token_is(t, 2, "loc") && token_is(t, 3, "[") ? after_brackets(t, 3) : 0;
    if (at == 0 && close > 6 && token_is(t, close, "=") && token_is(t, close - 3, ",") &&
        known_relation(t, token_raw(t, 0))) {
        result->line = assigned_rows(t, close);
        result->message = "`derive` computes a column, and `let` names the result; files do not change";
        result->instead = t->told;
        return true;
    }
    const char *column = at == 0 && t->end > 4 ? assigned_column(t, &value) : NULL;
    if (column) {
        t->frame = token_raw(t, 0);
        t->at = value;
        (void)known_add_source(t, &t->scope, t->frame, NULL);
        struct phrase phrase = translate_expression(t);
        phrase = phrase.type == PHRASE_BOOL ? as_value(t, phrase) : phrase;
        struct chain chain = {.text = t->frame};
        result->message = "`derive` computes a column, and `let` names the result; files do not change";
        if (phrase.text && t->at == t->end && chain_derive(t, &chain, column, &phrase))
            result->line = arena_printf(t->arena, "let %s = %s", t->frame, chain.text);
        result->instead = t->told;
        return true;
    }
    if (token_is(t, 0, "len") && token_is(t, 1, "(") && after_brackets(t, 1) == t->end && t->end > 3 &&
        known_relation(t, token_raw(t, 2))) {
        t->at = 2;
        t->end--;
        const char *counted = t->end == 3 ? token_raw(t, 2) : translate_frame(t);
        result->message = "an aggregate is a stage after a `|`";
        result->line = counted ? arena_printf(t->arena, "%s | count", counted) : NULL;
        result->instead = t->told;
        return true;
    }
    if (is_one_of(token_text(t, at), "np numpy math") && token_is(t, at + 1, ".")) {
        for (size_t i = at; i < t->end && !t->frame; i++)
            t->frame = known_relation(t, token_raw(t, i)) ? token_raw(t, i) : NULL;
        if (!t->frame)
            return false;
        struct chain chain = {.text = t->frame, .is_column = true};
        chain_columns(t, &chain);
        t->at = at;
        chain.column = translate_expression(t);
        const char *text = chain.column.text ? chain_finish(t, &chain) : NULL;
        result->line = text ? arena_printf(t->arena, "%s%s", prefix, text) : NULL;
        result->instead = t->told;
        return true;
    }
    if (strncmp(prefix, "let ", 4) == 0)
        result->message = "`let` names a result; stages follow, each after a `|`";
    if (!is_frame(t, at))
        return false;
    t->at = at;
    const char *line = translate_frame(t);
    result->line = line ? arena_printf(t->arena, "%s%s", prefix, line) : NULL;
    result->instead = t->told && strstr(t->told, "is not understood") ? NULL : t->told;
    return true;
}

/* Whether each bracket is closed: behind an open one, calls would lose their arguments. */
static bool is_closed(const struct translator *t)
{
    int depth = 0;
    for (size_t i = 0; i < t->end && depth >= 0; i++) {
        const bool sign = token_at(t, i)->kind == REWRITE_SIGN;
        const char c = t->text->text[token_at(t, i)->begin];
        depth += !sign ? 0 : strchr("([{", c) ? 1 : strchr(")]}", c) ? -1 : 0;
    }
    return depth == 0;
}

struct translation translate_line(struct env *env, const char *before, const char *text, size_t length,
                                  struct arena *arena)
{
    struct translation result = {0};
    const struct rewrite_text tokens = rewrite_tokenize(text, length, arena);
    struct translator t = {
        .text = &tokens, .end = tokens.count, .env = env, .before = before, .arena = arena, .dialect = DIALECT_SQL};
    size_t begin;
    const char *prefix = prefix_of(&t, &begin);
    if (!prefix)
        return result;
    static const struct {
        bool (*begins)(const struct translator *t, size_t at);
        const char *(*translate)(struct translator *t);
        bool brackets; /* which all have to be closed: symbols of q are quotes to the tokens */
        const char *message;
    } dialects[] = {
        {is_shell, translate_shell, false,
         "a query begins with its source; the first line of a file names its columns"},
        {is_dplyr, translate_dplyr, true, "stages are separated by `|`, and have other words here"},
        {is_data_table, translate_data_table, true, begins_with_source},
        {is_base_r, translate_base_r, true, begins_with_source},
        {is_kql, translate_kql, true, "stages and functions have other words here, and comparisons of text heed case"},
        {is_q, translate_q, false, begins_with_source},
        {is_sql, translate_sql, true, begins_with_source},
    };
    const bool described = begin == 0 && (token_is(&t, 0, "describe") || token_is(&t, 0, "summarize")) && is_sql(&t, 1);
    begin += described;
    t.at = begin;
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        if (!dialects[i].begins(&t, begin))
            continue;
        const bool good = !dialects[i].brackets || is_closed(&t);
        const char *query = good ? dialects[i].translate(&t) : translate_fail(&t, "a bracket is not closed").text;
        return (struct translation){
            .found = true,
            .line = query ? arena_printf(arena, "%s%s%s", prefix, query, described ? " | describe" : "") : NULL,
            .message = arena_printf(arena, "%s%s%s", dialects[i].message,
                                    t.key_once ? "; the keys of a join are there once" : "",
                                    t.guarded ? "; the sum of nothing is 0, and missing in SQL" : ""),
            .instead = t.told,
        };
    }
    if (token_is(&t, begin, "copy") && token_is(&t, begin + 1, "("))
        result.found = translate_copy(&t, &result);
    else if (token_is(&t, begin, "pivot"))
        result.found = translate_pivot(&t, &result);
    else if (token_is(&t, begin, "update") && token_is(&t, 2, "set"))
        result.found = translate_update(&t, &result);
    else if (token_is(&t, begin, "select") && find_word(&t, begin, "from |") == t.end && begin == 0)
        result.found = translate_value(&t, begin, &result);
    else
        result.found = translate_python(&t, begin, prefix, &result);
    return result;
}
