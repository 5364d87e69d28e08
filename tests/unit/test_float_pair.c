/* Pairs of operations on floats against one after the other, with constants and without. */
#include "scratch.h"

#include "engine/vector/ops.h"

#include <math.h>

enum { NUMBERS = 70 };

static double one(enum op op, double x, double y)
{
    return op == OP_ADD ? x + y : op == OP_SUB ? x - y : x * y;
}

static double any_double(int k, int seed)
{
    static const double known[] = {0.0, -0.0, INFINITY, -INFINITY, 1e308, -5e-324, 1.0, -3.0};
    const int n = k * 31 + seed * 17;
    return n % 5 == 0 ? known[n / 5 % 8] : ldexp(n % 1009 - 500.0, n % 60 - 30) / 3;
}

static bool is_same(double x, double y)
{
    return (isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y));
}

static void test_pairs(void **context)
{
    (void)context;
    static const enum op ops[] = {OP_ADD, OP_SUB, OP_MUL};
    double a[NUMBERS], b[NUMBERS], c[NUMBERS], out[NUMBERS + 1];
    for (int variant = 0; variant < 3 * 3 * 2 * 3; variant++) {
        const enum op first = ops[variant % 3], second = ops[variant / 3 % 3];
        const bool reversed = variant / 9 % 2 == 1;
        const int uniform = variant / 18, count = NUMBERS - variant;
        for (int i = 0; i < NUMBERS; i++) {
            a[i] = any_double(i, variant);
            b[i] = any_double(uniform == 1 ? 7 : i, 1);
            c[i] = any_double(uniform == 2 ? 8 : i, 2);
        }
        out[count] = 42;
        const struct operands operands = {
            .out = out, .a = a, .b = b, .c = c, .uniform = uniform == 1, .uniform_c = uniform == 2};
        assert_false(vector_float_pair(first, second, reversed)(&operands, count));
        for (int i = 0; i < count; i++) {
            const double between = one(first, a[i], b[i]);
            const double expected = reversed ? one(second, c[i], between) : one(second, between, c[i]);
            if (!is_same(out[i], expected))
                fail_msg("variant %d, element %d: %g, not %g", variant, i, out[i], expected);
        }
        assert_true(out[count] == 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
