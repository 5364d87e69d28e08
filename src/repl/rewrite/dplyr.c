/* Lines of dplyr: a source, then verbs. */
#include "repl/rewrite/chain.h"

#include <string.h>

static const char known_verbs[] =
    "filter select mutate transmute summarise summarize group_by ungroup arrange slice_max slice_min slice_head "
    "slice_tail head tail count distinct rename pull left_join inner_join full_join semi_join anti_join "
    "drop_na bind_rows tally pivot_wider pivot_longer slice sample_n nrow add_count slice_sample relocate fill "
    "replace_na sample_frac rename_with rename_all mutate_all mutate_at mutate_if summarise_all summarise_at reframe "
    "rowwise group_modify group_map do nest_by complete expand cross_join rows_update pick unnest unnest_longer top_n "
    "glimpse separate unite nest ggplot";

/* The word after `|>` or `%>%` at `token`, or `token`. */
static size_t after_pipe(const struct translator *t, size_t token)
{
    const size_t size = token_is(t, token, "|>") ? 1 : token_is(t, token, "%>") && token_is(t, token + 1, "%") ? 2 : 0;
    return token + size + (size > 0 && token_is(t, token + size + 1, "::") ? 2 : 0); /* dplyr::filter */
}

bool is_dplyr(const struct translator *t, size_t at)
{
    const size_t next = after_pipe(t, at + 1);
    return next > at + 1 && token_is(t, next + 1, "(") && is_one_of(token_text(t, next), known_verbs);
}

struct phrase case_when(struct translator *t, size_t close)
{
    enum { MOST = 20 };
    struct phrase conditions[MOST], values[MOST];
    struct phrase other = phrase_missing();
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
    return choose_first(t, conditions, values, count, other);
}

const char *bare_names(struct translator *t)
{
    const bool list = accept_two(t, "c", "(");
    const char *names = NULL;
    do {
        if (!next_is_name(t) || token_is(t, t->at + 1, "(") || token_is(t, t->at + 1, "="))
            return NULL;
        const struct phrase column = translate_name(t, NULL, token_raw(t, t->at++));
        if (!column.text)
            return NULL;
        list_add(t, &names, "%s", column.text);
    } while (next_is(t, ",") && (list || (!token_is(t, t->at + 2, "=") && !token_is(t, t->at + 1, "."))) &&
             accept(t, ","));
    return !list || accept(t, ")") ? names : NULL;
}

/* `across(c(a, b), mean)` of a summary, whose `(` is read: an aggregate of each column. */
static const char *across(struct translator *t, size_t *count)
{
    const char *names = bare_names(t), *list = NULL;
    const char *function = names && accept(t, ",") ? token_text(t, t->at++) : NULL;
    if (!function || !is_aggregate_name(t, function) || !accept(t, ")"))
        return translate_fail(t, "an expression of a set of columns is one for each: `group k: mean(* of numeric)`, "
                                 "`derive a..b = _ / 2`")
            .text;
    for (const char *name; (name = list_next(t, &names)); ++*count) {
        struct phrase column = translate_name(t, NULL, name);
        if (column.optional)
            return translate_fail(t, "missing values are passed over, as with `na.rm = TRUE`").text;
        list_add(t, &list, "%s", translate_aggregate(t, function, &column, 1, false, NULL).text);
    }
    return list;
}

/* `.by = c(a, b)` at the end of the arguments: the names. *end: where it begins. */
static const char *by_names(struct translator *t, size_t close, size_t *end)
{
    const size_t before = t->at;
    const char *names = NULL;
    for (size_t i = before; i + 2 < close && !names; i++) {
        if ((!token_is(t, i, ".") || !token_is(t, i + 1, "by")) || !token_is(t, i + 2, "="))
            continue;
        t->at = i + 3;
        names = bare_names(t);
        names = t->at == close ? names : NULL;
        *end = i > before ? i - 1 : i;
    }
    t->at = before;
    return names;
}

