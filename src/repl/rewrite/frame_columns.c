/* Columns of pandas in expressions, and their methods. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool accept_keyword(struct translator *t, const char *name)
{
    if (!next_is(t, name) || !token_is(t, t->at + 1, "="))
        return false;
    t->at += 2;
    return true;
}

/* Timedelta("2 days"), timedelta(hours=3), DateOffset(months=1), whose bracket is read. */
struct phrase duration_of(struct translator *t, size_t close)
{
    static const struct unit {
        const char *names, *written;
    } units[] = {{"seconds second s sec", "s"},
                 {"minutes minute min m t", "min"},
                 {"hours hour h", "h"},
                 {"days day d", "d"},
                 {"weeks week w", "w"},
                 {"months mo", "mo"},
                 {"years y", "y"}};
    const char *sum = NULL;
    bool several = false;
    while (t->at < close) {
        const bool text = next_kind(t) == REWRITE_QUOTED && t->at + 1 == close;
        const char *raw = text ? token_raw(t, t->at) : token_text(t, t->at + 2), *unit = NULL;
        const size_t digits = strspn(raw, "0123456789");
        const char *word = !text ? token_text(t, t->at) : raw + digits + strspn(raw + digits, " ");
        for (size_t i = 0; digits > 0 && i < sizeof units / sizeof *units; i++) {
            if (is_one_of(word, units[i].names))
                unit = units[i].written;
        }
        if (!unit || (!text && (!token_is(t, t->at + 1, "=") || raw[digits])))
            break;
        several = sum;
        sum = arena_printf(t->arena, "%s%s%.*s%s", sum ? sum : "", sum ? " + " : "", (int)digits, raw, unit);
        t->at += text ? 1 : 3;
        (void)accept(t, ",");
    }
    if (!sum || t->at != close)
        return translate_fail(t, "durations are written 90s, 5min, 2h, 1d, 1w, 3mo, 1y");
    t->at = close + 1;
    struct phrase result = phrase_operand(sum, PHRASE_DURATION);
    result.level = several ? LEVEL_SUM : LEVEL_OPERAND;
    return result;
}

const char *condition_of_text(struct translator *t, const char *text)
{
    struct translator inner = *t;
    const struct rewrite_text tokens = rewrite_tokenize(text, strlen(text), t->arena);
    inner.text = &tokens;
    inner.at = 0;
    inner.end = tokens.count;
    const struct phrase condition = translate_expression(&inner);
    t->told = inner.told;
    return condition.text && inner.at == inner.end ? condition.text : NULL;
}

const char *renamed_columns(struct translator *t)
{
    const char *names = NULL;
    while (token_is(t, t->at + 1, ":")) {
        list_add(t, &names, "%s as %s", phrase_name(token_raw(t, t->at), t->arena),
                 phrase_name(token_raw(t, t->at + 2), t->arena));
        t->at += 3;
        (void)accept(t, ",");
    }
    return names;
}

/* duplicated(["a", "b"], keep = False) of a frame, or of a column, whose bracket is read */
static struct phrase repeated(struct translator *t, const char *column)
{
    const size_t close = after_brackets(t, t->at - 1) - 1;
    struct phrase_window *window = arena_alloc(t->arena, sizeof *window);
    *window = (struct phrase_window){0};
    struct phrase test = phrase_operand("row > 0", PHRASE_BOOL);
    const bool some = !column && (accept_keyword(t, "subset") || (t->at < close && !next_is(t, "keep")));
    if (some)
        window->partition = parse_names(t);
    if (column)
        window->partition = phrase_name(column, t->arena);
    for (size_t i = 0; !some && !column && i < t->scope.count; i++)
        list_add(t, &window->partition, "%s", t->scope.columns[i].text);
    if ((!some || accept(t, ",")) && accept_keyword(t, "keep")) {
        const char *kept = token_raw(t, t->at++);
        test.text = strcmp(kept, "False") == 0  ? "count() > 1"
                    : strcmp(kept, "last") == 0 ? "row < count() - 1"
                                                : test.text;
    }
    if (!window->partition || t->at != close || t->rows != ROWS_ALL || t->scope.open)
        return translate_fail(t, "`per K: select row > 0` keeps repeated rows, `per K: take 1` the first ones, `per K: "
                                 "select count() > 1` all rows of a key that is there twice");
    t->at = close + 1;
    test.level = LEVEL_COMPARISON;
    test.window = window;
    return test;
}

