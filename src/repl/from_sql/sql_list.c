/* The list of a query of SQL: expressions, names, `*`. */
#include "repl/from_sql/sql.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct list_item *add_item(struct translator *t, struct select *s)
{
    return ARENA_PUSH(t->arena, s->items, s->count, s->capacity);
}

static const char *names_in_brackets(struct translator *t)
{
    const char *names = NULL;
    const bool brackets = accept(t, "(");
    do {
        const char *name = token_raw(t, t->at++);
        const struct known_column *column = known_find(&t->scope, NULL, name);
        name = column && column->text ? column->text : phrase_name(name, t->arena);
        list_add(t, &names, "%s", name);
    } while (brackets && accept(t, ","));
    return !brackets || expect(t, ")") ? names : NULL;
}

static bool parse_star(struct translator *t, struct list_item *item)
{
    item->star = STAR_ALL;
    if (accept(t, "exclude") || accept(t, "except")) {
        item->star = STAR_EXCLUDE;
        item->columns = names_in_brackets(t);
        return item->columns;
    }
    if (!accept_two(t, "replace", "("))
        return true;
    item->star = STAR_REPLACE;
    do {
        const struct phrase value = translate_expression(t);
        if (!value.text || !expect(t, "as"))
            return false;
        const char *name = phrase_name(token_raw(t, t->at++), t->arena);
        item->columns = item->columns ? arena_printf(t->arena, "%s, %s = %s", item->columns, name, value.text)
                                      : arena_printf(t->arena, "%s = %s", name, value.text);
    } while (accept(t, ","));
    return expect(t, ")");
}

bool parse_list(struct translator *t, struct select *s)
{
    if (accept(t, "distinct")) {
        s->distinct = true;
        if (accept(t, "on")) {
            s->distinct = false;
            s->distinct_on = (struct range){t->at + 1, after_brackets(t, t->at) - 1, true};
            t->at = s->distinct_on.end + 1;
        }
    }
    (void)accept(t, "all");
    if (next_is(t, "top") && token_at(t, t->at + 1)->kind == REWRITE_NUMBER) {
        s->top = token_text(t, t->at + 1);
        t->at += 2;
    }
    do {
        struct list_item item = {.begin = t->at};
        if (accept(t, "*")) {
            if (!parse_star(t, &item))
                return false;
        } else if (token_is(t, t->at + 1, ".") && token_is(t, t->at + 2, "*")) {
            item.table = token_raw(t, t->at);
            item.star = STAR_ALL;
            t->at += 3;
            if (next_is(t, "exclude") || next_is(t, "replace") || next_is(t, "except"))
                return tell(t, "`drop NAME, ...` leaves columns out, `pick NAME, ...` keeps some");
        } else {
            const size_t comma = find_word(t, t->at, ",");
            size_t end = comma;
            const bool as = comma >= t->at + 3 && token_is(t, comma - 2, "as");
            const enum rewrite_token_kind before = comma > t->at + 1 ? token_at(t, comma - 2)->kind : REWRITE_END;
            const bool bare =
                !as && comma > t->at + 1 && token_at(t, comma - 1)->kind != REWRITE_SIGN &&
                token_at(t, comma - 1)->kind != REWRITE_NUMBER && !token_is(t, comma - 1, "end") &&
                !token_is(t, comma - 1, "null") && !token_is(t, comma - 2, ".") &&
                (comma < t->at + 3 || !token_is(t, comma - 3, "interval")) &&
                (before != REWRITE_SIGN || token_is(t, comma - 2, ")") || token_is(t, comma - 2, "]")) &&
                !is_one_of(token_text(t, comma - 2),
                           "not and or in like date timestamp interval is then else over zone escape between");
            if (as || bare) {
                item.alias = token_raw(t, comma - 1);
                end = comma - (as ? 2 : 1);
            }
            item.end = end;
            t->at = comma;
        }
        *add_item(t, s) = item;
    } while (accept(t, ","));
    return t->at == t->end || translate_fail(t, "the list is not understood at `%s`", token_text(t, t->at)).text;
}

