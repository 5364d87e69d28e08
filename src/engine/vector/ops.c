/* Arithmetic on vectors.
 *
 * Strategy: plain loops over restrict pointers, which compilers vectorise. Integer arithmetic is unsigned, where
 * wrapping is defined. Addition and subtraction detect a failed row by bit operations that vectorise, and mark rows
 * only in the rare block that has one. 32-bit division is done in doubles, which vectorises; the truncated quotient is
 * exact, since a non-integer quotient is at least 1/2^31 from an integer and rounding moves it by less. */
#include "engine/vector/ops.h"

#include "base/cpu_dispatch.h"
#include "engine/values/compensated_sum.h"

#include <math.h>

/* Loops differ only in types and an expression of x, y and z. */
#define VECTOR1(name, in, result, expression)                                                                          \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        result *restrict out = o->out;                                                                                 \
        const in *restrict a = o->a;                                                                                   \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++) {                                                                        \
                const in x = a[i];                                                                                     \
                out[i] = (result)(expression);                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }

#define VECTOR2(name, in, result, expression)                                                                          \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        result *restrict out = o->out;                                                                                 \
        const in *restrict a = o->a;                                                                                   \
        const in *restrict b = o->b;                                                                                   \
        const in first = b[0];                                                                                         \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            const int varying = o->uniform ? end : begin;                                                              \
            for (int i = begin; i < varying; i++) {                                                                    \
                const in x = a[i];                                                                                     \
                const in y = first;                                                                                    \
                out[i] = (result)(expression);                                                                         \
            }                                                                                                          \
            for (int i = varying; i < end; i++) {                                                                      \
                const in x = a[i];                                                                                     \
                const in y = b[i];                                                                                     \
                out[i] = (result)(expression);                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }

#define VECTOR_SELECT(name, in)                                                                                        \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        in *restrict out = o->out;                                                                                     \
        const uint8_t *restrict condition = o->a;                                                                      \
        const in *restrict b = o->b;                                                                                   \
        const in *restrict c = o->c;                                                                                   \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++) {                                                                        \
                const in y = b[i], z = c[i];                                                                           \
                out[i] = condition[i] ? y : z;                                                                         \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }

/* `bad` is a 64-bit word, computed from x, y and the result z, whose sign bit is set if the row failed. */
#define CHECKED2(name, expression, bad)                                                                                \
    CPU_CLONES static bool name(const struct operands *o, int count)                                                   \
    {                                                                                                                  \
        uint64_t *restrict out = o->out;                                                                               \
        const uint64_t *restrict a = o->a;                                                                             \
        const uint64_t *restrict b = o->b;                                                                             \
        uint64_t any = 0;                                                                                              \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++) {                                                                        \
                const uint64_t x = a[i];                                                                               \
                const uint64_t y = b[i];                                                                               \
                const uint64_t z = expression;                                                                         \
                out[i] = z;                                                                                            \
                any |= bad;                                                                                            \
            }                                                                                                          \
        }                                                                                                              \
        if (!(any >> 63))                                                                                              \
            return false;                                                                                              \
        for (int i = 0; i < count; i++) {                                                                              \
            const uint64_t x = a[i];                                                                                   \
            const uint64_t y = b[i];                                                                                   \
            const uint64_t z = out[i];                                                                                 \
            o->fail[i] = (uint8_t)((bad) >> 63);                                                                       \
        }                                                                                                              \
        return true;                                                                                                   \
    }

VECTOR1(index_i32, int32_t, int32_t, x)
VECTOR1(index_i64, int64_t, int64_t, x)
VECTOR2(add_i32, uint32_t, uint32_t, x + y)
VECTOR2(add_i64, uint64_t, uint64_t, x + y)
VECTOR2(add_f64, double, double, x + y)
VECTOR2(lost_f64, double, double, compensated_sum_two_sum(&(double){x}, y))
VECTOR2(sub_i32, uint32_t, uint32_t, x - y)
VECTOR2(sub_i64, uint64_t, uint64_t, x - y)
VECTOR2(sub_f64, double, double, x - y)
VECTOR2(mul_i32, uint32_t, uint32_t, x *y)
VECTOR2(mul_i64, uint64_t, uint64_t, x *y)
VECTOR2(mul_f64, double, double, x *y)
VECTOR2(div_f64, double, double, x / y)
VECTOR1(neg_i32, uint32_t, uint32_t, 0 - x)
VECTOR1(neg_i64, uint64_t, uint64_t, 0 - x)
VECTOR1(neg_f64, double, double, -x)
VECTOR1(abs_i32, int32_t, uint32_t, x < 0 ? 0 - (uint32_t)x : (uint32_t)x)
VECTOR1(abs_i64, int64_t, uint64_t, x < 0 ? 0 - (uint64_t)x : (uint64_t)x)
VECTOR1(abs_f64, double, double, fabs(x))
VECTOR1(sqrt_f64, double, double, sqrt(x))

