/* The sources of a query of SQL, and their joins. */
#include "repl/from_sql/sql.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum join_kind {
    JOIN_INNER,
    JOIN_LEFT,
    JOIN_RIGHT,
    JOIN_FULL,
    JOIN_SEMI,
    JOIN_ANTI,
    JOIN_CROSS,
    JOIN_COMMA,
    JOIN_ASOF,
    JOIN_ASOF_LEFT
};

static const char *const join_words[] = {"join",      "left join", "left join",  "full join",
                                         "semi join", "anti join", "cross join", "join"};

/* Words that follow a source and are no names for it. */
static const char after_source[] = "where join inner left right full cross natural on using group order having limit "
                                   "offset union except intersect qualify window asof positional semi anti fetch "
                                   "tablesample pivot select";

/* A word with what is written to it without a blank: t.csv, data/t.csv. */
static const char *path_of(struct translator *t)
{
    const size_t begin = token_at(t, t->at)->begin;
    size_t end = token_at(t, t->at++)->end;
    bool path = false;
    while (t->at < t->end && token_at(t, t->at)->adjacent && !next_is(t, ",") && !next_is(t, ")") && !next_is(t, "(")) {
        path = true;
        end = token_at(t, t->at++)->end;
    }
    const char *text = arena_text(t->arena, t->text->text + begin, end - begin);
    if (path)
        return arena_printf(t->arena, "load %s", text);
    const char *name = token_raw(t, t->at - 1);
    for (size_t i = 0; i < t->env->count && !env_find(t->env, name); i++) {
        if (strcasecmp(t->env->bindings[i].name, name) == 0)
            name = t->env->bindings[i].name;
    }
    return phrase_name(name, t->arena);
}

static const char *source_of_function(struct translator *t, const char *name)
{
    const size_t close = after_brackets(t, t->at) - 1;
    if (strncasecmp(name, "read_", 5) == 0 || strcasecmp(name, "parquet_scan") == 0) {
        const char *path = token_text(t, t->at + 1);
        const bool alone = t->at + 2 == close;
        t->at = close + 1;
        return alone ? arena_printf(t->arena, "load %s", path)
                     : translate_fail(t, "`load FILE` finds out how a file is written").text;
    }
    const bool range = strcasecmp(name, "range") == 0, series = strcasecmp(name, "generate_series") == 0;
    if (range || series) {
        const bool both = token_is(t, t->at + 2, ",");
        const long from = both ? strtol(token_text(t, t->at + 1), NULL, 10) : 0;
        const long to = strtol(token_text(t, close - 1), NULL, 10) - range;
        const bool good =
            close == t->at + (both ? 4 : 2) && token_at(t, close - 1)->kind == REWRITE_NUMBER && to >= from;
        t->at = close + 1;
        if (good)
            return arena_printf(t->arena, "range %ld..%ld as %s", from, to, range ? "`range`" : name);
    }
    if (strcasecmp(name, "lateral") == 0)
        return translate_fail(t, "`per K: top 1 by x` keeps rows of each group, `left join S on KEY` joins them").text;
    if (strcasecmp(name, "unnest") == 0)
        return translate_fail(t, "`TABLE | unnest NAME` makes a row of each element of a list").text;
    return translate_fail(t, "there are no table functions: `range A..B`, `load FILE` and names are sources").text;
}

bool sql_source(struct translator *t, struct side *side)
{
    *side = (struct side){0};
    if (next_is(t, "(")) {
        const size_t open = t->at++, close = after_brackets(t, open) - 1;
        side->text = translate_query(t, t->at, close);
        t->at = close + 1;
    } else if (next_kind(t) == REWRITE_QUOTED && !next_is_name(t)) {
        side->text = arena_printf(t->arena, "load %s", token_text(t, t->at++));
    } else if (next_is_name(t) && token_is(t, t->at + 1, "(")) {
        const char *name = token_raw(t, t->at++);
        side->text = source_of_function(t, name);
    } else if (next_is_name(t)) {
        const char *name = token_raw(t, t->at);
        side->text = path_of(t);
        side->name = name;
        for (const struct named_text *part = t->parts; part; part = part->next) {
            if (strcasecmp(part->name, name) == 0 && strncmp(side->text, "load ", 5) != 0)
                side->text = part->phrase.text;
        }
    } else {
        return translate_fail(t, "a source is a name or a file").text;
    }
    if (!side->text)
        return false;
    if (accept(t, "as") || (next_is_name(t) && !is_one_of(token_raw(t, t->at), after_source)))
        side->name = token_raw(t, t->at++);
    if (next_is(t, "("))
        return translate_fail(t, "`map x as a, y as b` names columns").text;
    (void)known_add_source(t, &side->scope, side->text, side->name);
    return true;
}

