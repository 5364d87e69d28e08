/* n * sum(x * y) - sum(x) * sum(y) has up to 208 bits and is exact. What is divided are its leading bits, as two
 * doubles; where those do not decide the rounding, the quotient is computed bit by bit. */
#include "engine/values/wide_moments.h"

#include <math.h>
#include <stdbool.h>

enum { LIMBS = 4, LIMB_BITS = 64, BITS = LIMBS * LIMB_BITS };

/* Without sign, the lowest limb first. */
struct wide {
    uint64_t limb[LIMBS];
};

struct moment {
    struct wide size;
    bool negative;
};

static struct wide wide_of(uint128 low, uint64_t high)
{
    return (struct wide){{(uint64_t)low, (uint64_t)(low >> LIMB_BITS), high}};
}

/* The lowest BITS of the product. */
static struct wide product(const struct wide *a, const struct wide *b)
{
    struct wide result = {{0}};
    for (int i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
        for (int k = 0; i + k < LIMBS && a->limb[i] != 0; k++) {
            const uint128 sum = (uint128)a->limb[i] * b->limb[k] + result.limb[i + k] + carry;
            result.limb[i + k] = (uint64_t)sum;
            carry = (uint64_t)(sum >> LIMB_BITS);
        }
    }
    return result;
}

static bool is_less(const struct wide *a, const struct wide *b)
{
    for (int i = LIMBS; i-- > 0;) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i];
    }
    return false;
}

static struct wide sum_of(const struct wide *a, const struct wide *b)
{
    struct wide result;
    uint128 sum = 0;
    for (int i = 0; i < LIMBS; i++) {
        sum = (sum >> LIMB_BITS) + a->limb[i] + b->limb[i];
        result.limb[i] = (uint64_t)sum;
    }
    return result;
}

/* a - b, which is not negative. */
static struct wide difference(const struct wide *a, const struct wide *b)
{
    struct wide result;
    uint64_t borrow = 0;
    for (int i = 0; i < LIMBS; i++) {
        const uint128 less = (uint128)a->limb[i] - b->limb[i] - borrow;
        result.limb[i] = (uint64_t)less;
        borrow = (uint64_t)(less >> LIMB_BITS) & 1;
    }
    return result;
}

static int bit_length(const struct wide *a)
{
    for (int i = LIMBS; i-- > 0;) {
        if (a->limb[i] != 0)
            return (i + 1) * LIMB_BITS - __builtin_clzll(a->limb[i]);
    }
    return 0;
}

static struct wide shifted(const struct wide *a, int bits)
{
    struct wide result = {{0}};
    const int limbs = bits / LIMB_BITS, rest = bits % LIMB_BITS;
    for (int i = LIMBS; i-- > limbs;) {
        result.limb[i] = a->limb[i - limbs] << rest;
        if (rest > 0 && i > limbs)
            result.limb[i] |= a->limb[i - limbs - 1] >> (LIMB_BITS - rest);
    }
    return result;
}

static uint128 magnitude(int128 v)
{
    return v < 0 ? -(uint128)v : (uint128)v;
}

/* count * xy - x * y */
static struct moment moment_of(int64_t count, const struct wide_sum *xy, int128 x, int128 y)
{
    const bool first_negative = xy->high < 0, second_negative = (x < 0) != (y < 0);
    const uint128 low = first_negative ? -xy->low : xy->low;
    const uint64_t high = (uint64_t)xy->high;
    const struct wide size = wide_of(low, first_negative ? ~high + (xy->low == 0) : high);
    const struct wide rows = wide_of((uint64_t)count, 0);
    const struct wide a = wide_of(magnitude(x), 0), b = wide_of(magnitude(y), 0);
    const struct wide first = product(&rows, &size), second = product(&a, &b);
    if (first_negative != second_negative)
        return (struct moment){sum_of(&first, &second), first_negative};
    if (is_less(&first, &second))
        return (struct moment){difference(&second, &first), !first_negative};
    return (struct moment){difference(&first, &second), first_negative};
}

