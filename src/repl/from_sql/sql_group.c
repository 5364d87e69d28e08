/* Queries of SQL with groups, and the names that columns have after them. */
#include "repl/from_sql/sql.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The name that its first call gives it: of max(v) and of max(v) - 1, max_v. */
static const char *name_of_call(struct translator *t, const char *text)
{
    const char *guarded = guarded_part(text);
    text = guarded ? guarded : text;
    char *name = arena_text(t->arena, text, strcspn(text, " ,?"));
    for (char *at = name; *at; at++)
        *at = *at == '(' ? '_' : *at == ')' ? '\0' : *at;
    const size_t length = strlen(name);
    name[length > 0 && name[length - 1] == '_' ? length - 1 : length] = '\0';
    return name;
}

const char *group_column(struct translator *t, struct group_item *item)
{
    if (!item->name && item->phrase.column) {
        item->name = item->phrase.column;
    } else if (!item->name) {
        const char *name = name_of_call(t, item->phrase.text);
        bool taken = strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789") != strlen(name) || !*name;
        for (size_t i = 0; t->grouping && i < t->grouping->count; i++) {
            const struct group_item *other = &t->grouping->items[i];
            const char *others = other->name            ? other->name
                                 : other->phrase.column ? other->phrase.column
                                                        : name_of_call(t, other->phrase.text);
            taken = taken || (other != item && strcmp(others, name) == 0);
        }
        item->name = taken ? arena_printf(t->arena, "g%zu", (size_t)(item - t->grouping->items) + 1) : name;
    }
    return phrase_name(item->name, t->arena);
}

struct phrase of_group(struct translator *t, struct phrase phrase)
{
    for (size_t i = 0; phrase.text && i < t->grouping->count; i++) {
        struct group_item *item = &t->grouping->items[i];
        if (strcmp(item->phrase.text, phrase.text) != 0)
            continue;
        struct phrase column = phrase_operand(group_column(t, item), item->phrase.type);
        column.optional = item->phrase.optional;
        column.column = column.text;
        return column;
    }
    return (struct phrase){0};
}

static const struct named_text *find_alias(const struct translator *t, const char *name)
{
    const struct named_text *alias = t->aliases;
    while (alias && strcasecmp(alias->name, name) != 0)
        alias = alias->next;
    return alias;
}

struct phrase translate_name(struct translator *t, const char *table, const char *name)
{
    const struct known_column *column = known_find(&t->scope, table, name);
    if (!column && t->dialect == DIALECT_KQL && strcmp(name, "count_") == 0)
        column = known_find(&t->scope, NULL, "count");
    if (!column && t->dialect == DIALECT_KQL && strncmp(name, "avg_", 4) == 0)
        column = known_find(&t->scope, NULL, arena_printf(t->arena, "mean_%s", name + 4));
    const struct named_text *alias = table ? NULL : find_alias(t, name);
    if (alias && (!column || t->aliases_first || t->grouping)) {
        const struct phrase found = t->grouping ? of_group(t, alias->phrase) : alias->phrase;
        if (found.text)
            return found;
    }
    struct phrase phrase = {0};
    if (column && !column->text)
        return translate_fail(
            t, "a `left join` has no key of the right side: `anti join S on KEY` keeps the rows without a match");
    if (column) {
        phrase = phrase_operand(column->text, column->type);
        phrase.optional = column->optional;
    } else if (t->scope.open) {
        phrase = phrase_operand(phrase_name(name, t->arena), PHRASE_UNKNOWN);
        phrase.optional = true;
    } else {
        return translate_fail(
            t,
            table
                ? "there is no column `%s.%s`: a query within another reads its own rows; `per K: select x > mean(x)` "
                  "compares with the rows of a group"
                : "there is no column `%s%s`",
            table ? table : "", name);
    }
    phrase.column = phrase.text;
    if (!t->grouping)
        return phrase;
    phrase = of_group(t, phrase);
    return phrase.text ? phrase : translate_fail(t, "`%s` is no key of the group, and has no aggregate", name);
}

static bool add_key(struct translator *t, struct grouping *g, struct phrase phrase, const char *alias)
{
    if (!phrase.text || phrase.aggregate || phrase.window)
        return translate_fail(t, "a group has keys of its rows").text;
    *ARENA_PUSH(t->arena, g->items, g->count, g->capacity) =
        (struct group_item){.phrase = phrase, .key = true, .name = alias};
    return true;
}

