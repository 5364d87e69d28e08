/* Folds against aggregates that get one element after another, at sizes around those of vectors. */
#include "scratch.h"

#include "engine/backend/aggregate.h"
#include "engine/vector/ops.h"
#include "random_code.h"

#include <math.h>

static const struct span nowhere = {0};

enum { SHORT = 300, LONG = 1 << 15 };

/* Random elements of a lane; some floats are NaN. */
static void fill(struct random *random, enum lane lane, void *elements, int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t bits = random_bits(random);
        if (lane == LANE_I32)
            ((int32_t *)elements)[i] = (int32_t)bits;
        else if (lane == LANE_I64)
            ((int64_t *)elements)[i] = (int64_t)bits;
        else
            ((double *)elements)[i] = bits % 50 == 0 ? NAN : ldexp((double)(int64_t)bits, (int)(bits % 40) - 60);
    }
}

static void add(struct agg_state *state, enum lane lane, const void *elements, int i)
{
    if (lane == LANE_F64)
        agg_add_float(state, ((const double *)elements)[i]);
    else
        agg_add_int(state, lane == LANE_I32 ? ((const int32_t *)elements)[i] : ((const int64_t *)elements)[i]);
}

static struct scalar result_of(const struct agg_state *state, const struct aggregate *aggregate, struct arena *arena)
{
    struct diags diags;
    struct scalar result = {0};
    bool certain;
    diags_init(&diags, arena);
    assert_int_equal(agg_finish(state, aggregate, &result, &certain, &diags), STATUS_OK);
    assert_true(certain);
    return result;
}

static void like_one_by_one(struct random *random, enum aggregate_kind kind, enum lane lane, int count)
{
    static int64_t elements[LONG];
    struct arena *arena = arena_new();
    struct code code;
    code_init(&code, arena);
    const struct aggregate aggregate = {
        .kind = kind, .value = code_input(&code, 0, lane == LANE_F64 ? KIND_FLOAT : KIND_INT, nowhere)};
    struct agg_state state, plain;
    agg_init(&state, &aggregate, &code);
    agg_init(&plain, &aggregate, &code);
    fill(random, lane, elements, count);
    vector_fold(kind, lane, false)(&state, elements, count);
    for (int i = 0; i < count; i++)
        add(&plain, lane, elements, i);
    assert_int_equal(state.count, plain.count);
    if (count > 0) {
        const struct scalar result = result_of(&state, &aggregate, arena);
        const struct scalar expected = result_of(&plain, &aggregate, arena);
        assert_int_equal(result.kind, expected.kind);
        if (result.kind == KIND_FLOAT)
            assert_memory_equal(&result.number, &expected.number, sizeof result.number);
        else
            assert_true(result.integer == expected.integer);
    }
    arena_free(arena);
}

static void all_folds(void **unused)
{
    (void)unused;
    static const struct {
        enum aggregate_kind kind;
        enum lane lane;
    } folds[] = {
        {AGG_SUM, LANE_I32}, {AGG_SUM, LANE_I64},    {AGG_MEAN, LANE_I32},  {AGG_MIN, LANE_I32}, {AGG_MIN, LANE_I64},
        {AGG_MIN, LANE_F64}, {AGG_MAX, LANE_I32},    {AGG_MAX, LANE_I64},   {AGG_MAX, LANE_F64}, {AGG_XOR, LANE_I32},
        {AGG_XOR, LANE_I64}, {AGG_BITAND, LANE_I32}, {AGG_BITOR, LANE_I64},
    };
    struct random random = {9};
    for (size_t f = 0; f < sizeof folds / sizeof folds[0]; f++) {
        for (int count = 0; count < SHORT; count++)
            like_one_by_one(&random, folds[f].kind, folds[f].lane, count);
        like_one_by_one(&random, folds[f].kind, folds[f].lane, LONG - 1);
        like_one_by_one(&random, folds[f].kind, folds[f].lane, LONG);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_folds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
