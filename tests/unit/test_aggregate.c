/* Aggregates: results at the limits of 64 bits and of floats, and independence of how rows are split. */
#include "scratch.h"

#include "engine/backend/aggregate.h"
#include "engine/vector/ops.h"
#include "random_code.h"

#include <float.h>
#include <math.h>

static const struct span nowhere = {0};

/* An aggregate over a single input. */
struct fixture {
    struct arena *arena;
    struct code code;
    struct aggregate aggregate;
};

static void begin(struct fixture *fixture, enum aggregate_kind kind, enum kind type)
{
    fixture->arena = arena_new();
    code_init(&fixture->code, fixture->arena);
    fixture->aggregate = (struct aggregate){.kind = kind, .value = code_input(&fixture->code, 0, type, nowhere)};
}

static struct agg_state new_state(const struct fixture *fixture)
{
    struct agg_state state;
    agg_init(&state, &fixture->aggregate, &fixture->code);
    return state;
}

/* The result as printed, or the start of the error. */
static char *finish(const struct fixture *fixture, const struct agg_state *state)
{
    struct diags diags;
    struct scalar scalar;
    bool certain;
    diags_init(&diags, fixture->arena);
    if (agg_finish(state, &fixture->aggregate, &scalar, &certain, &diags) != STATUS_OK) {
        assert_int_equal(diags.count, 1);
        assert_non_null(diags.at[0].hint);
        return arena_printf(fixture->arena, "error: %s", diags.at[0].message);
    }
    assert_int_equal(diags.count, 0);
    assert_true(certain);
    struct strbuf out = {0};
    scalar_print(&out, &scalar);
    char *text = arena_text(fixture->arena, out.text, out.length);
    strbuf_free(&out);
    return text;
}

