#include "sql/lower/float_sum.h"

#include <string.h>

/* Each part has the remainder of the part before it twice, so the text is about 60 times as long as that of the float.
 */
enum { MOST_BYTES = 1024 };

/* 2^32, 2^48 and 2^58; a digit's sum of 2^30 rows leaves room for carries. */
#define BASE  "toFloat64(4294967296)"
#define UPPER "toFloat64(281474976710656)"
#define MOST  "288230376151711744"
#define ROWS  "1073741824"
#define DIGIT "4294967295"

bool float_limbs_add(const char *x, const char **columns, const char **fails, struct arena *arena)
{
    if (strlen(x) > MOST_BYTES)
        return false;
    const char *left = arena_printf(arena, "if(abs(%s) < " MOST ", %s, toFloat64(0))", x, x);
    for (int k = LIMB_PARTS; k-- > 0;) {
        columns[k] = arena_printf(arena, "sum(toInt64(%s))", left);
        if (k > 0)
            left = arena_printf(arena, "((%s - toFloat64(toInt64(%s))) * " BASE ")", left, left);
    }
    *fails = arena_printf(arena,
                          "(count() > " ROWS " OR NOT (sum(abs(%s)) < " MOST
                          ") OR max(toUInt8(%s != toFloat64(toInt64(%s)))) = 1)",
                          x, left, left);
    return true;
}

/* Part k with the carries of those below it. */
static const char *carried(const char *const *columns, int k, struct arena *arena)
{
    const char *sum = columns[0];
    for (int i = 1; i <= k; i++)
        sum = arena_printf(arena, "(%s + bitShiftRight(%s, 32))", columns[i], sum);
    return sum;
}

void float_limbs_magnitude(const char **columns, struct arena *arena)
{
    const char *negative = arena_printf(arena, "(%s < 0)", carried(columns, LIMB_PARTS - 1, arena));
    for (int k = 0; k < LIMB_PARTS; k++)
        columns[k] = arena_printf(arena, "if(%s, toInt64(0) - %s, %s)", negative, columns[k], columns[k]);
    columns[LIMB_NEGATIVE] = negative;
}

void float_limbs_carry(const char **columns, struct arena *arena)
{
    const char *digits[LIMB_PARTS];
    for (int k = 0; k < LIMB_PARTS; k++) {
        const char *sum = carried(columns, k, arena);
        digits[k] = k < LIMB_PARTS - 1 ? arena_printf(arena, "bitAnd(%s, " DIGIT ")", sum) : sum;
    }
    memcpy(columns, digits, sizeof digits);
}

/* upper * 2^32 + lower, rounded, for 2^22 <= upper < 2^59; `rest` is whether anything is behind that. */
static const char *rounded(const char *upper, const char *lower, const char *rest, struct arena *arena)
{
    return arena_printf(arena,
                        "(toFloat64(bitShiftRight(%s, 16)) * " UPPER
                        " + toFloat64(bitOr(bitShiftLeft(bitAnd(%s, 65535), 32) + %s, %s)))",
                        upper, upper, lower, rest);
}

const char *float_limbs_round(const char *const *columns, struct arena *arena)
{
    const char *first = columns[3];
    const char *second = arena_printf(arena, "(bitShiftLeft(%s, 32) + %s)", first, columns[2]);
    const char *third = arena_printf(arena, "(bitShiftLeft(%s, 32) + %s)", second, columns[1]);
    const char *large = rounded(first, columns[2], arena_printf(arena, "(%s + %s > 0)", columns[1], columns[0]), arena);
    const char *middle = rounded(second, columns[1], arena_printf(arena, "(%s > 0)", columns[0]), arena);
    const char *small = rounded(third, columns[0], "toInt64(0)", arena);
    return arena_printf(arena,
                        "(toFloat64(if(%s, -1, 1)) * if(%s >= 4194304, %s, if(%s >= 4194304, %s, %s / " BASE ") / " BASE
                        ") / " BASE ")",
                        columns[LIMB_NEGATIVE], first, large, second, middle, small);
}