VECTOR2(bitand_i32, uint32_t, uint32_t, x &y)
VECTOR2(bitand_i64, uint64_t, uint64_t, x &y)
VECTOR2(bitor_i32, uint32_t, uint32_t, x | y)
VECTOR2(bitor_i64, uint64_t, uint64_t, x | y)
VECTOR2(xor_i32, uint32_t, uint32_t, x ^ y)
VECTOR2(xor_i64, uint64_t, uint64_t, x ^ y)
VECTOR1(bitnot_i32, uint32_t, uint32_t, ~x)
VECTOR1(bitnot_i64, uint64_t, uint64_t, ~x)

/* Counts are valid where the operation is unchecked, but 32..63 occur in 32 bits too. */
VECTOR2(shl_i32, uint32_t, uint32_t, (uint64_t)x << (y & 63))
VECTOR2(shl_i64, uint64_t, uint64_t, x << (y & 63))
VECTOR2(shr_i32, int32_t, int32_t, x >> ((uint32_t)y > 31 ? 31 : y))
VECTOR2(shr_i64, int64_t, int64_t, x >> ((uint64_t)y & 63))

VECTOR2(eq_bool, uint8_t, uint8_t, x == y)
VECTOR2(eq_i32, int32_t, uint8_t, x == y)
VECTOR2(eq_i64, int64_t, uint8_t, x == y)
VECTOR2(eq_f64, double, uint8_t, x == y)
VECTOR2(ne_bool, uint8_t, uint8_t, x != y)
VECTOR2(ne_i32, int32_t, uint8_t, x != y)
VECTOR2(ne_i64, int64_t, uint8_t, x != y)
VECTOR2(ne_f64, double, uint8_t, x != y)
VECTOR2(lt_bool, uint8_t, uint8_t, x < y)
VECTOR2(lt_i32, int32_t, uint8_t, x < y)
VECTOR2(lt_i64, int64_t, uint8_t, x < y)
VECTOR2(lt_f64, double, uint8_t, x < y)
VECTOR2(le_bool, uint8_t, uint8_t, x <= y)
VECTOR2(le_i32, int32_t, uint8_t, x <= y)
VECTOR2(le_i64, int64_t, uint8_t, x <= y)
VECTOR2(le_f64, double, uint8_t, x <= y)

VECTOR2(and_bool, uint8_t, uint8_t, x &y)
VECTOR2(or_bool, uint8_t, uint8_t, x | y)
VECTOR1(not_bool, uint8_t, uint8_t, x ^ 1)

VECTOR_SELECT(select_bool, uint8_t)
VECTOR_SELECT(select_i32, int32_t)
VECTOR_SELECT(select_f64, double)

/* By bits, which takes less time than what gcc makes of a choice between such integers. */
CPU_CLONES static bool select_i64(const struct operands *o, int count)
{
    uint64_t *restrict out = o->out;
    const uint8_t *restrict condition = o->a;
    const uint64_t *restrict b = o->b;
    const uint64_t *restrict c = o->c;
    for (int begin = 0, end; begin < count; begin = end) {
        end = strip_end(&o->ahead, begin, count);
        for (int i = begin; i < end; i++)
            out[i] = c[i] ^ ((b[i] ^ c[i]) & (0 - (uint64_t)condition[i]));
    }
    return false;
}

VECTOR2(min_i32, int32_t, int32_t, x < y ? x : y)
VECTOR2(min_i64, int64_t, int64_t, x < y ? x : y)
VECTOR2(max_i32, int32_t, int32_t, x > y ? x : y)
VECTOR2(max_i64, int64_t, int64_t, x > y ? x : y)
VECTOR1(sign_i32, int32_t, int32_t, (x > 0) - (x < 0))
VECTOR1(sign_i64, int64_t, int64_t, (x > 0) - (x < 0))
VECTOR1(float_bits_i64, double, int64_t, float_bits(x))
VECTOR1(popcount_i64, uint64_t, int64_t, __builtin_popcountll(x))

