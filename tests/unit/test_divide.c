/* Reciprocal division against hardware division: every kind of divisor, extremes, neighbours of multiples, and random
 * numbers. */
#include "scratch.h"

#include "engine/vector/ops.h"

enum { NUMBERS = 2000, DIVISORS = 400 };

/* SplitMix64. */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Log-uniform random numbers. */
static int64_t any_number(uint64_t *state)
{
    uint64_t z = next(state);
    return (int64_t)z >> (next(state) % 64);
}

static int64_t some_divisor(size_t k, uint64_t *state)
{
    static const int64_t known[] = {1, -1, 2, -2, 3, 7, 10, 222, 641, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    if (k < sizeof known / sizeof *known)
        return known[k];
    if (k % 4 == 0) /* powers of two and their neighbours */
        return (INT64_C(1) << (next(state) % 62 + 1)) + (int64_t)(next(state) % 3) - 1;
    return any_number(state);
}

static int64_t some_dividend(size_t k, int64_t divisor, uint64_t *state)
{
    static const int64_t known[] = {0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN + 1, INT64_MIN};
    if (k < sizeof known / sizeof *known)
        return known[k];
    if (k % 2 == 0)
        return (int64_t)((uint64_t)any_number(state) * (uint64_t)divisor + next(state) % 3 - 1);
    return any_number(state);
}

static void test_64_bits(void **context)
{
    (void)context;
    uint64_t state = 1;
    for (size_t d = 0; d < DIVISORS; d++) {
        int64_t divisor = some_divisor(d, &state), in[NUMBERS], quotients[NUMBERS], remainders[NUMBERS];
        if (divisor == 0)
            continue;
        for (size_t k = 0; k < NUMBERS; k++) {
            in[k] = some_dividend(k, divisor, &state);
            if (divisor == -1 && in[k] == INT64_MIN)
                in[k] = 0;
        }
        union reciprocal by = {.wide = long_divisor_of(divisor)};
        struct operands operands = {.out = quotients, .a = in, .by = &by};
        assert_false(vector_division(OP_DIV, LANE_I64, &by)(&operands, NUMBERS));
        operands.out = remainders;
        assert_false(vector_division(OP_MOD, LANE_I64, &by)(&operands, NUMBERS));
        for (size_t k = 0; k < NUMBERS; k++) {
            if (quotients[k] != in[k] / divisor || remainders[k] != in[k] % divisor)
                fail_msg("%lld by %lld: %lld, %lld left", (long long)in[k], (long long)divisor, (long long)quotients[k],
                         (long long)remainders[k]);
        }
    }
}

static void test_32_bits(void **context)
{
    (void)context;
    uint64_t state = 2;
    for (size_t d = 0; d < DIVISORS; d++) {
        int32_t divisor = (int32_t)some_divisor(d, &state), in[NUMBERS], quotients[NUMBERS], remainders[NUMBERS];
        if (divisor == 0)
            continue;
        for (size_t k = 0; k < NUMBERS; k++) {
            in[k] = (int32_t)some_dividend(k, divisor, &state);
            if (divisor == -1 && in[k] == INT32_MIN)
                in[k] = 0;
        }
        union reciprocal by = {.narrow = divisor_of(divisor)};
        struct operands operands = {.out = quotients, .a = in, .by = &by};
        assert_false(vector_division(OP_DIV, LANE_I32, &by)(&operands, NUMBERS));
        operands.out = remainders;
        assert_false(vector_division(OP_MOD, LANE_I32, &by)(&operands, NUMBERS));
        for (size_t k = 0; k < NUMBERS; k++) {
            if (quotients[k] != in[k] / divisor || remainders[k] != in[k] % divisor)
                fail_msg("%d by %d: %d, %d left", in[k], divisor, quotients[k], remainders[k]);
        }
    }
}

/* Vectors of divisors: of numbers within 2^53, which are divided as doubles, and of others. */
static void test_vectors(void **context)
{
    (void)context;
    uint64_t state = 3;
    for (int round = 0; round < DIVISORS; round++) {
        const int bits = round % 2 ? 10 : 9; /* up to 2^53, or to 2^54 */
        int64_t in[NUMBERS], by[NUMBERS], quotients[NUMBERS], remainders[NUMBERS];
        for (size_t k = 0; k < NUMBERS; k++) {
            by[k] = any_number(&state) >> bits;
            by[k] = by[k] == 0 ? 1 : by[k];
            in[k] = k % 3 == 0 ? (int64_t)((uint64_t)(INT64_MAX >> bits) - next(&state) % 3)
                               : some_dividend(k, by[k], &state) >> bits;
            if (k % 3 == 1 && in[k] / by[k] != 0)
                in[k] = in[k] / by[k] * by[k] - 1; /* just below a multiple */
        }
        struct operands operands = {.out = quotients, .a = in, .b = by};
        assert_false(vector_op(OP_DIV, LANE_I64)(&operands, NUMBERS));
        operands.out = remainders;
        assert_false(vector_op(OP_MOD, LANE_I64)(&operands, NUMBERS));
        for (size_t k = 0; k < NUMBERS; k++) {
            if (quotients[k] != in[k] / by[k] || remainders[k] != in[k] % by[k])
                fail_msg("%lld by %lld: %lld, %lld left", (long long)in[k], (long long)by[k], (long long)quotients[k],
                         (long long)remainders[k]);
        }
    }
}

static void test_marks(void **context)
{
    (void)context;
    assert_int_equal(divisor_of(0).flags, DIVISOR_ZERO);
    assert_int_equal(divisor_of(-5).flags, DIVISOR_NEGATIVE);
    assert_int_equal(long_divisor_of(0).flags, DIVISOR_ZERO | DIVISOR_ONE);
    assert_int_equal(long_divisor_of(-1).flags, DIVISOR_NEGATIVE | DIVISOR_ONE);
    assert_int_equal(long_divisor_of(INT64_MIN).magnitude, UINT64_C(1) << 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_64_bits),
        cmocka_unit_test(test_32_bits),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
