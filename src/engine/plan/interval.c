#include "engine/plan/interval.h"

#include "base/integer.h"

/* The smallest 2^k - 1 that is at least n >= 0. */
static int128 mask_of(int128 n)
{
    int128 mask = 0;
    while (mask < n)
        mask = mask * 2 + 1;
    return mask;
}

/* The interval of a function that is monotone in each argument, from its values at the corners. */
static struct interval hull(int128 a, int128 b, int128 c, int128 d)
{
    return (struct interval){.lo = min_int128(min_int128(a, b), min_int128(c, d)),
                             .hi = max_int128(max_int128(a, b), max_int128(c, d))};
}

struct interval interval_join(struct interval a, struct interval b)
{
    return (struct interval){.lo = min_int128(a.lo, b.lo), .hi = max_int128(a.hi, b.hi)};
}

static struct interval multiply(struct interval a, struct interval b)
{
    return hull(a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi);
}

/* Truncating division is monotone in each argument while the divisor keeps its sign. */
static struct interval divide(struct interval a, struct interval b)
{
    struct interval result = {.fails = true}; /* if the divisor can only be 0 */
    bool found = false;
    if (b.lo < 0) {
        int128 last = min_int128(b.hi, -1);
        result = hull(a.lo / b.lo, a.lo / last, a.hi / b.lo, a.hi / last);
        found = true;
    }
    if (b.hi > 0) {
        int128 first = max_int128(b.lo, 1);
        struct interval positive = hull(a.lo / first, a.lo / b.hi, a.hi / first, a.hi / b.hi);
        result = found ? interval_join(result, positive) : positive;
    }
    result.fails = b.lo <= 0 && b.hi >= 0;
    return result;
}

/* A remainder is smaller in magnitude than the divisor, no larger than the dividend, and has the sign of that. */
static struct interval remainder_of(struct interval a, struct interval b)
{
    int128 most = max_int128(max_int128(-b.lo, b.hi) - 1, 0);
    return (struct interval){
        .lo = a.lo < 0 ? -min_int128(-a.lo, most) : 0,
        .hi = a.hi > 0 ? min_int128(a.hi, most) : 0,
        .fails = b.lo <= 0 && b.hi >= 0,
    };
}

/* The valid shift counts; `fails` if others are possible, lo > hi if none is valid. */
static struct interval shift_counts(struct interval b)
{
    return (struct interval){.lo = max_int128(b.lo, 0), .hi = min_int128(b.hi, 63), .fails = b.lo < 0 || b.hi > 63};
}

static struct interval shift_left(struct interval a, struct interval b)
{
    struct interval counts = shift_counts(b);
    if (counts.lo > counts.hi)
        return (struct interval){.fails = true};
    struct interval factors = {.lo = power_of_two((int)counts.lo), .hi = power_of_two((int)counts.hi)};
    struct interval result = multiply(a, factors);
    result.fails = counts.fails;
    return result;
}

static struct interval shift_right(struct interval a, struct interval b)
{
    struct interval counts = shift_counts(b);
    if (counts.lo > counts.hi)
        return (struct interval){.fails = true};
    int low = (int)counts.lo, high = (int)counts.hi;
    struct interval result = hull(a.lo >> low, a.lo >> high, a.hi >> low, a.hi >> high);
    result.fails = counts.fails;
    return result;
}

static struct interval absolute(struct interval a)
{
    int128 nearest = a.lo > 0 ? a.lo : a.hi < 0 ? -a.hi : 0;
    return (struct interval){.lo = nearest, .hi = max_int128(-a.lo, a.hi)};
}

/* The result has no more bits than a non-negative argument; if both are negative, no more than the longer one. */
static struct interval bit_and(struct interval a, struct interval b)
{
    if (a.lo >= 0 && b.lo >= 0)
        return (struct interval){.lo = 0, .hi = min_int128(a.hi, b.hi)};
    if (a.lo >= 0 || b.lo >= 0)
        return (struct interval){.lo = 0, .hi = a.lo >= 0 ? a.hi : b.hi};
    const bool negative = a.hi < 0 && b.hi < 0;
    return (struct interval){
        .lo = -mask_of(-min_int128(a.lo, b.lo) - 1) - 1,
        .hi = negative ? min_int128(a.hi, b.hi) : max_int128(a.hi, b.hi),
    };
}

