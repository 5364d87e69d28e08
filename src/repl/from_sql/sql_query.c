/* Queries of SQL: the clauses of a `select`, in the order in which they are done. */
#include "repl/from_sql/sql.h"

#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char after_join[] =
    "where join inner left right full cross natural group order having limit offset qualify window "
    "asof positional semi anti fetch ,";

static const char *const clause_words[CLAUSE_COUNT] = {"select", "from",  "where",  "group",  "having", "qualify",
                                                       "order",  "limit", "offset", "window", "fetch"};

static bool is_query_word(const struct translator *t, size_t token)
{
    return token_is(t, token, "select") || token_is(t, token, "with") || token_is(t, token, "from");
}

static bool find_clauses(struct translator *t, size_t begin, struct select *s)
{
    struct range *open = NULL;
    for (size_t i = begin; i <= t->end; i++) {
        if (i < t->end && (token_is(t, i, "(") || token_is(t, i, "["))) {
            i = after_brackets(t, i) - 1;
            continue;
        }
        size_t c = 0;
        while (i < t->end && c < CLAUSE_COUNT && !token_is(t, i, clause_words[c]))
            c++;
        /* is distinct from; percentile_cont(p) within group */
        const bool compared =
            i > 0 && ((c == FROM && token_is(t, i - 1, "distinct")) || (c == GROUP && token_is(t, i - 1, "within")));
        if (i < t->end && (c == CLAUSE_COUNT || compared))
            continue;
        if (open)
            open->end = i;
        if (i == t->end)
            break;
        if (s->clauses[c].there)
            return translate_fail(t, "`%s` is there twice", clause_words[c]).text;
        const bool by = (c == GROUP || c == ORDER) && token_is(t, i + 1, "by");
        open = &s->clauses[c];
        *open = (struct range){i + 1 + by, t->end, true};
    }
    return true;
}

void enter_range(struct translator *t, struct range range)
{
    t->at = range.begin;
    t->end = range.end;
}

static void add_alias(struct translator *t, const char *name, struct phrase phrase)
{
    t->aliases = ARENA_NEW(t->arena, struct named_text, name, phrase, t->aliases);
}

/* Clauses. */

/* After `select x is not missing and ...` there is x in each row. */
static void know_present(struct translator *t, const char *condition)
{
    for (size_t i = 0; condition && !strstr(condition, " or ") && i < t->scope.count; i++) {
        struct known_column *column = &t->scope.columns[i];
        const char *present =
            column->text ? strstr(condition, arena_printf(t->arena, "%s is not missing", column->text)) : NULL;
        if (present && (present == condition || present[-1] == ' '))
            column->optional = false;
    }
}

/* A condition as a stage. */
static bool add_condition(struct translator *t, struct select *s, struct conjunct range)
{
    const bool negated = token_is(t, range.begin, "not");
    const size_t at = range.begin + negated;
    if (token_is(t, at, "exists")) {
        const char *stage = translate_exists(t, at + 2, range.end - 1, negated);
        if (stage)
            strbuf_printf(&s->out, " | %s", stage);
        return stage;
    }
    const struct phrase condition = translate_range(t, range.begin, range.end);
    if (condition.text) {
        strbuf_printf(&s->out, " | select %s", condition.text);
        return true;
    }
    const size_t in = find_word(t, range.begin, "in");
    const bool query = in < range.end && token_is(t, in + 1, "(") && is_query_word(t, in + 2);
    const char *stage = query ? translate_in_query(t, range.begin, in, range.end - 1) : NULL;
    if (stage) {
        t->told = NULL;
        strbuf_printf(&s->out, " | %s", stage);
    }
    return stage;
}

