/* Lines of R's data.table: `t[rows, columns, by = keys]`, one bracket after another. */
#include "repl/rewrite/chain.h"

#include <string.h>

static const char grouped[] =
    "`group K: AGG(x) as NAME` has an aggregate for each group, `per K: (STAGES)` runs stages "
    "within it";

/* `.(`, `list(`: whether a list begins there. */
static bool is_list(const struct translator *t, size_t at)
{
    return (token_is(t, at, ".") && token_is(t, at + 1, "(")) || (token_is(t, at, "list") && token_is(t, at + 1, "("));
}

/* `t[k != 1]`: a column stands there alone, as it does not in pandas. */
static bool is_condition(const struct translator *t, size_t at)
{
    while (token_is(t, at, "!") || token_is(t, at, "("))
        at++;
    return token_at(t, at)->kind == REWRITE_WORD && !known_relation(t, token_raw(t, at)) &&
           is_one_of(token_text(t, at + 1), "== != < <= > >= %");
}

bool is_data_table(const struct translator *t, size_t at)
{
    if (token_at(t, at)->kind != REWRITE_WORD || !token_is(t, at + 1, "[") || !known_relation(t, token_raw(t, at)))
        return false;
    const size_t close = after_brackets(t, at + 1) - 1;
    struct translator inner = *t;
    inner.end = close;
    const size_t comma = find_word(&inner, at + 2, ",");
    if ((token_is(t, at + 2, "order") && token_is(t, at + 3, "(")) || (comma == close && is_condition(t, at + 2)))
        return comma == close;
    for (size_t i = comma; i < close; i = find_word(&inner, i + 1, ",")) {
        if (is_list(t, i + 1) || (token_is(t, i + 1, ".") && token_at(t, i + 2)->kind == REWRITE_WORD) ||
            token_is(t, i + 2, ":=") ||
            ((token_is(t, i + 1, "by") || token_is(t, i + 1, "keyby")) && token_is(t, i + 2, "=")) ||
            (token_at(t, i + 1)->kind == REWRITE_WORD && token_is(t, i + 2, "(") && !token_is(t, i + 1, "c")))
            return true;
    }
    return false;
}

/* by = k, by = .(a, b), by = "k", by = c("a", "b"), up to `end` */
static const char *keys(struct translator *t, size_t end)
{
    const char *names = NULL;
    const bool list = is_list(t, t->at) || (next_is(t, "c") && token_is(t, t->at + 1, "("));
    t->at += list ? 2 : 0;
    while (t->at < end && !next_is(t, ")")) {
        const bool named = token_is(t, t->at + 1, "=");
        const char *name = named ? phrase_name(token_raw(t, t->at), t->arena) : NULL;
        t->at += named ? 2 : 0;
        const struct phrase key =
            next_kind(t) == REWRITE_QUOTED ? translate_name(t, NULL, token_raw(t, t->at++)) : translate_expression(t);
        if (!key.text)
            return NULL;
        list_add(t, &names, name ? "%s as %s" : "%s", key.text, name ? name : "");
        if (!accept(t, ","))
            break;
    }
    t->at += list;
    return names;
}

static bool rows(struct translator *t, struct chain *chain, size_t end)
{
    if (t->at == end)
        return true;
    if (next_kind(t) == REWRITE_NUMBER && token_is(t, t->at + 1, ":") && next_is(t, "1") && t->at + 3 == end) {
        (void)chain_add(t, chain, "take %s", token_text(t, t->at + 2));
        t->at = end;
        return true;
    }
    if (accept_two(t, "order", "(")) {
        const char *by = order_keys(t);
        return by && t->at == end && chain_add(t, chain, "sort %s", by);
    }
    const struct phrase condition = translate_range(t, t->at, end);
    t->at = end;
    return condition.text && chain_add(t, chain, "select %s", condition.text);
}

/* The columns, of groups if there are keys. */
static bool columns(struct translator *t, struct chain *chain, size_t end, const char *by)
{
    size_t aggregates = 0, count = 0;
    if (t->at == end)
        return !by || tell(t, grouped);
    if (accept_two(t, ".", "N")) {
        t->at = end;
        return by ? chain_add(t, chain, "group %s: count() as N", by) : chain_end(t, chain, "count");
    }
    if (next_is(t, ".") && !is_list(t, t->at))
        return tell(
            t, "`per K: top 1 by x` keeps rows of each group, `group K: mean(* of numeric)` computes of all columns");
    if (next_kind(t) == REWRITE_WORD && token_is(t, t->at + 1, ":=")) {
        const char *name = token_raw(t, t->at);
        const struct phrase value = translate_range(t, t->at + 2, end);
        t->at = end;
        return value.text && chain_add(t, chain, by ? "per %s: derive %s = %s" : "%sderive %s = %s", by ? by : "",
                                       phrase_name(name, t->arena), value.text);
    }
    if (next_is(t, "c") && token_is(t, t->at + 1, "(") && !by) {
        const char *names = keys(t, end);
        return names && t->at == end && chain_add(t, chain, "pick %s", names);
    }
    const bool list = is_list(t, t->at);
    t->at += list ? 2 : 0;
    const char *items = translate_list(t, end - list, false, &aggregates, &count);
    t->at = end;
    if (!items || (aggregates > 0 && aggregates < count) || (by && aggregates == 0))
        return tell(t, grouped);
    if (aggregates > 0)
        return chain_add(t, chain, "group%s%s: %s", by ? " " : "", by ? by : "", items);
    return chain_add(t, chain, "map %s", items);
}

/* One bracket, which is open. */
static bool bracket(struct translator *t, struct chain *chain)
{
    const size_t open = t->at - 1, close = after_brackets(t, open) - 1, whole = t->end;
    const char *by = NULL;
    t->end = close;
    const size_t first = find_word(t, t->at, ","), second = find_word(t, first + 1, ",");
    if (is_one_of(token_text(t, first + 1), "lapply sapply"))
        return tell(t, "`group K: mean(* of numeric)` computes of all columns");
    bool good = rows(t, chain, first);
    if (good && second < close) {
        t->at = second + 1;
        if (!accept_keyword(t, "by") && !accept_keyword(t, "keyby"))
            return tell(t, grouped);
        by = keys(t, close);
        good = by && t->at == close;
    }
    t->at = first + 1;
    t->end = second;
    good = good && (first >= close || columns(t, chain, second, by));
    t->end = whole;
    t->at = close + 1;
    return good;
}

const char *translate_data_table(struct translator *t)
{
    t->dialect = DIALECT_R;
    struct chain chain = {.text = token_raw(t, t->at++)};
    chain_columns(t, &chain);
    while (accept(t, "[")) {
        if (chain.done || !bracket(t, &chain))
            return t->told ? NULL : translate_fail(t, grouped).text;
    }
    return t->at == t->end ? chain.text : translate_fail(t, grouped).text;
}