/* An unchecked division still sees divisors of 0 in rows where an operation before it failed. */
VECTOR2(div_i32, int32_t, int32_t, (double)(x == INT32_MIN && y == -1 ? 0 : x) / (double)(y == 0 ? 1 : y))
VECTOR2(div_wide, int64_t, uint64_t, y == -1 ? 0 - (uint64_t)x : (uint64_t)(x / (y == 0 ? 1 : y)))
VECTOR2(div_within_53, int64_t, int64_t, (double)x / (double)(y == 0 ? 1 : y))

/* Whether all are within 2^53: divided as doubles, which vectorises, their truncated quotient is exact, for the reason
 * given above. */
CPU_CLONES static bool are_within_53(const int64_t *a, int count)
{
    const uint64_t limit = UINT64_C(1) << 53;
    uint64_t beyond = 0;
    for (int i = 0; i < count; i++)
        beyond |= (uint64_t)a[i] + limit > 2 * limit;
    return !beyond;
}

static bool divides_within_53(const struct operands *o, int count)
{
    return are_within_53(o->a, count) && are_within_53(o->b, o->uniform ? 1 : count);
}

static bool div_i64(const struct operands *o, int count)
{
    return divides_within_53(o, count) ? div_within_53(o, count) : div_wide(o, count);
}

static int32_t remainder_i32(int32_t x, int32_t y)
{
    int32_t divisor = y == 0 || y == -1 ? 1 : y; /* x % -1 is x % 1 */
    const int32_t quotient = (int32_t)((double)x / (double)divisor);
    return (int32_t)((uint32_t)x - (uint32_t)quotient * (uint32_t)divisor);
}
VECTOR2(mod_i32, int32_t, int32_t, remainder_i32(x, y))

static int64_t remainder_within_53(int64_t x, int64_t y)
{
    const int64_t divisor = y == 0 ? 1 : y;
    return x - (int64_t)((double)x / (double)divisor) * divisor;
}
VECTOR2(mod_wide, int64_t, int64_t, x % (y == 0 || y == -1 ? 1 : y))
VECTOR2(mod_within_53, int64_t, int64_t, remainder_within_53(x, y))

static bool mod_i64(const struct operands *o, int count)
{
    return divides_within_53(o, count) ? mod_within_53(o, count) : mod_wide(o, count);
}

/* As float_op: NaN loses. */
VECTOR2(min_f64, double, double, x < y || isnan(y) ? x : y)
VECTOR2(max_f64, double, double, x > y || isnan(y) ? x : y)

VECTOR1(float_unary, double, double, float_op(o->op, x, x))
VECTOR2(float_binary, double, double, float_op(o->op, x, y))

CPU_CLONES static bool compare_mixed(const struct operands *o, int count)
{
    int32_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const double *restrict b = o->b;
    for (int i = 0; i < count; i++)
        out[i] = compare_int_float(a[i], b[i]);
    return false;
}

CHECKED2(add_checked, x + y, (x ^ z) & (y ^ z))
CHECKED2(sub_checked, x - y, (x ^ y) & (x ^ z))

/* A product by a constant fails where the other factor is out of a range. */
CPU_CLONES static bool mul_checked_by(const struct operands *o, int count, int64_t by)
{
    uint64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const int64_t least = by > 0 ? INT64_MIN / by : by == -1 ? -INT64_MAX : INT64_MAX / by;
    const int64_t most = by > 0 ? INT64_MAX / by : by == -1 ? INT64_MAX : INT64_MIN / by;
    uint64_t any = 0;
    for (int begin = 0, end; begin < count; begin = end) {
        end = strip_end(&o->ahead, begin, count);
        for (int i = begin; i < end; i++) {
            out[i] = (uint64_t)a[i] * (uint64_t)by;
            any |= (uint64_t)(a[i] < least) | (uint64_t)(a[i] > most);
        }
    }
    for (int i = 0; i < count && any; i++)
        o->fail[i] = a[i] < least || a[i] > most;
    return any;
}