static bool translate_where(struct translator *t, struct select *s)
{
    const struct range where = s->clauses[WHERE];
    const char *before = s->out.text ? arena_text(t->arena, s->out.text, s->out.length) : "";
    bool good = true, joined = false, star = false;
    if (!where.there)
        return true;
    enter_range(t, where);
    for (size_t i = 0; i < s->where.count; i++)
        joined = joined || s->where.used[i];
    for (size_t i = 0; i < s->count; i++)
        star = star || s->items[i].star;
    const bool exists = s->where.count > 0 && find_word(t, where.begin, "exists") < where.end;
    const struct phrase condition = exists || joined ? (struct phrase){0} : translate_range(t, where.begin, where.end);
    if (condition.text) {
        strbuf_printf(&s->out, " | select %s", condition.text);
        if (s->where.count > 0)
            know_present(t, condition.text);
    } else {
        strbuf_clear(&s->out);
        strbuf_puts(&s->out, before);
        const char *told = t->told;
        t->told = NULL;
        good = s->where.count > 0;
        for (size_t i = 0; good && i < s->where.count; i++)
            good = s->where.used[i] || add_condition(t, s, s->where.conjuncts[i]);
        t->told = good ? NULL : told ? told : t->told;
    }
    if (good && star && t->helpers)
        strbuf_printf(&s->out, " | drop %s", t->helpers);
    if (good && star)
        t->helpers = NULL;
    if (good)
        return true;
    strbuf_clear(&s->out);
    strbuf_puts(&s->out, before);
    return false;
}

/* The keys of `order by` as those of `sort`, or NULL. `columns`: they are columns of the list. */
static const char *sort_keys(struct translator *t, struct select *s, struct range range, bool columns)
{
    const char *keys = NULL;
    enter_range(t, range);
    t->aliases_first = true;
    while (t->at < range.end) {
        const size_t begin = t->at, end = find_word(t, begin, "desc asc nulls , collate using");
        struct list_item *item = item_of_number(t, s, begin, end);
        t->at = end;
        if (token_is(t, begin, "all") && end == begin + 1)
            return translate_fail(t, "`sort` without keys sorts by all columns").text;
        struct phrase key = item ? item->phrase : translate_range(t, begin, end);
        if (item && t->grouping)
            key = of_group(t, key).text ? of_group(t, key) : translate_range(t, item->begin, item->end);
        if (!key.text || next_is(t, "collate") || next_is(t, "using"))
            return translate_fail(t, "texts are sorted by their characters").text;
        if (columns && !key.column)
            return translate_fail(t, "`distinct` is sorted by its columns").text;
        if (key.window)
            return translate_fail(t,
                                  "a window function has a name before it is sorted by: `derive r = rank(x) | sort r`")
                .text;
        const bool descending = accept(t, "desc");
        (void)accept(t, "asc");
        const bool first = accept_two(t, "nulls", "first");
        (void)accept_two(t, "nulls", "last");
        const char *text =
            arena_printf(t->arena, "%s%s", phrase_at(&key, LEVEL_CHOICE, t->arena), descending ? " desc" : "");
        if (first && key.optional)
            text = arena_printf(t->arena, "missing(%s) desc, %s", key.text, text);
        list_add(t, &keys, "%s", text);
        if (t->at < range.end && !expect(t, ","))
            return NULL;
    }
    t->aliases_first = false;
    return keys;
}

static const char *number_of(struct translator *t, struct range range)
{
    const bool rows = range.end == range.begin + 2 && is_one_of(token_text(t, range.begin + 1), "row rows");
    if ((range.end != range.begin + 1 && !rows) || token_at(t, range.begin)->kind != REWRITE_NUMBER) {
        (void)translate_fail(t, "`take N` keeps N rows, `skip N` drops them");
        return NULL;
    }
    return token_text(t, range.begin);
}

