/* Lines of R without packages: `t[rows, columns]`, `t$x`, `subset`, `aggregate`, `tapply`, `table`, `merge`, `head`. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>

/* What there is instead of functions of relations. */
static const struct instead missing_functions[] = {
    {"lm glm nls",
     "there are no models here: `corr(x, y)` is a correlation, `save x.parquet` writes a file for other programs"},
    {"dcast", "`group K: AGG(x) across C` makes a column of each value of C"},
    {"melt", "`unpivot a, b as NAME, VALUE` makes a row of each column's value"},
    {"colMeans colSums colnames rowSums rowMeans",
     "`group: mean(* of numeric)` computes of all columns, `map a + b` of each row"},
    {"rev diff", "`sort x desc` has the largest first, `reverse` turns rows round, `x - at(x, -1)` is the change from "
                 "the row before"},
    {"apply setorder lapply",
     "`sort x, y desc` sorts, `map E` computes of each row, `group: mean(* of numeric)` of all columns"},
};

static const char functions[] =
    "subset aggregate tapply table merge head tail mean sum min max median length nrow rbind bind_rows "
    "with colnames names str summary sapply";

static bool is_relation(const struct translator *t, size_t token)
{
    return token_at(t, token)->kind == REWRITE_WORD && known_relation(t, token_raw(t, token));
}

/* `t$x`, whose sign no other language has between a table and a name. */
static bool is_column(const struct translator *t, size_t at)
{
    return is_relation(t, at) && token_is(t, at + 1, "$") && token_at(t, at + 2)->kind == REWRITE_WORD;
}

static const char *missing_function(const struct translator *t, size_t at)
{
    bool found = false;
    for (size_t i = at + 2; i < t->end && token_is(t, at + 1, "("); i++)
        found = found || is_relation(t, i);
    return found ? find_instead(missing_functions, sizeof missing_functions / sizeof *missing_functions,
                                token_text(t, at))
                 : NULL;
}

bool is_base_r(const struct translator *t, size_t at)
{
    if (find_word(t, at, "|") < t->end || find_word(t, at, "|> %>") < t->end)
        return false;
    if (missing_function(t, at))
        return true;
    for (size_t i = at; i < t->end; i++) {
        if (is_column(t, i))
            return true;
    }
    if (is_relation(t, at) && token_is(t, at + 1, "[")) {
        const size_t close = after_brackets(t, at + 1) - 1;
        bool base = false;
        for (size_t i = at + 2; i < close; i++)
            base = base || (token_is(t, i, ",") && i + 1 == close) ||
                   (token_is(t, i, ",") && token_is(t, i + 1, "c") && token_is(t, i + 2, "("));
        return base && close + 1 == t->end;
    }
    if (!is_one_of(token_text(t, at), functions) || !token_is(t, at + 1, "(") || after_brackets(t, at + 1) != t->end)
        return false;
    return is_relation(t, at + 2) || token_is(t, at, "aggregate");
}

struct phrase base_r_column(struct translator *t)
{
    if (!is_column(t, t->at) || strcmp(token_raw(t, t->at), t->frame) != 0)
        return (struct phrase){0};
    t->at += 3;
    return translate_name(t, NULL, token_raw(t, t->at - 1));
}

static struct chain begin_chain(struct translator *t, size_t token)
{
    struct chain chain = {.text = token_raw(t, token)};
    t->frame = chain.text;
    chain_columns(t, &chain);
    return chain;
}

/* Or order(a, decreasing = TRUE). */
const char *order_keys(struct translator *t)
{
    const char *keys = NULL, *last = NULL;
    bool down = false;
    do {
        if (accept(t, "decreasing")) {
            down = accept(t, "=") && (accept(t, "TRUE") || accept(t, "T"));
            break;
        }
        const bool minus = accept(t, "-");
        const struct phrase key = translate_expression(t);
        if (!key.text)
            return NULL;
        last = arena_printf(t->arena, "%s%s", key.text, minus ? " desc" : "");
        list_add(t, &keys, "%s", last);
    } while (accept(t, ","));
    if (down && strcmp(keys, last) != 0)
        return translate_fail(t, "`sort a desc, b` gives each key its direction").text;
    return accept(t, ")") ? arena_printf(t->arena, "%s%s", keys, down ? " desc" : "") : NULL;
}