/* A pipeline as the source of a join. */
const char *sql_joined_source(struct translator *t, const char *text)
{
    if (strchr(text, '|') || strchr(text, ' '))
        return strncmp(text, "load ", 5) == 0 && !strchr(text + 5, ' ') && !strchr(text, '\'') && !strchr(text, '"')
                   ? text + 5
                   : arena_printf(t->arena, "(%s)", text);
    return text;
}

/* The kind of join that follows; false: there is none. */
static bool join_at(struct translator *t, enum join_kind *kind, bool *natural)
{
    static const struct {
        const char *word;
        enum join_kind kind;
    } kinds[] = {{"inner", JOIN_INNER}, {"left", JOIN_LEFT}, {"right", JOIN_RIGHT},
                 {"full", JOIN_FULL},   {"semi", JOIN_SEMI}, {"anti", JOIN_ANTI}};
    *kind = JOIN_INNER;
    *natural = false;
    if (accept(t, ",") || accept_two(t, "cross", "join")) {
        *kind = token_is(t, t->at - 1, ",") ? JOIN_COMMA : JOIN_CROSS;
        return true;
    }
    if (accept(t, "asof")) {
        *kind = accept(t, "left") ? JOIN_ASOF_LEFT : JOIN_ASOF;
        (void)(accept(t, "outer") || accept(t, "inner"));
        return accept(t, "join");
    }
    if (next_is(t, "positional"))
        return translate_fail(t, "`zip S` joins rows by position").text;
    if (next_is(t, "tablesample") || next_is(t, "pivot") || (next_is(t, "using") && token_is(t, t->at + 1, "sample")))
        return translate_fail(
                   t, "`sample N` takes rows at random; `group K: AGG(x) across C` makes a column of each value")
            .text;
    *natural = accept(t, "natural");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (accept(t, kinds[i].word)) {
            *kind = kinds[i].kind;
            break;
        }
    }
    (void)accept(t, "outer");
    return accept(t, "join");
}

static const struct known_column *unknown_column(struct translator *t, const char *name)
{
    return ARENA_NEW(t->arena, struct known_column, .name = name, .text = phrase_name(name, t->arena));
}

/* The column of `x` or `t.x` in one of the scopes. */
const struct known_column *sql_column_of(struct translator *t, const struct side *side, size_t begin, size_t end)
{
    const char *table = end - begin == 3 && token_is(t, begin + 1, ".") ? token_raw(t, begin) : NULL;
    if (token_at(t, begin)->kind == REWRITE_NUMBER || (end - begin != 1 && !table))
        return NULL;
    const char *name = token_raw(t, end - 1);
    const struct known_column *found = known_find(&side->scope, table, name);
    const bool here = table && side->name && strcasecmp(table, side->name) == 0;
    return found || !side->scope.open || !here ? found : unknown_column(t, name);
}

bool sql_add_key(struct translator *t, const struct side *left, const struct side *right, size_t begin, size_t end,
                 struct keys *keys)
{
    static const char *const signs[] = {"<", "<=", ">", ">="}, *const turned[] = {">", ">=", "<", "<="};
    const size_t sign = find_word(t, begin, "= < <= > >=");
    if (sign >= end || keys->count == 16)
        return false;
    const struct known_column *a = sql_column_of(t, left, begin, sign), *b = sql_column_of(t, right, sign + 1, end);
    const bool swapped = !a || !b;
    if (swapped) {
        a = sql_column_of(t, left, sign + 1, end);
        b = sql_column_of(t, right, begin, sign);
    }
    if (!a || !b)
        return false;
    size_t of_order = 0;
    for (size_t i = 0; i < 4; i++) {
        if (token_is(t, sign, signs[i]))
            keys->signs[keys->count] = swapped ? turned[i] : signs[i];
    }
    for (size_t i = 0; i <= keys->count; i++)
        of_order += keys->signs[i] ? 1 : 0;
    if (of_order > 2 || (keys->signs[keys->count] && a->type != b->type)) {
        keys->signs[keys->count] = NULL;
        return false;
    }
    keys->left[keys->count] = a;
    keys->right[keys->count++] = b;
    return true;
}

