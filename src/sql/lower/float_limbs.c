#include "sql/lower/float_sum.h"

#include <math.h>
#include <string.h>

/* The text is about 30 times as long as that of the float. */
enum { MOST_BYTES = 2048, LIMB_BITS = 22 };

#define MOST  "288230376151711744" /* 2^58 */
#define ROWS  "2199023255552"      /* 2^41, of which a digit's sum leaves room for carries */
#define DIGIT "4194303"
#define BASE  "4194304"

/* The first k digits behind the point, as an integer: a double with these bits of `x`. */
static const char *leading(const char *x, int k, struct arena *arena)
{
    return k == 0 ? arena_printf(arena, "trunc(%s)", x)
                  : arena_printf(arena, "trunc(%s * %.0f.)", x, ldexp(1, LIMB_BITS * k));
}

bool float_limbs_add(const char *x, const char **columns, const char **fails, struct arena *arena)
{
    if (strlen(x) > MOST_BYTES)
        return false;
    const char *part = arena_printf(arena, "if(abs(%s) < " MOST ", %s, toFloat64(0))", x, x);
    columns[LIMB_PARTS - 1] = arena_printf(arena, "sum(toInt64(%s))", leading(part, 0, arena));
    for (int k = 1; k < LIMB_PARTS; k++)
        columns[LIMB_PARTS - 1 - k] = arena_printf(arena, "sum(toInt64(%s - %s * " BASE "))", leading(part, k, arena),
                                                   leading(part, k - 1, arena));
    columns[LIMB_SPECIAL] = arena_printf(arena, "sum(if(isFinite(%s), toFloat64(0), %s))", x, x);
    *fails = arena_printf(arena,
                          "(count() > " ROWS " OR NOT (sum(if(isFinite(%s), abs(%s), toFloat64(0))) < " MOST
                          ") OR max(toUInt8(%s != %s * %.0f.)) = 1)",
                          x, x, leading(part, LIMB_PARTS - 1, arena), part, ldexp(1, LIMB_BITS * (LIMB_PARTS - 1)));
    return true;
}

/* Part k with the carries of those below it. */
static const char *carried(const char *const *columns, int k, struct arena *arena)
{
    const char *sum = columns[0];
    for (int i = 1; i <= k; i++)
        sum = arena_printf(arena, "(%s + bitShiftRight(%s, %d))", columns[i], sum, LIMB_BITS);
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

/* upper * 2^22 + lower, rounded, for upper < 2^59. At least 2^32, the last bit of `lower` is less than half of the
 * sum's last one, so that it may stand for what is behind it: `rest`, whether that is anything. */
static const char *rounded(const char *upper, const char *lower, const char *rest, struct arena *arena)
{
    return arena_printf(arena,
                        "(toFloat64(bitShiftRight(%s, 16)) * 274877906944 + "
                        "toFloat64(bitOr(bitShiftLeft(bitAnd(%s, 65535), 22) + %s, toInt64(%s > 0))))",
                        upper, upper, lower, rest);
}

/* The digits from the first ones that make 2^32, each choice read from the last one on. */
const char *float_limbs_round(const char *const *columns, struct arena *arena)
{
    const char *upper[LIMB_PARTS], *rest[LIMB_PARTS], *sum = NULL;
    upper[LIMB_PARTS - 1] = columns[LIMB_PARTS - 1];
    for (int k = LIMB_PARTS - 1; k-- > 0;)
        upper[k] = arena_printf(arena, "(bitShiftLeft(%s, 22) + %s)", upper[k + 1], columns[k]);
    rest[0] = "toInt64(0)";
    for (int k = 1; k < LIMB_PARTS - 1; k++)
        rest[k] = arena_printf(arena, "(%s + %s)", rest[k - 1], columns[k - 1]);
    for (int k = 0; k < LIMB_PARTS - 1; k++) {
        const char *of = rounded(upper[k + 1], columns[k], rest[k], arena);
        const char *unit = arena_printf(arena, "%.0f.", ldexp(1, LIMB_BITS * (LIMB_PARTS - 1 - k)));
        of = arena_printf(arena, "%s / %s", of, unit);
        sum = sum ? arena_printf(arena, "if(%s >= 4294967296, %s, %s)", upper[k + 1], of, sum) : of;
    }
    return arena_printf(arena, "(toFloat64(if(%s, -1, 1)) * %s + %s)", columns[LIMB_NEGATIVE], sum,
                        columns[LIMB_SPECIAL]);
}