bool add_limit(struct translator *t, struct select *s)
{
    struct range limit = s->clauses[LIMIT], offset = s->clauses[OFFSET];
    t->end = t->text->count;
    if (limit.there && token_is(t, limit.begin + 1, ",")) { /* limit 10, 5 */
        offset = (struct range){limit.begin, limit.begin + 1, true};
        limit.begin += 2;
    }
    const char *take = limit.there && !token_is(t, limit.begin, "all") ? number_of(t, limit) : s->top;
    const char *skip = offset.there ? number_of(t, offset) : NULL;
    if (s->clauses[FETCH].there)
        take = token_text(t, s->clauses[FETCH].begin + 1);
    if (t->told)
        return false;
    if (skip)
        strbuf_printf(&s->out, " | skip %s", skip);
    if (take)
        strbuf_printf(&s->out, " | take %s", take);
    return true;
}

bool add_order(struct translator *t, struct select *s, bool columns)
{
    if (!s->clauses[ORDER].there)
        return true;
    const char *keys = sort_keys(t, s, s->clauses[ORDER], columns);
    if (keys)
        strbuf_printf(&s->out, " | sort %s", keys);
    return keys;
}

/* A stage that computes columns with window functions. */
static void add_windows(struct translator *t, struct select *s, const struct phrase_window *window, const char *columns)
{
    const char *order = window->order ? arena_printf(t->arena, "sort %s | ", window->order) : "";
    if (!window->partition)
        strbuf_printf(&s->out, " | %sderive %s", order, columns);
    else
        strbuf_printf(&s->out, window->order ? " | per %s: (%sderive %s)" : " | per %s: %sderive %s", window->partition,
                      order, columns);
}

static bool same_window(const struct phrase_window *a, const struct phrase_window *b)
{
    return same_word(a->partition, b->partition) && same_word(a->order, b->order);
}

/* Computes the items with window functions, which then are columns. */
void derive_windows(struct translator *t, struct select *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct phrase_window *window = s->items[i].phrase.window;
        const char *columns = NULL;
        for (size_t k = i; window && k < s->count; k++) {
            struct list_item *item = &s->items[k];
            if (!item->phrase.window || !same_window(window, item->phrase.window))
                continue;
            const bool taken = !item->alias || known_find(&t->scope, NULL, item->alias);
            const char *name = taken ? arena_printf(t->arena, "w%zu", k + 1) : phrase_name(item->alias, t->arena);
            columns = arena_printf(t->arena, "%s%s%s = %s", columns ? columns : "", columns ? ", " : "", name,
                                   item->phrase.text);
            const bool optional = item->phrase.optional;
            item->phrase = phrase_operand(name, item->phrase.type);
            item->phrase.column = name;
            item->phrase.optional = optional;
        }
        if (columns)
            add_windows(t, s, window, columns);
    }
}

static bool add_qualify(struct translator *t, struct select *s)
{
    if (!s->clauses[QUALIFY].there)
        return true;
    const struct phrase condition = translate_range(t, s->clauses[QUALIFY].begin, s->clauses[QUALIFY].end);
    if (!condition.text)
        return false;
    if (condition.window) {
        add_windows(t, s, condition.window, arena_printf(t->arena, "kept = %s", condition.text));
        strbuf_puts(&s->out, " | select kept | drop kept");
    } else {
        strbuf_printf(&s->out, " | select %s", condition.text);
    }
    return true;
}

/* A query without groups. */
static bool translate_rows(struct translator *t, struct select *s)
{
    if (s->distinct_on.there) {
        enter_range(t, s->distinct_on);
        const char *keys = NULL;
        do {
            const struct phrase key = translate_expression(t);
            if (!key.text)
                return false;
            list_add(t, &keys, "%s", key.text);
        } while (accept(t, ","));
        if (!add_order(t, s, false))
            return false;
        strbuf_printf(&s->out, " | per %s: take 1", keys);
        return add_limit(t, s) && add_list(t, s);
    }
    if (!add_qualify(t, s))
        return false;
    derive_windows(t, s);
    if (!s->distinct)
        return add_order(t, s, false) && add_limit(t, s) && add_list(t, s);
    if (!add_list(t, s))
        return false;
    strbuf_puts(&s->out, " | distinct");
    for (size_t i = 0; i < s->count; i++) {
        struct list_item *item = &s->items[i];
        if (item->alias && item->phrase.text) {
            item->phrase.text = item->phrase.column = phrase_name(item->alias, t->arena);
            add_alias(t, item->alias, item->phrase);
        }
    }
    return add_order(t, s, true) && add_limit(t, s);
}

