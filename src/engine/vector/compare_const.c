#include "engine/vector/compare_const.h"

#include "base/cpu_dispatch.h"

static bool constant_of(const struct code *code, value v, int64_t *constant)
{
    const struct instr *instr = &code->at[v];
    *constant = instr->integer;
    return instr->op == OP_CONST && instr->kind == KIND_INT;
}

/* (x & mask) == c, x % d == 0, or just x == c; `flip` for the opposite. */
static void equality_of(const struct code *code, value left, int64_t against, uint8_t flip, struct compare_const *probe)
{
    const struct instr *instr = &code->at[left];
    int64_t operand;
    *probe = (struct compare_const){.kind = COMPARE_BITS, .of = left, .mask = -1, .against = against, .flip = flip};
    if (instr->op == OP_BITAND) {
        int other = constant_of(code, instr->args[0], &operand) ? 1 : 0;
        if (!constant_of(code, instr->args[1 - other], &operand))
            return;
        probe->mask = operand;
        probe->of = instr->args[other];
    } else if (instr->op == OP_MOD && against == 0 && !instr->checked && constant_of(code, instr->args[1], &operand) &&
               operand != 0 && operand != INT64_MIN) {
        const int64_t divisor = operand < 0 ? -operand : operand;
        const bool power = (divisor & (divisor - 1)) == 0; /* then it is the bits below that tell */
        *probe = (struct compare_const){.kind = power ? COMPARE_BITS : COMPARE_MULTIPLE,
                                        .of = instr->args[0],
                                        .mask = divisor - 1,
                                        .against = power ? 0 : divisor,
                                        .flip = flip};
    }
}

/* x < c, or with `next` x < c + 1, which is x <= c. */
static bool order_of(value left, int64_t against, bool next, uint8_t flip, struct compare_const *probe)
{
    if (next && against == INT64_MAX)
        return false;
    *probe = (struct compare_const){.kind = COMPARE_LESS, .of = left, .against = against + next, .flip = flip};
    return true;
}

bool compare_const_of(const struct code *code, value v, struct compare_const *probe)
{
    const struct instr *instr = &code->at[v];
    if (instr->op != OP_EQ && instr->op != OP_NE && instr->op != OP_LT && instr->op != OP_LE)
        return false;
    int64_t against;
    bool on_left = constant_of(code, instr->args[0], &against);
    value left = instr->args[on_left];
    if ((!on_left && !constant_of(code, instr->args[1], &against)) || code->at[left].kind != KIND_INT)
        return false;
    if (instr->op == OP_EQ || instr->op == OP_NE) {
        equality_of(code, left, against, instr->op == OP_NE, probe);
        return true;
    }
    /* c < x is the opposite of x < c + 1, and c <= x that of x < c. */
    return order_of(left, against, (instr->op == OP_LE) != on_left, on_left, probe);
}

/* `probe->of` as a sum with a constant: what the constant is added to. */
static bool sum_of(const struct code *code, value v, value *of, int64_t *constant)
{
    const struct instr *instr = &code->at[v];
    if ((instr->op != OP_ADD && instr->op != OP_SUB) || instr->checked || instr->kind != KIND_INT)
        return false;
    bool on_left = instr->op == OP_ADD && constant_of(code, instr->args[0], constant);
    *of = instr->args[on_left];
    if (!on_left && !constant_of(code, instr->args[1], constant))
        return false;
    return instr->op == OP_ADD || !__builtin_sub_overflow(0, *constant, constant);
}

bool compare_const_through(const struct code *code, struct compare_const *probe)
{
    value of;
    int64_t constant;
    if (!sum_of(code, probe->of, &of, &constant))
        return false;
    if (probe->kind == COMPARE_MULTIPLE) {
        const struct instr *sum = &code->at[probe->of];
        if (probe->plus != 0 || constant == 0) /* one sum is seen through */
            return false;
        probe->plus = constant;
        probe->lo = sum->lo;
        probe->hi = sum->hi;
    } else if (probe->kind == COMPARE_BITS && probe->mask != -1) {
        /* The lower bits of a sum are those of its terms' lower bits. */
        if (probe->mask < 0 || (probe->mask & (probe->mask + 1)) != 0 || (probe->against & ~probe->mask) != 0)
            return false;
        probe->against = (int64_t)(((uint64_t)probe->against - (uint64_t)constant) & (uint64_t)probe->mask);
    } else if (__builtin_sub_overflow(probe->against, constant, &probe->against)) {
        return false;
    }
    probe->of = of;
    return true;
}