static void integers(void **unused)
{
    (void)unused;
    enum { MOST = 5 };
    static const struct {
        enum aggregate_kind kind;
        int count;
        int64_t values[MOST];
        const char *result;
    } cases[] = {
        {AGG_COUNT, 0, {0}, "0"},
        {AGG_COUNT, 3, {7, 7, 7}, "3"},
        {AGG_SUM, 0, {0}, "0"},
        {AGG_SUM, 2, {INT64_MAX, INT64_MAX}, "18446744073709551614"},
        {AGG_SUM, 3, {INT64_MIN, INT64_MIN, INT64_MIN}, "-27670116110564327424"},
        {AGG_SUM, 3, {INT64_MAX, INT64_MAX, INT64_MIN}, "9223372036854775806"},
        {AGG_PRODUCT, 0, {0}, "1"},
        {AGG_PRODUCT, 3, {-2, 3, -5}, "30"},
        {AGG_PRODUCT, 2, {INT64_MIN, 1}, "-9223372036854775808"},
        {AGG_PRODUCT, 2, {INT64_C(1) << 32, -(INT64_C(1) << 31)}, "-9223372036854775808"},
        {AGG_PRODUCT, 2, {INT64_C(1) << 32, INT64_C(1) << 31}, "error: the product does not fit in 64 bits"},
        {AGG_PRODUCT, 2, {INT64_MIN, -1}, "error: the product does not fit in 64 bits"},
        {AGG_PRODUCT, 2, {INT64_MAX, INT64_MAX}, "error: the product does not fit in 64 bits"},
        {AGG_PRODUCT,
         4,
         {INT64_C(1) << 40, INT64_C(1) << 40, INT64_C(1) << 40, 1},
         "error: the product does not fit in 64 bits"},
        {AGG_PRODUCT, 4, {INT64_MAX, INT64_MAX, 0, -3}, "0"},
        {AGG_MIN, 0, {0}, "error: min of no rows"},
        {AGG_MIN, 3, {5, INT64_MIN, INT64_MAX}, "-9223372036854775808"},
        {AGG_MIN, 1, {INT64_MAX}, "9223372036854775807"},
        {AGG_MAX, 0, {0}, "error: max of no rows"},
        {AGG_MAX, 3, {5, INT64_MIN, INT64_MAX}, "9223372036854775807"},
        {AGG_MAX, 1, {INT64_MIN}, "-9223372036854775808"},
        {AGG_MEAN, 0, {0}, "error: mean of no rows"},
        {AGG_MEAN, 2, {1, 2}, "1.5"},
        {AGG_MEAN, 3, {-1, -1, -2}, "-1.3333333333333333"},
        {AGG_MEAN, 2, {INT64_MAX, INT64_MAX}, "9.223372036854776e18"},
        {AGG_MEAN, 2, {5, -5}, "0.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        begin(&fixture, cases[i].kind, KIND_INT);
        struct agg_state state = new_state(&fixture);
        for (int k = 0; k < cases[i].count; k++)
            agg_add_int(&state, cases[i].values[k]);
        assert_string_equal(finish(&fixture, &state), cases[i].result);
        arena_free(fixture.arena);
    }
}

static void floats(void **unused)
{
    (void)unused;
    enum { MOST = 4 };
    static const struct {
        enum aggregate_kind kind;
        int count;
        double values[MOST];
        const char *result;
    } cases[] = {
        {AGG_COUNT, 2, {NAN, 1}, "2"},
        {AGG_SUM, 0, {0}, "0.0"},
        {AGG_SUM, 4, {1e308, 1, 1e308, -1e308}, "1e308"},
        {AGG_SUM, 4, {1e100, 1, -1e100, 1}, "2.0"},
        {AGG_SUM, 2, {DBL_MAX, DBL_MAX}, "inf"},
        {AGG_SUM, 2, {INFINITY, -INFINITY}, "nan"},
        {AGG_SUM, 2, {-INFINITY, 5}, "-inf"},
        {AGG_SUM, 2, {-0.0, -0.0}, "0.0"},
        {AGG_PRODUCT, 0, {0}, "1.0"},
        {AGG_PRODUCT, 3, {1.5, -2, 4}, "-12.0"},
        {AGG_PRODUCT, 2, {-1, 0}, "0.0"},
        {AGG_PRODUCT, 2, {1e200, 1e200}, "inf"},
        {AGG_MIN, 0, {0}, "error: min of no rows"},
        {AGG_MIN, 2, {NAN, NAN}, "nan"},
        {AGG_MIN, 3, {NAN, 3, 2}, "2.0"},
        {AGG_MIN, 3, {3, NAN, INFINITY}, "3.0"},
        {AGG_MIN, 2, {0.0, -0.0}, "0.0"},
        {AGG_MIN, 1, {INFINITY}, "inf"},
        {AGG_MAX, 0, {0}, "error: max of no rows"},
        {AGG_MAX, 3, {NAN, 3, 2}, "3.0"},
        {AGG_MAX, 1, {-INFINITY}, "-inf"},
        {AGG_MEAN, 0, {0}, "error: mean of no rows"},
        {AGG_MEAN, 4, {1e100, 1, -1e100, 1}, "0.5"},
        {AGG_MEAN, 2, {NAN, 1}, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture fixture;
        begin(&fixture, cases[i].kind, KIND_FLOAT);
        struct agg_state state = new_state(&fixture);
        for (int k = 0; k < cases[i].count; k++)
            agg_add_float(&state, cases[i].values[k]);
        assert_string_equal(finish(&fixture, &state), cases[i].result);
        arena_free(fixture.arena);
    }
}

static void bools(void **unused)
{
    (void)unused;
    for (int kind = AGG_MIN; kind <= AGG_MAX; kind++) {
        struct fixture fixture;
        begin(&fixture, (enum aggregate_kind)kind, KIND_BOOL);
        struct agg_state state = new_state(&fixture);
        agg_add_int(&state, 0);
        agg_add_int(&state, 1);
        struct scalar scalar;
        bool certain;
        assert_int_equal(agg_finish(&state, &fixture.aggregate, &scalar, &certain, NULL), STATUS_OK);
        assert_int_equal(scalar.kind, KIND_BOOL);
        assert_true(scalar.integer == (kind == AGG_MAX));
        arena_free(fixture.arena);
    }
}

/* The mean is sum / count rounded to nearest, ties to even. */
static void assert_nearest(int128 sum, int64_t count, double mean)
{
    int exponent;
    int128 mantissa = (int128)ldexp(frexp(mean, &exponent), DBL_MANT_DIG);
    exponent -= DBL_MANT_DIG;
    int128 unit = (int128)1 << (exponent > 0 ? exponent : 0);
    int128 scaled = sum * ((int128)1 << (exponent < 0 ? -exponent : 0));
    int128 off = scaled - mantissa * count * unit;
    off = off < 0 ? -off : off;
    assert_true(2 * off <= count * unit);
    if (2 * off == count * unit)
        assert_true(mantissa % 2 == 0);
}

static void means_are_rounded_once(void **unused)
{
    (void)unused;
    struct fixture fixture;
    begin(&fixture, AGG_MEAN, KIND_INT);
    struct random random = {4711};
    for (int i = 0; i < 200000; i++) {
        struct agg_state state = new_state(&fixture);
        state.count = 1 + random_below(&random, 1 << random_below(&random, 17));
        state.sum = random_int(&random) / 4 * (int128)(1 + random_below(&random, 1000));
        struct scalar scalar;
        bool certain;
        assert_int_equal(agg_finish(&state, &fixture.aggregate, &scalar, &certain, NULL), STATUS_OK);
        if (state.sum == 0)
            assert_true(scalar.number == 0);
        else
            assert_nearest(state.sum, state.count, scalar.number);
    }
    /* Just above a midpoint between two doubles, in the last of 71 bits. */
    struct agg_state state = new_state(&fixture);
    state.sum = ((int128)1 << 70) + (1 << 17) + 1;
    state.count = 4;
    struct scalar scalar;
    bool certain;
    assert_int_equal(agg_finish(&state, &fixture.aggregate, &scalar, &certain, NULL), STATUS_OK);
    assert_nearest(state.sum, state.count, scalar.number);
    arena_free(fixture.arena);
}

/* Rows in one state, or split among several merged in any order (in row order for float products). */
static void splits_do_not_matter(void **unused)
{
    (void)unused;
    enum { ROWS = 40, PARTS = 5 };
    struct random random = {12345};
    for (int round = 0; round < 4000; round++) {
        struct fixture fixture;
        enum aggregate_kind kind = (enum aggregate_kind)random_below(&random, AGG_MEAN + 1);
        enum kind type = random_below(&random, 2) == 0 ? KIND_INT : KIND_FLOAT;
        bool small = random_below(&random, 2) == 0;
        int rows = random_below(&random, ROWS);
        begin(&fixture, kind, type);
        struct agg_state whole = new_state(&fixture), merged = new_state(&fixture), parts[PARTS];
        for (int k = 0; k < PARTS; k++)
            parts[k] = new_state(&fixture);
        for (int row = 0; row < rows; row++) {
            struct agg_state *part = &parts[random_below(&random, PARTS)];
            if (kind == AGG_PRODUCT)
                part = &parts[row * PARTS / rows];
            int64_t integer = small ? random_below(&random, 7) - 3 : random_int(&random);
            double number = kind == AGG_PRODUCT ? ldexp(1, random_below(&random, 9) - 4) : random_float(&random);
            if (type == KIND_INT) {
                agg_add_int(&whole, integer);
                agg_add_int(part, integer);
            } else {
                agg_add_float(&whole, number);
                agg_add_float(part, number);
            }
        }
        for (int k = 0; k < PARTS; k++)
            agg_merge(&merged, &parts[kind == AGG_PRODUCT ? k : PARTS - 1 - k]);
        assert_string_equal(finish(&fixture, &merged), finish(&fixture, &whole));
        arena_free(fixture.arena);
    }
}

/* Folds over blocks against one value after another: every number of rows around the lanes, NaN, both zeros. */
static void test_extremes_of_blocks(void **context)
{
    (void)context;
    enum { MOST = 200 };
    double values[MOST];
    struct fixture fixture;
    for (int count = 0; count <= MOST; count++) {
        for (int i = 0; i < count; i++)
            values[i] = count % 13 == 5                  ? NAN /* nothing else, */
                        : count % 13 == 6 && i != 3      ? (count % 2 == 0 ? INFINITY : -INFINITY)
                        : (i * 7 + count) % 11 == 0      ? NAN
                        : (i * 37 + count * 5) % 17 == 3 ? -0.0
                                                         : (i * 53 + count) % 97 - 48;
        for (int max = 0; max < 2; max++) {
            begin(&fixture, max ? AGG_MAX : AGG_MIN, KIND_FLOAT);
            struct agg_state folded = new_state(&fixture), each = new_state(&fixture);
            vector_fold(max ? AGG_MAX : AGG_MIN, LANE_F64, false)(&folded, values, count);
            for (int i = 0; i < count; i++)
                agg_add_float(&each, values[i]);
            assert_int_equal(folded.count, each.count);
            assert_string_equal(finish(&fixture, &folded), finish(&fixture, &each));
            arena_free(fixture.arena);
        }
    }
}

/* An aggregate without a row has no name, and nothing takes it. */
static void test_every_aggregate_has_a_row(void **context)
{
    (void)context;
    for (int kind = 0; kind < AGG_KINDS; kind++)
        assert_non_null(aggregate_table[kind].word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_aggregate_has_a_row),
        cmocka_unit_test(test_extremes_of_blocks),
        cmocka_unit_test(integers),
        cmocka_unit_test(floats),
        cmocka_unit_test(bools),
        cmocka_unit_test(means_are_rounded_once),
        cmocka_unit_test(splits_do_not_matter),
    };
    return cmocka_run_group_tests_name("aggregate", tests, NULL, NULL);
}