static const char *translate_select(struct translator *t, size_t begin, bool scalar, struct phrase *value)
{
    struct select s = {0};
    const char *result = NULL;
    if (!find_clauses(t, begin, &s))
        return NULL;
    if (!s.clauses[FROM].there)
        return translate_fail(t, "without a source, `[1, 2] as x` are rows and `1 + 1` is a value").text;
    t->end = t->text->count;
    if (s.clauses[WHERE].there)
        s.where.count = find_conjuncts(t, s.clauses[WHERE].begin, s.clauses[WHERE].end, s.where.conjuncts, 24);
    enter_range(t, s.clauses[FROM]);
    const char *source = translate_from(t, &t->scope, &s.where);
    if (!source)
        return NULL;
    strbuf_puts(&s.out, source);
    t->out = &s.out;
    bool good = true;
    if (s.clauses[SELECT].there) {
        enter_range(t, s.clauses[SELECT]);
        good = parse_list(t, &s);
    } else {
        *add_item(t, &s) = (struct list_item){.star = STAR_ALL};
    }
    const bool filtered = good && translate_where(t, &s);
    t->told = NULL; /* a condition may have names of the list */
    t->may_be_none = !s.clauses[GROUP].there && (s.clauses[WHERE].there || strchr(s.out.text, '|'));
    bool grouped = s.clauses[GROUP].there || s.clauses[HAVING].there;
    for (size_t i = 0; good && i < s.count; i++) {
        struct list_item *item = &s.items[i];
        if (item->star)
            continue;
        const char *told = t->told;
        item->phrase = translate_range(t, item->begin, item->end);
        good = item->phrase.text;
        if (!good && s.clauses[GROUP].there && find_word(t, item->begin, "over") < item->end) {
            t->told = told; /* a window over aggregates of the group, which is read after it */
            good = grouped = true;
            continue;
        }
        grouped = grouped || item->phrase.aggregate;
        if (item->alias)
            add_alias(t, item->alias, item->phrase);
    }
    good = good && (filtered || translate_where(t, &s));
    if (good && scalar) {
        const bool alone = s.count == 1 && !s.items[0].star && !s.clauses[GROUP].there && !s.clauses[HAVING].there;
        if (!alone || !s.items[0].phrase.aggregate) {
            *value = translate_fail(t, "a value of a pipeline is an aggregate of its rows: `(t | max x)`");
        } else {
            t->value_of = arena_text(t->arena, s.out.text, s.out.length);
            *value = translate_range(t, s.items[0].begin, s.items[0].end);
        }
        good = false;
    }
    good = good && (grouped ? translate_group(t, &s) : translate_rows(t, &s));
    t->no_missing = s.count > 0 && !s.items[0].star && !s.items[0].phrase.optional;
    if (good)
        result = arena_text(t->arena, s.out.text, s.out.length);
    strbuf_free(&s.out);
    return result;
}

/* with a as (...), b as (...): queries with names */
static bool parse_parts(struct translator *t)
{
    if (accept(t, "recursive"))
        return translate_fail(t, "`repeat N: STAGE` and `repeat until C: STAGE` run stages again and again").text;
    do {
        const char *name = next_is_name(t) ? token_raw(t, t->at++) : NULL;
        if (!name || !expect(t, "as"))
            return translate_fail(t, "`let NAME = ...` names a query").text;
        (void)accept(t, "materialized");
        if (!next_is(t, "("))
            return translate_fail(t, "`let NAME = ...` names a query").text;
        const size_t open = t->at, close = after_brackets(t, open) - 1;
        const char *text = translate_query(t, open + 1, close);
        if (!text)
            return false;
        struct named_text *part =
            ARENA_NEW(t->arena, struct named_text, name, phrase_operand(text, PHRASE_UNKNOWN), t->parts);
        t->parts = part;
        t->at = close + 1;
    } while (accept(t, ","));
    return true;
}

