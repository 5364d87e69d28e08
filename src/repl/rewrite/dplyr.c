#include "repl/rewrite/verbs.h"

#include <string.h>

static const char verbs[] =
    "filter select mutate transmute summarise summarize group_by ungroup arrange slice_max slice_min slice_head "
    "slice_tail head tail count distinct rename pull left_join inner_join full_join semi_join anti_join "
    "drop_na bind_rows tally pivot_wider pivot_longer slice sample_n nrow";

/* The token after `|>` or `%>%` at `token`, or `token`. */
static size_t after_pipe(const struct translator *t, size_t token)
{
    if (token_is(t, token, "|>"))
        return token + 1;
    return token_is(t, token, "%>") && token_is(t, token + 1, "%") ? token + 2 : token;
}

bool is_dplyr(const struct translator *t, size_t at)
{
    const size_t next = after_pipe(t, at + 1);
    return next > at + 1 && token_is(t, next + 1, "(") && is_one_of(token_text(t, next), verbs);
}

struct phrase case_when(struct translator *t, size_t close)
{
    enum { MOST = 20 };
    struct phrase conditions[MOST], values[MOST];
    struct phrase other = {.text = "missing", .level = LEVEL_OPERAND, .type = PHRASE_MISSING, .optional = true};
    size_t count = 0;
    while (t->at < close && count < MOST) {
        if (accept_two(t, ".", "default") && accept(t, "=")) {
            other = translate_expression(t);
        } else {
            const bool always = accept(t, "TRUE") || accept(t, "T");
            conditions[count] =
                always ? phrase_operand("true", PHRASE_BOOL) : phrase_certain(translate_expression(t), t->arena);
            if (!expect(t, "~"))
                return (struct phrase){0};
            values[count] = translate_expression(t);
            if (always)
                other = values[count];
            else
                count++;
        }
        if (!accept(t, ","))
            break;
    }
    while (count-- > 0)
        other = choose(t, conditions[count], values[count], other);
    return other;
}

static bool fail(struct translator *t, const char *instead)
{
    (void)translate_fail(t, "%s", instead);
    return false;
}

/* A stage of rows, within the groups if there are some. */
static void add(struct translator *t, struct chain *chain, const char *stage)
{
    const char *form = strstr(stage, " | ") ? "per %s: (%s)" : "per %s: %s";
    chain_add(t, chain, chain->keys ? arena_printf(t->arena, form, chain->keys, stage) : stage);
}

/* name = E, E, with names in the given form; of all up to `close`. */
static const char *assignments(struct translator *t, size_t close, const char *form, bool aggregates)
{
    const char *list = NULL;
    while (t->at < close) {
        if (next_is(t, ".")) { /* .groups = "drop", .by = g */
            if (!token_is(t, t->at + 1, "groups"))
                return translate_fail(t, "the keys of a group come first: `group K: ...`").text;
            t->at += 4;
            (void)accept(t, ",");
            continue;
        }
        const bool named = token_is(t, t->at + 1, "=");
        const char *name = named ? phrase_name(token_raw(t, t->at), t->arena) : NULL;
        t->at += named ? 2 : 0;
        const struct phrase value = translate_expression(t);
        if (!value.text)
            return NULL;
        if (aggregates && !value.aggregate)
            return translate_fail(t, "a group has keys and aggregates").text;
        const char *text = name ? arena_printf(t->arena, form, form[2] == ' ' && form[3] == '=' ? name : value.text,
                                               form[2] == ' ' && form[3] == '=' ? value.text : name)
                                : value.text;
        list = list ? arena_printf(t->arena, "%s, %s", list, text) : text;
        if (t->at >= close || !accept(t, ","))
            break;
    }
    return t->at == close ? list : translate_fail(t, "`%s` is not understood there", token_text(t, t->at)).text;
}

static bool mutate(struct translator *t, struct chain *chain, size_t close)
{
    while (t->at < close) {
        const size_t comma = find_word(t, t->at, ","), end = comma < close ? comma : close;
        if (!token_is(t, t->at + 1, "="))
            return fail(t, "`derive NAME = E` adds a column");
        const char *column = assignments(t, end, "%s = %s", false);
        if (!column)
            return false;
        add(t, chain, arena_printf(t->arena, "derive %s", column));
        t->at = end + (end < close);
    }
    return true;
}

