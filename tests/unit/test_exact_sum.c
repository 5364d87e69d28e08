#include "scratch.h"

#include "engine/values/exact_sum.h"
#include "engine/values/exact_sum_simd.h"

#include <float.h>
#include <math.h>

static double sum_of(const double *values, int64_t count)
{
    struct exact_sum sum;
    bool certain;
    exact_sum_init(&sum);
    exact_sum_add_array(&sum, values, count);
    double result = exact_sum_result(&sum, &certain);
    assert_true(certain);
    return result;
}

static void assert_same(double a, double b)
{
    assert_memory_equal(&a, &b, sizeof a);
}

/* Own generator: tests must not depend on the library's. */
static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static double random_double(uint64_t *state, int exponents)
{
    double fraction = (double)(int64_t)next(state);
    return ldexp(fraction, (int)(next(state) % (uint64_t)(2 * exponents)) - exponents);
}

/* Sums with a known exact value. */
static void hard_sums(void **unused)
{
    (void)unused;
    const double tiny = 4.9406564584124654e-324;
    static const struct {
        double values[8];
        int count;
        double sum;
    } cases[] = {
        {{0}, 0, 0.0},
        {{-0.0}, 1, 0.0},
        {{1e308, 1e308, -1e308}, 3, 1e308},
        {{1e308, 1e308, -1e308, -1e308, 1.0}, 5, 1.0},
        {{DBL_MAX, DBL_MAX}, 2, INFINITY},
        {{-DBL_MAX, -DBL_MAX}, 2, -INFINITY},
        {{DBL_MAX, 0x1.fffffffffffffp969}, 2, DBL_MAX}, /* just under half an ULP */
        {{DBL_MAX, 0x1p970}, 2, INFINITY},              /* tie: rounds up to even */
        {{1e16, 1.0, -1e16}, 3, 1.0},
        {{1.0, 1e100, 1.0, -1e100}, 4, 2.0},
        {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, 8, 0.8},
        {{1.0, 1.1102230246251565e-16}, 2, 1.0},                                         /* tie rounds to even */
        {{1.0, 1.1102230246251565e-16, 4.9406564584124654e-324}, 3, 1.0000000000000002}, /* just above a tie */
        {{1.0, 1.1102230246251565e-16, -4.9406564584124654e-324}, 3, 1.0},
        {{1.0000000000000002, 1.1102230246251565e-16}, 2, 1.0000000000000004},
        {{-1.0, -1.1102230246251565e-16, -4.9406564584124654e-324}, 3, -1.0000000000000002},
        {{2.2250738585072014e-308, -4.9406564584124654e-324}, 2, 2.2250738585072009e-308},
        {{2.2250738585072009e-308, 4.9406564584124654e-324}, 2, 2.2250738585072014e-308},
        {{-4.9406564584124654e-324, -4.9406564584124654e-324}, 2, -9.8813129168249309e-324},
        {{NAN, 1.0}, 2, NAN},
        {{INFINITY, 1.0, -DBL_MAX}, 3, INFINITY},
        {{-INFINITY, DBL_MAX}, 2, -INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double sum = sum_of(cases[i].values, cases[i].count);
        if (isnan(cases[i].sum))
            assert_true(isnan(sum));
        else
            assert_same(sum, cases[i].sum);
    }
    const double both[] = {INFINITY, -INFINITY};
    assert_true(isnan(sum_of(both, 2)));
    assert_same(sum_of(&tiny, 1), tiny);
}

/* Values cancel their negatives in reverse order exactly, leaving only the middle term. */
static void cancellation(void **unused)
{
    (void)unused;
    enum { COUNT = 100000 };
    static double values[2 * COUNT + 1];
    uint64_t state = 1;
    for (int i = 0; i < COUNT; i++) {
        values[i] = random_double(&state, 900);
        values[2 * COUNT - i] = -values[i];
    }
    values[COUNT] = 1e-300;
    assert_same(sum_of(values, 2 * COUNT + 1), 1e-300);
}

/* Compares with long integer sums, exact in 128 bits. */
static void against_integers(void **unused)
{
    (void)unused;
    enum { COUNT = 1000000 };
    struct exact_sum sum;
    exact_sum_init(&sum);
    __extension__ __int128 exact = 0;
    uint64_t state = 2;
    for (int i = 0; i < COUNT; i++) {
        int64_t value = (int64_t)next(&state) >> (11 + i % 50);
        exact += value;
        exact_sum_add(&sum, (double)value * 0x1p-30);
    }
    bool certain;
    assert_same(exact_sum_result(&sum, &certain), (double)exact * 0x1p-30);
}

enum { LONG = 3 * LANES_MOST + 37 };

/* No lanes: adds one at a time. */
static double plain_sum_of(const double *values, int64_t count)
{
    struct exact_sum sum;
    bool certain;
    exact_sum_init(&sum);
    for (int64_t i = 0; i < count; i++)
        exact_sum_add(&sum, values[i]);
    return exact_sum_result(&sum, &certain);
}

static void assert_like_plain(const double *values, int64_t count)
{
    double sum = sum_of(values, count), plain = plain_sum_of(values, count);
    if (isnan(plain))
        assert_true(isnan(sum));
    else
        assert_same(sum, plain);
}

/* Spreads that are small, exceed the first levels, exceed all levels, and cover all doubles; in some arrays every
 * second value nearly cancels the one before, so that the last bits decide. */
static void lanes_of_all_spreads(void **unused)
{
    (void)unused;
    static const int spreads[] = {1, 10, 30, 45, 80, 130, 400, 900};
    static double values[LONG];
    uint64_t state = 5;
    for (size_t s = 0; s < sizeof spreads / sizeof spreads[0]; s++) {
        for (int round = 0; round < 8; round++) {
            int64_t count = round == 0 ? LONG : (int64_t)(next(&state) % LONG);
            for (int64_t i = 0; i < count; i++) {
                values[i] = random_double(&state, spreads[s]);
                if (round % 2 && i > 0 && i % 2)
                    values[i] = nextafter(-values[i - 1], 0);
            }
            assert_like_plain(values, count);
        }
    }
}

/* Values of one magnitude and sign fill the accumulators, from the smallest doubles to the largest. */
static void lanes_filled(void **unused)
{
    (void)unused;
    static double values[LONG];
    for (int exponent = -1074; exponent <= 1023; exponent += exponent > -1070 && exponent < 1005 ? 97 : 1) {
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i < LONG; i++)
                values[i] = sign * ldexp(1, exponent);
            assert_like_plain(values, LONG);
            for (int i = 0; i < LONG; i++)
                values[i] = nextafter(values[i], i % 3 ? 0 : values[i] * 2);
            assert_like_plain(values, LONG);
        }
    }
}