/* A column of the frame by its name, which in a chain is the frame as it was. */
static struct phrase column_of_frame(struct translator *t, const char *name)
{
    const char *frame = t->frame;
    if (t->rows == ROWS_OTHER || (t->rows == ROWS_SOME && t->polars))
        return translate_fail(t,
                              "`%s.%s` is a column of `%s`, not of what the chain has made of it: `let NAME = ...` "
                              "names that",
                              frame, name, frame);
    if (list_has(t, t->changed, phrase_name(name, t->arena)))
        return translate_fail(t,
                              "`%s.%s` is the column as it was before the chain changed it: `derive` it under another "
                              "name, or compute with it first",
                              frame, name);
    if (strcmp(name, "duplicated") == 0 && accept(t, "("))
        return repeated(t, NULL);
    if (!t->polars && next_is(t, ".") && token_is(t, t->at + 1, "duplicated") && token_is(t, t->at + 2, "(")) {
        t->at += 3;
        return repeated(t, name);
    }
    struct phrase column = translate_name(t, NULL, name);
    column.original = t->rows != ROWS_ALL;
    return column;
}

struct phrase frame_operand(struct translator *t)
{
    const struct phrase constant = translate_constant(t);
    if (constant.text)
        return constant;
    const char *name = token_raw(t, t->at++);
    if (strcmp(name, "r") == 0 && next_kind(t) == REWRITE_QUOTED && token_at(t, t->at)->adjacent) /* r"\d+" */
        return phrase_text(token_raw(t, t->at++), t->arena);
    if (strcmp(name, "cs") == 0 && next_is(t, "."))
        return translate_fail(t, "`pick * but (a, b)`, `* of numeric` and `a*` are sets of columns");
    if (is_one_of(name, "pl polars") && accept(t, "."))
        return polars_operand(t);
    if (is_one_of(name, "np pd numpy pandas math") && accept(t, ".")) {
        const char *function = token_raw(t, t->at++);
        if (strcmp(function, "nan") == 0)
            return phrase_missing();
        if (is_one_of(function, "Timedelta DateOffset") && accept(t, "("))
            return duration_of(t, after_brackets(t, t->at - 1) - 1);
        if (strcmp(function, "offsets") == 0)
            return translate_fail(
                t, "`trunc(t, month)` is the beginning of a month, `trunc(t, month) + 1mo - 1d` its last day");
        if (strcmp(function, "Timestamp") == 0 && accept(t, "(")) {
            const char *raw = token_raw(t, t->at);
            t->at += 2;
            const char *text = phrase_time_literal(raw, PHRASE_TIMESTAMP, t->arena);
            return text ? phrase_operand(text, PHRASE_TIMESTAMP)
                        : translate_fail(t, "timestamps are written 2024-01-31T09:30");
        }
        if (is_one_of(function, "std var"))
            return translate_fail(t, "NumPy divides by the number of values, `stddev` and `var` by one less: "
                                     "`var(x) * (count(x) - 1) / count(x)`");
        if (is_one_of(function, "median percentile quantile"))
            return translate_fail(
                t, "`median(x)` and `quantile(0.9, x)` pass over missing values, of which NumPy makes nan");
        return accept(t, "(") ? translate_call(t, function)
                              : translate_fail(t, "`.help functions` lists what there is");
    }
    if (is_one_of(name, "timedelta") && accept(t, "("))
        return duration_of(t, after_brackets(t, t->at - 1) - 1);
    if (t->frame && strcmp(name, t->frame) == 0) {
        if (accept(t, "[")) {
            const bool text = next_kind(t) == REWRITE_QUOTED;
            const char *column = token_raw(t, t->at++);
            return text && expect(t, "]") ? column_of_frame(t, column)
                                          : translate_fail(t, "a column is `df[\"name\"]`");
        }
        if (accept(t, ".") && next_is(t, "groupby") && token_is(t, t->at + 1, "("))
            return grouped_value(t);
        if (token_is(t, t->at - 1, ".") && next_kind(t) == REWRITE_WORD)
            return column_of_frame(t, token_raw(t, t->at++));
        return translate_fail(t, "a relation is no value in an expression");
    }
    if (strcmp(name, "len") == 0 && next_is(t, "(") && t->frame && token_is(t, t->at + 1, t->frame)) {
        t->at += 3;
        const bool all = t->rows == ROWS_ALL;
        struct phrase count =
            phrase_operand(all ? "count()" : arena_printf(t->arena, "(%s | count)", t->frame), PHRASE_INT);
        count.aggregate = all;
        return count;
    }
    return accept(t, "(") ? translate_call(t, name) : translate_name(t, NULL, name);
}