/* The leading 106 bits of a number as two doubles. */
struct pair {
    double high, low;
};

static struct pair pair_of(const struct wide *a)
{
    enum { KEPT = 53, CUT = LIMB_BITS - KEPT };
    const int length = bit_length(a);
    const struct wide leading = shifted(a, BITS - length);
    const uint64_t top = leading.limb[LIMBS - 1], next = leading.limb[LIMBS - 2];
    const uint64_t low = (top << (KEPT - CUT) & ((UINT64_C(1) << KEPT) - 1)) | next >> (CUT + CUT);
    return (struct pair){ldexp((double)(top >> CUT), length - KEPT), ldexp((double)low, length - 2 * KEPT)};
}

static struct pair pair_product(struct pair a, struct pair b)
{
    const double high = a.high * b.high;
    return (struct pair){high, fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high)};
}

static struct pair pair_quotient(struct pair a, struct pair b)
{
    const double high = a.high / b.high;
    return (struct pair){high, (fma(-high, b.high, a.high) + (a.low - high * b.low)) / b.high};
}

static struct pair pair_root(struct pair a)
{
    const double high = sqrt(a.high);
    return (struct pair){high, (fma(-high, high, a.high) + a.low) / (2 * high)};
}

/* The nearest double, ties to even: 56 bits of the quotient, and whether there are more. */
static double quotient_by_bits(struct wide a, struct wide b)
{
    enum { QUOTIENT_BITS = 56 };
    const int exponent = QUOTIENT_BITS - 1 - (bit_length(&a) - bit_length(&b));
    uint64_t quotient = 0;
    if (exponent >= 0)
        a = shifted(&a, exponent);
    else
        b = shifted(&b, -exponent);
    for (int bit = QUOTIENT_BITS - 1; bit >= 0; bit--) {
        const struct wide part = shifted(&b, bit);
        quotient <<= 1;
        if (is_less(&a, &part))
            continue;
        a = difference(&a, &part);
        quotient |= 1;
    }
    return ldexp((double)(quotient << 1 | (bit_length(&a) > 0)), -exponent - 1);
}

static double quotient_of(const struct wide *a, const struct wide *b)
{
    if (bit_length(a) == 0)
        return 0;
    const struct pair quotient = pair_quotient(pair_of(a), pair_of(b));
    const double error = quotient.high * 0x1p-95;
    const double least = quotient.high + (quotient.low - error), most = quotient.high + (quotient.low + error);
    return least == most ? least : quotient_by_bits(*a, *b);
}

static uint64_t ten_to(int power)
{
    uint64_t result = 1;
    for (; power > 0; power--)
        result *= 10;
    return result;
}

double wide_variance(const struct wide_sums *sums, int scale)
{
    if (sums->count < 2)
        return 0;
    const uint64_t unit = ten_to(scale);
    const struct wide pairs = wide_of((uint128)sums->count * (uint128)(sums->count - 1), 0);
    const struct wide units = wide_of((uint128)unit * unit, 0), divisor = product(&pairs, &units);
    const struct moment xx = moment_of(sums->count, &sums->xx, sums->x, sums->x);
    return quotient_of(&xx.size, &divisor);
}

double wide_correlation(const struct wide_sums *sums)
{
    if (sums->count < 2)
        return 0;
    const struct moment xx = moment_of(sums->count, &sums->xx, sums->x, sums->x);
    const struct moment yy = moment_of(sums->count, &sums->yy, sums->y, sums->y);
    const struct moment xy = moment_of(sums->count, &sums->xy, sums->x, sums->y);
    if (bit_length(&xx.size) == 0 || bit_length(&yy.size) == 0)
        return NAN;
    if (bit_length(&xy.size) == 0)
        return 0;
    const struct pair root = pair_root(pair_product(pair_of(&xx.size), pair_of(&yy.size)));
    const struct pair quotient = pair_quotient(pair_of(&xy.size), root);
    const double size = fmin(quotient.high + quotient.low, 1);
    return xy.negative ? -size : size;
}
