#include "engine/vector/compare_const.h"

#include "base/cpu_dispatch.h"

static bool constant_of(const struct code *code, value v, int64_t *constant)
{
    const struct instr *instr = &code->at[v];
    *constant = instr->integer;
    return instr->op == OP_CONST && instr->kind == KIND_INT;
}

/* (x & mask) == c, x % d == 0, or just x == c; `flip` for the opposite. */
static void equality_of(const struct code *code, value left, int64_t against, uint8_t flip,
                        struct compare_const *compare)
{
    const struct instr *instr = &code->at[left];
    int64_t operand;
    *compare = (struct compare_const){.kind = COMPARE_BITS, .of = left, .mask = -1, .against = against, .flip = flip};
    if (instr->op == OP_BITAND) {
        const int other = constant_of(code, instr->args[0], &operand) ? 1 : 0;
        if (!constant_of(code, instr->args[1 - other], &operand))
            return;
        compare->mask = operand;
        compare->of = instr->args[other];
    } else if (instr->op == OP_MOD && against == 0 && !instr->checked && constant_of(code, instr->args[1], &operand) &&
               operand != 0 && operand != INT64_MIN) {
        const int64_t divisor = operand < 0 ? -operand : operand;
        const bool power = (divisor & (divisor - 1)) == 0; /* then the low bits decide */
        *compare = (struct compare_const){.kind = power ? COMPARE_BITS : COMPARE_MULTIPLE,
                                          .of = instr->args[0],
                                          .mask = divisor - 1,
                                          .against = power ? 0 : divisor,
                                          .flip = flip};
    }
}

/* x < c, or with `next` x < c + 1, which is x <= c. */
static bool order_of(value left, int64_t against, bool next, uint8_t flip, struct compare_const *compare)
{
    if (next && against == INT64_MAX)
        return false;
    *compare = (struct compare_const){.kind = COMPARE_LESS, .of = left, .against = against + next, .flip = flip};
    return true;
}

bool compare_const_of(const struct code *code, value v, struct compare_const *compare)
{
    const struct instr *instr = &code->at[v];
    if (instr->op != OP_EQ && instr->op != OP_NE && instr->op != OP_LT && instr->op != OP_LE)
        return false;
    int64_t against;
    const bool on_left = constant_of(code, instr->args[0], &against);
    const value left = instr->args[on_left];
    if ((!on_left && !constant_of(code, instr->args[1], &against)) || code->at[left].kind != KIND_INT)
        return false;
    if (instr->op == OP_EQ || instr->op == OP_NE) {
        equality_of(code, left, against, instr->op == OP_NE, compare);
        return true;
    }
    /* c < x is !(x < c + 1), and c <= x is !(x < c). */
    return order_of(left, against, (instr->op == OP_LE) != on_left, on_left, compare);
}

/* Whether v is a sum with a constant; returns the other operand and the constant. */
static bool sum_of(const struct code *code, value v, value *of, int64_t *constant)
{
    const struct instr *instr = &code->at[v];
    if ((instr->op != OP_ADD && instr->op != OP_SUB) || instr->checked || instr->kind != KIND_INT)
        return false;
    const bool on_left = instr->op == OP_ADD && constant_of(code, instr->args[0], constant);
    *of = instr->args[on_left];
    if (!on_left && !constant_of(code, instr->args[1], constant))
        return false;
    return instr->op == OP_ADD || !__builtin_sub_overflow(0, *constant, constant);
}

bool compare_const_strip_sum(const struct code *code, struct compare_const *compare)
{
    value of;
    int64_t constant;
    if (!sum_of(code, compare->of, &of, &constant))
        return false;
    if (compare->kind == COMPARE_MULTIPLE) {
        const struct instr *sum = &code->at[compare->of];
        if (compare->plus != 0 || constant == 0) /* only one sum is folded */
            return false;
        compare->plus = constant;
        compare->lo = sum->lo;
        compare->hi = sum->hi;
    } else if (compare->kind == COMPARE_BITS && compare->mask != -1) {
        /* The low bits of a sum depend on the low bits of its terms only. */
        if (compare->mask < 0 || (compare->mask & (compare->mask + 1)) != 0 || (compare->against & ~compare->mask) != 0)
            return false;
        compare->against = (int64_t)(((uint64_t)compare->against - (uint64_t)constant) & (uint64_t)compare->mask);
    } else if (__builtin_sub_overflow(compare->against, constant, &compare->against)) {
        return false;
    }
    compare->of = of;
    return true;
}