size_t find_conjuncts(struct translator *t, size_t begin, size_t end, struct conjunct *conjuncts, size_t most)
{
    size_t count = 0, from = begin;
    bool in_between = false;
    for (size_t i = begin; i <= end && count < most; i++) {
        if (i < end && (token_is(t, i, "(") || token_is(t, i, "["))) {
            i = after_brackets(t, i) - 1;
            continue;
        }
        if (i < end && token_is(t, i, "or"))
            return 0;
        if (i < end && token_is(t, i, "between"))
            in_between = true;
        if (i < end && !token_is(t, i, "and"))
            continue;
        if (i < end && in_between) {
            in_between = false;
            continue;
        }
        conjuncts[count++] = (struct conjunct){from, i};
        from = i + 1;
    }
    return count;
}

/* A condition on one side or, of an inner join, on both. */
bool sql_add_condition(struct translator *t, const struct side *left, const struct side *right,
                       struct conjunct conjunct, struct keys *keys)
{
    const struct side *sides[] = {left, right};
    const char **texts[] = {&keys->of_left, &keys->of_right};
    for (size_t i = 0; i < 2; i++) {
        struct translator of = *t;
        of.scope = sides[i]->scope;
        of.at = conjunct.begin;
        of.end = conjunct.end;
        of.told = NULL;
        const struct phrase condition = translate_expression(&of);
        if (!condition.text || of.at != of.end || sides[i]->scope.open)
            continue;
        const char *text = phrase_at(&condition, LEVEL_AND, t->arena);
        *texts[i] = *texts[i] ? arena_printf(t->arena, "%s and %s", *texts[i], text) : text;
        return true;
    }
    keys->of_both = "";
    return false;
}

static bool parse_keys(struct translator *t, const struct side *left, const struct side *right, bool natural,
                       struct keys *keys)
{
    *keys = (struct keys){.merged = true};
    for (size_t i = 0; natural && i < right->scope.count && keys->count < 16; i++) {
        const struct known_column *column = known_find(&left->scope, NULL, right->scope.columns[i].name);
        if (column) {
            keys->left[keys->count] = column;
            keys->right[keys->count++] = &right->scope.columns[i];
        }
    }
    if (natural)
        return keys->count > 0 || translate_fail(t, "`join S on KEY` names the columns that must be equal").text;
    if (accept_two(t, "using", "(")) {
        do {
            const char *name = token_raw(t, t->at++);
            const struct known_column *a = known_find(&left->scope, NULL, name),
                                      *b = known_find(&right->scope, NULL, name);
            keys->left[keys->count] = a ? a : unknown_column(t, name);
            keys->right[keys->count++] = b ? b : unknown_column(t, name);
        } while (keys->count < 16 && accept(t, ","));
        return expect(t, ")");
    }
    if (!accept(t, "on"))
        return translate_fail(t, "`join S on KEY` names the columns that must be equal").text;
    keys->merged = false;
    size_t begin = t->at;
    const size_t end = find_word(t, begin, after_join);
    t->at = end;
    size_t last = end;
    if (token_is(t, begin, "(") && after_brackets(t, begin) == end) {
        begin++;
        last--;
    }
    struct conjunct conjuncts[16];
    const size_t count = find_conjuncts(t, begin, last, conjuncts, 16);
    for (size_t i = 0; i < count; i++) {
        if (!sql_add_key(t, left, right, conjuncts[i].begin, conjuncts[i].end, keys))
            (void)sql_add_condition(t, left, right, conjuncts[i], keys);
    }
    if (keys->count == 0 || keys->of_both)
        return translate_fail(
                   t,
                   "joins are on keys that are equal or in order: `join S on KEY, A >= B | select CONDITION` compares "
                   "after it, `asof join` finds the latest row")
            .text;
    return true;
}

static bool collides(const struct side *left, const struct side *right, const struct keys *keys)
{
    for (size_t i = 0; i < right->scope.count; i++) {
        const struct known_column *column = &right->scope.columns[i];
        bool key = false;
        for (size_t k = 0; k < keys->count; k++)
            key = key || (!keys->signs[k] && strcmp(keys->right[k]->name, column->name) == 0);
        for (size_t k = 0; !key && column->text && k < left->scope.count; k++) {
            const struct known_column *other = &left->scope.columns[k];
            if (other->text && strcmp(other->text, column->text) == 0 && !other->hidden)
                return true;
        }
    }
    return false;
}

