/* Aggregates and window functions of other languages. */
#include "repl/rewrite/translator.h"

#include <string.h>
#include <strings.h>

enum {
    SQL = DIALECT_SQL,
    PY = DIALECT_PYTHON,
    R = DIALECT_R,
    KQL = DIALECT_KQL,
    Q = DIALECT_Q,
    ALL = SQL | PY | R | KQL | Q,
    SAME = -1
};

static const struct aggregate_word {
    const char *names;
    int dialects;
    size_t count; /* of operands; 9: none or one */
    const char *form;
    int type;
} aggregate_words[] = {
    {"count", ALL, 9, "count(A)", PHRASE_INT},
    {"n", R | PY, 9, "count(A)", PHRASE_INT},
    {"size", R | PY, 9, "count()", PHRASE_INT},
    {"sum", ALL, 1, "sum(A)", SAME},
    {"avg mean average", ALL, 1, "mean(A)", PHRASE_FLOAT},
    {"min", ALL, 1, "min(A)", SAME},
    {"max", ALL, 1, "max(A)", SAME},
    {"median med", ALL, 1, "median(A)", SAME},
    {"stddev stddev_samp sd std stdev sdev", ALL, 1, "stddev(A)", PHRASE_FLOAT},
    {"var_samp variance var svar", ALL, 1, "var(A)", PHRASE_FLOAT},
    {"quantile_cont percentile_cont", SQL, 2, "quantile(B, A)", PHRASE_FLOAT},
    {"quantile", R | PY, 2, "quantile(B, A)", PHRASE_FLOAT},
    {"corr", SQL | PY, 2, "corr(A, B)", PHRASE_FLOAT},
    {"cor", R | Q, 2, "corr(A, B)", PHRASE_FLOAT},
    {"product prod prd", ALL, 1, "product(A)", SAME},
    {"first", ALL, 1, "first(A)", SAME},
    {"last", ALL, 1, "last(A)", SAME},
    {"any_value take_any arbitrary", SQL | KQL, 1, "first(A)", SAME},
    {"bool_and every all", SQL | R | PY, 1, "all(A)", PHRASE_BOOL},
    {"bool_or any", SQL | R | PY, 1, "any(A)", PHRASE_BOOL},
    {"arg_min min_by argmin", SQL, 2, "argmin(B, A)", SAME},
    {"arg_max max_by argmax", SQL, 2, "argmax(B, A)", SAME},
    {"argmin", PY, 1, "argmin(A)", PHRASE_INT},
    {"argmax", PY, 1, "argmax(A)", PHRASE_INT},
    {"count_if countif", SQL | KQL, 1, "count(A)", PHRASE_INT},
    {"n_distinct dcount nunique approx_count_distinct uniqueN", ALL, 1, "distinct(A)", PHRASE_INT},
    {"mode", SQL, 1, "mode(A)", SAME},
    {"string_agg listagg", SQL, 2, "list(A, B)", PHRASE_TEXT},
    {"group_concat", SQL, 1, "list(A, ',')", PHRASE_TEXT},
    {"arg_max", KQL, 2, "max(A), argmax(A, B)", SAME},
    {"arg_min", KQL, 2, "min(A), argmin(A, B)", SAME},
    {"dcountif", KQL, 2, "distinct(B ? A : missing)", PHRASE_INT},
    {"sumif", KQL, 2, "sum(B ? A : missing)", SAME},
    {"avgif", KQL, 2, "mean(B ? A : missing)", PHRASE_FLOAT},
};

static const struct aggregate_word *find(const struct translator *t, const char *name)
{
    for (size_t i = 0; i < sizeof aggregate_words / sizeof *aggregate_words; i++) {
        if ((aggregate_words[i].dialects & (int)t->dialect) && is_one_of(name, aggregate_words[i].names))
            return &aggregate_words[i];
    }
    return NULL;
}

bool is_aggregate_name(const struct translator *t, const char *name)
{
    return find(t, name);
}

/* The call, over the frame unless that is empty. */
static struct phrase call(struct translator *t, const char *form, enum phrase_type type, struct phrase *operands,
                          size_t count, const char *frame)
{
    struct phrase result = phrase_fill(form, LEVEL_OPERAND, type, operands, count, t->arena);
    if (result.text)
        result.text = arena_printf(t->arena, "%s%s", result.text, frame);
    result.aggregate = true;
    return result;
}

