/* Comparisons of vectors, as the processor has them: each against the comparison of one row after another. */
#include "scratch.h"

#include "engine/vector/ops.h"

#include <math.h>
#include <string.h>

enum { ROOM = BLOCK_ROWS + 8, UNTOUCHED = 7 };

static uint64_t next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static bool answer(enum op op, int order, bool ordered)
{
    switch (op) {
    case OP_EQ:
        return ordered && order == 0;
    case OP_NE:
        return !ordered || order != 0;
    case OP_LT:
        return ordered && order < 0;
    default:
        return ordered && order <= 0;
    }
}

static bool expected(enum op op, enum lane lane, const void *a, const void *b, int i, int j)
{
    if (lane == LANE_F64) {
        const double x = ((const double *)a)[i], y = ((const double *)b)[j];
        return answer(op, (x > y) - (x < y), !isnan(x) && !isnan(y));
    }
    const int64_t x = lane == LANE_I32 ? ((const int32_t *)a)[i] : ((const int64_t *)a)[i];
    const int64_t y = lane == LANE_I32 ? ((const int32_t *)b)[j] : ((const int64_t *)b)[j];
    return answer(op, (x > y) - (x < y), true);
}

/* Few different values, so that many are equal, and the ends of the type. */
static void fill(void *values, enum lane lane, uint64_t *state)
{
    static const double floats[] = {0.0, -0.0, 1.0, -1.0, 1e300, INFINITY, -INFINITY, NAN};
    static const int64_t integers[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN, INT64_MAX - 1, 4294967296};
    for (int i = 0; i < ROOM; i++) {
        const size_t k = next(state) % 8;
        if (lane == LANE_F64)
            ((double *)values)[i] = floats[k];
        else if (lane == LANE_I64)
            ((int64_t *)values)[i] = integers[k];
        else
            ((int32_t *)values)[i] = k == 6 ? INT32_MIN : k == 7 ? INT32_MAX : (int32_t)k - 2;
    }
}

static void vectors_are_compared_row_by_row(void **unused)
{
    (void)unused;
    static const enum op ops[] = {OP_EQ, OP_NE, OP_LT, OP_LE};
    static const enum lane lanes[] = {LANE_I32, LANE_I64, LANE_F64};
    static int64_t a[ROOM], b[ROOM];
    uint8_t out[ROOM];
    uint64_t state = 5;
    for (int turn = 0; turn < 3 * 4 * 2 * 60; turn++) {
        const enum lane lane = lanes[turn % 3];
        const enum op op = ops[turn / 3 % 4];
        const bool uniform = turn / 12 % 2;
        const int count = turn % 5 == 0 ? BLOCK_ROWS - (int)(next(&state) % 70) : (int)(next(&state) % 600);
        const struct operands operands = {
            .out = out, .a = a, .b = b, .uniform = uniform, .ahead = {.at = (const char *)b, .lines = turn % 2}};
        fill(a, lane, &state);
        fill(b, lane, &state);
        memset(out, UNTOUCHED, sizeof out);
        assert_false(vector_op(op, lane)(&operands, count));
        for (int i = 0; i < count; i++)
            assert_int_equal(out[i], expected(op, lane, a, b, i, uniform ? 0 : i));
        for (int i = count; i < ROOM; i++)
            assert_int_equal(out[i], UNTOUCHED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_are_compared_row_by_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