/* What is taken of rows before the comma. */
static bool take_rows(struct translator *t, struct chain *chain)
{
    if (next_is(t, ","))
        return true;
    const bool exclude = accept(t, "-");
    if (next_kind(t) == REWRITE_NUMBER && token_is(t, t->at + 1, ",") && (!exclude || next_is(t, "1"))) {
        const long row = strtol(token_text(t, t->at++), NULL, 10);
        if (row > 1)
            (void)chain_add(t, chain, "skip %ld", row - 1);
        return row > 0 ? chain_add(t, chain, exclude ? "skip 1" : "take 1")
                       : tell(t, "rows have places from 0: `skip N | take 1`");
    }
    if (accept_two(t, "which", ".") && (next_is(t, "max") || next_is(t, "min")) && token_is(t, t->at + 1, "(")) {
        const bool least = next_is(t, "min");
        t->at += 2;
        const struct phrase x = translate_expression(t);
        return x.text && expect(t, ")") && chain_add(t, chain, "top 1 by %s%s", x.text, least ? " asc" : "");
    }
    if (accept_two(t, "order", "(")) {
        const char *keys = exclude ? NULL : order_keys(t);
        return keys && chain_add(t, chain, "sort %s", keys);
    }
    if (next_kind(t) == REWRITE_NUMBER && token_is(t, t->at + 1, ":")) {
        const long first = strtol(token_text(t, t->at), NULL, 10), last = strtol(token_text(t, t->at + 2), NULL, 10);
        t->at += 3;
        if (first > 1)
            (void)chain_add(t, chain, "skip %ld", exclude ? last : first - 1);
        return !exclude && last >= first && first > 0 ? chain_add(t, chain, "take %ld", last - first + 1)
               : exclude && first == 1                ? chain_add(t, chain, "skip %ld", last)
                                                      : tell(t, "`skip N | take N` keeps rows by their places");
    }
    const struct phrase condition = exclude ? (struct phrase){0} : translate_expression(t);
    if (!condition.text)
        return tell(t, "`select C` keeps the rows where a condition holds");
    if (condition.optional)
        return tell(
            t, "where the condition is unknown R has rows of missing values; `select C` drops them, as `subset` does");
    return chain_add(t, chain, "select %s", condition.text);
}

/* What is taken of columns: "a", c("a", "b"), or nothing. */
static bool take_columns(struct translator *t, struct chain *chain, size_t close)
{
    if (t->at == close)
        return true;
    const bool list = accept_two(t, "c", "(");
    const char *names = NULL;
    do {
        if (next_kind(t) != REWRITE_QUOTED)
            return tell(t, "`pick NAME, ...` keeps columns, `drop NAME, ...` leaves some out");
        const struct phrase column = translate_name(t, NULL, token_raw(t, t->at++));
        if (!column.text)
            return false;
        list_add(t, &names, "%s", column.text);
    } while (list && accept(t, ","));
    return (!list || accept(t, ")")) && t->at == close && chain_add(t, chain, "pick %s", names);
}

static const char *index_rows(struct translator *t)
{
    struct chain chain = begin_chain(t, t->at++);
    while (accept(t, "[")) {
        const size_t close = after_brackets(t, t->at - 1) - 1;
        if (!take_rows(t, &chain) || !accept(t, ",") || !take_columns(t, &chain, close))
            return t->told ? NULL : translate_fail(t, "`select C | pick NAME, ...` keeps rows and columns").text;
        t->at = close + 1;
    }
    return t->at == t->end ? chain.text : NULL;
}

/* subset(t, C, select = c(a, b)) */
static const char *subset(struct translator *t, size_t close)
{
    struct chain chain = begin_chain(t, t->at++);
    if (!accept(t, ","))
        return NULL;
    if (!next_is(t, "select")) {
        const struct phrase condition = translate_expression(t);
        if (!condition.text)
            return NULL;
        (void)chain_add(t, &chain, "select %s", condition.text);
        (void)accept(t, ",");
    }
    if (accept_keyword(t, "select")) {
        const bool list = token_is(t, t->at, "c") && token_is(t, t->at + 1, "(");
        const char *names = list ? bare_names(t) : selected_columns(t, close);
        return names && chain_add(t, &chain, list ? "pick %s" : "%s", names) ? chain.text : NULL;
    }
    return t->at == close ? chain.text : NULL;
}

static const char *aggregate_named(struct translator *t, const char *function, struct phrase column)
{
    if (!column.text || !is_aggregate_name(t, function))
        return translate_fail(t, "`.help aggregates` lists what there is").text;
    return translate_aggregate(t, function, &column, 1, false, NULL).text;
}