/* One outlier at any position: too large, too small, or not finite. */
static void lanes_with_a_stranger(void **unused)
{
    (void)unused;
    static const double strangers[] = {1e300, -1e40, 1e-40, -1e-300, 5e-324, -0.0, INFINITY, -INFINITY, NAN};
    static double values[LANES_MOST + 5];
    uint64_t state = 6;
    for (size_t s = 0; s < sizeof strangers / sizeof strangers[0]; s++) {
        for (int at = 0; at < LANES_MOST + 5; at += at < 2 * LANES_STEP ? 1 : 131) {
            for (int i = 0; i < LANES_MOST + 5; i += 2) {
                values[i] = random_double(&state, 5);
                if (i + 1 < LANES_MOST + 5)
                    values[i + 1] = -values[i];
            }
            values[at] = strangers[s];
            assert_like_plain(values, LANES_MOST + 5);
        }
    }
}

/* Each level of the processor, of runs beside and apart from each other. */
static void lanes_of_all_levels(void **unused)
{
    (void)unused;
    static double values[LANES_MOST];
    uint64_t state = 8;
    for (int i = 0; exact_sum_level_at(i); i++) {
        for (int count = LANES_STEP; count <= LANES_MOST; count += LANES_STEP) {
            for (int k = 0; k < count; k++)
                values[k] = random_double(&state, 10);
            const int ceiling = exact_sum_lanes_ceiling(values, count);
            const int levels = count % (2 * LANES_STEP) ? LANES_LEVELS : LANES_FEW_LEVELS;
            for (int apart = 0; apart <= count / LANES_STREAMS; apart += count / LANES_STREAMS) {
                const struct exact_sum_values block = {.at = values, .apart = apart, .count = count};
                struct exact_sum_lanes lanes;
                struct exact_sum sum;
                bool certain;
                exact_sum_init(&sum);
                assert_true(exact_sum_level_at(i)(&block, ceiling, levels, &lanes));
                for (int level = 0; level < levels; level++)
                    exact_sum_add_scaled(&sum, lanes.integer[level], lanes.unit[level]);
                assert_same(exact_sum_result(&sum, &certain), plain_sum_of(values, count));
            }
        }
    }
}