static struct phrase of_time(struct translator *t, struct phrase x)
{
    const char *part = token_raw(t, t->at++);
    if (is_one_of(part, "year month day hour minute second quarter dayofweek weekday dayofyear day_of_year date")) {
        const bool called = accept_two(t, "(", ")");
        return called && strcmp(part, "weekday") == 0
                   ? phrase_fill("weekday(A)", LEVEL_OPERAND, PHRASE_INT, &x, 1, t->arena)
                   : translate_function(t, part, &x, 1);
    }
    if (is_one_of(part, "strftime to_string") && token_is(t, t->at, "(") && token_is(t, t->at + 2, ")")) {
        struct phrase both[] = {x, phrase_text(token_raw(t, t->at + 1), t->arena)};
        t->at += 3;
        return phrase_fill("text(A, B)", LEVEL_OPERAND, PHRASE_TEXT, both, 2, t->arena);
    }
    if (strcmp(part, "offset_by") == 0 && accept(t, "(")) {
        const struct phrase by = duration_of(t, after_brackets(t, t->at - 1) - 1);
        return by.text ? translate_operator(t, "+", x, by) : by;
    }
    if (is_one_of(part, "day_name month_name") && accept_two(t, "(", ")"))
        return phrase_fill(*part == 'd' ? "text(A, '%A')" : "text(A, '%B')", LEVEL_OPERAND, PHRASE_TEXT, &x, 1,
                           t->arena);
    if (strcmp(part, "total_seconds") == 0 && !t->polars && accept_two(t, "(", ")"))
        return phrase_fill("int(A) / 1e6", LEVEL_PRODUCT, PHRASE_FLOAT, &x, 1, t->arena);
    if (is_one_of(part, "floor truncate") && accept(t, "(")) {
        const char *unit = token_raw(t, t->at);
        t->at += 2;
        const char *word = is_one_of(unit, "D 1D")          ? "day"
                           : is_one_of(unit, "h 1h")        ? "hour"
                           : is_one_of(unit, "min 1min 1m") ? "minute"
                           : is_one_of(unit, "1mo")         ? "month"
                           : is_one_of(unit, "1y")          ? "year"
                                                            : NULL;
        if (word)
            return phrase_fill(arena_printf(t->arena, "trunc(A, %s)", word), LEVEL_OPERAND, PHRASE_TIMESTAMP, &x, 1,
                               t->arena);
    }
    if (is_one_of(part, "tz_localize tz_convert convert_time_zone replace_time_zone") && accept(t, "(") &&
        next_kind(t) == REWRITE_QUOTED) {
        struct phrase both[] = {x, phrase_text(token_raw(t, t->at), t->arena)};
        t->at += 2;
        return translate_function(t, "tz_convert", both, 2);
    }
    return translate_fail(t, "`year(t)`, `month(t)`, `day(t)`, `hour(t)` and `trunc(t, day)` are parts of a time");
}

/* x.rolling(3).mean(): missing until there are three values */
static struct phrase rolling(struct translator *t, struct phrase x)
{
    const long size = next_kind(t) == REWRITE_NUMBER ? strtol(token_text(t, t->at++), NULL, 10) : 0;
    const bool given = accept_two(t, ",", "min_periods") && accept(t, "=");
    const long least = given ? strtol(token_text(t, t->at++), NULL, 10) : size;
    if (size < 1 || !accept(t, ")") || !accept(t, "."))
        return translate_fail(t, "`mean(x) over -2..0` is of the row and the two before it");
    const char *name = token_raw(t, t->at);
    t->at += 3;
    if (!is_one_of(name, "mean sum min max median std var"))
        return translate_fail(t, "`quantile(0.9, x) over -19..0` and `corr(x, y) over -19..0` are of 20 rows");
    if (strcmp(name, "std") == 0)
        name = "stddev";
    const char *frame = arena_printf(t->arena, " over -%ld..0", size - 1);
    const char *form = least > 1 || strcmp(name, "sum") == 0
                           ? arena_printf(t->arena, "count(A)%s < %ld ? missing : %s(A)%s", frame, least, name, frame)
                           : arena_printf(t->arena, "%s(A)%s", name, frame);
    struct phrase result = phrase_fill(form, LEVEL_CHOICE, PHRASE_FLOAT, &x, 1, t->arena);
    result.optional = true;
    return result;
}