static bool group_keys(struct translator *t, struct select *s, struct grouping *g)
{
    if (!s->clauses[GROUP].there)
        return true;
    enter_range(t, s->clauses[GROUP]);
    if (next_is(t, "grouping"))
        return translate_fail(t, "`group K, L: AGG(x) rollup` has subtotals of K, `cube` of each of its keys; `append` "
                                 "joins the rows of several queries")
            .text;
    size_t last = s->clauses[GROUP].end;
    g->totals = accept(t, "rollup") ? "rollup" : accept(t, "cube") ? "cube" : NULL;
    if (g->totals) {
        if (!expect(t, "("))
            return false;
        t->end = after_brackets(t, t->at - 1) - 1;
        if (t->end + 1 != last)
            return translate_fail(t, "all keys of a group are within its `%s`", g->totals).text;
        last = t->end;
    }
    if (token_is(t, t->at, "all") && t->at + 1 == t->end) {
        for (size_t i = 0; i < s->count; i++) {
            if (!s->items[i].phrase.aggregate && !add_key(t, g, s->items[i].phrase, s->items[i].alias))
                return false;
        }
        return true;
    }
    while (t->at < last) {
        const size_t begin = t->at, end = find_word(t, begin, ",");
        struct list_item *item = item_of_number(t, s, begin, end);
        struct phrase key = item ? item->phrase : translate_range(t, begin, end);
        const char *alias = NULL;
        for (size_t i = 0; key.text && i < s->count; i++) {
            if (s->items[i].phrase.text && strcmp(s->items[i].phrase.text, key.text) == 0)
                alias = s->items[i].alias;
        }
        if (!add_key(t, g, key, alias))
            return false;
        t->at = end + 1;
    }
    return true;
}

/* Whether the columns of the group are those of the list, in its order. */
static bool shows_all(const struct grouping *g, const struct select *s, size_t shown)
{
    size_t at = 0;
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < g->count; i++) {
            if (g->items[i].key != (pass == 0))
                continue;
            if (at >= s->count || !s->items[at].phrase.raw ||
                strcmp(s->items[at].phrase.raw, g->items[i].phrase.text) != 0)
                return false;
            at++;
        }
    }
    return at == s->count && shown == s->count;
}

static void write_group(struct translator *t, struct grouping *g, struct strbuf *out)
{
    strbuf_puts(out, " | group");
    for (size_t pass = 0; pass < 2; pass++) {
        const char *separator = pass == 0 ? " " : ": ";
        for (size_t i = 0; i < g->count; i++) {
            struct group_item *item = &g->items[i];
            if (item->key != (pass == 0))
                continue;
            strbuf_printf(out, "%s%s", separator, item->phrase.text);
            if (item->name && (!item->phrase.column || strcmp(item->phrase.column, item->name) != 0))
                strbuf_printf(out, " as %s", phrase_name(item->name, t->arena));
            separator = ", ";
        }
    }
    if (g->totals)
        strbuf_printf(out, " %s | drop %s", g->totals, strcmp(g->totals, "cube") == 0 ? "keys" : "level");
}

bool translate_group(struct translator *t, struct select *s)
{
    struct grouping *g = arena_alloc(t->arena, sizeof *g);
    const char *source = s->out.text ? arena_text(t->arena, s->out.text, s->out.length) : "";
    if (!group_keys(t, s, g))
        return false;
    /* Aggregates of the list are named by it. */
    for (size_t i = 0; i < s->count; i++) {
        struct list_item *item = &s->items[i];
        const size_t end = t->end;
        t->end = item->end;
        const bool over = find_word(t, item->begin, "over") < item->end;
        t->end = end;
        if (item->star)
            return translate_fail(t, "a group has keys and aggregates").text;
        if (!item->phrase.aggregate || over)
            continue;
        t->grouping = g;
        (void)place_aggregate(t, item->phrase);
        t->grouping = NULL;
        for (size_t k = 0; k < g->count; k++) {
            if (strcmp(g->items[k].phrase.text, item->phrase.text) == 0)
                g->items[k].name = item->alias;
        }
    }
    strbuf_clear(&s->out);
    t->grouping = g;
    const bool having = s->clauses[HAVING].there;
    const struct phrase condition =
        having ? translate_range(t, s->clauses[HAVING].begin, s->clauses[HAVING].end) : (struct phrase){0};
    if (having && !condition.text)
        return false;
    if (having)
        strbuf_printf(&s->out, " | select %s", condition.text);
    size_t shown = 0;
    for (size_t i = 0; i < s->count; i++) {
        struct list_item *item = &s->items[i];
        bool there = false;
        for (size_t k = 0; k < g->count; k++)
            there = there || (item->phrase.text && strcmp(g->items[k].phrase.text, item->phrase.text) == 0);
        shown += there;
        if (!there) {
            item->phrase = translate_range(t, item->begin, item->end);
            if (!item->phrase.text)
                return false;
            item->phrase.raw = NULL;
        } else {
            item->phrase.raw = item->phrase.text; /* as the group computes it */
        }
    }
    t->told = NULL;
    derive_windows(t, s);
    if (!add_order(t, s, false) || !add_limit(t, s))
        return false;
    if (!shows_all(g, s, shown)) {
        for (size_t i = 0; i < s->count; i++) {
            if (s->items[i].phrase.raw)
                s->items[i].phrase = of_group(t, s->items[i].phrase);
        }
        if (!add_list(t, s))
            return false;
    }
    t->grouping = NULL;
    if (s->distinct)
        strbuf_puts(&s->out, " | distinct");
    const char *rest = s->out.text ? arena_text(t->arena, s->out.text, s->out.length) : "";
    strbuf_clear(&s->out);
    strbuf_puts(&s->out, source);
    const bool rows =
        g->count == 1 && !g->items[0].key && !g->items[0].name && strcmp(g->items[0].phrase.text, "count()") == 0;
    if (rows && !*rest)
        strbuf_puts(&s->out, " | count");
    else
        write_group(t, g, &s->out);
    strbuf_puts(&s->out, rest);
    return true;
}