/* Loops differ in the types alone. What is multiplied has at least 32 bits, or it would be multiplied as int. */
#define PROBES(name, type, bits, word)                                                                                 \
    CPU_CLONES static bool bits_##name(const struct operands *o, int count)                                            \
    {                                                                                                                  \
        uint8_t *restrict out = o->out;                                                                                \
        const type *restrict a = o->a;                                                                                 \
        const type mask = (type)o->probe->mask, against = (type)o->probe->against;                                     \
        const uint8_t flip = o->probe->flip;                                                                           \
        for (int i = 0; i < count; i++)                                                                                \
            out[i] = ((type)(a[i] & mask) == against) ^ flip;                                                          \
        return false;                                                                                                  \
    }                                                                                                                  \
    CPU_CLONES static bool less_##name(const struct operands *o, int count)                                            \
    {                                                                                                                  \
        uint8_t *restrict out = o->out;                                                                                \
        const type *restrict a = o->a;                                                                                 \
        const type against = (type)o->probe->against;                                                                  \
        const uint8_t flip = o->probe->flip;                                                                           \
        for (int i = 0; i < count; i++)                                                                                \
            out[i] = (a[i] < against) ^ flip;                                                                          \
        return false;                                                                                                  \
    }                                                                                                                  \
    CPU_CLONES static bool multiple_##name(const struct operands *o, int count)                                        \
    {                                                                                                                  \
        uint8_t *restrict out = o->out;                                                                                \
        const type *restrict a = o->a;                                                                                 \
        const word inverse = (word)o->probe->inverse, shift = (word)o->probe->shift;                                   \
        const uint##bits##_t most = (uint##bits##_t)o->probe->most;                                                    \
        const unsigned right = o->probe->turn, left = (bits - right) % bits;                                           \
        const uint8_t flip = o->probe->flip;                                                                           \
        for (int i = 0; i < count; i++) {                                                                              \
            const uint##bits##_t turned = (uint##bits##_t)((word)a[i] * inverse + shift);                              \
            out[i] = ((uint##bits##_t)(turned >> right | (uint##bits##_t)(turned << left)) <= most) ^ flip;            \
        }                                                                                                              \
        return false;                                                                                                  \
    }
PROBES(i8, int8_t, 8, uint32_t)
PROBES(i16, int16_t, 16, uint32_t)
PROBES(i32, int32_t, 32, uint32_t)
PROBES(i64, int64_t, 64, uint64_t)
PROBES(u8, uint8_t, 8, uint32_t)
PROBES(u16, uint16_t, 16, uint32_t)
PROBES(u32, uint32_t, 32, uint32_t)
#undef PROBES

/* What the integers of a type are within. */
struct bounds {
    int64_t lo, hi;
};

/* A multiple of d = m * 2^t, m odd, times the inverse of m modulo 2^bits is q * 2^t, where q is the quotient, and every
 * other number gives something else. With the least quotient's q taken away from all, those of multiples are 0 up to
 * some q, and what has one of the lower t bits is larger than those once turned (Granlund and Montgomery, "Division by
 * invariant integers using multiplication", 1994, section 9). */
static void find_inverse(struct compare_const *probe, struct bounds bounds)
{
    const uint64_t divisor = (uint64_t)probe->against;
    const uint64_t below = bounds.lo == 0 ? 0 : ((uint64_t)bounds.hi + 1) / divisor;
    probe->turn = (unsigned)__builtin_ctzll(divisor);
    const uint64_t odd = divisor >> probe->turn;
    uint64_t inverse = odd; /* right in 3 bits, and in twice as many after each step */
    for (int bits = 3; bits < 64; bits *= 2)
        inverse *= 2 - odd * inverse;
    probe->inverse = inverse;
    probe->shift = (below << probe->turn) + (uint64_t)probe->plus * inverse;
    probe->most = below + (uint64_t)bounds.hi / divisor;
}

/* Whether masking the type's integers comes to the same in its bits as in 64. */
static bool mask_fits(int64_t mask, struct bounds bounds)
{
    return mask == -1 || (mask >= bounds.lo && mask <= bounds.hi);
}

bool compare_const_prepare(struct compare_const *probe, enum type type)
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
    probe->loop = table[type].loops[probe->kind];
    if (!probe->loop || probe->against < bounds.lo || probe->against > bounds.hi)
        return false;
    if (probe->plus != 0 && (probe->lo < bounds.lo || probe->hi > bounds.hi))
        return false;
    if (probe->kind == COMPARE_MULTIPLE)
        find_inverse(probe, bounds);
    return probe->kind != COMPARE_BITS || mask_fits(probe->mask, bounds);
}