/* x.ewm(span=10, adjust=False).mean() */
static struct phrase averaged(struct translator *t, struct phrase x, size_t close)
{
    static const struct {
        const char *word, *share;
    } ways[] = {{"alpha", "%s"}, {"span", "2.0 / (%s + 1)"}, {"com", "1.0 / (%s + 1)"}};
    const char *share = NULL;
    bool adjusts = true;
    while (t->at < close) {
        size_t i = 0;
        while (i < sizeof ways / sizeof *ways && !accept_keyword(t, ways[i].word))
            i++;
        if (i < sizeof ways / sizeof *ways && next_kind(t) == REWRITE_NUMBER)
            share = arena_printf(t->arena, ways[i].share, token_text(t, t->at));
        else if (accept_keyword(t, "adjust"))
            adjusts = !next_is(t, "False");
        else if (!accept_keyword(t, "ignore_na"))
            break;
        t->at++;
        (void)accept(t, ",");
    }
    t->at = close + 1;
    if (!share || !accept_two(t, ".", "mean") || !accept_two(t, "(", ")") || x.optional)
        return translate_fail(t, "`ewma(x, 0.1)` is pandas' `ewm(alpha=0.1, adjust=False, ignore_na=True).mean()`, "
                                 "with `adjust` as third argument that of `adjust=True`");
    const char *form = arena_printf(t->arena, "ewma(A, %s%s)", share, adjusts ? ", adjust" : "");
    return phrase_fill(form, LEVEL_OPERAND, PHRASE_FLOAT, &x, 1, t->arena);
}

static struct phrase ranked(struct translator *t, struct phrase x, size_t close)
{
    bool least = false, dense = false, descending = false;
    for (; t->at < close; t->at++) {
        if (accept_keyword(t, "method") || next_kind(t) == REWRITE_QUOTED) {
            least = strcmp(token_raw(t, t->at), "min") == 0;
            dense = strcmp(token_raw(t, t->at), "dense") == 0;
        } else if (accept_keyword(t, "descending")) {
            descending = next_is(t, "True");
        } else if (accept_keyword(t, "ascending")) {
            descending = next_is(t, "False");
        } else if (accept_keyword(t, "pct") || accept_keyword(t, "na_option")) {
            return translate_fail(t,
                                  "`rank(x)` is a place from 1, missing where `x` is; `rank(x) / count(x)` is a share");
        }
    }
    if (!least && !dense)
        return translate_fail(
            t,
            "`rank(x)` gives equal values the first of their places, as `method=\"min\"` does, not the middle of them");
    const char *form = arena_printf(t->arena, "rank(A%s%s)", descending ? ", desc" : "", dense ? ", dense" : "");
    return phrase_fill(form, LEVEL_OPERAND, PHRASE_INT, &x, 1, t->arena);
}

/* x.isin(other.y), x.isin(other["y"].unique()): the values of another frame */
static struct phrase isin_frame(struct translator *t, struct phrase x, size_t close)
{
    const char *other = token_raw(t, t->at++);
    const bool index = accept(t, "[");
    const bool point = !index && accept(t, ".");
    const char *name = token_raw(t, t->at++);
    struct known_columns columns = {0};
    (void)known_add_source(t, &columns, other, NULL);
    const struct known_column *column = known_find(&columns, NULL, name);
    (void)(index && accept(t, "]"));
    (void)(accept(t, ".") && (accept(t, "values") || accept(t, "unique")) && accept_two(t, "(", ")"));
    if ((!index && !point) || !column || t->at != close)
        return translate_fail(t, "`x in (SOURCE | pick y)` tests for the values of a column");
    if (x.optional && column->optional)
        return translate_fail(t,
                              "missing values match nothing here, and each other there: `x in (%s | pick %s) || "
                              "missing(x)`",
                              other, column->text);
    struct phrase result = phrase_fill(arena_printf(t->arena, "A in (%s | pick %s)", other, column->text),
                                       LEVEL_EQUALITY, PHRASE_BOOL, &x, 1, t->arena);
    return phrase_certain(result, t->arena);
}