/* filter(a, b): a condition with `and` between its parts, of which each is of all rows. */
static bool filter(struct translator *t, struct chain *chain, size_t close)
{
    struct phrase condition = {0};
    const char *keys = chain->keys;
    size_t last = close;
    const char *by = by_names(t, close, &last);
    while (t->at < last) {
        const size_t comma = find_word(t, t->at, ","), end = comma < last ? comma : last;
        if (token_is(t, t->at + 1, "="))
            return tell(t, "`x == y` compares");
        const struct phrase part = translate_range(t, t->at, end);
        condition = condition.text ? phrase_binary(&condition, " and ", &part, LEVEL_AND, PHRASE_BOOL, t->arena) : part;
        if (!condition.text)
            return false;
        t->at = end + (end < last);
    }
    t->at = close;
    chain->keys = by ? by : keys;
    if (condition.text)
        (void)chain_add(t, chain, "select %s", condition.text);
    chain->keys = keys;
    return true;
}

/* mutate(a = E, b = F): each is a stage of its own, as the next one may read its result. */
static bool mutate(struct translator *t, struct chain *chain, size_t close)
{
    const char *keys = chain->keys;
    size_t last = close;
    const char *by = by_names(t, close, &last);
    chain->keys = by ? by : keys;
    while (t->at < last) {
        const size_t comma = find_word(t, t->at, ","), end = comma < last ? comma : last;
        size_t aggregates, count;
        if (!token_is(t, t->at + 1, "="))
            return tell(t, "`derive NAME = E` adds a column");
        const char *text = translate_list(t, end, true, &aggregates, &count);
        if (!text)
            return false;
        (void)chain_add(t, chain, "derive %s", text);
        t->at = end + (end < last);
    }
    t->at = close;
    chain->keys = keys;
    return true;
}

/* Whether an expression up to `end` reads the result of one before it, as b of summarise(a = sum(x), b = a / n()). */
static bool reads_result(struct translator *t, size_t end)
{
    const char *names = NULL;
    for (size_t i = t->at; i < end; i++) {
        const size_t comma = find_word(t, i, ","), stop = comma < end ? comma : end;
        const char *name = token_is(t, i + 1, "=") ? token_raw(t, i) : NULL;
        for (i += name ? 2 : 0; i < stop; i++) {
            if (token_at(t, i)->kind == REWRITE_WORD && !token_is(t, i + 1, "(") && !token_is(t, i + 1, "=") && names &&
                list_has(t, names, token_raw(t, i)))
                return true;
        }
        if (name)
            list_add(t, &names, "%s", name);
    }
    return false;
}

/* starts_with("a"), everything(), where(is.numeric), a:b */
static const char *column_set(struct translator *t)
{
    static const char *const forms[] = {"starts_with", "%s*", "ends_with", "*%s", "contains", "*%s*"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i += 2) {
        const char *text = token_raw(t, t->at + 2);
        if (next_is(t, forms[i]) && token_at(t, t->at + 2)->kind == REWRITE_QUOTED && token_is(t, t->at + 3, ")") &&
            strcmp(phrase_name(text, t->arena), text) == 0) {
            t->at += 4;
            return arena_printf(t->arena, forms[i + 1], text);
        }
    }
    if (accept_two(t, "everything", "(") && accept(t, ")"))
        return "*";
    if (next_is(t, "where") && token_is(t, t->at + 2, "is") && token_is(t, t->at + 4, "numeric")) {
        t->at += 6;
        return "* of numeric";
    }
    if (next_kind(t) != REWRITE_WORD || !token_is(t, t->at + 1, ":"))
        return NULL;
    const struct phrase from = translate_name(t, NULL, token_raw(t, t->at)),
                        to = translate_name(t, NULL, token_raw(t, t->at + 2));
    t->at += 3;
    return from.text && to.text ? arena_printf(t->arena, "%s..%s", from.text, to.text) : NULL;
}

