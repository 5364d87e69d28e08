/* Constant comparisons against int_op, in every type: all numbers of the narrow types, limits and random numbers of
 * the wide ones. Listing and packing selected rows against a plain loop. */
#include "scratch.h"

#include "engine/vector/compare_const.h"
#include "engine/vector/selection.h"

#include <string.h>

enum { NUMBERS = 65536, CONSTANTS = 120 };

/* SplitMix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int64_t number_at(const void *data, enum type type, int i)
{
    switch (type) {
    case TYPE_I8:
        return ((const int8_t *)data)[i];
    case TYPE_I16:
        return ((const int16_t *)data)[i];
    case TYPE_I32:
        return ((const int32_t *)data)[i];
    case TYPE_U8:
        return ((const uint8_t *)data)[i];
    case TYPE_U16:
        return ((const uint16_t *)data)[i];
    case TYPE_U32:
        return ((const uint32_t *)data)[i];
    default:
        return ((const int64_t *)data)[i];
    }
}

/* Integers of a type: consecutive ones, which cover the narrow types, and for the wide types also the limits and
 * random ones of every magnitude. */
static void fill(void *data, enum type type, uint64_t *state)
{
    const size_t size = type_table[type].size;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        static const uint64_t ends[] = {0, UINT64_MAX, UINT64_MAX >> 1, ~(UINT64_MAX >> 1), UINT32_MAX, UINT32_MAX / 2};
        uint64_t bits = i;
        if (size > 2 && i % 2 == 1)
            bits = (uint64_t)((int64_t)next(state) >> (next(state) % 64));
        if (size > 2 && i < sizeof ends / sizeof *ends)
            bits = size == 4 ? ends[i] >> 32 : ends[i];
        memcpy((unsigned char *)data + i * size, &bits, size); /* little-endian */
    }
}

static int64_t some_constant(size_t k, enum type type, uint64_t *state)
{
    static const int64_t known[] = {
        0,    1,   -1,  2,         -2,        3,          7,         42,        222,        127,       128,
        -128, 255, 256, INT16_MAX, INT16_MIN, UINT16_MAX, INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN};
    if (k < sizeof known / sizeof *known)
        return known[k];
    return (int64_t)next(state) >> (64 - 8 * type_table[type].size + next(state) % 6);
}

static bool answer(enum op op, int64_t a, int64_t b)
{
    int64_t result;
    assert_true(int_op(op, a, b, &result));
    return result != 0;
}

/* x, or `op` applied to it, before it is compared. */
static int64_t before(enum op op, int64_t x, int64_t operand)
{
    int64_t result = x;
    if (op != OP_INPUT)
        assert_true(int_op(op, x, operand, &result));
    return result;
}

/* Tests one comparison on all numbers; false if unsupported. */
static bool ask(const void *data, enum type type, enum op first, int64_t operand, enum op op, int64_t against,
                bool constant_left)
{
    static uint8_t said[NUMBERS];
    struct arena *arena = arena_new();
    const struct span none = {0};
    struct code code;
    code_init(&code, arena);
    value x = code_input(&code, 0, KIND_INT, none);
    value changed = x;
    if (first != OP_INPUT)
        changed = code_op(&code, first, x, code_int(&code, operand, none), NO_VALUE, none);
    code.at[changed].checked = false;
    value constant = code_int(&code, against, none);
    value asked = constant_left ? code_op(&code, op, constant, changed, NO_VALUE, none)
                                : code_op(&code, op, changed, constant, NO_VALUE, none);
    struct compare_const probe;
    bool taken = compare_const_of(&code, asked, &probe) && probe.of == x && compare_const_prepare(&probe, type);
    if (taken) {
        struct operands operands = {.out = said, .a = data, .compare = &probe};
        const int count = NUMBERS - (int)(against & 63); /* so that the last vector is a part of one */
        memset(said, 7, sizeof said);
        assert_false(probe.loop(&operands, count));
        for (int i = count; i < NUMBERS; i++)
            assert_int_equal(said[i], 7);
        for (int i = 0; i < count; i++) {
            int64_t left = before(first, number_at(data, type, i), operand);
            assert_int_equal(said[i], constant_left ? answer(op, against, left) : answer(op, left, against));
        }
    }
    arena_free(arena);
    return taken;
}