CPU_CLONES static bool mul_checked(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const int64_t *restrict b = o->b;
    uint8_t any = 0;
    if (o->uniform && b[0] != 0)
        return mul_checked_by(o, count, b[0]);
    for (int i = 0; i < count; i++) {
        const uint8_t bad = __builtin_mul_overflow(a[i], b[i], &out[i]);
        o->fail[i] = bad;
        any |= bad;
    }
    return any;
}

CPU_CLONES static bool index_checked(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    const int64_t *restrict b = o->b;
    uint64_t any = 0;
    for (int i = 0; i < count; i++) {
        out[i] = a[i];
        any |= (uint64_t)a[i] >= (uint64_t)b[i];
    }
    for (int i = 0; i < count && any; i++)
        o->fail[i] = (uint64_t)a[i] >= (uint64_t)b[i];
    return any;
}

/* INT64_MIN has no negative. */
static bool negate_checked(const struct operands *o, int count, bool keep_positive)
{
    uint64_t *restrict out = o->out;
    const int64_t *restrict a = o->a;
    uint8_t any = 0;
    for (int i = 0; i < count; i++) {
        const uint64_t x = (uint64_t)a[i];
        const uint8_t bad = a[i] == INT64_MIN;
        out[i] = keep_positive && a[i] >= 0 ? x : 0 - x;
        o->fail[i] = bad;
        any |= bad;
    }
    return any;
}

CPU_CLONES static bool neg_checked(const struct operands *o, int count)
{
    return negate_checked(o, count, false);
}

CPU_CLONES static bool abs_checked(const struct operands *o, int count)
{
    return negate_checked(o, count, true);
}

CPU_CLONES static bool div_checked(const struct operands *o, int count)
{
    const int64_t *restrict a = o->a;
    const int64_t *restrict b = o->b;
    uint64_t any = 0;
    for (int i = 0; i < count; i++)
        any |= (b[i] == 0) | ((a[i] == INT64_MIN) & (b[i] == -1));
    for (int i = 0; i < count && any; i++)
        o->fail[i] = b[i] == 0 || (a[i] == INT64_MIN && b[i] == -1);
    div_i64(o, count);
    return any;
}

CPU_CLONES static bool mod_checked(const struct operands *o, int count)
{
    const int64_t *restrict b = o->b;
    uint64_t any = 0;
    for (int i = 0; i < count; i++)
        any |= b[i] == 0;
    for (int i = 0; i < count && any; i++)
        o->fail[i] = b[i] == 0;
    mod_i64(o, count);
    return any;
}

/* No overflow if shifting back returns the number. */
CPU_CLONES static bool shl_checked(const struct operands *o, int count)
{
    const int64_t *restrict a = o->a;
    const int64_t *restrict b = o->b;
    int64_t *restrict out = o->out;
    shl_i64(o, count);
    uint8_t any = 0;
    for (int i = 0; i < count; i++) {
        const uint8_t bad = (uint64_t)b[i] > 63 || out[i] >> (b[i] & 63) != a[i];
        o->fail[i] = bad;
        any |= bad;
    }
    return any;
}

CPU_CLONES static bool shr_checked(const struct operands *o, int count)
{
    const int64_t *restrict b = o->b;
    uint8_t any = 0;
    for (int i = 0; i < count; i++) {
        const uint8_t bad = (uint64_t)b[i] > 63;
        o->fail[i] = bad;
        any |= bad;
    }
    shr_i64(o, count);
    return any;
}

CPU_CLONES static bool to_int_checked(const struct operands *o, int count)
{
    int64_t *restrict out = o->out;
    const double *restrict a = o->a;
    uint64_t any = 0;
    for (int i = 0; i < count; i++) {
        const bool good = a[i] >= -0x1p63 && a[i] < 0x1p63; /* as float_to_int */
        out[i] = (int64_t)(good ? a[i] : 0);
        any |= !good;
    }
    for (int i = 0; i < count && any; i++)
        o->fail[i] = !(a[i] >= -0x1p63 && a[i] < 0x1p63);
    return any;
}

CPU_CLONES static bool assert_checked(const struct operands *o, int count)
{
    const uint8_t *restrict a = o->a;
    uint8_t *restrict out = o->out;
    uint8_t any = 0;
    for (int i = 0; i < count; i++) {
        const uint8_t bad = !a[i];
        out[i] = a[i];
        o->fail[i] = bad;
        any |= bad;
    }
    return any;
}