/* Loops differ in their types only. Products are of at least 32 bits, since smaller types would be promoted to int. */
#define COMPARISONS(name, type, bits, word)                                                                            \
    CPU_CLONES static bool bits_##name(const struct operands *o, int count)                                            \
    {                                                                                                                  \
        uint8_t *restrict out = o->out;                                                                                \
        const type *restrict a = o->a;                                                                                 \
        const type mask = (type)o->compare->mask, against = (type)o->compare->against;                                 \
        const uint8_t flip = o->compare->flip;                                                                         \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++)                                                                          \
                out[i] = ((type)(a[i] & mask) == against) ^ flip;                                                      \
        }                                                                                                              \
        return false;                                                                                                  \
    }                                                                                                                  \
    CPU_CLONES static bool less_##name(const struct operands *o, int count)                                            \
    {                                                                                                                  \
        uint8_t *restrict out = o->out;                                                                                \
        const type *restrict a = o->a;                                                                                 \
        const type against = (type)o->compare->against;                                                                \
        const uint8_t flip = o->compare->flip;                                                                         \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++)                                                                          \
                out[i] = (a[i] < against) ^ flip;                                                                      \
        }                                                                                                              \
        return false;                                                                                                  \
    }                                                                                                                  \
    CPU_CLONES static bool multiple_##name(const struct operands *o, int count)                                        \
    {                                                                                                                  \
        uint8_t *restrict out = o->out;                                                                                \
        const type *restrict a = o->a;                                                                                 \
        const word inverse = (word)o->compare->inverse, shift = (word)o->compare->shift;                               \
        const uint##bits##_t most = (uint##bits##_t)o->compare->most;                                                  \
        const unsigned right = o->compare->rotate, left = (bits - right) % bits;                                       \
        const uint8_t flip = o->compare->flip;                                                                         \
        for (int begin = 0, end; begin < count; begin = end) {                                                         \
            end = strip_end(&o->ahead, begin, count);                                                                  \
            for (int i = begin; i < end; i++) {                                                                        \
                const uint##bits##_t rotated = (uint##bits##_t)((word)a[i] * inverse + shift);                         \
                out[i] = ((uint##bits##_t)(rotated >> right | (uint##bits##_t)(rotated << left)) <= most) ^ flip;      \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }
COMPARISONS(i8, int8_t, 8, uint32_t)
COMPARISONS(i16, int16_t, 16, uint32_t)
COMPARISONS(i32, int32_t, 32, uint32_t)
COMPARISONS(i64, int64_t, 64, uint64_t)
COMPARISONS(u8, uint8_t, 8, uint32_t)
COMPARISONS(u16, uint16_t, 16, uint32_t)
COMPARISONS(u32, uint32_t, 32, uint32_t)
#undef COMPARISONS

/* The range of a type. */
struct bounds {
    int64_t lo, hi;
};

/* Let d = m * 2^t, m odd. x times the inverse of m modulo 2^bits is q * 2^t for multiples of d, where q is the
 * quotient. Subtracting the least quotient moves those to 0 .. q; a rotation by t makes all numbers with one of the low
 * t bits set larger than those (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994,
 * section 9). */
static void find_inverse(struct compare_const *compare, struct bounds bounds)
{
    const uint64_t divisor = (uint64_t)compare->against;
    const uint64_t below = bounds.lo == 0 ? 0 : ((uint64_t)bounds.hi + 1) / divisor;
    compare->rotate = (unsigned)__builtin_ctzll(divisor);
    const uint64_t odd = divisor >> compare->rotate;
    uint64_t inverse = odd; /* right in 3 bits, and in twice as many after each step */
    for (int bits = 3; bits < 64; bits *= 2)
        inverse *= 2 - odd * inverse;
    compare->inverse = inverse;
    compare->shift = (below << compare->rotate) + (uint64_t)compare->plus * inverse;
    compare->most = below + (uint64_t)bounds.hi / divisor;
}

/* Whether masking in the type's width gives the same as in 64 bits. */
static bool mask_fits(int64_t mask, struct bounds bounds)
{
    return mask == -1 || (mask >= bounds.lo && mask <= bounds.hi);
}

bool compare_const_prepare(struct compare_const *compare, enum type type)
{
    static const struct {
        struct bounds bounds;
        vector_fn *loops[3];
    } table[TYPE_COUNT] = {
        [TYPE_I8] = {{INT8_MIN, INT8_MAX}, {bits_i8, less_i8, multiple_i8}},
        [TYPE_I16] = {{INT16_MIN, INT16_MAX}, {bits_i16, less_i16, multiple_i16}},
        [TYPE_I32] = {{INT32_MIN, INT32_MAX}, {bits_i32, less_i32, multiple_i32}},
        [TYPE_I64] = {{INT64_MIN, INT64_MAX}, {bits_i64, less_i64, multiple_i64}},
        [TYPE_U8] = {{0, UINT8_MAX}, {bits_u8, less_u8, multiple_u8}},
        [TYPE_U16] = {{0, UINT16_MAX}, {bits_u16, less_u16, multiple_u16}},
        [TYPE_U32] = {{0, UINT32_MAX}, {bits_u32, less_u32, multiple_u32}},
    };
    const struct bounds bounds = table[type].bounds;
    compare->loop = table[type].loops[compare->kind];
    if (!compare->loop || compare->against < bounds.lo || compare->against > bounds.hi)
        return false;
    if (compare->plus != 0 && (compare->lo < bounds.lo || compare->hi > bounds.hi))
        return false;
    if (compare->kind == COMPARE_MULTIPLE)
        find_inverse(compare, bounds);
    return compare->kind != COMPARE_BITS || mask_fits(compare->mask, bounds);
}
