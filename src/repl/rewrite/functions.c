/* Functions of other languages. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    SQL = DIALECT_SQL,
    PY = DIALECT_PYTHON,
    R = DIALECT_R,
    KQL = DIALECT_KQL,
    Q = DIALECT_Q,
    ALL = SQL | PY | R | KQL | Q,
    SAME = -1 /* the type of the first operand */
};

struct function {
    const char *names; /* with blanks between them */
    int dialects;
    size_t count; /* of operands */
    const char *form;
    enum phrase_level level;
    int type;
};

static const struct function functions[] = {
    {"abs", ALL, 1, "abs(A)", LEVEL_OPERAND, SAME},
    {"floor", ALL, 1, "floor(A)", LEVEL_OPERAND, SAME},
    {"ceil ceiling", ALL, 1, "ceil(A)", LEVEL_OPERAND, SAME},
    {"sqrt", ALL, 1, "sqrt(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"cbrt", ALL, 1, "cbrt(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"exp", ALL, 1, "exp(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"ln", SQL, 1, "log(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"log", SQL, 1, "log10(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"log", PY | R | KQL | Q, 1, "log(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"log10", ALL, 1, "log10(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"log2", ALL, 1, "log2(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"sin", ALL, 1, "sin(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"cos", ALL, 1, "cos(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"tan", ALL, 1, "tan(A)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"neg", Q, 1, "-A", LEVEL_SIGN, SAME},
    {"null", Q, 1, "A is missing", LEVEL_EQUALITY, PHRASE_BOOL},
    {"prev", Q | KQL, 1, "at(A, -1)", LEVEL_OPERAND, SAME},
    {"next", Q | KQL, 1, "at(A, 1)", LEVEL_OPERAND, SAME},
    {"sums", Q, 1, "sum(A) over ..0", LEVEL_OPERAND, SAME},
    {"maxs", Q, 1, "max(A) over ..0", LEVEL_OPERAND, SAME},
    {"mins", Q, 1, "min(A) over ..0", LEVEL_OPERAND, SAME},
    {"cummean", R, 1, "mean(A) over ..0", LEVEL_OPERAND, PHRASE_FLOAT},
    {"min_rank", R, 1, "rank(A)", LEVEL_OPERAND, PHRASE_INT},
    {"dense_rank", R, 1, "rank(A, dense)", LEVEL_OPERAND, PHRASE_INT},
    {"ntile", R, 2, "ntile(B, A)", LEVEL_OPERAND, PHRASE_INT},
    {"ffill", PY, 1, "fill(A)", LEVEL_OPERAND, SAME},
    {"bfill", PY, 1, "fill(A, back)", LEVEL_OPERAND, SAME},
    {"fills", Q, 1, "fill(A)", LEVEL_OPERAND, SAME},
    {"paste", R, 2, "concat(A, ' ', B)", LEVEL_OPERAND, PHRASE_TEXT},
    {"row_number", R | KQL, 0, "row + 1", LEVEL_SUM, PHRASE_INT},
    {"shift", PY, 1, "at(A, -1)", LEVEL_OPERAND, SAME},
    {"diff", PY, 1, "A - at(A, -1)", LEVEL_SUM, SAME},
    {"pct_change", PY, 1, "float(A) / at(A, -1) - 1", LEVEL_SUM, PHRASE_FLOAT},
    {"clip", PY, 3, "clamp(A, B, C)", LEVEL_OPERAND, SAME},
    {"eq", PY, 2, "A == B", LEVEL_EQUALITY, PHRASE_BOOL},
    {"gt", PY, 2, "A > B", LEVEL_COMPARISON, PHRASE_BOOL},
    {"ge", PY, 2, "A >= B", LEVEL_COMPARISON, PHRASE_BOOL},
    {"lt", PY, 2, "A < B", LEVEL_COMPARISON, PHRASE_BOOL},
    {"le", PY, 2, "A <= B", LEVEL_COMPARISON, PHRASE_BOOL},
    {"sign signum", ALL, 1, "sign(A)", LEVEL_OPERAND, PHRASE_INT},
    {"pow power", ALL, 2, "pow(A, B)", LEVEL_OPERAND, PHRASE_FLOAT},
    {"mod", SQL, 2, "A % B", LEVEL_PRODUCT, SAME},
    {"round", SQL | KQL, 1, "round(A)", LEVEL_OPERAND, SAME},
    {"round", SQL | KQL, 2, "round(A, B)", LEVEL_OPERAND, SAME},
    {"lower lcase tolower str_to_lower to_lowercase", ALL, 1, "lower(A)", LEVEL_OPERAND, PHRASE_TEXT},
    {"upper ucase toupper str_to_upper to_uppercase", ALL, 1, "upper(A)", LEVEL_OPERAND, PHRASE_TEXT},
    {"trim str_trim trimws strip strip_chars", SQL | R | PY | Q, 1, "trim(A)", LEVEL_OPERAND, PHRASE_TEXT},
    {"ltrim", SQL | Q, 1, "replace_regex(A, '^ +', '')", LEVEL_OPERAND, PHRASE_TEXT},
    {"rtrim", SQL | Q, 1, "replace_regex(A, ' +$', '')", LEVEL_OPERAND, PHRASE_TEXT},
    {"lstrip", PY, 1, "replace_regex(A, '^\\s+', '')", LEVEL_OPERAND, PHRASE_TEXT},
    {"rstrip", PY, 1, "replace_regex(A, '\\s+$', '')", LEVEL_OPERAND, PHRASE_TEXT},
    {"length len char_length nchar str_length strlen len_chars", ALL, 1, "len(A)", LEVEL_OPERAND, PHRASE_INT},
    {"pad", PY, 2, "pad(A, B)", LEVEL_OPERAND, PHRASE_TEXT},
    {"replace", SQL, 3, "replace(A, B, C)", LEVEL_OPERAND, PHRASE_TEXT},
    {"extract", PY, 3, "extract(A, B, C)", LEVEL_OPERAND, PHRASE_TEXT},
    {"extract", KQL, 3, "extract(C, A, B) ?? ''", LEVEL_COALESCE, PHRASE_TEXT},
    {"dayname", SQL, 1, "text(A, '%A')", LEVEL_OPERAND, PHRASE_TEXT},
    {"monthname", SQL, 1, "text(A, '%B')", LEVEL_OPERAND, PHRASE_TEXT},
    {"replace_string", KQL, 3, "replace(A, B, C)", LEVEL_OPERAND, PHRASE_TEXT},
    {"left", SQL, 2, "substr(A, 0, B)", LEVEL_OPERAND, PHRASE_TEXT},
    {"right", SQL, 2, "substr(A, -B)", LEVEL_OPERAND, PHRASE_TEXT},
    {"substr substring", SQL, 2, "substr(A, B - 1)", LEVEL_OPERAND, PHRASE_TEXT},
    {"substr substring", SQL, 3, "substr(A, B - 1, C)", LEVEL_OPERAND, PHRASE_TEXT},
    {"substr str_sub", R, 3, "substr(A, B - 1, C - B + 1)", LEVEL_OPERAND, PHRASE_TEXT},
    {"substring", KQL, 2, "substr(A, B)", LEVEL_OPERAND, PHRASE_TEXT},
    {"substring", KQL, 3, "substr(A, B, C)", LEVEL_OPERAND, PHRASE_TEXT},
    {"starts_with prefix startswith startsWith", SQL | R | PY, 2, "starts(A, B)", LEVEL_OPERAND, PHRASE_BOOL},
    {"ends_with suffix endswith endsWith", SQL | R | PY, 2, "ends(A, B)", LEVEL_OPERAND, PHRASE_BOOL},
    {"contains", SQL, 2, "contains(A, B)", LEVEL_OPERAND, PHRASE_BOOL},
    {"regexp_matches", SQL, 2, "A ~ B", LEVEL_EQUALITY, PHRASE_BOOL},
    {"str_detect", R, 2, "A ~ B", LEVEL_EQUALITY, PHRASE_BOOL},
    {"grepl", R, 2, "B ~ A", LEVEL_EQUALITY, PHRASE_BOOL},
    {"year getyear", SQL | PY | R | KQL, 1, "year(A)", LEVEL_OPERAND, PHRASE_INT},
    {"quarter", SQL | PY | R, 1, "quarter(A)", LEVEL_OPERAND, PHRASE_INT},
    {"month getmonth monthofyear", SQL | PY | R | KQL, 1, "month(A)", LEVEL_OPERAND, PHRASE_INT},
    {"last_day", SQL, 1, "trunc(A, month) + 1mo - 1d", LEVEL_SUM, SAME},
    {"week isoweek", SQL, 1, "week(A)", LEVEL_OPERAND, PHRASE_INT},
    {"day dayofmonth mday", SQL | PY | R | KQL, 1, "day(A)", LEVEL_OPERAND, PHRASE_INT},
    {"isodow", SQL, 1, "weekday(A)", LEVEL_OPERAND, PHRASE_INT},
    {"dayofweek weekday", PY, 1, "weekday(A) - 1", LEVEL_SUM, PHRASE_INT},
    {"dayofweek weekday dow", SQL, 1, "weekday(A) % 7", LEVEL_PRODUCT, PHRASE_INT},
    {"hour hourofday", SQL | PY | R | KQL, 1, "hour(A)", LEVEL_OPERAND, PHRASE_INT},
    {"minute", SQL | PY | R, 1, "minute(A)", LEVEL_OPERAND, PHRASE_INT},
    {"second", SQL | PY | R, 1, "second(A)", LEVEL_OPERAND, PHRASE_INT},
    {"dayofweek", KQL, 1, "weekday(A) % 7 * 1d", LEVEL_PRODUCT, PHRASE_DURATION},
    {"dayofyear day_of_year doy", SQL | PY | KQL, 1, "int(text(A, '%j'))", LEVEL_OPERAND, PHRASE_INT},
    {"week_of_year weekofyear", KQL, 1, "week(A)", LEVEL_OPERAND, PHRASE_INT},
    {"startofweek", KQL, 1, "trunc(A + 1d, week) - 1d", LEVEL_SUM, PHRASE_TIMESTAMP},
    {"startofday", KQL, 1, "trunc(A, day)", LEVEL_OPERAND, PHRASE_TIMESTAMP},
    {"startofmonth", KQL, 1, "trunc(A, month)", LEVEL_OPERAND, PHRASE_TIMESTAMP},
    {"startofyear", KQL, 1, "trunc(A, year)", LEVEL_OPERAND, PHRASE_TIMESTAMP},
    {"as.Date as_date date", R | PY | SQL, 1, "date(A)", LEVEL_OPERAND, PHRASE_DATE},
    {"tz_convert tz_localize convert_time_zone replace_time_zone with_tz force_tz toTimeZone", ALL, 2, "A in B",
     LEVEL_EQUALITY, PHRASE_TIMESTAMP},
    {"timezone", SQL, 2, "B in A", LEVEL_EQUALITY, PHRASE_TIMESTAMP},
    {"convert_tz", SQL, 3, "A in B in C", LEVEL_EQUALITY, PHRASE_TIMESTAMP},
    {"datetime_utc_to_local", KQL, 2, "A in 'UTC' in B", LEVEL_EQUALITY, PHRASE_TIMESTAMP},
    {"ago", KQL, 1, "now() - A", LEVEL_SUM, PHRASE_TIMESTAMP},
    {"now", SQL | KQL, 0, "now()", LEVEL_OPERAND, PHRASE_TIMESTAMP},
    {"today", SQL, 0, "today()", LEVEL_OPERAND, PHRASE_DATE},
    {"strftime", SQL, 2, "text(A, B)", LEVEL_OPERAND, PHRASE_TEXT},
    {"isempty", KQL, 1, "(A ?? \"\") == \"\"", LEVEL_EQUALITY, PHRASE_BOOL},
    {"isnotempty", KQL, 1, "(A ?? \"\") != \"\"", LEVEL_EQUALITY, PHRASE_BOOL},
    {"list_contains array_contains list_has array_has", SQL, 2, "contains(A, B)", LEVEL_OPERAND, PHRASE_BOOL},
    {"array_length cardinality", SQL, 1, "len(A)", LEVEL_OPERAND, PHRASE_INT},
    {"pi", SQL | KQL, 0, "pi", LEVEL_OPERAND, PHRASE_FLOAT},
    {"to_days", SQL, 1, "A * 1d", LEVEL_PRODUCT, PHRASE_DURATION},
};

/* `3 - 1` of literals is 2. */
static void fold_positions(struct translator *t, struct phrase *result)
{
    char *text = result->text ? arena_text(t->arena, result->text, strlen(result->text)) : NULL;
    for (char *at = result->text ? strstr(text, " - 1") : NULL; at; at = strstr(at + 1, " - 1")) {
        char *begin = at;
        while (begin > text && begin[-1] >= '0' && begin[-1] <= '9')
            begin--;
        if (begin == at || at - begin > 9 || strncmp(begin - 2, ", ", 2) != 0 || (at[4] != ')' && at[4] != ','))
            continue;
        result->text =
            arena_printf(t->arena, "%.*s%ld%s", (int)(begin - text), text, strtol(begin, NULL, 10) - 1, at + 4);
        fold_positions(t, result);
        return;
    }
}

const char *time_unit(const struct phrase *unit)
{
    static const char *const units[] = {"second", "minute", "hour", "day", "week", "month", "quarter", "year"};
    for (size_t i = 0; unit->raw && i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(unit->raw, units[i]) == 0)
            return units[i];
    }
    return NULL;
}

static struct phrase of_dates(struct translator *t, const char *name, struct phrase *operands, size_t count)
{
    const bool parts = is_one_of(name, "date_part datepart datetime_part");
    const char *unit = time_unit(&operands[0]);
    if (parts && operands[0].raw && is_one_of(operands[0].raw, "dow isodow epoch doy"))
        return translate_function(t, operands[0].raw, operands + 1, count - 1);
    if (!unit)
        return translate_fail(t,
                              "there are the parts year, quarter, month, week, day, weekday, hour, minute and second");
    if (is_one_of(name, "date_diff datediff")) {
        const char *form = strcmp(unit, "year") == 0     ? "year(B) - year(A)"
                           : strcmp(unit, "month") == 0  ? "(year(B) - year(A)) * 12 + month(B) - month(A)"
                           : strcmp(unit, "hour") == 0   ? "int((trunc(B, hour) - trunc(A, hour)) / 1h)"
                           : strcmp(unit, "minute") == 0 ? "int((trunc(B, minute) - trunc(A, minute)) / 1min)"
                                                         : NULL;
        if (form && count == 3 && operands[1].type == operands[2].type && !operands[1].raw &&
            (*unit == 'y' || strcmp(unit, "month") == 0 || operands[1].type == PHRASE_TIMESTAMP))
            return phrase_fill(form, LEVEL_SUM, PHRASE_INT, operands + 1, 2, t->arena);
        if (strcmp(unit, "day") != 0 || count != 3)
            return translate_fail(t, "`b - a` is the days between dates, the duration between timestamps");
        struct phrase days[] = {convert(t, operands[1], "date"), convert(t, operands[2], "date")};
        return phrase_fill("B - A", LEVEL_SUM, PHRASE_INT, days, 2, t->arena);
    }
    if (parts && strcmp(unit, "week") != 0)
        return translate_function(t, unit, operands + 1, count - 1);
    const char *form = arena_printf(t->arena, parts ? "%s(A)" : "trunc(A, %s)", unit);
    return phrase_fill(form, LEVEL_OPERAND, parts ? PHRASE_INT : operands[1].type, &operands[1], 1, t->arena);
}

/* substr(s, -2): counted from the end, in both languages; 0 is the place before the first character. False: the place
 * is no literal that is not positive. */
static bool substr_from_end(struct translator *t, struct phrase *operands, size_t count, struct phrase *result)
{
    char *end = NULL;
    const long from = strtol(operands[1].text, &end, 10);
    if (end == operands[1].text || *end || from > 0)
        return false;
    const char *form = count == 2 ? "substr(A, B)" : from < 0 ? "substr(A, B, C)" : "substr(A, B, C - 1)";
    *result = phrase_fill(form, LEVEL_OPERAND, PHRASE_TEXT, operands, count, t->arena);
    fold_positions(t, result);
    return true;
}

/* Those of SQL of two operands that write a text or take it apart. */
static bool sql_of_two(struct translator *t, const char *name, const struct phrase *operands, struct phrase *result)
{
    *result = (struct phrase){0};
    if (strcasecmp(name, "to_char") == 0)
        *result = sql_to_char(operands, t->arena);
    else if (is_one_of(name, "trim ltrim rtrim"))
        *result = sql_trim(t, &operands[0], &operands[1], *name != 'r' && *name != 'R', *name != 'l' && *name != 'L');
    else if (is_one_of(name, "left") && *operands[1].text == '-')
        *result = translate_fail(t, "`substr(s, 0, max(len(s) - 1, 0))` is all but the last character");
    return result->text || t->told;
}

/* Functions of any number of operands, and those that depend on types. */
static struct phrase special(struct translator *t, const char *name, struct phrase *operands, size_t count, bool *found)
{
    *found = true;
    if (count > 0 && is_one_of(name, "coalesce ifnull nvl fill_null replace_na"))
        return coalesced(t, operands, count);
    struct phrase part;
    if (count > 1 && t->dialect == DIALECT_SQL && is_one_of(name, "substr substring") &&
        substr_from_end(t, operands, count, &part))
        return part;
    if (count == 2 && t->dialect == DIALECT_SQL && sql_of_two(t, name, operands, &part))
        return part;
    if (count > 1 && is_one_of(name, "concat strcat paste0 str_c"))
        return concatenated(t, operands, count);
    if (count == 2 && is_one_of(name, "greatest least pmax pmin max_of min_of")) {
        const bool largest = strchr("gG", *name) || is_one_of(name, "pmax max_of");
        if (t->dialect == DIALECT_SQL && (operands[0].optional || operands[1].optional))
            return phrase_fill(largest ? "max(A ?? B, B ?? A)" : "min(A ?? B, B ?? A)", LEVEL_OPERAND, operands[0].type,
                               operands, 2, t->arena);
        return phrase_fill(largest ? "max(A, B)" : "min(A, B)", LEVEL_OPERAND, operands[0].type, operands, 2, t->arena);
    }
    if (count == 2 && is_one_of(name, "nullif")) {
        return choose(t, compare(t, operands[0], " == ", operands[1]), phrase_missing(), operands[0]);
    }
    if (count == 3 && is_one_of(name, "if iff iif if_else ifelse where")) {
        const struct phrase result = choose(t, operands[0], operands[1], operands[2]);
        if (t->dialect != DIALECT_R || !operands[0].optional)
            return result;
        struct phrase unknown = phrase_fill("A is missing", LEVEL_EQUALITY, PHRASE_BOOL, operands, 1, t->arena);
        unknown.optional = false;
        return choose(t, unknown, phrase_missing(), result);
    }
    if (count == 3 && is_one_of(name, "between"))
        return between(t, operands[0], operands[1], operands[2], false);
    if (count == 1 && is_one_of(name, "isnull isna is.na is_null is.null isnotnull notna notnull")) {
        const bool negated = strchr("nN", *name) || strcasecmp(name, "isnotnull") == 0;
        struct phrase result = phrase_fill(negated ? "A is not missing" : "A is missing", LEVEL_EQUALITY, PHRASE_BOOL,
                                           operands, 1, t->arena);
        result.optional = false;
        return result;
    }
    if (count == 3 && is_one_of(name, "split_part")) {
        struct phrase result =
            phrase_fill("split(A, B, C - 1) ?? \"\"", LEVEL_COALESCE, PHRASE_TEXT, operands, 3, t->arena);
        fold_positions(t, &result);
        return operands[0].optional
                   ? translate_fail(t, "`split(s, sep, k)` counts parts from 0, and is missing where there are fewer")
                   : result;
    }
    if (count == 1 && t->dialect == DIALECT_SQL && is_one_of(name, "epoch") &&
        (operands[0].type == PHRASE_DURATION || operands[0].type == PHRASE_TIMESTAMP))
        return phrase_fill(operands[0].type == PHRASE_DURATION ? "int(A) / 1e6" : "int(A - 1970-01-01T00:00) / 1e6",
                           LEVEL_PRODUCT, PHRASE_FLOAT, operands, 1, t->arena);
    if (t->dialect == DIALECT_SQL && strncmp(name, "regexp_", 7) == 0)
        return sql_regex(name, operands, count, t->arena, found);
    if (count >= 2 && is_one_of(name, "date_trunc date_part datepart datetime_part date_diff datediff"))
        return of_dates(t, name, operands, count);
    if (t->dialect == DIALECT_KQL)
        return kql_function(t, name, operands, count, found);
    *found = false;
    return (struct phrase){0};
}

struct phrase translate_function(struct translator *t, const char *name, struct phrase *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!operands[i].text)
            return (struct phrase){0};
    }
    bool found;
    struct phrase result = special(t, name, operands, count, &found);
    if (!found && t->dialect == DIALECT_R)
        result = r_function(t, name, operands, count, &found);
    if (found)
        return result;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        const struct function *function = &functions[i];
        if (!(function->dialects & (int)t->dialect) || function->count != count || !is_one_of(name, function->names))
            continue;
        const enum phrase_type type = function->type == SAME ? operands[0].type : (enum phrase_type)function->type;
        result = phrase_fill(function->form, function->level, type, operands, count, t->arena);
        if (result.text && strncmp(function->form, "substr", 6) == 0)
            fold_positions(t, &result);
        return result;
    }
    const char *instead = instead_of_function(name);
    if (instead)
        return translate_fail(t, "%s", instead);
    return translate_fail(t, "there is no `%s` here; `.help functions` lists what there is", name);
}

/* `percentile_cont(p) within group (order by x)`: x comes first among the operands. */
static bool add_ordered(struct translator *t, const char *name, struct phrase *operands, size_t *count)
{
    if (!is_one_of(name, "percentile_cont quantile_cont") || *count != 1 || !expect(t, "(") ||
        !accept_two(t, "order", "by"))
        return tell(t, "`quantile(0.5, x)` is in proportion between two values, `list(x, ', ')` in the order of rows");
    operands[1] = operands[0];
    operands[(*count)++ - 1] = translate_expression(t);
    if (accept(t, "desc"))
        operands[1] = phrase_fill("1 - A", LEVEL_SUM, PHRASE_FLOAT, &operands[1], 1, t->arena);
    (void)accept(t, "asc");
    return operands[0].text && expect(t, ")");
}

/* The operands `desc(x)` of a function of ranks. */
static struct phrase rank_from_top(struct translator *t, const char *form)
{
    const size_t end = after_brackets(t, t->at - 1);
    t->at += 2;
    const struct phrase x = translate_expression(t);
    t->at = end;
    return phrase_fill(form, LEVEL_OPERAND, PHRASE_INT, &x, 1, t->arena);
}

enum { MOST_OPERANDS = 12 };

/* Reads operands up to the bracket at `close`, or to what is none. `passes_over`: R is told to leave out missing ones.
 */
static bool read_operands(struct translator *t, size_t close, bool aggregate, struct phrase *operands, size_t *count,
                          bool *passes_over)
{
    for (bool more = true; more && t->at < close && *count < MOST_OPERANDS;) {
        if (t->dialect == DIALECT_R && next_is(t, "na") && token_is(t, t->at + 2, "rm")) {
            *passes_over = true;
            t->at = close;
            return true;
        }
        if (aggregate && next_is(t, "*") && t->at + 1 == close) {
            t->at++;
            return true;
        }
        if (t->dialect == DIALECT_R && *count == 3)
            (void)accept_keyword(t, "missing"); /* of if_else */
        if ((t->dialect == DIALECT_PYTHON || t->dialect == DIALECT_R) && next_kind(t) == REWRITE_WORD &&
            token_is(t, t->at + 1, "="))
            return translate_fail(t, "there is no `%s=` here; `.help functions` lists what there is",
                                  token_text(t, t->at))
                .text;
        operands[*count] = translate_expression(t);
        if (!operands[(*count)++].text)
            return false;
        more = accept(t, ",");
    }
    return true;
}

struct phrase translate_call(struct translator *t, const char *name)
{
    if (t->dialect == DIALECT_R && is_one_of(name, "min_rank dense_rank") && next_is(t, "desc") &&
        token_is(t, t->at + 1, "("))
        return rank_from_top(t, *name == 'm' ? "rank(A, desc)" : "rank(A, desc, dense)");
    struct phrase operands[MOST_OPERANDS];
    size_t count = 0;
    const size_t close = after_brackets(t, t->at - 1) - 1;
    if (t->dialect == DIALECT_R && strcmp(name, "case_when") == 0) {
        const struct phrase chosen = case_when(t, close);
        if (chosen.text && t->at != close)
            return translate_fail(t, "a choice is `CONDITION ? A : B`");
        t->at = close + 1;
        return chosen;
    }
    if (t->dialect == DIALECT_SQL && is_one_of(name, "trim") && find_word(t, t->at, "from") < close)
        return sql_trim_from(t, close);
    const bool aggregate = is_aggregate_name(t, name);
    const bool distinct = aggregate && accept(t, "distinct");
    bool passes_over = false;
    /* What an aggregate is computed of is read before the group. */
    struct grouping *grouping = t->grouping;
    const char *value_of = t->value_of;
    if (aggregate && !token_is(t, close + 1, "over")) {
        t->grouping = NULL;
        t->value_of = NULL;
    }
    if (!read_operands(t, close, aggregate, operands, &count, &passes_over)) {
        const char *instead = instead_of_function(name);
        if (instead && t->told && (strncmp(t->told, "there is no `", 13) == 0 || *t->told == '`'))
            t->told = instead;
        return (struct phrase){0};
    }
    /* first(x order by y) */
    if (t->dialect == DIALECT_SQL && aggregate && count == 1 && is_one_of(name, "first last any_value") &&
        accept_two(t, "order", "by")) {
        operands[count++] = translate_expression(t);
        const bool last = accept(t, "desc");
        if (operands[0].optional || operands[1].optional || *name != 'f')
            return translate_fail(t, "`argmin(y, x)` is x where y is smallest, `argmax(y, x)` where it is largest");
        name = last ? "arg_max" : "arg_min";
    }
    if (t->at != close && next_is(t, "order"))
        return translate_fail(t, "an aggregate of rows in an order has a sort before it: `sort y | group K: list(x)`");
    if (t->at != close)
        return translate_fail(t, "`%s` cannot have what stands at `%s` there", name, token_text(t, t->at));
    t->at = close + 1;
    if (t->dialect == DIALECT_SQL && accept_two(t, "within", "group")) {
        if (!add_ordered(t, name, operands, &count))
            return (struct phrase){0};
    }
    struct phrase where = {0};
    if (t->dialect == DIALECT_SQL && accept_two(t, "filter", "(")) {
        if (!accept(t, "where"))
            return translate_fail(t, "`filter (where CONDITION)` follows an aggregate");
        where = translate_expression(t);
        if (!where.text || !expect(t, ")"))
            return (struct phrase){0};
    }
    t->grouping = grouping;
    t->value_of = value_of;
    const struct phrase *filter = where.text ? &where : NULL;
    if (t->dialect == DIALECT_SQL && distinct && accept(t, "over"))
        return translate_fail(t, "the number of different values in a window is `distinct(x) over A..B`");
    if (t->dialect == DIALECT_SQL && accept(t, "over"))
        return translate_window(t, name, operands, count, filter);
    if (t->dialect == DIALECT_R && aggregate && count > 0 && operands[0].optional && !passes_over)
        return translate_fail(t, "missing values are passed over, as with `na.rm = TRUE`");
    if (aggregate)
        return place_aggregate(t, translate_aggregate(t, name, operands, count, distinct, filter));
    return translate_function(t, name, operands, count);
}