/* The columns after the join. */
static void join_scopes(struct translator *t, struct side *left, const struct side *right, const struct keys *keys,
                        enum join_kind kind, const char *prefix)
{
    if (kind == JOIN_FULL) {
        for (size_t i = 0; i < left->scope.count; i++)
            left->scope.columns[i].optional = true;
    }
    for (size_t i = 0; i < right->scope.count && kind != JOIN_SEMI && kind != JOIN_ANTI; i++) {
        struct known_column column = right->scope.columns[i];
        column.optional = column.optional || kind == JOIN_LEFT || kind == JOIN_FULL;
        for (size_t k = 0; k < keys->count; k++) {
            if (keys->signs[k] || strcmp(keys->right[k]->name, column.name) != 0)
                continue;
            column.hidden = true;
            column.text = kind == JOIN_INNER || keys->merged ? keys->left[k]->text : NULL;
        }
        if (!column.hidden && prefix)
            column.text = phrase_name(arena_printf(t->arena, "%s_%s", prefix, column.name), t->arena);
        known_add(t, &left->scope, column);
    }
    left->scope.open = left->scope.open || right->scope.open;
}

/* What follows `on`; NULL: a key is none of the columns. */
const char *sql_join_keys(struct translator *t, const struct keys *keys)
{
    const char *on = NULL;
    for (size_t i = 0; i < keys->count; i++) {
        const char *a = keys->left[i]->text, *b = keys->right[i]->text;
        if (!a)
            return translate_fail(t, "after a `left join` the key is that of the left side").text;
        if (keys->signs[i])
            list_add(t, &on, "%s %s %s", a, keys->signs[i], b);
        else
            list_add(t, &on, strcmp(a, b) == 0 ? "%s" : "%s = %s", a, b);
    }
    return on;
}

/* Keys among the conditions after `where`, which then need not be tested any more. */
static void keys_of_where(const struct translator *t, const struct side *left, const struct side *right,
                          struct where *where, struct keys *keys)
{
    *keys = (struct keys){0};
    for (size_t i = 0; i < where->count; i++) {
        struct translator of = *t;
        of.end = where->conjuncts[i].end;
        const size_t sign = find_word(&of, where->conjuncts[i].begin, "=");
        if (!where->used[i] && sign < of.end && sql_add_key(&of, left, right, where->conjuncts[i].begin, of.end, keys))
            where->used[i] = true;
    }
}

/* Whether the query reads a column of the table, outside the condition of its join. */
static bool is_read(const struct translator *t, const char *table, const char *column)
{
    struct translator all = *t;
    all.end = t->text->count;
    for (size_t i = 0; i < all.end; i++) {
        const bool of_table = i > 1 && token_is(&all, i - 1, ".") && strcasecmp(token_raw(&all, i - 2), table) == 0;
        const bool star = token_is(&all, i, "*") && (token_is(&all, i - 1, "select") || token_is(&all, i - 1, ","));
        if (star || (of_table && (token_is(&all, i, "*") || strcasecmp(token_raw(&all, i), column) == 0) &&
                     !is_one_of(token_text(&all, i - 3), "on and = < <= > >=") &&
                     !is_one_of(token_text(&all, i + 1), "< <= > >=")))
            return true;
    }
    return false;
}