static void test_probes(void **context)
{
    (void)context;
    static const enum type types[] = {TYPE_I8, TYPE_I16, TYPE_I32, TYPE_I64, TYPE_U8, TYPE_U16, TYPE_U32};
    static const enum op ops[] = {OP_EQ, OP_NE, OP_LT, OP_LE};
    static int64_t data[NUMBERS];
    uint64_t state = 1;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        int compared = 0, divided = 0, masked = 0;
        fill(data, types[t], &state);
        for (size_t k = 0; k < CONSTANTS; k++) {
            int64_t constant = some_constant(k, types[t], &state), other = some_constant(k + k % 7, types[t], &state);
            enum op op = ops[k % 4];
            compared += ask(data, types[t], OP_INPUT, 0, op, constant, k % 3 == 0);
            masked += ask(data, types[t], OP_BITAND, constant, ops[k % 2], constant & other, false);
            if (constant != 0)
                divided += ask(data, types[t], OP_MOD, constant, ops[k % 2], 0, false);
        }
        /* Most constants fit most types; fails if too few were tested. */
        assert_true(compared > CONSTANTS / 4 && divided > CONSTANTS / 4 && masked > CONSTANTS / 4);
    }
}

/* Unsupported: the type lacks the constant, or the comparison has no constant form. */
static void test_beyond(void **context)
{
    (void)context;
    static int64_t data[NUMBERS];
    assert_false(ask(data, TYPE_I16, OP_INPUT, 0, OP_EQ, 40000, false));
    assert_false(ask(data, TYPE_U8, OP_INPUT, 0, OP_LT, -1, false));
    assert_false(ask(data, TYPE_U16, OP_BITAND, -2, OP_EQ, 4, false));
    assert_false(ask(data, TYPE_I8, OP_MOD, 200, OP_EQ, 0, false));
    assert_false(ask(data, TYPE_I32, OP_MOD, 7, OP_EQ, 1, false));
    assert_false(ask(data, TYPE_I64, OP_INPUT, 0, OP_LE, INT64_MAX, false));
}

/* Tests a comparison of x plus or minus a constant as one of x; false if unsupported. `op` compares the sum, or
 * `first` of it unless that is OP_INPUT. */
static bool ask_through(const void *data, enum type type, bool minus, int64_t constant, enum op first, int64_t operand,
                        enum op op, int64_t against)
{
    static uint8_t said[NUMBERS];
    const struct type_info *info = &type_table[type];
    struct arena *arena = arena_new();
    const struct span none = {0};
    struct code code;
    code_init(&code, arena);
    value x = code_input(&code, 0, KIND_INT, none);
    value sum = code_op(&code, minus ? OP_SUB : OP_ADD, x, code_int(&code, constant, none), NO_VALUE, none);
    const int64_t plus = minus ? -constant : constant;
    code.at[sum].checked = false;
    code.at[sum].lo = info->lo / 4 + plus; /* x spans a quarter of its type's range */
    code.at[sum].hi = info->hi / 4 + plus;
    value changed = sum;
    if (first != OP_INPUT)
        changed = code_op(&code, first, sum, code_int(&code, operand, none), NO_VALUE, none);
    code.at[changed].checked = false;
    struct compare_const probe;
    bool taken =
        compare_const_of(&code, code_op(&code, op, changed, code_int(&code, against, none), NO_VALUE, none), &probe) &&
        probe.of == sum && compare_const_strip_sum(&code, &probe) && compare_const_prepare(&probe, type);
    if (taken) {
        assert_int_equal(probe.of, x);
        assert_false(compare_const_strip_sum(&code, &probe));
        struct operands operands = {.out = said, .a = data, .compare = &probe};
        assert_false(probe.loop(&operands, NUMBERS));
        for (int i = 0; i < NUMBERS; i++)
            assert_int_equal(said[i], answer(op, before(first, number_at(data, type, i) + plus, operand), against));
    }
    arena_free(arena);
    return taken;
}

