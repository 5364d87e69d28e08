#include "sql/lower/lower_quantile.h"

#include <string.h>

/* The sorted values are read ten times and more. */
enum { MOST_BYTES = 4096 };

const char *quantile_values(const char *v, const char *where, bool number, struct arena *arena)
{
    const char *sort = number ? "arraySort(rql_v -> (isNaN(rql_v), rql_v), " : "arraySort(";
    const char *values = where ? arena_printf(arena, "%sgroupArrayIf(%s, %s))", sort, v, where)
                               : arena_printf(arena, "%sgroupArray(%s))", sort, v);
    return strlen(values) <= MOST_BYTES ? values : NULL;
}

/* Value number `place` of those from 0; of none, zero. */
static const char *element(const char *sorted, const char *place, struct arena *arena)
{
    return arena_printf(arena, "arrayElement(%s, toUInt64(%s) + 1)", sorted, place);
}

/* Between two integers. Half of a sum that may be beyond 64 bits is rounded once: of its 64 bits a double keeps 53, so
 * that the last one may stand for the one that was shifted out. */
static const char *between_integers(const char *a, const char *b, const char *fraction, struct arena *arena)
{
    const char *half =
        arena_printf(arena, "(bitShiftRight(%s, 1) + bitShiftRight(%s, 1) + bitAnd(bitAnd(%s, %s), 1))", a, b, a, b);
    return arena_printf(arena,
                        "if(%s = 0.5, if(%s BETWEEN -1152921504606846976 AND 1152921504606846976, "
                        "toFloat64(%s + %s) / 2, toFloat64(bitOr(%s, bitAnd(bitXor(%s, %s), 1)))), "
                        "toFloat64(%s) + %s * toFloat64(toUInt64(%s - %s)))",
                        fraction, half, a, b, half, a, b, a, fraction, b, a);
}

const char *quantile_of(const char *sorted, const struct aggregate *aggregate, bool number,
                        const struct sql_dialect *dialect, struct arena *arena)
{
    struct strbuf share = {0};
    sql_add_number(&share, dialect, aggregate->quantile);
    const char *last = arena_printf(arena, "greatest(toInt64(length(%s)) - 1, 0)", sorted);
    const char *at = arena_printf(arena, "(toFloat64(%s) * %s)", last, share.text);
    strbuf_free(&share);
    const char *lower = arena_printf(arena, "least(toInt64(floor(%s)), %s)", at, last);
    const char *a = element(sorted, lower, arena);
    if (aggregate->lower)
        return a;
    const char *fraction =
        arena_printf(arena, "if(%s >= %s, toFloat64(0), %s - toFloat64(%s))", lower, last, at, lower);
    const char *b = element(sorted, arena_printf(arena, "least(%s + 1, %s)", lower, last), arena);
    if (!number)
        return between_integers(a, b, fraction, arena);
    return arena_printf(arena, "if(%s = 0 OR %s = %s, %s + toFloat64(0), %s + %s * (%s - %s))", fraction, a, b, a, a,
                        fraction, b, a);
}