/* The latest row that matches. The time of the right side, a key, comes along under another name if it is read. */
static bool join_asof(struct translator *t, struct side *left, struct side *right, struct keys *keys, bool all)
{
    size_t last = 0;
    while (last < keys->count && !keys->signs[last])
        last++;
    if (keys->merged && last == keys->count)
        keys->signs[--last] = ">=";
    if (last >= keys->count || !right->name || keys->of_left || (keys->of_right && !all))
        return translate_fail(t, "`asof join S on KEY, TIME` finds the latest row, by the last key").text;
    const struct known_column *a = keys->left[last], *b = keys->right[last];
    const char *sign = keys->signs[last];
    for (size_t i = last; i + 1 < keys->count; i++) {
        keys->left[i] = keys->left[i + 1];
        keys->right[i] = keys->right[i + 1];
        keys->signs[i] = keys->signs[i + 1];
    }
    const bool comes = !keys->merged && (!all || is_read(t, right->name, b->name));
    const char *key = comes ? "key" : b->text, *text = right->text;
    keys->count--;
    if (keys->of_right)
        text = arena_printf(t->arena, "%s | select %s", text, keys->of_right);
    if (comes)
        text = arena_printf(t->arena, "%s | derive key = %s", text, b->text);
    struct side rest = {.name = right->name};
    for (size_t i = 0; i < right->scope.count; i++) {
        if (comes || strcmp(right->scope.columns[i].name, b->name) != 0)
            known_add(t, &rest.scope, right->scope.columns[i]);
    }
    const char *prefix = collides(left, &rest, keys) ? right->name : NULL, *on = sql_join_keys(t, keys);
    left->text =
        arena_printf(t->arena, "%s | asof join %s%s%s on %s%s%s %s %s", left->text, sql_joined_source(t, text),
                     prefix ? " as " : "", prefix ? prefix : "", on ? on : "", on ? ", " : "", a->text, sign, key);
    join_scopes(t, left, &rest, keys, JOIN_LEFT, prefix);
    if (!all)
        left->text = arena_printf(t->arena, "%s | select %s is not missing", left->text,
                                  known_find(&left->scope, right->name, b->name)->text);
    return true;
}

static bool join(struct translator *t, struct side *left, struct side *right, enum join_kind kind, bool natural,
                 struct where *where)
{
    struct keys keys = {0};
    if (kind == JOIN_COMMA)
        keys_of_where(t, left, right, where, &keys);
    kind = kind != JOIN_COMMA ? kind : keys.count > 0 ? JOIN_INNER : JOIN_CROSS;
    const bool listed = keys.count > 0 || kind == JOIN_CROSS;
    if (!listed && !parse_keys(t, left, right, natural, &keys))
        return false;
    if (kind >= JOIN_ASOF)
        return join_asof(t, left, right, &keys, kind == JOIN_ASOF_LEFT);
    if (kind == JOIN_FULL && !keys.merged)
        return translate_fail(t, "after a `full join` a key is one column, which holds the keys of both sides").text;
    if (kind != JOIN_INNER && keys.of_left)
        return translate_fail(t, "a condition on the left side of a join comes before it: `select E | left join ...`")
            .text;
    if (kind == JOIN_FULL && keys.of_right)
        return translate_fail(t, "joins are on equal keys").text;
    if (kind == JOIN_RIGHT) {
        const struct side swapped = *left;
        *left = *right;
        *right = swapped;
        for (size_t i = 0; i < keys.count; i++) {
            const struct known_column *column = keys.left[i];
            keys.left[i] = keys.right[i];
            keys.right[i] = column;
        }
        kind = JOIN_LEFT;
        const char *condition = keys.of_left;
        keys.of_left = keys.of_right;
        keys.of_right = condition;
        t->swapped = true;
    }
    if (keys.of_left)
        left->text = arena_printf(t->arena, "%s | select %s", left->text, keys.of_left);
    if (keys.of_right)
        right->text = arena_printf(t->arena, "%s | select %s", right->text, keys.of_right);
    const char *prefix = collides(left, right, &keys) ? right->name ? right->name : "other" : NULL;
    const char *on = sql_join_keys(t, &keys);
    if (!on && kind != JOIN_CROSS)
        return false;
    left->text =
        arena_printf(t->arena, "%s | %s %s%s%s%s%s", left->text, join_words[kind], sql_joined_source(t, right->text),
                     prefix ? " as " : "", prefix ? prefix : "", on ? " on " : "", on ? on : "");
    if (!keys.merged && on && kind != JOIN_SEMI && kind != JOIN_ANTI)
        t->key_once = true;
    join_scopes(t, left, right, &keys, kind, prefix);
    return true;
}

const char *translate_from(struct translator *t, struct known_columns *scope, struct where *where)
{
    struct side left, right;
    enum join_kind kind;
    bool natural;
    if (!sql_source(t, &left))
        return NULL;
    while (t->at < t->end && join_at(t, &kind, &natural)) {
        if (!sql_source(t, &right) || !join(t, &left, &right, kind, natural, where))
            return NULL;
    }
    if (t->at < t->end)
        return translate_fail(t, "`%s` is not understood after `from`", token_text(t, t->at)).text;
    *scope = left.scope;
    return left.text;
}