static struct interval bit_not(struct interval a)
{
    return (struct interval){.lo = -a.hi - 1, .hi = -a.lo - 1};
}

static struct interval bit_xor(struct interval a, struct interval b)
{
    int128 mask = mask_of(max_int128(max_int128(a.hi, -a.lo - 1), max_int128(b.hi, -b.lo - 1)));
    const bool same_sign = (a.lo >= 0 && b.lo >= 0) || (a.hi < 0 && b.hi < 0);
    const bool opposite_signs = (a.lo >= 0 && b.hi < 0) || (a.hi < 0 && b.lo >= 0);
    return (struct interval){.lo = same_sign ? 0 : -mask - 1, .hi = opposite_signs ? -1 : mask};
}

static int sign(int128 n)
{
    return (n > 0) - (n < 0);
}

static struct interval bits_set(struct interval a)
{
    if (a.lo < 0)
        return (struct interval){.lo = 0, .hi = 64};
    int64_t bits;
    int_op(OP_POPCOUNT, (int64_t)mask_of(a.hi), 0, &bits);
    return (struct interval){.lo = a.lo > 0, .hi = bits};
}

enum { TEXT_BITS = 47 }; /* no text is longer */

struct interval interval_of(enum op op, struct interval a, struct interval b, struct interval c)
{
    switch (op) {
    case OP_INDEX:
        return (struct interval){.lo = max_int128(a.lo, 0),
                                 .hi = max_int128(min_int128(a.hi, b.hi - 1), 0),
                                 .fails = a.lo < 0 || a.hi >= b.lo};
    case OP_NEAR:
        return a;
    case OP_TEXT: /* a code or a length */
        return (struct interval){.lo = 0, .hi = (INT64_C(1) << TEXT_BITS) - 1, .fails = true};
    case OP_ADD:
        return (struct interval){.lo = a.lo + b.lo, .hi = a.hi + b.hi};
    case OP_SUB:
        return (struct interval){.lo = a.lo - b.hi, .hi = a.hi - b.lo};
    case OP_MUL:
        return multiply(a, b);
    case OP_DIV:
        return divide(a, b);
    case OP_MOD:
        return remainder_of(a, b);
    case OP_NEG:
        return (struct interval){.lo = -a.hi, .hi = -a.lo};
    case OP_ABS:
        return absolute(a);
    case OP_BITAND:
        return bit_and(a, b);
    case OP_BITOR:
        return bit_not(bit_and(bit_not(a), bit_not(b)));
    case OP_XOR:
        return bit_xor(a, b);
    case OP_BITNOT:
        return bit_not(a);
    case OP_SHL:
        return shift_left(a, b);
    case OP_SHR:
        return shift_right(a, b);
    case OP_SELECT:
        return interval_join(b, c);
    case OP_MIN:
        return (struct interval){.lo = min_int128(a.lo, b.lo), .hi = min_int128(a.hi, b.hi)};
    case OP_MAX:
        return (struct interval){.lo = max_int128(a.lo, b.lo), .hi = max_int128(a.hi, b.hi)};
    case OP_SIGN:
        return (struct interval){.lo = sign(a.lo), .hi = sign(a.hi)};
    case OP_POPCOUNT:
        return bits_set(a);
    case OP_BOOL_TO_INT:
        return (struct interval){.lo = a.lo, .hi = a.hi};
    case OP_CMP_INT_FLOAT:
        return (struct interval){.lo = -1, .hi = 2};
    case OP_FLOAT_BITS:
        return (struct interval){.lo = INT64_MIN, .hi = INT64_MAX};
    default: /* TO_INT: floats have no intervals */
        return (struct interval){.lo = INT64_MIN, .hi = INT64_MAX, .fails = true};
    }
}