/* aggregate(x ~ a + b, data = t, FUN = sum) leaves out rows without one of the values. */
static const char *aggregate(struct translator *t)
{
    const size_t formula = t->at, data = find_word(t, formula, "data");
    const char *keys = NULL;
    if (!token_is(t, formula + 1, "~"))
        return translate_fail(t, "`group K: AGG(x)` aggregates by groups").text;
    const size_t frame = data < t->end && token_is(t, data + 1, "=") ? data + 2 : find_word(t, formula, ",") + 1;
    if (!is_relation(t, frame))
        return NULL;
    struct chain chain = begin_chain(t, frame);
    const struct phrase value = translate_name(t, NULL, token_raw(t, formula));
    for (t->at = formula + 2; next_kind(t) == REWRITE_WORD; (void)accept(t, "+")) {
        const struct phrase key = translate_name(t, NULL, token_raw(t, t->at++));
        if (!key.text)
            return NULL;
        list_add(t, &keys, "%s", key.text);
    }
    t->at = frame + 1;
    if (!value.text || !keys || !accept(t, ",") || (next_is(t, "FUN") && !accept_keyword(t, "FUN")))
        return NULL;
    const char *function = token_text(t, t->at), *missing;
    if (!token_is(t, t->at + 1, ")"))
        return translate_fail(t, "`group K: AGG(x)` aggregates by groups").text;
    missing = missing_columns(t, arena_printf(t->arena, "%s, %s", value.text, keys), false);
    if (missing)
        (void)chain_add(t, &chain, "reject %s", missing);
    const char *text = aggregate_named(t, function, translate_name(t, NULL, token_raw(t, formula)));
    return text && chain_add(t, &chain, "group %s: %s", keys, text) ? chain.text : NULL;
}

/* A column of the first argument, at hand: `t$x`. */
static struct phrase first_column(struct translator *t, struct chain *chain)
{
    *chain = begin_chain(t, t->at);
    return base_r_column(t);
}

/* mean(t$x), mean(t$x, na.rm = TRUE) */
static const char *summary(struct translator *t, const char *function, size_t close)
{
    struct chain chain;
    struct phrase column = first_column(t, &chain);
    const bool removes = accept(t, ",");
    if (!column.text)
        return NULL;
    if (removes && !(token_is(t, t->at, "na") && token_is(t, t->at + 2, "rm") && token_is(t, t->at + 4, "TRUE")))
        return NULL;
    t->at += removes ? 5 : 0;
    if (column.optional && !removes && strcmp(function, "length") != 0)
        return translate_fail(t, "missing values are passed over, as with `na.rm = TRUE`").text;
    if (t->at != close)
        return NULL;
    if (strcmp(function, "length") == 0)
        return arena_printf(t->arena, "%s | count", chain.text);
    return arena_printf(t->arena, "%s | %s %s", chain.text, function, column.text);
}

/* table(t$x), table(t$x, t$y): missing values are not counted. */
static const char *table(struct translator *t, size_t close)
{
    struct chain chain;
    const struct phrase column = first_column(t, &chain);
    if (column.text && accept(t, ",")) {
        const struct phrase across = base_r_column(t);
        if (!across.text || t->at != close || column.optional || across.optional)
            return translate_fail(t, "`group A: count() across B` counts the rows of each pair").text;
        return arena_printf(t->arena, "%s | group %s: count() across %s", chain.text, column.text, across.text);
    }
    if (!column.text || t->at != close)
        return NULL;
    if (column.optional)
        (void)chain_add(t, &chain, "select %s is not missing", column.text);
    (void)chain_add(t, &chain, "group %s: count()", column.text);
    return chain.text;
}

/* tapply(t$x, t$k, mean) */
static const char *tapply(struct translator *t, size_t close)
{
    struct chain chain;
    const struct phrase column = first_column(t, &chain);
    const bool good = column.text && accept(t, ",");
    const struct phrase key = good ? base_r_column(t) : column;
    if (!good || !key.text || !accept(t, ",") || t->at + 1 != close)
        return NULL;
    if (column.optional)
        return translate_fail(t, "missing values are passed over, as with `na.rm = TRUE`").text;
    if (key.optional)
        (void)chain_add(t, &chain, "select %s is not missing", key.text);
    const char *text = aggregate_named(t, token_text(t, t->at), column);
    return text && chain_add(t, &chain, "group %s: %s", key.text, text) ? chain.text : NULL;
}