static struct phrase counted(struct translator *t, struct phrase *operands, size_t count, const struct phrase *where,
                             const char *frame)
{
    struct phrase condition = where ? *where : (struct phrase){0};
    const bool constant = count == 1 && operands[0].type == PHRASE_INT && !operands[0].column &&
                          operands[0].level == LEVEL_OPERAND && !strchr(operands[0].text, '(');
    if (count == 1 && !constant && (operands[0].optional || operands[0].type == PHRASE_UNKNOWN)) {
        if (operands[0].type != PHRASE_BOOL && !where)
            return call(t, "count(A)", PHRASE_INT, operands, 1, frame);
        struct phrase present = phrase_fill("A is not missing", LEVEL_EQUALITY, PHRASE_BOOL, operands, 1, t->arena);
        condition = where ? phrase_binary(&present, " and ", where, LEVEL_AND, PHRASE_BOOL, t->arena) : present;
    }
    struct phrase result = condition.text
                               ? call(t, *frame ? "sum(A ? 1 : 0)" : "count(A)", PHRASE_INT, &condition, 1, frame)
                               : call(t, "count()", PHRASE_INT, NULL, 0, frame);
    if (condition.text && *frame) {
        condition = phrase_certain(condition, t->arena);
        result = call(t, "sum(A ? 1 : 0)", PHRASE_INT, &condition, 1, frame);
    }
    result.optional = false;
    return result;
}

static struct phrase aggregate_over(struct translator *t, const char *name, struct phrase *operands, size_t count,
                                    bool distinct, const struct phrase *where, const char *frame)
{
    const struct aggregate_word *word = find(t, name);
    for (size_t i = 0; i < count; i++) {
        if (!operands[i].text)
            return (struct phrase){0};
        if (operands[i].aggregate)
            return translate_fail(t, "an aggregate of aggregates takes two steps: `group K: ... | group: ...`");
    }
    if (*frame && is_one_of(name, "mode string_agg listagg group_concat"))
        return translate_fail(t, "`%s` is of groups and of all rows, not of windows", name);
    const struct phrase missing = phrase_missing();
    const bool counts = strcmp(word->form, "count(A)") == 0;
    if ((word->count == 9 ? count > 1 : count != word->count) || (distinct && (count != 1 || *frame)))
        return translate_fail(t,
                              is_one_of(name, "arg_max arg_min")
                                  ? "`per K: top 1 by t` is the latest row of each group, `argmax(t, x)` its value%s"
                                  : "`%s` has other operands here; `.help aggregates` lists what there is",
                              is_one_of(name, "arg_max arg_min") ? "" : name);
    if (distinct && !counts && !is_one_of(name, "min max"))
        return translate_fail(t, "`distinct` before an aggregate is a stage before it: `pick x | distinct | sum`");
    if (distinct && counts) {
        struct phrase of = where ? choose(t, *where, operands[0], missing) : operands[0];
        struct phrase result = call(t, "distinct(A)", PHRASE_INT, &of, 1, frame);
        result.optional = false;
        return result;
    }
    if (counts && is_one_of(name, "count_if countif"))
        return counted(t, NULL, 0, &operands[0], frame);
    if (counts)
        return counted(t, operands, count, where, frame);
    struct phrase of[2] = {operands[0], count > 1 ? operands[1] : (struct phrase){0}};
    if (where) {
        of[0] = choose(t, *where, of[0], missing);
    }
    if (strcmp(word->form, "first(A)") == 0 && t->dialect == DIALECT_SQL && of[0].optional && !*frame)
        return translate_fail(t, "`first(x)` is the first value that is there");
    if (of[0].type == PHRASE_BOOL && !where && is_one_of(name, "avg mean all"))
        of[0] = as_value(t, of[0]);
    if (of[0].type == PHRASE_BOOL && is_one_of(name, "sum avg mean"))
        of[0] = phrase_fill("int(A)", LEVEL_OPERAND, PHRASE_INT, of, 1, t->arena);
    const enum phrase_type type = word->type == SAME ? of[0].type : (enum phrase_type)word->type;
    struct phrase result = call(t, word->form, type, of, count, frame);
    const bool condition = word->type == PHRASE_BOOL;
    const bool of_nothing = (is_one_of(name, "sum product prod") || condition) && t->dialect == DIALECT_SQL;
    if (result.text && of_nothing && (of[0].optional || (t->may_be_none && !*frame))) {
        const char *form = !of[0].optional ? "count()" : condition ? "count(A is not missing)" : "count(A)";
        const struct phrase some = call(t, form, PHRASE_INT, of, 1, frame);
        result.text = arena_printf(t->arena, "%s > 0 ? %s : missing", some.text, result.text);
        result.optional = true;
        result.level = LEVEL_CHOICE;
        t->guarded = true;
    }
    return result;
}