/* x.isin([1, 2]) */
static struct phrase isin(struct translator *t, struct phrase x, size_t close)
{
    if (next_kind(t) == REWRITE_WORD && known_relation(t, token_raw(t, t->at)))
        return isin_frame(t, x, close);
    if (!next_is(t, "["))
        return translate_fail(t, "`x in [1, 2]` tests for some values, `x in (SOURCE)` for those of a pipeline");
    const size_t open = t->at++;
    const struct phrase result = in_items(t, x, "in", after_brackets(t, open) - 1);
    return t->polars ? result : phrase_certain(result, t->arena);
}

/* x.shift(1), x.shift(-1) */
static struct phrase shifted(const struct translator *t, struct phrase x, const char *rows)
{
    const bool after = *rows == '-';
    const char *form = arena_printf(t->arena, "at(A, %s%s)", after ? "" : "-", rows + after);
    struct phrase result = phrase_fill(form, LEVEL_OPERAND, x.type, &x, 1, t->arena);
    result.optional = true;
    return result;
}

/* x.where(c, other), x.mask(c, other) */
static struct phrase masked(struct translator *t, const struct phrase *operands, size_t count, bool mask)
{
    const struct phrase other = count > 2 ? operands[2] : phrase_missing();
    return choose(t, operands[1], mask ? other : operands[0], mask ? operands[0] : other);
}

/* fillna(method = "ffill"), quantile([0.25, 0.75]) */
static struct phrase pandas_method(struct translator *t, struct phrase x, const char *method, size_t close, bool *found)
{
    const bool fills =
        strcmp(method, "fillna") == 0 && t->at + 3 == close &&
        (next_is(t, "method") || (next_is(t, "strategy") && is_one_of(token_raw(t, t->at + 2), "forward backward")));
    *found = fills || (strcmp(method, "quantile") == 0 && next_is(t, "["));
    if (!fills)
        return *found ? translate_fail(t, "`group: quantile(0.25, x), quantile(0.75, x)` are several") : x;
    const bool back = is_one_of(token_raw(t, t->at + 2), "bfill backfill backward");
    t->at = close;
    return phrase_fill(back ? "fill(A, back)" : "fill(A)", LEVEL_OPERAND, x.type, &x, 1, t->arena);
}

/* Methods whose operands are read, x first. */
static struct phrase of_operands(struct translator *t, const char *method, struct phrase *operands, size_t count)
{
    const struct phrase x = operands[0];
    if (is_aggregate_name(t, method))
        return place_aggregate(t, translate_aggregate(t, method, operands, count, false, NULL));
    if (strcmp(method, "fillna") == 0 && count == 2)
        return translate_function(t, "coalesce", operands, 2);
    if (strcmp(method, "between") == 0 && count == 3)
        return t->polars ? between(t, x, operands[1], operands[2], false)
                         : phrase_certain(between(t, x, operands[1], operands[2], false), t->arena);
    if (strcmp(method, "shift") == 0 && count == 2)
        return shifted(t, x, operands[1].text);
    if (strcmp(method, "cumsum") == 0 && count == 1)
        return phrase_fill(x.optional ? "missing(A) ? missing : sum(A) over ..0" : "sum(A) over ..0",
                           x.optional ? LEVEL_CHOICE : LEVEL_OPERAND, x.type, &x, 1, t->arena);
    if (is_one_of(method, "cummax cummin") && count == 1 && !x.optional)
        return phrase_fill(arena_printf(t->arena, "%s(A) over ..0", method + 3), LEVEL_OPERAND, x.type, &x, 1,
                           t->arena);
    if (is_one_of(method, "where mask") && count > 1)
        return masked(t, operands, count, *method == 'm');
    if (strcmp(method, "replace") == 0 && count == 3)
        return replace_value(t, x, operands[1], operands[2]);
    if (strcmp(method, "ne") == 0 && count == 2)
        return compare(t, x, " != ", operands[1]);
    if (strcmp(method, "round") == 0)
        return translate_fail(t, "`round(x, 2)` rounds halves away from zero, %s to even",
                              t->polars ? "Polars" : "pandas");
    return translate_function(t, method, operands, count);
}