const char *selected_columns(struct translator *t, size_t close)
{
    const bool drops = next_is(t, "-") || next_is(t, "!");
    const char *names = NULL;
    while (t->at < close) {
        if (drops && !accept(t, "-") && !accept(t, "!"))
            return translate_fail(t, "`pick NAME, ...` keeps columns, `drop NAME, ...` leaves some out").text;
        const bool list = drops && accept_two(t, "c", "(");
        do {
            const char *name = token_is(t, t->at + 1, "=") ? token_raw(t, t->at) : NULL;
            t->at += name ? 2 : 0;
            const char *set = column_set(t);
            if (set) {
                list_add(t, &names, "%s", set);
                continue;
            }
            if (!next_is_name(t) || token_is(t, t->at + 1, "(") || token_is(t, t->at + 1, ":"))
                return translate_fail(
                           t, "`pick feature_*` keeps the columns of such a name, `pick a..b` those from a to b")
                    .text;
            const struct phrase column = translate_name(t, NULL, token_raw(t, t->at++));
            if (!column.text)
                return NULL;
            list_add(t, &names, name ? "%s as %s" : "%s", column.text, name ? phrase_name(name, t->arena) : "");
        } while (list && accept(t, ","));
        if ((list && !accept(t, ")")) || !accept(t, ","))
            break;
    }
    if (!names || t->at != close)
        return translate_fail(t, "`pick NAME, ...` keeps columns").text;
    return arena_printf(t->arena, "%s %s", drops ? "drop" : "pick", names);
}

static bool join(struct translator *t, struct chain *chain, size_t close, const char *verb)
{
    const char *other = token_text(t, t->at++);
    struct join_names names = {0};
    if (!accept(t, ",") || !accept_keyword(t, "by"))
        return tell(t, "`join S on KEY` names the columns that must be equal");
    const bool list = accept_two(t, "c", "(") || accept_two(t, "join_by", "(");
    do {
        names.left[names.count] = names.right[names.count] = token_raw(t, t->at++);
        if (accept(t, "=") || accept(t, "=="))
            names.right[names.count] = token_raw(t, t->at++);
    } while (++names.count < 8 && list && accept(t, ","));
    if ((list && !accept(t, ")")) || t->at != close)
        return tell(t, "`join S on KEY` names the columns that must be equal");
    const char *kind = *verb == 'i' ? "" : arena_printf(t->arena, "%.*s ", (int)strcspn(verb, "_"), verb);
    return chain_join(t, chain, kind, other, &names);
}

static bool drop_missing(struct translator *t, struct chain *chain, size_t close)
{
    size_t aggregates, count;
    const char *names = t->at < close ? translate_list(t, close, false, &aggregates, &count) : NULL;
    const char *condition = missing_columns(t, names, false);
    if (t->scope.open)
        return tell(t, "`reject missing(a) || missing(b)` drops the rows without one of these values");
    return !condition || chain_add(t, chain, "reject %s", condition);
}

static bool group_verb(struct translator *t, struct chain *chain, const char *verb, size_t close)
{
    size_t aggregates = 0, count = 0;
    const char *keys = chain->keys;
    chain->keys = NULL;
    if (strcmp(verb, "ungroup") == 0)
        return true;
    size_t end = close;
    const char *by = by_names(t, close, &end);
    keys = by ? by : keys;
    count = 0;
    if (*verb == 's' && reads_result(t, end))
        return tell(t,
                    "there an expression reads the result of one before it: `group K: sum(x) as s | derive r = s / 2` "
                    "has a stage for that, the other aggregates need names of their own");
    const char *list = accept_two(t, "across", "(") ? across(t, &aggregates) : NULL;
    list = list || t->told ? list : translate_list(t, end, false, &aggregates, &count);
    t->at = list && t->at == end ? close : t->at;
    if (strcmp(verb, "group_by") == 0)
        return (chain->keys = list);
    if (list && aggregates < count)
        return tell(t, "a group has keys and aggregates");
    return list && chain_add(t, chain, "group%s%s: %s", keys ? " " : "", keys ? keys : "", list);
}