vector_fn *vector_op(enum op op, enum lane lane)
{
    static vector_fn *const table[OP_COUNT][4] = {
        /* BOOL, I32, I64, F64 */
        [OP_INDEX] = {NULL, index_i32, index_i64, NULL},
        [OP_NEAR] = {NULL, index_i32, index_i64, NULL},
        [OP_ADD] = {NULL, add_i32, add_i64, add_f64},
        [OP_LOST] = {NULL, NULL, NULL, lost_f64},
        [OP_SUB] = {NULL, sub_i32, sub_i64, sub_f64},
        [OP_MUL] = {NULL, mul_i32, mul_i64, mul_f64},
        [OP_DIV] = {NULL, div_i32, div_i64, div_f64},
        [OP_MOD] = {NULL, mod_i32, mod_i64, float_binary},
        [OP_NEG] = {NULL, neg_i32, neg_i64, neg_f64},
        [OP_BITAND] = {NULL, bitand_i32, bitand_i64, NULL},
        [OP_BITOR] = {NULL, bitor_i32, bitor_i64, NULL},
        [OP_XOR] = {NULL, xor_i32, xor_i64, NULL},
        [OP_BITNOT] = {NULL, bitnot_i32, bitnot_i64, NULL},
        [OP_SHL] = {NULL, shl_i32, shl_i64, NULL},
        [OP_SHR] = {NULL, shr_i32, shr_i64, NULL},
        [OP_EQ] = {eq_bool, eq_i32, eq_i64, eq_f64},
        [OP_NE] = {ne_bool, ne_i32, ne_i64, ne_f64},
        [OP_LT] = {lt_bool, lt_i32, lt_i64, lt_f64},
        [OP_LE] = {le_bool, le_i32, le_i64, le_f64},
        [OP_AND] = {and_bool, NULL, NULL, NULL},
        [OP_OR] = {or_bool, NULL, NULL, NULL},
        [OP_NOT] = {not_bool, NULL, NULL, NULL},
        [OP_SELECT] = {select_bool, select_i32, select_i64, select_f64},
        [OP_ABS] = {NULL, abs_i32, abs_i64, abs_f64},
        [OP_MIN] = {and_bool, min_i32, min_i64, min_f64},
        [OP_MAX] = {or_bool, max_i32, max_i64, max_f64},
        [OP_SIGN] = {NULL, sign_i32, sign_i64, float_unary},
        [OP_POPCOUNT] = {NULL, NULL, popcount_i64, NULL},
        [OP_TO_INT] = {NULL, NULL, to_int_checked, NULL},
        [OP_FLOAT_BITS] = {NULL, NULL, float_bits_i64, NULL},
        [OP_CMP_INT_FLOAT] = {NULL, compare_mixed, NULL, NULL},
        [OP_SQRT] = {NULL, NULL, NULL, sqrt_f64},
#define FLOAT_LOOP_1                   float_unary
#define FLOAT_LOOP_2                   float_binary
#define FLOAT_FUNCTION(op, arity, ...) [OP_##op] = {NULL, NULL, NULL, FLOAT_LOOP_##arity},
#include "engine/plan/float_functions.def"
        [OP_LDEXP] = {NULL, NULL, NULL, float_binary},
        [OP_FLOOR] = {NULL, NULL, NULL, float_unary},
        [OP_CEIL] = {NULL, NULL, NULL, float_unary},
        [OP_ROUND] = {NULL, NULL, NULL, float_unary},
    };
    return table[op][lane];
}

vector_fn *vector_checked_op(enum op op)
{
    static vector_fn *const table[OP_COUNT] = {
        [OP_ADD] = add_checked,     [OP_SUB] = sub_checked, [OP_MUL] = mul_checked,       [OP_DIV] = div_checked,
        [OP_MOD] = mod_checked,     [OP_NEG] = neg_checked, [OP_SHL] = shl_checked,       [OP_SHR] = shr_checked,
        [OP_INDEX] = index_checked, [OP_ABS] = abs_checked, [OP_TO_INT] = to_int_checked, [OP_ASSERT] = assert_checked,
    };
    return table[op];
}
