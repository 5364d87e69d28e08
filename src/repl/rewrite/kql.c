/* Lines of KQL: a source, then stages. */
#include "repl/rewrite/chain.h"

#include <stdlib.h>
#include <string.h>

/* join kind=inner (S | ...) on k, $left.a == $right.b: after its first word */
static bool join(struct translator *t, struct chain *chain, bool lookup)
{
    static const struct kind {
        const char *kind, *word;
    } kinds[] = {
        {"inner", ""}, {"leftouter", "left "}, {"leftanti", "anti "}, {"anti", "anti "}, {"leftsemi", "semi "}};
    const char *kind = lookup ? "left " : NULL, *other;
    struct join_names names = {0};
    if (accept_two(t, "kind", "=")) {
        const struct kind *found = TABLE_ROW(kinds, token_text(t, t->at++));
        kind = found ? found->word : NULL;
    }
    if (next_is(t, "(")) {
        struct translator inner = *t;
        inner.end = after_brackets(t, t->at) - 1;
        inner.at = t->at + 1;
        other = translate_kql(&inner);
        t->told = t->told ? t->told : inner.told;
        t->at = inner.end + 1;
        other = other && strchr(other, '|') ? arena_printf(t->arena, "(%s)", other) : other;
    } else {
        other = token_raw(t, t->at++);
    }
    if (!kind || !other || !accept(t, "on"))
        return tell(t,
                    "`join S on KEY` joins with the columns of both, a key once, and all rows that match; also `left "
                    "join`, `anti join`, `semi join`");
    do {
        names.left[names.count] = names.right[names.count] = token_raw(t, t->at++);
        if (next_is(t, "=="))
            return tell(t, "keys of different names are `join S on A = B`");
    } while (++names.count < 8 && accept(t, ","));
    t->key_once = !lookup && *kind != 'a' && *kind != 's';
    return t->at == t->end && chain_join(t, chain, kind, other, &names);
}

/* Whether stages or operators are those of KQL alone. */
static const char functions_of_kql[] = "hourofday startofday startofweek startofmonth startofyear dayofweek dayofmonth "
                                       "monthofyear dayofyear week_of_year datetime_diff datetime_add case prev next "
                                       "isempty isnotempty bin todouble tolong "
                                       "toint";

bool is_kql(const struct translator *t, size_t at)
{
    if (token_at(t, at)->kind != REWRITE_WORD || !token_is(t, at + 1, "|"))
        return false;
    for (size_t i = at + 1; i < t->end; i = find_word(t, i, "|")) {
        i++;
        struct translator stage = *t;
        stage.end = find_word(t, i, "|");
        const size_t end = stage.end;
        if (is_one_of(token_text(t, i), "derive map pick group per select reject drop rename zip append skip"))
            return false; /* a line of rql with words of KQL in it */
        if (is_one_of(token_text(t, i), "summarize serialize getschema mv make parse evaluate render search as") ||
            (token_is(t, i, "project") && (token_is(t, i + 1, "-") || find_word(t, i, "=") < end)) ||
            ((token_is(t, i, "join") || token_is(t, i, "lookup")) && token_is(t, i + 1, "kind")))
            return true;
        const bool computes = token_is(t, i, "where") || token_is(t, i, "extend");
        for (size_t k = i; k + 1 < end; k++) {
            if ((token_is(t, k + 1, "(") && is_one_of(token_text(t, k), functions_of_kql)) ||
                (token_is(t, k, "!") &&
                 is_one_of(token_text(t, k + 1), "in contains startswith endswith has has_any has_all contains_cs")) ||
                (computes && is_one_of(token_text(t, k), "contains contains_cs startswith endswith has") &&
                 token_at(t, k + 1)->kind == REWRITE_QUOTED) ||
                (token_is(t, k, "matches") && token_is(t, k + 1, "regex")))
                return true;
        }
        const size_t word = find_word(
            &stage, i,
            "contains contains_cs startswith endswith has has_any has_all !~ datetime ago iff strcat isnotnull isnull "
            "toupper tolower strlen replace_string format_datetime datetime_part todynamic substring extract split");
        if (computes && word < end && !token_is(t, word - 1, "."))
            return true;
        const size_t range = find_word(&stage, i, "between");
        if ((range < end && token_is(t, range + 1, "(")) ||
            (token_is(t, i, "extend") && find_word(&stage, i, "/") < end))
            return true;
    }
    return false;
}