/* pivot_wider(names_from = c, values_from = v, values_fill = 0): a row of each combination of the other columns */
static bool widen(struct translator *t, struct chain *chain, size_t close)
{
    static const char instead[] = "`group K: AGG(x) across C` makes a column of each value of C";
    const char *keys = NULL, *names[2] = {NULL, NULL}, *function = "first";
    while (t->at < close) {
        const bool values = accept_keyword(t, "values_from"), zero = !values && accept_keyword(t, "values_fill");
        if (!values && !zero && !accept_keyword(t, "names_from"))
            return tell(t, instead);
        if (zero && !accept(t, "0"))
            return tell(t, instead);
        if (zero)
            function = "sum"; /* of one row, and 0 of none */
        else
            names[values] = translate_name(t, NULL, token_raw(t, t->at++)).text;
        if (!accept(t, ","))
            break;
    }
    for (size_t i = 0; i < t->scope.count && names[0] && names[1]; i++) {
        const char *name = t->scope.columns[i].text;
        if (strcmp(name, names[0]) != 0 && strcmp(name, names[1]) != 0)
            list_add(t, &keys, "%s", name);
    }
    if (!keys || t->at != close || t->scope.open)
        return tell(t, instead);
    return chain_add(t, chain, "group %s: %s(%s) across %s", keys, function, names[1], names[0]);
}

static bool step(struct translator *t, struct chain *chain, const char *verb, size_t close)
{
    if (is_one_of(verb, "group_by ungroup summarise summarize"))
        return group_verb(t, chain, verb, close);
    if (chain->keys && !is_one_of(verb, "filter mutate slice slice_max slice_min slice_head slice_tail head"))
        return tell(t, "`per K: (STAGES)` runs stages within each group");
    if (strcmp(verb, "filter") == 0)
        return filter(t, chain, close);
    if (strcmp(verb, "mutate") == 0)
        return mutate(t, chain, close);
    if (strstr(verb, "_join"))
        return join(t, chain, close, verb);
    if (strcmp(verb, "pivot_wider") == 0)
        return widen(t, chain, close);
    if (strcmp(verb, "drop_na") == 0)
        return drop_missing(t, chain, close);
    return chain_verb(t, chain, VERB_R, verb, close, NULL);
}

const char *translate_dplyr(struct translator *t)
{
    t->dialect = DIALECT_R;
    struct chain chain = {.text = token_raw(t, t->at++)};
    chain_columns(t, &chain);
    while (t->at < t->end) {
        const size_t next = after_pipe(t, t->at);
        const size_t close = after_brackets(t, next + 1) - 1;
        if (next == t->at || !token_is(t, next + 1, "(") || !token_is(t, close, ")"))
            return translate_fail(t, "stages are separated by `|`").text;
        const char *verb = token_text(t, next);
        t->at = next + 2;
        if (!step(t, &chain, verb, close))
            return NULL;
        if (t->at != close)
            return translate_fail(t, "`%s` is not understood there", token_text(t, t->at)).text;
        t->at = close + 1;
    }
    return chain.text;
}

struct phrase r_function(struct translator *t, const char *name, struct phrase *operands, size_t count, bool *found)
{
    struct phrase result = {0};
    *found = true;
    if ((count == 1 || count == 2) && is_one_of(name, "lag lead")) {
        const char *form = arena_printf(t->arena, strcmp(name, "lag") == 0 ? "at(A, -%s)" : "at(A, %s)",
                                        count > 1 ? operands[1].text : "1");
        result = phrase_fill(form, LEVEL_OPERAND, operands[0].type, operands, 1, t->arena);
        result.optional = true;
        return result;
    }
    if (count == 4 && strcmp(name, "if_else") == 0) {
        struct phrase unknown = phrase_fill("A is missing", LEVEL_EQUALITY, PHRASE_BOOL, operands, 1, t->arena);
        unknown.optional = false;
        return choose(t, unknown, operands[3], choose(t, operands[0], operands[1], operands[2]));
    }
    if (count == 2 && is_one_of(name, "floor_date") && time_unit(&operands[1]))
        return phrase_fill(arena_printf(t->arena, "trunc(A, %s)", time_unit(&operands[1])), LEVEL_OPERAND,
                           operands[0].type, operands, 1, t->arena);
    if (count == 1 && strcmp(name, "cumsum") == 0)
        return operands[0].optional
                   ? translate_fail(t, "`sum(x) over ..0` passes over missing values")
                   : phrase_fill("sum(A) over ..0", LEVEL_OPERAND, operands[0].type, operands, 1, t->arena);
    *found = false;
    return result;
}