static void test_sums(void **context)
{
    (void)context;
    static const enum type types[] = {TYPE_I8, TYPE_I16, TYPE_I32, TYPE_I64, TYPE_U8, TYPE_U16, TYPE_U32};
    static const enum op ops[] = {OP_EQ, OP_NE, OP_LT, OP_LE};
    static int64_t data[NUMBERS];
    uint64_t state = 3;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        const size_t size = type_table[types[t]].size;
        int compared = 0, divided = 0, masked = 0, beyond = 0;
        fill(data, types[t], &state);
        for (int i = 0; i < NUMBERS; i++) {
            const int64_t quarter = number_at(data, types[t], i) / 4;
            memcpy((unsigned char *)data + (size_t)i * size, &quarter, size);
        }
        for (size_t k = 0; k < CONSTANTS; k++) {
            const int64_t most = type_table[types[t]].hi / 2;
            const int64_t constant = some_constant(k, types[t], &state) % most;
            const int64_t other = some_constant(k + k % 7, types[t], &state) % most, mask = (1 << k % 8) - 1;
            const bool minus = k % 2;
            if (constant == 0)
                continue;
            compared += ask_through(data, types[t], minus, constant, OP_INPUT, 0, ops[k / 2 % 4], other);
            masked += ask_through(data, types[t], minus, constant, OP_BITAND, mask, ops[k / 2 % 2], other & mask);
            if (other != 0)
                divided += ask_through(data, types[t], minus, constant, OP_MOD, other, ops[k / 2 % 2], 0);
            /* The sum may exceed the type: its remainder is not that of its low bits. */
            if (size < 8)
                beyond += ask_through(data, types[t], false, constant + 4 * (most + 1), OP_MOD, 7, OP_EQ, 0);
        }
        assert_true(compared > CONSTANTS / 4 && divided > CONSTANTS / 4 && masked > CONSTANTS / 4);
        assert_int_equal(beyond, 0);
    }
    /* A sum is stripped only for masks of the lowest bits, and never if that overflows. */
    assert_false(ask_through(data, TYPE_I64, false, 1, OP_BITAND, 6, OP_EQ, 2));
    assert_false(ask_through(data, TYPE_I64, false, -1, OP_INPUT, 0, OP_EQ, INT64_MAX));
    assert_false(ask_through(data, TYPE_I64, false, 1, OP_INPUT, 0, OP_LT, INT64_MIN));
}

static void test_picking(void **context)
{
    (void)context;
    enum { ROWS = 2048 };
    static uint8_t mask[ROWS];
    static uint16_t listed[ROWS];
    static uint64_t elements[ROWS], packed[ROWS];
    uint64_t state = 2;
    for (int turn = 0; turn < 200; turn++) {
        int rows = turn < 100 ? turn : (int)(next(&state) % (ROWS + 1)), expected = 0;
        uint64_t of = next(&state) % 33;
        for (int i = 0; i < rows; i++) {
            mask[i] = next(&state) % 32 < of;
            elements[i] = next(&state);
            expected += mask[i];
        }
        assert_int_equal(selection_count(mask, rows), expected);
        selection_list(mask, rows, listed);
        for (int i = 0, k = 0; i < rows; i++) {
            if (mask[i])
                assert_int_equal(listed[k++], i);
        }
        static uint16_t few[ROWS + 2];
        const int most = turn % 3 == 0 ? ROWS : (int)(next(&state) % 64);
        const int found = selection_list_few(mask, rows, most, few);
        assert_true(expected <= most ? found == expected : found > most);
        if (expected <= most)
            assert_memory_equal(few, listed, (size_t)expected * sizeof *few);
        for (size_t size = 1; size <= 8; size *= 2) {
            if (!selection_packer(size))
                continue;
            selection_packer(size)(packed, elements, mask, rows,
                                   &(struct ahead){.at = (const char *)elements, .lines = turn % 3});
            for (int k = 0; k < expected; k++)
                assert_memory_equal((unsigned char *)packed + (size_t)k * size,
                                    (unsigned char *)elements + listed[k] * size, size);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_picking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
