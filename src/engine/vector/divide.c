/* Division by a constant: a multiplication of the magnitude by the reciprocal (const_divide.h), then the sign is
 * restored: (x ^ -1) - -1 is -x.
 *
 * The 32-bit loops vectorise. The 64-bit ones do not on most machines, but two multiplications are still several times
 * faster than a division. */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"
#include "base/integer.h"

static uint32_t quotient_i32(const struct divisor *by, uint32_t magnitude)
{
    return (uint32_t)((uint64_t)magnitude * by->multiplier >> by->shift);
}

CPU_CLONES static bool div_i32(const struct operands *o, int count)
{
    int32_t *restrict out = o->out;
    const int32_t *restrict a = o->a;
    const struct divisor by = o->by->narrow;
    const int32_t flip = by.flags & DIVISOR_NEGATIVE ? -1 : 0;
    for (int begin = 0, end; begin < count; begin = end) {
        end = strip_end(&o->ahead, begin, count);
        for (int i = begin; i < end; i++) {
            const uint32_t minus = (uint32_t)(a[i] >> 31), sign = minus ^ (uint32_t)flip;
            out[i] = (int32_t)((quotient_i32(&by, ((uint32_t)a[i] ^ minus) - minus) ^ sign) - sign);
        }
    }
    return false;
}

CPU_CLONES static bool mod_i32(const struct operands *o, int count)
{
    int32_t *restrict out = o->out;
    const int32_t *restrict a = o->a;
    const struct divisor by = o->by->narrow;
    for (int begin = 0, end; begin < count; begin = end) {
        end = strip_end(&o->ahead, begin, count);
        for (int i = begin; i < end; i++) {
            const uint32_t minus = (uint32_t)(a[i] >> 31), magnitude = ((uint32_t)a[i] ^ minus) - minus;
            out[i] = (int32_t)(((magnitude - quotient_i32(&by, magnitude) * by.magnitude) ^ minus) - minus);
        }
    }
    return false;
}

static uint64_t quotient_i64(const struct long_divisor *by, uint64_t magnitude)
{
    const uint64_t all = 0 - (by->flags / DIVISOR_ONE);
    return (uint64_t)((uint128)magnitude * by->multiplier >> 64) >> by->shift | (magnitude & all);
}

CPU_CLONES static bool div_i64(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const struct long_divisor by = o->by->wide;
    const uint64_t flip = by.flags & DIVISOR_NEGATIVE ? UINT64_MAX : 0;
    for (int i = 0; i < count; i++) {
        const uint64_t minus = (uint64_t)(a[i] >> 63), sign = minus ^ flip;
        out[i] = (int64_t)((quotient_i64(&by, ((uint64_t)a[i] ^ minus) - minus) ^ sign) - sign);
    }
    return false;
}

CPU_CLONES static bool mod_i64(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const struct long_divisor by = o->by->wide;
    for (int i = 0; i < count; i++) {
        const uint64_t minus = (uint64_t)(a[i] >> 63), magnitude = ((uint64_t)a[i] ^ minus) - minus;
        out[i] = (int64_t)(((magnitude - quotient_i64(&by, magnitude) * by.magnitude) ^ minus) - minus);
    }
    return false;
}

/* By a power of two: rounded towards zero, a negative number is shifted with what is smaller than the divisor added. */
CPU_CLONES static bool div_power_i64(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const uint64_t below = o->by->wide.magnitude - 1;
    const int shift = __builtin_popcountll(below);
    const uint64_t flip = o->by->wide.flags & DIVISOR_NEGATIVE ? UINT64_MAX : 0;
    for (int i = 0; i < count; i++)
        out[i] = (int64_t)(((uint64_t)((a[i] + (int64_t)((uint64_t)(a[i] >> 63) & below)) >> shift) ^ flip) - flip);
    return false;
}

CPU_CLONES static bool mod_power_i64(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const uint64_t below = o->by->wide.magnitude - 1;
    for (int i = 0; i < count; i++)
        out[i] = a[i] - (int64_t)(((uint64_t)a[i] + ((uint64_t)(a[i] >> 63) & below)) & ~below);
    return false;
}

vector_fn *vector_division(enum op op, enum lane lane, const union reciprocal *by)
{
    if (lane == LANE_I32)
        return op == OP_DIV ? div_i32 : mod_i32;
    const uint64_t magnitude = by->wide.magnitude;
    if ((magnitude & (magnitude - 1)) == 0 && magnitude < (uint64_t)1 << 62)
        return op == OP_DIV ? div_power_i64 : mod_power_i64;
    return op == OP_DIV ? div_i64 : mod_i64;
}