/* The columns of both. */
static struct join_names common_names(struct translator *t, const char *other)
{
    struct known_columns others = {0};
    struct join_names names = {0};
    (void)known_add_source(t, &others, other, NULL);
    for (size_t i = 0; i < others.count && names.count < 8; i++) {
        if (known_find(&t->scope, NULL, others.columns[i].name)) {
            names.left[names.count] = names.right[names.count] = others.columns[i].name;
            names.count++;
        }
    }
    return names;
}

/* merge(a, b, by = "k"), all.x = TRUE, all = TRUE */
static const char *merge(struct translator *t, size_t close)
{
    static const char joins[] = "`join S on KEY` joins, also `left join` and `full join`";
    struct chain chain = begin_chain(t, t->at++);
    const char *other = accept(t, ",") && is_relation(t, t->at) ? token_raw(t, t->at++) : NULL, *kind = "";
    if (!other)
        return translate_fail(t, "%s", joins).text;
    struct join_names names = {0};
    while (accept(t, ",")) {
        if (accept_keyword(t, "by")) {
            const bool list = accept_two(t, "c", "(");
            do {
                names.left[names.count] = names.right[names.count] = token_raw(t, t->at++);
            } while (++names.count < 8 && list && accept(t, ","));
            if (list && !accept(t, ")"))
                return NULL;
            continue;
        }
        const bool all = accept(t, "all"), left = all && accept_two(t, ".", "x");
        if (!all || !accept(t, "=") || (!accept(t, "TRUE") && !accept(t, "T")))
            return translate_fail(t, "%s", joins).text;
        kind = left ? "left " : "full ";
    }
    if (names.count == 0)
        names = common_names(t, other);
    if (t->at != close || names.count == 0 || !chain_join(t, &chain, kind, other, &names))
        return translate_fail(t, "%s", joins).text;
    const char *keys = NULL; /* which come first */
    for (size_t i = 0; i < names.count; i++)
        list_add(t, &keys, "%s", phrase_name(names.left[i], t->arena));
    return strcmp(t->scope.columns[0].name, names.left[0]) == 0 && names.count == 1
               ? chain.text
               : arena_printf(t->arena, "%s | pick %s, *", chain.text, keys);
}

/* What begins at the token, up to `end`, of one relation: a value or a column. */
static const char *computed(struct translator *t, struct chain *chain, size_t end)
{
    static const struct {
        const char *function, *stages;
    } wholes[] = {{"unique", "map %s | distinct"}, {"sort", "map %s as x | sort x"}, {"summary", "map %s | describe"}};
    const bool count =
        next_is(t, "length") && token_is(t, t->at + 2, "unique") && after_brackets(t, t->at + 3) + 1 == end;
    t->at += count ? 2 : 0;
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        if (!next_is(t, wholes[i].function) || !token_is(t, t->at + 1, "(") ||
            after_brackets(t, t->at + 1) + count != end)
            continue;
        t->at += 2;
        const struct phrase x = translate_range(t, t->at, end - 1 - count);
        if (!x.text)
            return NULL;
        t->at = end;
        if (x.optional && i == 1)
            (void)chain_add(t, chain, "select %s is not missing", phrase_at(&x, LEVEL_EQUALITY, t->arena));
        (void)chain_add(t, chain, wholes[i].stages, x.text);
        return count ? arena_printf(t->arena, "%s | count", chain->text) : chain->text;
    }
    chain->column = translate_range(t, t->at, end);
    chain->is_column = true;
    t->at = t->end;
    return chain->column.text ? chain_finish(t, chain) : NULL;
}

/* An expression with columns of one relation: sd(t$x) / mean(t$x), ifelse(t$x > 1, "a", "b"). */
static const char *of_columns(struct translator *t)
{
    size_t first = t->at;
    while (first < t->end && !is_column(t, first))
        first++;
    struct chain chain = begin_chain(t, first);
    return computed(t, &chain, t->end);
}

/* t$x <- E */
static const char *assigned(struct translator *t)
{
    struct chain chain = begin_chain(t, t->at);
    const char *name = token_raw(t, t->at + 2);
    const struct phrase value = translate_range(t, t->at + 4, t->end);
    if (!value.text)
        return NULL;
    t->at = t->end;
    (void)chain_derive(t, &chain, name, &value);
    return arena_printf(t->arena, "let %s = %s", t->frame, chain.text);
}