struct phrase translate_aggregate(struct translator *t, const char *name, struct phrase *operands, size_t count,
                                  bool distinct, const struct phrase *where)
{
    return aggregate_over(t, name, operands, count, distinct, where, "");
}

const char *guarded_part(const char *text)
{
    const char *at = strncmp(text, "count(", 6) == 0 ? text + 5 : "";
    int depth = 0;
    for (; *at; at++) {
        depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (depth == 0)
            break;
    }
    return strncmp(at, ") > 0 ? ", 8) == 0 ? at + 8 : NULL;
}

/* Of the pipeline of which it is a value: `(t | max qty)`. */
static struct phrase value_of_pipeline(struct translator *t, struct phrase aggregate)
{
    const char *sum = guarded_part(aggregate.text);
    if (sum) {
        const size_t length = strlen(" > 0 ? "), all = strlen(sum) - strlen(" : missing");
        struct phrase parts[] = {aggregate, aggregate};
        parts[0].text = arena_text(t->arena, aggregate.text, (size_t)(sum - aggregate.text) - length);
        parts[1].text = arena_text(t->arena, sum, all);
        for (size_t i = 0; i < 2; i++)
            parts[i] = value_of_pipeline(t, parts[i]);
        aggregate.text = arena_printf(t->arena, "%s > 0 ? %s : missing", parts[0].text, parts[1].text);
        aggregate.level = LEVEL_CHOICE;
        aggregate.aggregate = false;
        return aggregate;
    }
    const size_t name = strcspn(aggregate.text, "("), length = strlen(aggregate.text);
    const char *arguments = arena_text(t->arena, aggregate.text + name + 1, length - name - 2);
    const char *stage = arena_printf(t->arena, "%.*s%s%s", (int)name, aggregate.text, *arguments ? " " : "", arguments);
    if (strncmp(aggregate.text, "distinct(", name + 1) == 0)
        stage = arena_printf(t->arena, "map %s as v | select v is not missing | distinct | count", arguments);
    aggregate.text = arena_printf(t->arena, "(%s | %s)", t->value_of, stage);
    aggregate.aggregate = false;
    return aggregate;
}

struct phrase place_aggregate(struct translator *t, struct phrase aggregate)
{
    if (!aggregate.text)
        return aggregate;
    if (t->value_of)
        return value_of_pipeline(t, aggregate);
    if (!t->grouping)
        return aggregate;
    struct grouping *g = t->grouping;
    size_t i = 0;
    while (i < g->count && (g->items[i].key || strcmp(g->items[i].phrase.text, aggregate.text) != 0))
        i++;
    if (i == g->count) {
        *ARENA_PUSH(t->arena, g->items, g->count, g->capacity) = (struct group_item){.phrase = aggregate};
    }
    struct phrase column = phrase_operand(group_column(t, &g->items[i]), aggregate.type);
    column.optional = aggregate.optional;
    return column;
}

/* Windows. */

struct window_key {
    struct phrase phrase;
    bool descending;
};

struct over {
    struct phrase_window window;
    struct window_key keys[8];
    size_t key_count;
    const char *frame;        /* in words of SQL; NULL: none is said */
    const char *first, *last; /* its ends, as written after `over`; "": from the first, to the last */
    bool range;
};

/* 3 preceding, unbounded following, current row */
static const char *frame_end(struct translator *t)
{
    if (accept_two(t, "current", "row"))
        return "0";
    if (accept_two(t, "unbounded", "preceding") || accept_two(t, "unbounded", "following"))
        return "";
    const struct phrase distance = translate_operand(t);
    if (!distance.text || distance.level != LEVEL_OPERAND)
        return NULL;
    if (accept(t, "following"))
        return distance.text;
    return accept(t, "preceding") ? arena_printf(t->arena, "-%s", distance.text) : NULL;
}

