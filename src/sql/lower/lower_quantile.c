#include "sql/lower/lower_internal.h"

#include <string.h>

/* The sorted values are read ten times and more. */
enum { MOST_BYTES = 4096 };

const char *quantile_values(const struct sql_dialect *dialect, const char *v, const char *where, bool number,
                            struct arena *arena)
{
    const bool server = dialect == sql_clickhouse;
    const char *values;
    if (number && !server)
        return NULL;
    if (server && !where)
        values = arena_printf(
            arena, number ? "arraySort(rql_v -> (isNaN(rql_v), rql_v), groupArray(%s))" : "arraySort(groupArray(%s))",
            v);
    else if (number)
        values = arena_printf(arena, "arraySort(rql_v -> (isNaN(rql_v), rql_v), groupArrayIf(%s, %s))", v, where);
    else
        values = sql_phrase(dialect->sorted, v, where ? where : dialect->truths[1], arena);
    return strlen(values) <= MOST_BYTES ? values : NULL;
}

static const char *choice(const struct sql_dialect *dialect, const char *condition, const char *yes, const char *no,
                          struct arena *arena)
{
    const char *form = dialect == sql_clickhouse ? "if(%s, %s, %s)" : "CASE WHEN %s THEN %s ELSE %s END";
    return arena_printf(arena, form, condition, yes, no);
}

/* Between two integers. Half of a sum that may be beyond 64 bits is rounded once: of its 64 bits a double keeps 53, so
 * that the last one may stand for the one that was shifted out. */
static const char *between_integers(const struct sql_dialect *dialect, const char *a, const char *b,
                                    const char *fraction, struct arena *arena)
{
    const char *half = sql_phrase(dialect->half, a, b, arena);
    const char *all = sql_phrase(dialect->bit_or, half, sql_phrase(dialect->odd, a, b, arena), arena);
    const char *sum = sql_phrase(dialect->as_float, arena_printf(arena, "%s + %s", a, b), NULL, arena);
    const char *fits = arena_printf(arena, "%s BETWEEN -1152921504606846976 AND 1152921504606846976", half);
    const char *middle = choice(dialect, fits, arena_printf(arena, "%s / 2", sum),
                                sql_phrase(dialect->as_float, all, NULL, arena), arena);
    const char *other = arena_printf(arena, "%s + %s * %s", sql_phrase(dialect->as_float, a, NULL, arena), fraction,
                                     sql_phrase(dialect->distance, a, b, arena));
    return choice(dialect, arena_printf(arena, "%s = 0.5", fraction), middle, other, arena);
}

const char *quantile_of(const char *sorted, const struct aggregate *aggregate, bool number,
                        const struct sql_dialect *dialect, struct arena *arena)
{
    struct strbuf share = {0};
    sql_add_number(&share, dialect, aggregate->quantile);
    const char *last = arena_printf(arena, "greatest(%s - 1, 0)", sql_phrase(dialect->length, sorted, NULL, arena));
    const char *at = arena_printf(arena, "(%s * %s)", sql_phrase(dialect->as_float, last, NULL, arena), share.text);
    strbuf_free(&share);
    const char *floor = sql_phrase(dialect->as_integer, arena_printf(arena, "floor(%s)", at), NULL, arena);
    const char *lower = arena_printf(arena, "least(%s, %s)", floor, last);
    const char *a = sql_phrase(dialect->element, sorted, lower, arena);
    if (aggregate->lower)
        return a;
    const char *fraction =
        choice(dialect, arena_printf(arena, "%s >= %s", lower, last), sql_phrase(dialect->as_float, "0", NULL, arena),
               arena_printf(arena, "%s - %s", at, sql_phrase(dialect->as_float, lower, NULL, arena)), arena);
    const char *b = sql_phrase(dialect->element, sorted, arena_printf(arena, "least(%s + 1, %s)", lower, last), arena);
    if (!number)
        return between_integers(dialect, a, b, fraction, arena);
    return arena_printf(arena, "if(%s = 0 OR %s = %s, %s + toFloat64(0), %s + %s * (%s - %s))", fraction, a, b, a, a,
                        fraction, b, a);
}
