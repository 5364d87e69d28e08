#include "sql/lower/float_sum.h"

#include "engine/values/exact_sum.h"

#include <math.h>
#include <string.h>

/* A double is bits 0..51 of the mantissa, with 2^52 where it is normal, times 2^(max(exponent, 1) - 1075). */
enum { PART_BITS = 18, OFFSET = 1075, MOST_EXPONENT = 1900, MOST_BYTES = 4096 };
enum { POSITIVE_INFINITY = 2047, NEGATIVE_INFINITY, NOT_A_NUMBER }; /* in place of an exponent */

bool float_sum_columns(const char *x, const char **columns, struct arena *arena)
{
    if (strlen(x) > MOST_BYTES)
        return false;
    const char *bits = arena_printf(arena, "reinterpretAsInt64(reinterpretAsString(%s))", x);
    const char *exponent = arena_printf(arena, "bitAnd(bitShiftRight(%s, 52), 2047)", bits);
    const char *magnitude = arena_printf(
        arena, "(bitAnd(%s, 4503599627370495) + if(%s > 0, toInt64(4503599627370496), toInt64(0)))", bits, exponent);
    const char *mantissa = arena_printf(arena, "if(%s < 0, toInt64(0) - %s, %s)", bits, magnitude, magnitude);
    columns[0] = arena_printf(arena, "if(isFinite(%s), %s, toInt64(if(isNaN(%s), %d, if(%s > 0, %d, %d))))", x,
                              exponent, x, NOT_A_NUMBER, x, POSITIVE_INFINITY, NEGATIVE_INFINITY);
    columns[1] = arena_printf(arena, "sum(bitShiftRight(%s, 36))", mantissa);
    columns[2] = arena_printf(arena, "sum(bitAnd(bitShiftRight(%s, 18), 262143))", mantissa);
    columns[3] = arena_printf(arena, "sum(bitAnd(%s, 262143))", mantissa);
    return true;
}

bool float_sum_finish(const struct float_sum_group *groups, int64_t count, double *sum)
{
    struct exact_sum all;
    bool certain, good = true;
    exact_sum_init(&all);
    for (int64_t i = 0; i < count && good; i++) {
        const struct float_sum_group *group = &groups[i];
        if (group->exponent >= POSITIVE_INFINITY && group->exponent <= NOT_A_NUMBER) {
            exact_sum_add(&all, group->exponent == NOT_A_NUMBER        ? NAN
                                : group->exponent == NEGATIVE_INFINITY ? -INFINITY
                                                                       : INFINITY);
            continue;
        }
        good = group->exponent >= 0 && group->exponent <= MOST_EXPONENT;
        const int unit = (group->exponent > 0 ? (int)group->exponent : 1) - OFFSET;
        for (int k = 0; k < FLOAT_SUM_PARTS && good; k++)
            exact_sum_add_scaled(&all, group->part[k], unit + PART_BITS * (FLOAT_SUM_PARTS - 1 - k));
    }
    *sum = exact_sum_result(&all, &certain) + 0.0; /* a zero is positive, as everywhere */
    return good && certain;
}