static bool parse_over(struct translator *t, struct over *over)
{
    if (!expect(t, "("))
        return false;
    const char *partition = NULL, *order = NULL;
    if (accept_two(t, "partition", "by")) {
        do {
            const struct phrase key = translate_expression(t);
            if (!key.text)
                return false;
            list_add(t, &partition, "%s", key.text);
        } while (accept(t, ","));
    }
    if (accept_two(t, "order", "by")) {
        do {
            struct window_key key = {translate_expression(t), false};
            if (!key.phrase.text || over->key_count == 8)
                return false;
            key.descending = accept(t, "desc");
            (void)accept(t, "asc");
            if (accept_two(t, "nulls", "first")) {
                (void)translate_fail(t, "missing values come last in order");
                return false;
            }
            (void)accept_two(t, "nulls", "last");
            over->keys[over->key_count++] = key;
            const char *text = arena_printf(t->arena, "%s%s", key.phrase.text, key.descending ? " desc" : "");
            list_add(t, &order, "%s", text);
        } while (accept(t, ","));
    }
    over->range = accept(t, "range");
    if (over->range || accept(t, "rows")) {
        const bool both = accept(t, "between");
        over->frame = "";
        over->first = frame_end(t);
        if (both && !accept(t, "and"))
            return false;
        over->last = both ? frame_end(t) : "0";
        if (!over->first || !over->last) {
            (void)translate_fail(t, "a window is `AGG(x) over A..B`, from A to B rows away");
            return false;
        }
    }
    over->window = (struct phrase_window){partition, order};
    return expect(t, ")");
}

/* The window that a name stands for: `window w as (...)` at the end of the query. */
static bool parse_named(struct translator *t, struct over *over)
{
    const size_t at = t->at, end = t->end, all = t->text->count;
    const char *name = token_raw(t, at);
    t->end = all;
    for (t->at = at; t->at < all; t->at++) {
        if (next_is(t, name) && token_is(t, t->at + 1, "as") && token_is(t, t->at + 2, "("))
            break;
    }
    t->at += 2;
    const bool good = t->at < all && parse_over(t, over);
    t->at = at + 1;
    t->end = end;
    return good;
}

static struct phrase windowed(struct translator *t, struct phrase phrase, const struct over *over, bool ordered)
{
    struct phrase_window *window = arena_alloc(t->arena, sizeof *window);
    *window = (struct phrase_window){over->window.partition, ordered ? over->window.order : NULL};
    phrase.window = window;
    phrase.aggregate = false;
    return phrase;
}

/* The place of a row in the order of one key. */
static struct phrase ranked(struct translator *t, const struct over *over, bool dense)
{
    if (over->key_count != 1)
        return translate_fail(t, "`rank(x)` has one key");
    const struct phrase *key = &over->keys[0].phrase;
    const char *text = arena_printf(t->arena, "rank(%s%s%s)", key->text, over->keys[0].descending ? ", desc" : "",
                                    dense ? ", dense" : "");
    struct phrase result = phrase_operand(text, PHRASE_INT);
    if (key->optional) {
        result.text = arena_printf(t->arena, "%s ?? %s(%s) + 1", text, dense ? "distinct" : "count", key->text);
        result.level = LEVEL_COALESCE;
    }
    return windowed(t, result, over, false);
}

/* percent_rank() and cume_dist(): shares of the rows before a row, and up to it with those that are equal to it. */
static struct phrase ranked_share(struct translator *t, const struct over *over, bool before)
{
    const struct phrase rank = ranked(t, over, false);
    const struct phrase *key = &over->keys[0].phrase;
    if (!rank.text)
        return rank;
    struct phrase result = {
        .text = arena_printf(t->arena, "(%s - 1) / float(max(count() - 1, 1))", phrase_at(&rank, LEVEL_SUM, t->arena)),
        .level = LEVEL_PRODUCT,
        .type = PHRASE_FLOAT};
    if (!before) {
        result.text =
            arena_printf(t->arena, "(count(%s) - rank(%s%s) + 1) / float(count())%s", key->optional ? key->text : "",
                         key->text, over->keys[0].descending ? "" : ", desc", key->optional ? " ?? 1.0" : "");
        result.level = key->optional ? LEVEL_COALESCE : LEVEL_PRODUCT;
    }
    return windowed(t, result, over, false);
}