/* Each block starts with the previous block's levels. */
static void lanes_of_changing_blocks(void **unused)
{
    (void)unused;
    enum { BLOCKS = 40 };
    static double values[BLOCKS * LANES_MOST];
    uint64_t state = 7;
    for (int round = 0; round < 10; round++) {
        for (int block = 0; block < BLOCKS; block++) {
            double scale = ldexp(1, (int)(next(&state) % 1900) - 960);
            int spread = 1 + (int)(next(&state) % 80);
            bool zeroes = next(&state) % 8 == 0;
            for (int i = 0; i < LANES_MOST; i++)
                values[block * LANES_MOST + i] = zeroes ? 0 : random_double(&state, spread) * scale;
        }
        assert_like_plain(values, BLOCKS * LANES_MOST);
    }
}

/* Long arrays are read as several streams: around the sizes of their blocks, with one stranger in any stream. */
static void streams(void **unused)
{
    (void)unused;
    enum { LEAST = 4 * LANES_MOST, MOST = LEAST + 3 * LANES_MOST };
    static const double strangers[] = {0.5, 1e300, 5e-324, INFINITY, NAN};
    static const int beside[] = {-LANES_STEP - 1, -1, 0, 1, LANES_STEP, 70};
    static double values[MOST + LANES_MOST];
    uint64_t state = 8;
    for (size_t s = 0; s < sizeof strangers / sizeof strangers[0]; s++) {
        for (int blocks = LEAST; blocks <= MOST; blocks += LANES_MOST) {
            for (size_t b = 0; b < sizeof beside / sizeof beside[0]; b++) {
                const int count = blocks + beside[b];
                for (int i = 0; i < count; i++)
                    values[i] = random_double(&state, 1 + (int)(next(&state) % 12));
                assert_like_plain(values, count);
                values[next(&state) % (uint64_t)count] = strangers[s];
                assert_like_plain(values, count);
            }
        }
    }
}

/* The sum of lanes of values one behind the other. */
static bool lanes_add(const double *values, int count, int ceiling, int levels, struct exact_sum_lanes *sum)
{
    const struct exact_sum_values beside = {.at = values, .apart = LANES_BESIDE, .count = count};
    return exact_sum_lanes_add(&beside, ceiling, levels, sum);
}