/* with(t, E) */
static const char *with(struct translator *t, size_t close)
{
    struct chain chain = begin_chain(t, t->at++);
    if (!accept(t, ",") || next_is(t, "tapply") || next_is(t, "table"))
        return translate_fail(t, "`group K: AGG(x)` aggregates by groups, `group A: count() across B` counts pairs")
            .text;
    return computed(t, &chain, close);
}

/* head(t, 3), tail(t), nrow(t) */
static const char *rows(struct translator *t, const char *function, size_t close)
{
    const char *frame = token_raw(t, t->at++), *number = "6";
    if (strcmp(function, "nrow") == 0)
        return t->at == close ? arena_printf(t->arena, "%s | count", frame) : NULL;
    if (accept(t, ",")) {
        if (next_is(t, "n"))
            (void)accept_keyword(t, "n");
        number = next_kind(t) == REWRITE_NUMBER ? token_text(t, t->at++) : NULL;
    }
    if (!number || t->at != close)
        return translate_fail(t, "`take N` keeps the first rows, `tail N` the last").text;
    return arena_printf(t->arena, "%s | %s %s", frame, strcmp(function, "head") == 0 ? "take" : "tail", number);
}

static const char *call(struct translator *t)
{
    const char *function = token_text(t, t->at);
    const size_t close = t->end - 1;
    t->at += 2;
    if (strcmp(function, "subset") == 0)
        return subset(t, close);
    if (strcmp(function, "aggregate") == 0)
        return aggregate(t);
    if (strcmp(function, "tapply") == 0)
        return tapply(t, close);
    if (strcmp(function, "table") == 0)
        return table(t, close);
    if (strcmp(function, "merge") == 0)
        return merge(t, close);
    if (is_one_of(function, "head tail nrow"))
        return rows(t, function, close);
    if (strcmp(function, "with") == 0)
        return with(t, close);
    if (is_one_of(function, "rbind bind_rows") && token_is(t, t->at + 1, ",") && t->at + 3 == close)
        return arena_printf(t->arena, "%s | append %s", token_raw(t, t->at), token_raw(t, t->at + 2));
    if (is_one_of(function, "colnames names str summary sapply"))
        return translate_fail(t, "`%s | describe` prints a line for each column", token_raw(t, t->at)).text;
    return summary(t, function, close);
}

/* t$x[C] */
static const char *chosen_values(struct translator *t, size_t begin)
{
    struct chain chain = begin_chain(t, begin);
    const struct phrase condition = translate_range(t, begin + 4, t->end - 1);
    const struct phrase column = translate_name(t, NULL, token_raw(t, begin + 2));
    if (!condition.text || !column.text || condition.type != PHRASE_BOOL || condition.optional)
        return translate_fail(t, "`t | select C | pick x` keeps values where C holds, none where it is unknown, "
                                 "`t.x[K]` is the value in row K, from 0")
            .text;
    return arena_printf(t->arena, "%s | select %s | pick %s", chain.text, condition.text, column.text);
}

const char *translate_base_r(struct translator *t)
{
    t->dialect = DIALECT_R;
    const char *line = NULL;
    const size_t begin = t->at;
    if (missing_function(t, begin))
        return translate_fail(t, "%s", missing_function(t, begin)).text;
    if (is_column(t, begin) && token_is(t, begin + 3, "[") && after_brackets(t, begin + 3) == t->end)
        return chosen_values(t, begin);
    const bool whole = token_is(t, begin + 1, "(") && is_one_of(token_text(t, begin), functions) &&
                       after_brackets(t, begin + 1) == t->end;
    if (is_column(t, begin) && (token_is(t, begin + 3, "<-") || token_is(t, begin + 3, "=")))
        return assigned(t);
    if (whole && (is_relation(t, begin + 2) || token_is(t, begin, "aggregate"))) {
        line = call(t);
        t->at = line || t->told ? t->at : begin;
        line = line || t->told || !is_column(t, begin + 2) ? line : of_columns(t);
    } else if (token_is(t, begin + 1, "[") && is_relation(t, begin)) {
        line = index_rows(t);
    } else if (!is_column(t, begin) || begin + 3 < t->end) {
        line = of_columns(t);
    } else {
        struct chain chain;
        const struct phrase column = first_column(t, &chain);
        line = column.text && t->at == t->end ? arena_printf(t->arena, "%s | pick %s", chain.text, column.text) : NULL;
    }
    return line || t->told ? line : translate_fail(t, "`%s` is not understood there", token_text(t, t->at)).text;
}
