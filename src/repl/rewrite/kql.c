#include "repl/rewrite/verbs.h"

#include <string.h>

/* The token after the stage that begins at `from`. */
static size_t stage_end(const struct translator *t, size_t from)
{
    return find_word(t, from, "|");
}

/* Whether stages or operators are those of KQL alone. */
bool is_kql(const struct translator *t, size_t at)
{
    if (token_at(t, at)->kind != REWRITE_WORD || !token_is(t, at + 1, "|"))
        return false;
    for (size_t i = at + 1; i < t->end; i = stage_end(t, i)) {
        i++;
        const size_t end = stage_end(t, i);
        if (token_is(t, i, "summarize") ||
            (token_is(t, i, "project") && (token_is(t, i + 1, "-") || find_word(t, i, "=") < end)) ||
            (token_is(t, i, "join") && token_is(t, i + 1, "kind")))
            return true;
        struct translator stage = *t;
        stage.end = end;
        const size_t word = find_word(
            &stage, i, "contains contains_cs startswith endswith has datetime ago iff strcat isnotnull isnull");
        if ((token_is(t, i, "where") || token_is(t, i, "extend")) && word < end && !token_is(t, word - 1, "."))
            return true;
        const size_t range = find_word(&stage, i, "between");
        if (range < end && token_is(t, range + 1, "("))
            return true;
        if (token_is(t, i, "extend") && find_word(&stage, i, "/") < end)
            return true;
    }
    return false;
}

static bool fail(struct translator *t, const char *instead)
{
    (void)translate_fail(t, "%s", instead);
    return false;
}

/* name = E, E: as `name = E` or `E as name`. */
static const char *assignments(struct translator *t, const char *stop, bool derives, bool *aggregates)
{
    const char *list = NULL;
    *aggregates = true;
    while (t->at < t->end && !next_is(t, stop)) {
        const bool named = token_is(t, t->at + 1, "=");
        const char *name = named ? phrase_name(token_raw(t, t->at), t->arena) : NULL;
        t->at += named ? 2 : 0;
        const struct phrase value = translate_expression(t);
        if (!value.text)
            return NULL;
        *aggregates = *aggregates && value.aggregate;
        const char *text = !name ? value.text
                                 : arena_printf(t->arena, derives ? "%s = %s" : "%s as %s", derives ? name : value.text,
                                                derives ? value.text : name);
        list = list ? arena_printf(t->arena, "%s, %s", list, text) : text;
        if (!accept(t, ","))
            break;
    }
    return list;
}

static bool summarize(struct translator *t, struct chain *chain)
{
    bool aggregates, ignored;
    const char *list = assignments(t, "by", false, &aggregates);
    const char *keys = accept(t, "by") ? assignments(t, "", false, &ignored) : "";
    if (!list || !keys || !aggregates)
        return fail(t, "`group K: AGG(x) as NAME` has its aggregates after a colon");
    chain_add(t, chain, arena_printf(t->arena, *keys ? "group %s: %s" : "group%s: %s", keys, list));
    return true;
}

static bool sort(struct translator *t, struct chain *chain)
{
    const char *keys = NULL;
    if (!accept(t, "by"))
        return false;
    do {
        const struct phrase key = translate_expression(t);
        if (!key.text)
            return false;
        const bool up = accept(t, "asc");
        (void)accept(t, "desc");
        if (next_is(t, "nulls") || (up && key.optional))
            return fail(t, "missing values come last in order");
        const char *text = arena_printf(t->arena, "%s%s", key.text, up ? "" : " desc");
        keys = keys ? arena_printf(t->arena, "%s, %s", keys, text) : text;
    } while (accept(t, ","));
    chain_add(t, chain, arena_printf(t->arena, "sort %s", keys));
    return true;
}

/* project-away a, b; project-rename new = old */
static bool project(struct translator *t, struct chain *chain)
{
    bool ignored;
    const bool minus = accept(t, "-");
    const bool away = minus && accept(t, "away"), rename = minus && !away && accept(t, "rename");
    if (minus && !away && !rename)
        return fail(t, "`pick` keeps columns, in this order");
    const char *list = assignments(t, "", false, &ignored);
    if (list)
        chain_add(t, chain, arena_printf(t->arena, "%s %s", away ? "drop" : rename ? "rename" : "map", list));
    return list;
}

static bool step(struct translator *t, struct chain *chain, const char *word)
{
    bool ignored;
    if (is_one_of(word, "where filter")) {
        const struct phrase condition = translate_expression(t);
        if (condition.text)
            chain_add(t, chain, arena_printf(t->arena, "select %s", condition.text));
        return condition.text;
    }
    if (strcmp(word, "summarize") == 0)
        return summarize(t, chain);
    if (strcmp(word, "project") == 0)
        return project(t, chain);
    if (strcmp(word, "extend") == 0) {
        const char *list = assignments(t, "", true, &ignored);
        if (list)
            chain_add(t, chain, arena_printf(t->arena, "derive %s", list));
        return list;
    }
    if (is_one_of(word, "sort order"))
        return sort(t, chain);
    if (is_one_of(word, "take limit") && next_kind(t) == REWRITE_NUMBER) {
        chain_add(t, chain, arena_printf(t->arena, "take %s", token_text(t, t->at++)));
        return true;
    }
    if (strcmp(word, "top") == 0 && next_kind(t) == REWRITE_NUMBER && token_is(t, t->at + 1, "by")) {
        const char *count = token_text(t, t->at);
        t->at += 2;
        const struct phrase key = translate_expression(t);
        const bool up = key.text && accept(t, "asc");
        (void)accept(t, "desc");
        if (key.text)
            chain_add(t, chain, arena_printf(t->arena, "top %s by %s%s", count, key.text, up ? " asc" : ""));
        return key.text;
    }
    if (strcmp(word, "distinct") == 0) {
        const char *list = assignments(t, "", false, &ignored);
        if (list)
            chain_add(t, chain, arena_printf(t->arena, "map %s | distinct", list));
        return list;
    }
    if (strcmp(word, "count") == 0 && t->at == t->end) {
        chain->text = arena_printf(t->arena, "%s | count", chain->text);
        return true;
    }
    if (strcmp(word, "join") == 0 || strcmp(word, "lookup") == 0)
        return fail(t, "`join S on KEY` joins with the columns of both, a key once; also `left join`, `anti join`");
    return fail(t, arena_printf(t->arena, "there is no `%s` here; `.help stages` lists what there is", word));
}

const char *translate_kql(struct translator *t)
{
    t->dialect = DIALECT_KQL;
    struct chain chain = {.text = token_raw(t, t->at++)};
    chain_columns(t, &chain);
    const size_t end = t->end;
    while (t->at < end && accept(t, "|")) {
        t->end = stage_end(t, t->at);
        const char *word = token_text(t, t->at++);
        if (!step(t, &chain, word))
            return NULL;
        if (t->at != t->end)
            return translate_fail(t, "`%s` is not understood there", token_text(t, t->at)).text;
        t->end = end;
    }
    return chain.text;
}