static bool select_columns(struct translator *t, struct chain *chain, size_t close)
{
    const bool drops = next_is(t, "-") || next_is(t, "!");
    const char *names = NULL;
    while (t->at < close) {
        if (drops && !accept(t, "-") && !accept(t, "!"))
            return fail(t, "`pick NAME, ...` keeps columns, `drop NAME, ...` leaves some out");
        const bool list = drops && accept_two(t, "c", "(");
        do {
            const bool renamed = token_is(t, t->at + 1, "=");
            const char *name = renamed ? token_raw(t, t->at) : NULL;
            t->at += renamed ? 2 : 0;
            if (!next_is_name(t) || token_is(t, t->at + 1, "(") || token_is(t, t->at + 1, ":"))
                return fail(t, "`pick feature_*` keeps the columns of such a name, `pick a..b` those from a to b");
            const struct phrase column = translate_name(t, NULL, token_raw(t, t->at++));
            if (!column.text)
                return false;
            const char *text =
                name ? arena_printf(t->arena, "%s as %s", column.text, phrase_name(name, t->arena)) : column.text;
            names = names ? arena_printf(t->arena, "%s, %s", names, text) : text;
        } while (list && accept(t, ","));
        if (list && !accept(t, ")"))
            return false;
        if (!accept(t, ","))
            break;
    }
    if (!names || t->at != close)
        return fail(t, "`pick NAME, ...` keeps columns");
    chain_add(t, chain, arena_printf(t->arena, "%s %s", drops ? "drop" : "pick", names));
    return true;
}

static const char *sort_keys(struct translator *t, size_t close)
{
    const char *keys = NULL;
    while (t->at < close) {
        const bool down = accept(t, "-"), call = !down && accept_two(t, "desc", "(");
        const struct phrase key = translate_expression(t);
        if (!key.text || (call && !expect(t, ")")))
            return NULL;
        const char *text = arena_printf(t->arena, "%s%s", key.text, down || call ? " desc" : "");
        keys = keys ? arena_printf(t->arena, "%s, %s", keys, text) : text;
        if (!accept(t, ","))
            break;
    }
    return t->at == close ? keys : NULL;
}

/* n = 3 or 3 before the bracket, else one row */
static const char *count_of(struct translator *t, size_t close)
{
    (void)accept_keyword(t, "n");
    const char *count = t->at < close ? token_text(t, t->at++) : "1";
    return t->at == close && strspn(count, "0123456789L") == strlen(count) ? count : NULL;
}

/* slice_max(x, n = 2): with the rows that are equal to the last of them */
static bool slice_by(struct translator *t, struct chain *chain, size_t close, bool largest)
{
    const struct phrase key = translate_expression(t);
    const bool counted = key.text && accept(t, ",");
    const char *count = counted || t->at == close ? count_of(t, close) : NULL;
    if (!key.text || !count)
        return fail(t, "`top N by E` keeps the rows with the largest E");
    add(t, chain,
        arena_printf(t->arena, "select rank(%s%s) <= %s | sort %s%s", key.text, largest ? ", desc" : "", count,
                     key.text, largest ? " desc" : ""));
    return true;
}

static bool join(struct translator *t, struct chain *chain, size_t close, const char *verb)
{
    const char *other = token_text(t, t->at++);
    const char *keys = NULL;
    if (!accept(t, ",") || !accept_keyword(t, "by"))
        return fail(t, "`join S on KEY` names the columns that must be equal");
    const bool list = accept_two(t, "c", "(") || accept_two(t, "join_by", "(");
    do {
        const char *name = token_raw(t, t->at++);
        const char *source = accept(t, "=") || accept(t, "==") ? token_raw(t, t->at++) : name;
        struct known_columns others = {0};
        (void)known_add_source(t, &others, other, NULL);
        const struct known_column *a = known_find(&t->scope, NULL, name), *b = known_find(&others, NULL, source);
        if (a && b && a->optional && b->optional)
            return fail(t, "missing keys match nothing in a join, and each other in R");
        const char *text = strcmp(name, source) == 0 ? name : arena_printf(t->arena, "%s = %s", name, source);
        keys = keys ? arena_printf(t->arena, "%s, %s", keys, text) : text;
    } while (list && accept(t, ","));
    if ((list && !accept(t, ")")) || t->at != close)
        return fail(t, "`join S on KEY` names the columns that must be equal");
    const char *kind =
        strncmp(verb, "inner", 5) == 0 ? "" : arena_printf(t->arena, "%.*s ", (int)strcspn(verb, "_"), verb);
    chain_add(t, chain, arena_printf(t->arena, "%sjoin %s on %s", kind, other, keys));
    return true;
}

static bool drop_missing(struct translator *t, struct chain *chain, size_t close)
{
    const char *condition = NULL;
    const bool all = t->at == close;
    if (all && t->scope.open)
        return fail(t, "`reject missing(a) || missing(b)` drops the rows without one of these values");
    for (size_t i = 0; i < t->scope.count; i++) {
        const struct known_column *column = &t->scope.columns[i];
        bool named = all && column->optional;
        for (size_t at = t->at; at < close; at++)
            named = named || strcmp(token_raw(t, at), column->name) == 0;
        if (named)
            condition = condition ? arena_printf(t->arena, "%s || missing(%s)", condition, column->text)
                                  : arena_printf(t->arena, "missing(%s)", column->text);
    }
    t->at = close;
    if (condition)
        chain_add(t, chain, arena_printf(t->arena, "reject %s", condition));
    return condition || all;
}