const char *translate_kql(struct translator *t)
{
    t->dialect = DIALECT_KQL;
    struct chain chain = {.text = token_raw(t, t->at++)};
    chain_columns(t, &chain);
    const size_t end = t->end;
    while (t->at < end && accept(t, "|")) {
        const char *word = token_text(t, t->at++);
        t->end = find_word(t, t->at, "|");
        if (is_one_of(word, "join lookup") ? !join(t, &chain, *word == 'l')
                                           : !chain_verb(t, &chain, VERB_KQL, word, t->end, NULL))
            return NULL;
        t->end = end;
    }
    return chain.text;
}

/* bin(t, 30d): counted from the beginning of the year 1, where intervals here count from 1970-01-01, weeks from its
 * first Monday. */
static struct phrase in_bins(struct translator *t, const struct phrase *operands)
{
    static const struct unit {
        const char *unit;
        long of_day;
    } units[] = {{"d", 1}, {"h", 24}, {"min", 24 * 60}, {"s", 24 * 60 * 60}};
    char *unit;
    const long size = strtol(operands[1].text, &unit, 10);
    const struct unit *found = TABLE_ROW(units, unit);
    if (!found || size < 1)
        return translate_fail(t, "`bucket(t, 1h)` is of timestamps, in intervals from 1970-01-01");
    const long weeks = size % (7 * found->of_day) == 0, days = weeks ? 719166 : 719162;
    const long shift = days * found->of_day % size;
    const char *form = arena_printf(t->arena, "bucket(A + %ld%s, B) - %ld%s", shift, unit, shift, unit);
    return phrase_fill(shift ? form : "bucket(A, B)", shift ? LEVEL_SUM : LEVEL_OPERAND, PHRASE_TIMESTAMP, operands, 2,
                       t->arena);
}

struct phrase kql_function(struct translator *t, const char *name, struct phrase *operands, size_t count, bool *found)
{
    if (count > 2 && count % 2 == 1 && strcmp(name, "case") == 0) {
        struct phrase conditions[6], values[6];
        for (size_t i = 0; i < count / 2 && i < 6; i++) {
            conditions[i] = operands[2 * i];
            values[i] = operands[2 * i + 1];
        }
        return choose_first(t, conditions, values, count / 2, operands[count - 1]);
    }
    if (count == 2 && is_one_of(name, "bin floor")) {
        if (operands[0].type == PHRASE_INT && operands[1].type == PHRASE_INT)
            return phrase_fill("A - (A % B + B) % B", LEVEL_SUM, PHRASE_INT, operands, 2, t->arena);
        if (operands[0].type == PHRASE_FLOAT && operands[1].type == PHRASE_INT)
            return phrase_fill("floor(A / B) * B", LEVEL_PRODUCT, PHRASE_FLOAT, operands, 2, t->arena);
        if (operands[1].type != PHRASE_DURATION)
            return translate_fail(t, "`bucket(t, 1h)` is of timestamps; of numbers it is `floor(x / 10) * 10`");
        return in_bins(t, operands);
    }
    if (count == 3 && strcmp(name, "datetime_diff") == 0) {
        struct phrase back[] = {operands[0], operands[2], operands[1]};
        *found = true;
        return translate_function(t, "date_diff", back, count);
    }
    static const char *const steps[] = {"second", "1s", "minute", "1min", "hour",    "1h", "day",  "1d",
                                        "week",   "1w", "month",  "1mo",  "quarter", "1q", "year", "1y"};
    for (size_t i = 0; count == 3 && strcmp(name, "datetime_add") == 0 && i < sizeof steps / sizeof *steps; i += 2) {
        if (operands[0].raw && strcmp(operands[0].raw, steps[i]) == 0)
            return phrase_fill(arena_printf(t->arena, "B + A * %s", steps[i + 1]), LEVEL_SUM, PHRASE_TIMESTAMP,
                               operands + 1, 2, t->arena);
    }
    if (count >= 1 && is_one_of(name, "toint tolong todouble toreal todatetime"))
        return convert(t, operands[0],
                       strchr("iIlL", name[2])                          ? "int"
                       : strchr("dD", name[2]) && strchr("aA", name[3]) ? "timestamp"
                                                                        : "float");
    *found = false;
    return (struct phrase){0};
}