/* ntile(n) */
static struct phrase parted(struct translator *t, const struct phrase *parts, const struct over *over)
{
    if (over->key_count != 1 || over->keys[0].phrase.optional)
        return translate_fail(t, "`ntile(4, x)` is the quarter of one value in order, missing where that is");
    const char *text = arena_printf(t->arena, "ntile(%s, %s%s)", parts->text, over->keys[0].phrase.text,
                                    over->keys[0].descending ? ", desc" : "");
    return windowed(t, phrase_operand(text, PHRASE_INT), over, false);
}

/* lag(x [, k [, default]]) and lead */
static struct phrase neighbour(struct translator *t, struct phrase *operands, size_t count, const struct over *over,
                               bool before)
{
    if (count == 0 || over->key_count == 0)
        return translate_fail(
            t, "`at(x, -1)` is the value of the row before, in an order: `sort t | derive p = at(x, -1)`");
    const char *distance = count > 1 ? operands[1].text : "1";
    struct phrase result = operands[0];
    result.text = arena_printf(t->arena, "at(%s, %s%s)", operands[0].text, before ? "-" : "", distance);
    result.level = LEVEL_OPERAND;
    result.optional = true;
    result.raw = result.column = NULL;
    if (count > 2) {
        const char *outside = arena_printf(t->arena, before ? "row < %s" : "row >= count() - %s", distance);
        struct phrase condition = {.text = outside, .level = LEVEL_COMPARISON, .type = PHRASE_BOOL};
        result = choose(t, condition, operands[2], result);
        result.optional = operands[0].optional || operands[2].optional;
    }
    return windowed(t, result, over, true);
}

/* The rows up to the current one: with a frame of SQL's own, also those that are equal to it in order. */
static const char *frame_of(struct translator *t, const struct over *over)
{
    const struct phrase *key = &over->keys[0].phrase;
    const bool times = key->type == PHRASE_DATE || key->type == PHRASE_TIMESTAMP || key->type == PHRASE_INT;
    const bool exact = over->key_count == 1 && times && !over->keys[0].descending && !key->optional && key->column;
    if (over->frame && !over->range)
        return arena_printf(t->arena, " over %s..%s", over->first, over->last);
    if (!exact) {
        (void)translate_fail(
            t, "SQL adds rows that are equal in order at once; `sum(x) over ..0` adds one row after another, as "
               "`rows unbounded preceding` does");
        return NULL;
    }
    return arena_printf(t->arena, " over %s..%s of %s", over->frame ? over->first : "", over->frame ? over->last : "0",
                        key->text);
}

struct phrase translate_window(struct translator *t, const char *name, struct phrase *operands, size_t count,
                               const struct phrase *where)
{
    struct over over = {0};
    if (!(next_is_name(t) ? parse_named(t, &over) : parse_over(t, &over)))
        return translate_fail(t, "`per K: derive x = AGG(y) over A..B` computes within groups");
    if (is_one_of(name, "row_number"))
        return windowed(t, (struct phrase){.text = "row + 1", .level = LEVEL_SUM, .type = PHRASE_INT}, &over, true);
    if (is_one_of(name, "rank dense_rank"))
        return ranked(t, &over, strlen(name) > 4);
    if (is_one_of(name, "percent_rank cume_dist"))
        return ranked_share(t, &over, *name == 'p');
    if (is_one_of(name, "ntile") && count == 1)
        return parted(t, &operands[0], &over);
    if (is_one_of(name, "lag lead"))
        return neighbour(t, operands, count, &over, strlen(name) == 3);
    if (is_one_of(name, "first_value last_value") && count == 1) {
        if (operands[0].optional)
            return translate_fail(t, "`first(x)` and `last(x)` are of the rows that have a value");
        name = *name == 'f' ? "first" : "last";
        if (*name == 'f' && !over.frame)
            over.frame = over.first = over.last = "";
    }
    if (!find(t, name))
        return translate_function(t, name, operands, count);
    const bool ordered = is_one_of(name, "first last");
    struct grouping *grouping = t->grouping;
    const bool may_be_none = t->may_be_none;
    t->may_be_none = false;
    const bool whole = over.key_count == 0 && !over.frame;
    const bool all = over.frame && !*over.first && !*over.last;
    const char *frame = whole || all ? "" : frame_of(t, &over);
    if (!frame)
        return (struct phrase){0};
    struct phrase result = aggregate_over(t, name, operands, count, false, where, frame);
    t->grouping = grouping;
    t->may_be_none = may_be_none;
    return result.text ? windowed(t, result, &over, *frame || ordered) : result;
}
