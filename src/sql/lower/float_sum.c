#include "sql/lower/float_sum.h"

#include "engine/values/exact_sum.h"

#include <string.h>

/* A double is bits 0..51 of the mantissa, with 2^52 where it is normal, times 2^(max(exponent, 1) - 1075). */
enum { LOWER_BITS = 26, OFFSET = 1075, MOST_EXPONENT = 1900, MOST_BYTES = 4096 };

bool float_sum_columns(const char *x, const char **columns, struct arena *arena)
{
    if (strlen(x) > MOST_BYTES)
        return false;
    const char *bits = arena_printf(arena, "reinterpretAsInt64(reinterpretAsString(%s))", x);
    const char *exponent = arena_printf(arena, "bitAnd(bitShiftRight(%s, 52), 2047)", bits);
    const char *magnitude = arena_printf(
        arena, "(bitAnd(%s, 4503599627370495) + if(%s > 0, toInt64(4503599627370496), toInt64(0)))", bits, exponent);
    const char *mantissa = arena_printf(arena, "if(%s < 0, toInt64(0) - %s, %s)", bits, magnitude, magnitude);
    columns[0] = exponent;
    columns[1] = arena_printf(arena, "sum(bitShiftRight(%s, 26))", mantissa);
    columns[2] = arena_printf(arena, "sum(bitAnd(%s, 67108863))", mantissa);
    return true;
}

bool float_sum_finish(const struct float_sum_group *groups, int64_t count, double *sum)
{
    struct exact_sum all;
    bool certain, good = true;
    exact_sum_init(&all);
    for (int64_t i = 0; i < count && good; i++) {
        const struct float_sum_group *group = &groups[i];
        good = group->exponent >= 0 && group->exponent <= MOST_EXPONENT;
        if (!good)
            break;
        const int unit = (group->exponent > 0 ? (int)group->exponent : 1) - OFFSET;
        exact_sum_add_scaled(&all, group->upper, unit + LOWER_BITS);
        exact_sum_add_scaled(&all, group->lower, unit);
    }
    *sum = exact_sum_result(&all, &certain) + 0.0; /* a zero is positive, as everywhere */
    return good && certain;
}