/* Methods with operands, whose `(` is read. */
struct phrase call_method(struct translator *t, struct phrase x, const char *method, size_t close)
{
    const char *first = t->at < close ? token_text(t, t->at) : NULL;
    bool found = false;
    const struct phrase of_one =
        t->polars ? polars_method(t, x, method, close, &found) : pandas_method(t, x, method, close, &found);
    if (found)
        return of_one;
    if (strcmp(method, "rolling") == 0)
        return rolling(t, x);
    if (strcmp(method, "rank") == 0)
        return ranked(t, x, close);
    if (strcmp(method, "ewm") == 0)
        return averaged(t, x, close);
    if (is_one_of(method, "isin is_in"))
        return isin(t, x, close);
    if (is_one_of(method, "apply map transform pipe"))
        return translate_fail(t, "functions of Python are not run here: `map E` and `derive NAME = E` compute, `def "
                                 "f(x) = E` names a function");
    if (strcmp(method, "replace") == 0 && (next_is(t, "{") || next_is(t, "[")))
        return translate_fail(t, "`x == 'a' ? 'A' : x == 'b' ? 'B' : x` gives some values others, "
                                 "`lookup S on KEY` those of a table");
    struct phrase operands[3] = {x};
    size_t count = 1;
    if (strcmp(method, "astype") == 0 && first) {
        const char *type = token_raw(t, t->at);
        t->at = close;
        return convert(t, x, type);
    }
    const bool lower = accept_keyword(t, "lower"), upper = !lower && accept_keyword(t, "upper");
    while (t->at < close && count < 3 && !token_is(t, t->at + 1, "=")) {
        operands[count] = translate_expression(t);
        if (!operands[count++].text)
            return (struct phrase){0};
        if (!accept(t, ","))
            break;
    }
    if (t->at != close && is_one_of(method, "between is_between"))
        return translate_fail(t, "`x in A..B` includes both ends; `x >= A && x < B` leaves one out");
    if (t->at != close)
        return translate_fail(t, "there is no `%s` with these operands here", method);
    if ((lower || upper) && count == 2 && strcmp(method, "clip") == 0)
        return phrase_fill(lower ? "max(A, B)" : "min(A, B)", LEVEL_OPERAND, x.type, operands, 2, t->arena);
    return of_operands(t, method, operands, count);
}

struct phrase frame_method(struct translator *t, struct phrase x)
{
    if (!accept(t, "."))
        return translate_fail(t, "a row of a column is `NAME[K]`, counted from 0");
    const char *method = token_raw(t, t->at++);
    if (strcmp(method, "str") == 0 && accept(t, "."))
        return text_methods(t, x);
    if (strcmp(method, "str") == 0 && next_is(t, "["))
        return t->at--, text_methods(t, x);
    if (strcmp(method, "dt") == 0 && accept(t, "."))
        return of_time(t, x);
    if (!accept(t, "("))
        return translate_fail(t, "there is no `%s` of a column here; `.help functions` lists what there is", method);
    const size_t close = after_brackets(t, t->at - 1) - 1;
    const char *value_of = t->value_of;
    t->value_of = x.original && is_aggregate_name(t, method) ? t->frame : value_of;
    struct phrase result = call_method(t, x, method, close);
    if (t->value_of != value_of)
        result.original = false; /* of all rows of the frame */
    t->value_of = value_of;
    result.other_rows = result.other_rows ||
                        is_one_of(method, "shift diff pct_change rank rolling ewm cumsum cummax "
                                          "cummin cumprod ffill bfill") ||
                        (strcmp(method, "fillna") == 0 && token_is(t, close - 2, "="));
    if (result.text && !is_of_one_kind(t, &result))
        return (struct phrase){0};
    if (result.text && !is_one_of(method, "rolling ewm"))
        t->at = close + 1;
    return result;
}