/* The query of tokens begin..end-1, without `union` and the like. */
static const char *translate_simple(struct translator *t, size_t begin, size_t end, bool scalar, struct phrase *value)
{
    struct translator inner = *t;
    inner.at = begin;
    inner.end = end;
    inner.scope = (struct known_columns){0};
    inner.aliases = NULL;
    inner.grouping = NULL;
    inner.value_of = NULL;
    inner.swapped = false;
    if (token_is(&inner, begin, "(") && after_brackets(&inner, begin) == end)
        return translate_query(t, begin + 1, end - 1);
    const char *result = translate_select(&inner, begin, scalar, value);
    t->told = t->told ? t->told : inner.told;
    t->key_once = t->key_once || inner.key_once;
    t->guarded = t->guarded || inner.guarded;
    t->no_missing = inner.no_missing;
    return result;
}

const char *translate_query(struct translator *t, size_t at, size_t end)
{
    const size_t at_before = t->at, end_before = t->end;
    struct named_text *parts = t->parts;
    const char *result = NULL;
    t->at = at;
    t->end = end;
    if (!accept(t, "with") || parse_parts(t)) {
        size_t begin = t->at, stop = find_word(t, begin, "union except intersect minus");
        /* The order and the limit of the last query are those of all. */
        size_t tail = end;
        if (stop < end) {
            size_t last = stop;
            while (find_word(t, last + 1, "union except intersect minus") < end)
                last = find_word(t, last + 1, "union except intersect minus");
            tail = find_word(t, last, "order limit offset");
        }
        result = translate_simple(t, begin, stop, false, NULL);
        while (result && stop < end) {
            const char *word = token_text(t, stop);
            const bool all = token_is(t, stop + 1, "all");
            begin = stop + 1 + (all || token_is(t, stop + 1, "distinct"));
            const bool by_name = token_is(t, begin, "by");
            begin += by_name ? 2 : 0;
            stop = find_word(t, begin, "union except intersect minus");
            result =
                sql_combined(t, result, word, all, translate_simple(t, begin, stop < tail ? stop : tail, false, NULL));
        }
        if (result && tail < end) {
            struct translator whole = *t;
            struct select s = {0};
            whole.scope = (struct known_columns){0};
            (void)known_add_source(t, &whole.scope, result, NULL);
            for (size_t i = 0; i < whole.scope.count; i++) {
                struct list_item *item = add_item(t, &s);
                item->phrase = phrase_operand(whole.scope.columns[i].text, whole.scope.columns[i].type);
                item->phrase.optional = whole.scope.columns[i].optional;
                item->phrase.column = item->phrase.text;
            }
            strbuf_puts(&s.out, result);
            const bool good = find_clauses(&whole, tail, &s) && add_order(&whole, &s, true) && add_limit(&whole, &s);
            result = good ? arena_text(t->arena, s.out.text, s.out.length) : NULL;
            t->told = t->told ? t->told : whole.told;
            strbuf_free(&s.out);
        }
    }
    t->parts = parts;
    t->at = at_before;
    t->end = end_before;
    return result;
}

struct phrase translate_scalar_query(struct translator *t, size_t at, size_t end)
{
    struct phrase value = {0};
    const char *told = t->told;
    if (find_word(t, at, "union except intersect minus") < end || !is_query_word(t, at) || token_is(t, at, "with"))
        return translate_fail(t, "a value of a pipeline is an aggregate of its rows: `(t | max x)`");
    (void)translate_simple(t, at, end, true, &value);
    if (!value.text) {
        const char *reason = t->told;
        t->told = told;
        value = translate_correlated(t, at, end);
        told = value.text ? told : reason;
    }
    t->told = told;
    return value;
}