static bool count_rows(struct translator *t, struct chain *chain, size_t close)
{
    size_t end = close;
    const bool sorted = close > t->at + 3 && token_is(t, close - 3, "sort") && token_is(t, close - 1, "TRUE");
    if (sorted)
        end = close - (token_is(t, close - 4, ",") ? 4 : 3);
    const char *keys = assignments(t, end, "%s as %s", false);
    if (!keys)
        return fail(t, "`count` counts the rows, `group K: count()` those of each key");
    t->at = close;
    chain_add(t, chain, arena_printf(t->arena, "group %s: count() as n%s", keys, sorted ? " | sort n desc" : ""));
    return true;
}

static bool group_verb(struct translator *t, struct chain *chain, const char *verb, size_t close)
{
    if (strcmp(verb, "group_by") == 0)
        return (chain->keys = assignments(t, close, "%s as %s", false));
    if (strcmp(verb, "ungroup") == 0) {
        chain->keys = NULL;
        return true;
    }
    const char *aggregates = assignments(t, close, "%s as %s", true);
    if (!aggregates)
        return false;
    const char *keys = chain->keys;
    chain->keys = NULL;
    chain_add(t, chain,
              keys ? arena_printf(t->arena, "group %s: %s", keys, aggregates)
                   : arena_printf(t->arena, "group: %s", aggregates));
    return true;
}

static bool row_verb(struct translator *t, struct chain *chain, const char *verb, size_t close)
{
    if (strcmp(verb, "filter") == 0) {
        while (t->at < close) {
            const struct phrase condition = translate_expression(t);
            if (!condition.text)
                return false;
            add(t, chain, arena_printf(t->arena, "select %s", condition.text));
            if (!accept(t, ","))
                break;
        }
        return true;
    }
    if (strcmp(verb, "mutate") == 0)
        return mutate(t, chain, close);
    if (is_one_of(verb, "slice_max slice_min"))
        return slice_by(t, chain, close, verb[7] == 'a');
    if (is_one_of(verb, "slice_head slice_tail head tail")) {
        const bool first = strstr(verb, "head");
        const char *count = t->at == close && verb[0] != 's' ? "6" : count_of(t, close);
        if (count)
            add(t, chain, arena_printf(t->arena, "%s %s", first ? "take" : "tail", count));
        return count || fail(t, "`take N` and `tail N` keep rows by their places");
    }
    if (strcmp(verb, "arrange") == 0 || strcmp(verb, "transmute") == 0 || strcmp(verb, "rename") == 0) {
        const char *keys = verb[0] == 'a' ? sort_keys(t, close) : assignments(t, close, "%s as %s", false);
        if (keys)
            chain_add(t, chain,
                      arena_printf(t->arena, "%s %s",
                                   verb[0] == 'a'   ? "sort"
                                   : verb[0] == 't' ? "map"
                                                    : "rename",
                                   keys));
        return keys;
    }
    return fail(t, arena_printf(t->arena, "there is no `%s` here; `.help stages` lists what there is", verb));
}

static bool step(struct translator *t, struct chain *chain, const char *verb, size_t close)
{
    if (is_one_of(verb, "group_by ungroup summarise summarize"))
        return group_verb(t, chain, verb, close);
    if (chain->keys && !is_one_of(verb, "filter mutate slice_max slice_min slice_head slice_tail head"))
        return fail(t, "`per K: (STAGES)` runs stages within each group");
    if (strcmp(verb, "select") == 0)
        return select_columns(t, chain, close);
    if (strcmp(verb, "count") == 0)
        return count_rows(t, chain, close);
    if (is_one_of(verb, "tally nrow")) {
        chain->text = arena_printf(t->arena, "%s | count", chain->text);
        return t->at == close;
    }
    if (is_one_of(verb, "distinct pull")) {
        const bool all = t->at == close;
        if (!all && !select_columns(t, chain, close))
            return false;
        if (verb[0] == 'd')
            chain_add(t, chain, "distinct");
        return true;
    }
    if (strstr(verb, "_join"))
        return join(t, chain, close, verb);
    if (strcmp(verb, "drop_na") == 0)
        return drop_missing(t, chain, close);
    if (strcmp(verb, "bind_rows") == 0 && t->at + 1 == close) {
        chain_add(t, chain, arena_printf(t->arena, "append %s", token_text(t, t->at++)));
        return true;
    }
    if (strncmp(verb, "pivot", 5) == 0)
        return fail(
            t,
            "`group K: AGG(x) across C` makes a column of each value of C, `unpivot a, b as NAME, VALUE` the inverse");
    return row_verb(t, chain, verb, close);
}

const char *translate_dplyr(struct translator *t)
{
    t->dialect = DIALECT_R;
    struct chain chain = {.text = token_raw(t, t->at++)};
    chain_columns(t, &chain);
    while (t->at < t->end) {
        const size_t next = after_pipe(t, t->at);
        if (next == t->at || !token_is(t, next + 1, "("))
            return translate_fail(t, "stages are separated by `|`").text;
        const char *verb = token_text(t, next);
        const size_t close = after_brackets(t, next + 1) - 1;
        t->at = next + 2;
        if (!step(t, &chain, verb, close))
            return NULL;
        if (t->at != close)
            return translate_fail(t, "`%s` is not understood there", token_text(t, t->at)).text;
        t->at = close + 1;
    }
    return chain.text;
}
