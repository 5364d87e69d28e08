/* Queries of SQL within others whose rows they read: as joins. */
#include "repl/from_sql/sql.h"

#include <string.h>

/* The source of the query of tokens at..end-1, and how its rows match those of the query around it. */
static bool correlate(struct translator *t, size_t at, size_t end, struct side *side, struct keys *keys)
{
    struct translator inner = *t;
    const struct side outer = {.scope = t->scope};
    struct conjunct conjuncts[16];
    *keys = (struct keys){0};
    inner.end = end;
    inner.out = NULL;
    inner.at = find_word(&inner, at, "from") + 1;
    const size_t where = find_word(&inner, inner.at, "where");
    inner.end = where;
    if (where >= end || !sql_source(&inner, side) || inner.at != where)
        return false;
    inner.end = end;
    if (find_word(&inner, where, "group having order limit union except intersect") < end)
        return false;
    const size_t count = find_conjuncts(&inner, where + 1, end, conjuncts, 16);
    for (size_t i = 0; i < count; i++) {
        inner.end = conjuncts[i].end;
        if (!sql_add_key(&inner, &outer, side, conjuncts[i].begin, conjuncts[i].end, keys))
            (void)sql_add_condition(&inner, side, side, conjuncts[i], keys);
        inner.end = end;
    }
    if (keys->of_left)
        side->text = arena_printf(t->arena, "%s | select %s", side->text, keys->of_left);
    return keys->count > 0 && !keys->of_both && count > 0;
}

const char *translate_exists(struct translator *t, size_t at, size_t end, bool negated)
{
    struct side side;
    struct keys keys;
    if (!correlate(t, at, end, &side, &keys))
        return translate_fail(t, "`semi join S on KEY` keeps the rows that match something").text;
    const char *on = sql_join_keys(t, &keys);
    return on ? arena_printf(t->arena, "%s join %s on %s", negated ? "anti" : "semi", sql_joined_source(t, side.text),
                             on)
              : NULL;
}

const char *translate_in_query(struct translator *t, size_t begin, size_t in, size_t end)
{
    struct side side;
    struct keys keys;
    const struct side outer = {.scope = t->scope};
    struct translator inner = *t;
    inner.end = end;
    const size_t from = find_word(&inner, in + 2, "from");
    if (!correlate(t, in + 2, end, &side, &keys) || keys.count == 16)
        return NULL;
    keys.signs[keys.count] = NULL;
    keys.left[keys.count] = sql_column_of(&inner, &outer, begin, in);
    keys.right[keys.count] = sql_column_of(&inner, &side, in + 3, from);
    const bool good = keys.left[keys.count] && keys.right[keys.count];
    keys.count++;
    const char *on = good ? sql_join_keys(t, &keys) : NULL;
    return on ? arena_printf(t->arena, "semi join %s on %s", sql_joined_source(t, side.text), on) : NULL;
}

struct phrase translate_correlated(struct translator *t, size_t at, size_t end)
{
    struct side side;
    struct keys keys;
    if (!t->out || t->grouping || !token_is(t, at, "select") || !correlate(t, at, end, &side, &keys))
        return (struct phrase){0};
    struct translator inner = *t;
    inner.scope = side.scope;
    inner.end = end;
    inner.aliases = NULL;
    inner.value_of = NULL;
    inner.may_be_none = false;
    inner.told = NULL;
    inner.out = NULL;
    const struct phrase value = translate_range(&inner, at + 1, find_word(&inner, at, "from"));
    const char *text = value.text, *by = NULL, *on = sql_join_keys(t, &keys);
    if (!text || !value.aggregate || !on)
        return (struct phrase){0};
    /* Of no rows a count is 0, and other aggregates are missing. */
    const bool count =
        value.level == LEVEL_OPERAND && (strncmp(text, "count(", 6) == 0 || strncmp(text, "distinct(", 9) == 0);
    const bool guarded = guarded_part(text);
    if (!count && !guarded && (strstr(text, "count(") || strstr(text, "distinct(")))
        return (struct phrase){0};
    for (size_t i = 0; i < keys.count; i++) {
        if (keys.signs[i])
            return (struct phrase){0};
        list_add(t, &by, "%s", keys.right[i]->text);
    }
    const char *name = "value";
    for (size_t i = 2; known_find(&t->scope, NULL, name); i++)
        name = arena_printf(t->arena, "value%zu", i);
    strbuf_printf(t->out, " | left join (%s | group %s: %s as %s) on %s", side.text, by, text, name, on);
    list_add(t, &t->helpers, "%s", name);
    known_add(t, &t->scope,
              (struct known_column){.name = name, .text = name, .type = value.type, .optional = true, .hidden = true});
    struct phrase result = phrase_operand(name, value.type);
    result.optional = true;
    if (count)
        result = phrase_fill("A ?? 0", LEVEL_COALESCE, value.type, &result, 1, t->arena);
    result.optional = !count;
    return result;
}