/* Which ranges lanes accept, to the exact power of two. */
static void lanes_tell_when_they_are_exact(void **unused)
{
    (void)unused;
    double values[LANES_STEP] = {1.0, -0.0};
    struct exact_sum_lanes sum;
    assert_int_equal(exact_sum_lanes_ceiling(values, LANES_STEP), 1);
    assert_true(lanes_add(values, LANES_STEP, 0, LANES_FEW_LEVELS, &sum));
    assert_same(ldexp((double)sum.integer[0], sum.unit[0]), 1.0);
    assert_int_equal(sum.integer[1], 0);
    assert_false(lanes_add(values, LANES_STEP, -7, LANES_FEW_LEVELS, &sum));
    values[5] = ldexp(1, -89);
    assert_true(lanes_add(values, LANES_STEP, 0, LANES_FEW_LEVELS, &sum));
    values[5] = ldexp(1, -90);
    assert_false(lanes_add(values, LANES_STEP, 0, LANES_FEW_LEVELS, &sum));
    assert_true(lanes_add(values, LANES_STEP, 0, LANES_LEVELS, &sum));
    values[5] = ldexp(1, -180);
    assert_false(lanes_add(values, LANES_STEP, 0, LANES_LEVELS, &sum));
    values[5] = ldexp(1, -179);
    assert_true(lanes_add(values, LANES_STEP, 0, LANES_LEVELS, &sum));
    values[5] = 4.9406564584124654e-324;
    values[0] = 0.0;
    assert_true(lanes_add(values, LANES_STEP, -1022, LANES_FEW_LEVELS, &sum));
    values[0] = INFINITY;
    assert_true(exact_sum_lanes_ceiling(values, LANES_STEP) > LANES_HIGHEST);
    values[0] = NAN;
    assert_true(exact_sum_lanes_ceiling(values, LANES_STEP) > LANES_HIGHEST);
    assert_false(lanes_add(values, LANES_STEP, LANES_HIGHEST, LANES_LEVELS, &sum));

    static double full[LANES_MOST];
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int i = 0; i < LANES_MOST; i++)
            full[i] = sign * nextafter(4.0, 0);
        assert_true(lanes_add(full, LANES_MOST, 3, LANES_FEW_LEVELS, &sum));
        assert_same(ldexp((double)sum.integer[0], sum.unit[0]) + ldexp((double)sum.integer[1], sum.unit[1]),
                    sign * nextafter(4.0, 0) * LANES_MOST);
        for (int i = 0; i < LANES_MOST; i++)
            full[i] = 0;
        full[3] = sign * 1e3; /* out of the accumulator's range and back */
        full[3 + LANES_STEP] = -full[3];
        assert_true(lanes_add(full, LANES_MOST, 10, LANES_FEW_LEVELS, &sum));
        assert_false(lanes_add(full, LANES_MOST, 1, LANES_FEW_LEVELS, &sum));
    }
}

/* Many terms of one sign fill chunks as fast as possible. */
static void carries(void **unused)
{
    (void)unused;
    struct exact_sum sum;
    exact_sum_init(&sum);
    const double most = 9007199254740991.0; /* all 53 bits set */
    for (int shift = 0; shift < 32; shift++) {
        for (int i = 0; i < 10000; i++)
            exact_sum_add(&sum, ldexp(-most, shift));
    }
    bool certain;
    assert_same(exact_sum_result(&sum, &certain), -(most * 10000 * 4294967295.0));
}

static void merging_and_order(void **unused)
{
    (void)unused;
    enum { COUNT = 30000 };
    static double values[COUNT];
    uint64_t state = 3;
    for (int i = 0; i < COUNT; i++)
        values[i] = random_double(&state, 300);
    double whole = sum_of(values, COUNT);

    struct exact_sum total;
    exact_sum_init(&total);
    for (int begin = 0; begin < COUNT;) {
        int end = begin + 1 + (int)(next(&state) % 5000);
        end = end < COUNT ? end : COUNT;
        struct exact_sum part;
        exact_sum_init(&part);
        exact_sum_add_array(&part, values + begin, end - begin);
        exact_sum_merge(&total, &part);
        begin = end;
    }
    bool certain;
    assert_same(exact_sum_result(&total, &certain), whole);

    for (int i = COUNT - 1; i > 0; i--) {
        int j = (int)(next(&state) % (uint64_t)(i + 1));
        double swapped = values[i];
        values[i] = values[j];
        values[j] = swapped;
    }
    assert_same(sum_of(values, COUNT), whole);
}

/* Repeated merging must not lose carries either. */
static void many_merges(void **unused)
{
    (void)unused;
    struct exact_sum total, part;
    exact_sum_init(&total);
    exact_sum_init(&part);
    for (int i = 0; i < 2000; i++)
        exact_sum_add(&part, 9007199254740991.0);
    for (int i = 0; i < 5000; i++) {
        exact_sum_merge(&total, &part);
        exact_sum_add(&total, 1.0);
    }
    bool certain;
    assert_same(exact_sum_result(&total, &certain), 9007199254740991.0 * 1e7 + 5000);
}

