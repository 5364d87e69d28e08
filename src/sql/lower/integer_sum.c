#include "sql/lower/integer_sum.h"

#define BASE  "2097152"
#define DIGIT "2097151"
#define ROWS  "2199023255552"

int digits_of(const struct instr *instr)
{
    int digits = 1;
    while (digits < MOST_DIGITS &&
           (instr->lo < -(INT64_C(1) << (DIGIT_BITS * digits)) || instr->hi >= INT64_C(1) << (DIGIT_BITS * digits)))
        digits++;
    return digits;
}

void digit_sums(const char *v, int digits, const char **sums, struct arena *arena)
{
    for (int k = 0; k < digits; k++) {
        const char *digit = k == 0 ? v : arena_printf(arena, "bitShiftRight(%s, %d)", v, DIGIT_BITS * k);
        sums[k] = arena_printf(arena, k < digits - 1 ? "toInt64(sum(bitAnd(%s, " DIGIT ")))" : "sum(%s)", digit);
    }
}

/* The sum of digit k with the carries of those below it. */
static const char *carried(const char *const *sums, int k, struct arena *arena)
{
    const char *sum = sums[0];
    for (int i = 1; i <= k; i++)
        sum = arena_printf(arena, "(%s + bitShiftRight(%s, %d))", sums[i], sum, DIGIT_BITS);
    return sum;
}

const char *digits_overflow(const char *const *sums, int digits, struct arena *arena)
{
    if (digits == 1)
        return "(count() > " ROWS ")";
    const int64_t most = INT64_C(1) << (63 - DIGIT_BITS * (digits - 1));
    return arena_printf(arena, "(count() > " ROWS " OR NOT (%s BETWEEN %lld AND %lld))",
                        carried(sums, digits - 1, arena), (long long)-most, (long long)(most - 1));
}

/* Becomes the sums of the digits of the magnitude, and whether it is negative. */
void mean_magnitude(const char **columns, struct arena *arena)
{
    int digits = 1;
    while (digits < MOST_DIGITS && columns[digits])
        digits++;
    const char *negative = arena_printf(arena, "(%s < 0)", carried(columns, digits - 1, arena));
    for (int k = 0; k < MOST_DIGITS; k++)
        columns[k] = k < digits ? arena_printf(arena, "if(%s, toInt64(0) - %s, %s)", negative, columns[k], columns[k])
                                : "toInt64(0)";
    columns[MOST_DIGITS] = negative;
}

enum { WHOLE, FRACTION, WRAPPED, NEGATIVE };

/* Long division: each rest, below MOST_ROWS, has the next digit behind it. Becomes the whole part, 42 bits of the
 * fraction of which the last also stands for all that follow, and the sum in 64 bits, which is right where it fits. */
void mean_divide(const char **columns, const char *rows, struct arena *arena)
{
    enum { DIGITS = MOST_DIGITS + 2 };
    const char *divisor = arena_printf(arena, "greatest(%s, toInt64(1))", rows);
    const char *digits[DIGITS], *rest = NULL, *wrapped = "toInt64(0)";
    for (int k = 0; k < DIGITS; k++) {
        const int from = MOST_DIGITS - 1 - k;
        const char *digit = from < 0 ? "toInt64(0)" : carried(columns, from, arena);
        if (from >= 0 && k > 0)
            digit = arena_printf(arena, "bitAnd(%s, " DIGIT ")", digit);
        if (from >= 0)
            wrapped = arena_printf(arena, "(%s * " BASE " + %s)", wrapped, digit);
        const char *dividend = rest ? arena_printf(arena, "(%s * " BASE " + %s)", rest, digit) : digit;
        digits[k] = arena_printf(arena, "intDiv(%s, %s)", dividend, divisor);
        rest = arena_printf(arena, "toInt64(%s %% %s)", dividend, divisor);
    }
    columns[WHOLE] = arena_printf(arena, "((%s * " BASE " + %s) * " BASE " + %s)", digits[0], digits[1], digits[2]);
    columns[FRACTION] = arena_printf(arena, "bitOr(%s * " BASE " + %s, toInt64(%s > 0))", digits[3], digits[4], rest);
    columns[WRAPPED] = wrapped;
}

/* A sum of two doubles is rounded once, and each is exact: the whole part is so below 2^33, and its last bits with
 * those of the fraction behind it. The last bit of these is far enough below those that the sum keeps to stand for all
 * others (rounding to odd, as in float_sum.h); where it is not, the sum is below 2^53. abs: the largest magnitude is
 * -2^63. */
const char *mean_round(const char *const *columns, const char *rows, struct arena *arena)
{
    const char *whole = columns[WHOLE], *fraction = columns[FRACTION];
    const char *direct =
        arena_printf(arena, "toFloat64(%s) / toFloat64(greatest(%s, toInt64(1)))", columns[WRAPPED], rows);
    const char *small = arena_printf(arena, "toFloat64(%s) + toFloat64(%s) / 4398046511104", whole, fraction);
    const char *large = arena_printf(arena,
                                     "toFloat64(bitShiftRight(%s, 21)) * " BASE
                                     " + toFloat64(bitOr(bitOr(bitShiftLeft(bitAnd(%s, " DIGIT
                                     "), 21), bitShiftRight(%s, 21)), toInt64(bitAnd(%s, " DIGIT ") > 0))) / " BASE,
                                     whole, whole, fraction, fraction);
    return arena_printf(arena,
                        "(toFloat64(if(%s, -1, 1)) * abs(if(%s BETWEEN 0 AND 4095, %s, if(%s BETWEEN 0 AND 8589934591, "
                        "%s, %s))))",
                        columns[NEGATIVE], whole, direct, whole, small, large);
}