struct list_item *item_of_number(struct translator *t, struct select *s, size_t begin, size_t end)
{
    if (end != begin + 1 || token_at(t, begin)->kind != REWRITE_NUMBER)
        return NULL;
    long number = strtol(token_text(t, begin), NULL, 10);
    for (size_t i = 0; i < s->count; i++) {
        struct list_item *item = &s->items[i];
        if (!item->star && --number == 0)
            return item;
        if (item->star && (item->star != STAR_ALL || t->scope.open))
            return NULL;
        for (size_t k = 0; item->star && k < t->scope.count; k++) {
            const struct known_column *column = &t->scope.columns[k];
            if (column->hidden || !column->text || --number > 0)
                continue;
            struct list_item *shown = arena_alloc(t->arena, sizeof *shown);
            shown->phrase = phrase_operand(column->text, column->type);
            shown->phrase.column = column->text;
            shown->phrase.optional = column->optional;
            return shown;
        }
    }
    return NULL;
}

/* The list as the columns of `map`. */
static bool list_of(struct translator *t, struct select *s, struct strbuf *list)
{
    for (size_t i = 0; i < s->count; i++) {
        struct list_item *item = &s->items[i];
        if (item->star) {
            if (t->scope.open || item->star != STAR_ALL)
                return translate_fail(t, "`derive` adds columns to all that there are, `drop` leaves some out").text;
            bool any = false;
            for (size_t k = 0; k < t->scope.count; k++) {
                const struct known_column *column = &t->scope.columns[k];
                if ((item->table && (!column->table || strcasecmp(column->table, item->table) != 0)) || !column->text ||
                    (column->hidden && !item->table))
                    continue;
                any = true;
                strbuf_printf(list, "%s%s", list->length > 0 ? ", " : "", column->text);
                if (strcmp(column->text, phrase_name(column->name, t->arena)) != 0 && item->table)
                    strbuf_printf(list, " as %s", phrase_name(column->name, t->arena));
            }
            if (!any)
                return translate_fail(t, "there is no table `%s`", item->table ? item->table : "").text;
            continue;
        }
        const char *name = item->alias ? phrase_name(item->alias, t->arena) : NULL;
        strbuf_printf(list, "%s%s", list->length > 0 ? ", " : "", item->phrase.text);
        if (name && strcmp(name, item->phrase.text) != 0)
            strbuf_printf(list, " as %s", name);
    }
    return true;
}

/* `*` first, then expressions with new names: stages that keep all columns. */
static bool add_star_list(struct translator *t, struct select *s)
{
    const struct list_item *star = &s->items[0];
    const char *derived = NULL;
    for (size_t i = 1; i < s->count; i++) {
        const struct list_item *item = &s->items[i];
        if (item->phrase.column && !item->alias)
            return false;
        const char *name = item->alias ? phrase_name(item->alias, t->arena) : arena_printf(t->arena, "x%zu", i);
        if (known_find(&t->scope, NULL, name))
            return false;
        if (!item->phrase.column || strcmp(item->phrase.text, name) != 0 || !strstr(s->out.text, name))
            derived = arena_printf(t->arena, "%s%s%s = %s", derived ? derived : "", derived ? ", " : "", name,
                                   item->phrase.text);
        if (item->phrase.column && strcmp(item->phrase.text, name) == 0 && !known_find(&t->scope, NULL, name))
            derived = NULL; /* a window, which is a column by now */
    }
    if (star->star == STAR_EXCLUDE)
        strbuf_printf(&s->out, " | drop %s", star->columns);
    if (star->star == STAR_REPLACE)
        strbuf_printf(&s->out, " | derive %s", star->columns);
    if (derived)
        strbuf_printf(&s->out, " | derive %s", derived);
    return true;
}

bool add_list(struct translator *t, struct select *s)
{
    if (s->count > 0 && s->items[0].star && !s->items[0].table && add_star_list(t, s)) {
        if (t->helpers)
            strbuf_printf(&s->out, " | drop %s", t->helpers);
        if (t->swapped)
            return translate_fail(t, "the columns of the left side come first in a join").text;
        return true;
    }
    struct strbuf list = {0};
    const bool good = list_of(t, s, &list);
    if (good)
        strbuf_printf(&s->out, " | map %s", list.text);
    strbuf_free(&list);
    return good;
}