static void scaled(void **unused)
{
    (void)unused;
    static const struct {
        int64_t integer;
        int exponent;
        double value;
    } cases[] = {
        {1, 0, 1.0},
        {-1, 0, -1.0},
        {INT64_MIN, 0, -0x1p63},
        {INT64_MIN, -63, -1.0},
        {INT64_MAX, 0, 0x1p63},
        {3, -1074, 3 * 4.9406564584124654e-324},
        {5 << 10, -1084, 5 * 4.9406564584124654e-324},
        {INT64_MIN, -1137, -4.9406564584124654e-324},
        {1, 1004, 0x1p1004},
        {(INT64_C(1) << 20) - 1, 1004, 0x1.ffffep1023},
        {INT64_C(1) << 20, 1004, INFINITY},
        {0, 5000, 0.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct exact_sum sum;
        bool certain;
        exact_sum_init(&sum);
        exact_sum_add_scaled(&sum, cases[i].integer, cases[i].exponent);
        assert_same(exact_sum_result(&sum, &certain), cases[i].value);
        assert_true(certain);
    }
    uint64_t state = 4;
    struct exact_sum twice;
    exact_sum_init(&twice);
    for (int i = 0; i < 100000; i++) {
        int64_t integer = (int64_t)next(&state) >> 11;
        int exponent = (int)(next(&state) % 1500) - 1000;
        exponent = exponent < 900 ? exponent : 900;
        exact_sum_add_scaled(&twice, integer, exponent);
        exact_sum_add(&twice, -ldexp((double)integer, exponent));
    }
    bool certain;
    assert_same(exact_sum_result(&twice, &certain), 0.0);
}

static void lost_bits_are_uncertain(void **unused)
{
    (void)unused;
    struct exact_sum sum;
    bool certain;
    exact_sum_init(&sum);
    exact_sum_add_scaled(&sum, 3, -1076);
    exact_sum_result(&sum, &certain);
    assert_false(certain);
    exact_sum_init(&sum);
    exact_sum_add_scaled(&sum, 1, 1020);
    exact_sum_result(&sum, &certain);
    assert_false(certain);
}

static void errors(void **unused)
{
    (void)unused;
    struct exact_sum sum;
    bool certain;
    exact_sum_init(&sum);
    exact_sum_add(&sum, 1.0);
    exact_sum_add_error(&sum, 0.0);
    exact_sum_result(&sum, &certain);
    assert_true(certain);
    exact_sum_add_error(&sum, 1e-20);
    assert_same(exact_sum_result(&sum, &certain), 1.0);
    assert_true(certain);
    exact_sum_add(&sum, 1.1102230246251565e-16); /* a tie: now any error matters */
    exact_sum_result(&sum, &certain);
    assert_false(certain);

    struct exact_sum other;
    exact_sum_init(&other);
    exact_sum_add(&other, 1.0);
    exact_sum_merge(&other, &sum);
    exact_sum_result(&other, &certain);
    assert_true(other.error >= 1e-20);
    assert_true(certain); /* 2 + 2^-53 is not near a tie */

    exact_sum_add_error(&other, INFINITY);
    exact_sum_result(&other, &certain);
    assert_false(certain);
    exact_sum_init(&other);
    exact_sum_add_error(&other, NAN);
    exact_sum_result(&other, &certain);
    assert_false(certain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_sums),
        cmocka_unit_test(cancellation),
        cmocka_unit_test(against_integers),
        cmocka_unit_test(lanes_of_all_spreads),
        cmocka_unit_test(lanes_filled),
        cmocka_unit_test(lanes_with_a_stranger),
        cmocka_unit_test(lanes_of_all_levels),
        cmocka_unit_test(lanes_of_changing_blocks),
        cmocka_unit_test(streams),
        cmocka_unit_test(lanes_tell_when_they_are_exact),
        cmocka_unit_test(carries),
        cmocka_unit_test(merging_and_order),
        cmocka_unit_test(many_merges),
        cmocka_unit_test(scaled),
        cmocka_unit_test(lost_bits_are_uncertain),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests_name("fsum", tests, NULL, NULL);
}
