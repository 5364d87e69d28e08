/* Histograms on an OpenCL device against the host's, with bins of engine/values/histogram_bins.h. */
#include "cl_operators.h"

#include "engine/values/histogram_bins.h"

#include <float.h>

static void check(struct breaks *breaks, struct column *column, int64_t rows, int64_t bins)
{
    struct setup *setup = operator_setup(breaks, OPERATOR_HIST);
    operator_key(setup, column_ref(column));
    setup->task.column_op->into = bins;
    setup_output(setup, NO_VALUE, TYPE_F64);
    setup_output(setup, NO_VALUE, TYPE_F64);
    setup_output(setup, NO_VALUE, TYPE_I64);
    struct outcome outcome = compare_all_breaks(breaks, setup, rows);
    if (!outcome.flagged) {
        int64_t sum = 0, numbers = 0;
        for (int64_t bin = 0; bin < bins; bin++)
            sum += column_get_int(outcome.results[2], bin);
        for (int64_t row = 0; row < rows; row++)
            numbers += type_table[column->store].kind != KIND_FLOAT || !isnan(column_get_float(column, row));
        assert_int_equal(sum, numbers);
    }
    outcome_free(&outcome);
    setup_free(setup);
}

static const int64_t bin_counts[] = {1, 2, 3, 7, 10, 64, 1000, 70001};

/* Under a simulator fewer of them, and fewer rows. */
static size_t bin_count_count(size_t most)
{
    enum { SIMULATED = 3, ALL = sizeof bin_counts / sizeof *bin_counts };
    size_t count = getenv("RQL_TEST_OCLGRIND") ? SIMULATED : ALL;
    return count < most ? count : most;
}

static void test_types(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (enum type type = TYPE_BOOL; type < TYPE_COUNT; type++) {
        bool real = type_table[type].kind == KIND_FLOAT;
        for (int mild = real; mild < 2; mild++) {
            struct random random = {(uint64_t)type};
            int64_t rows = rig_rows(99, 20011);
            struct column *column = random_column(&random, type, rows, mild);
            for (size_t k = 0; k < bin_count_count(SIZE_MAX); k++)
                check(breaks, column, rows, bin_counts[k]);
            column_unref(column);
        }
    }
}

static void test_lengths(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        struct random random = {n};
        struct column *column = column_within(&random, TYPE_I32, lengths[n], -10000, 10000);
        check(breaks, column, lengths[n], 10);
        column_unref(column);
    }
}

/* Numbers at and next to the edges, for bins whose edges are rounded. */
static void test_edges(void **state)
{
    static const double bounds[][2] = {
        {0, 1},         {-1, 1},       {0.1, 0.7},           {1e-320, 9e-320}, {-DBL_MAX, DBL_MAX},
        {1e300, 1e308}, {-3, -1e-300}, {1, 1 + DBL_EPSILON}, {5, 5},           {-0.0, 0.0}};
    struct breaks *breaks = breaks_of(state);
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
        for (size_t k = 1; k < bin_count_count(6); k++) {
            const struct histogram_bins hist = {
                .bins = bin_counts[k], .number = true, .flo = bounds[b][0], .fhi = bounds[b][1]};
            int64_t rows = 3 * (hist.bins + 1);
            for (int narrow = 0; narrow < 2; narrow++) {
                if (narrow && (isinf((float)hist.flo) || isinf((float)hist.fhi)))
                    continue;
                enum type type = narrow ? TYPE_F32 : TYPE_F64;
                struct column *column = column_reserve(type, type, rows);
                for (int64_t row = 0; row < rows; row++) {
                    double edge = histogram_edge(&hist, row / 3);
                    double number = row % 3 == 0 ? edge : nextafter(edge, row % 3 == 1 ? -INFINITY : INFINITY);
                    float rounded = (float)edge;
                    number = number < hist.flo ? hist.flo : number > hist.fhi ? hist.fhi : number;
                    rounded = row % 3 == 0 ? rounded : nextafterf(rounded, row % 3 == 1 ? -INFINITY : INFINITY);
                    if (narrow)
                        *(float *)column_at(column, row) = rounded;
                    else
                        *(double *)column_at(column, row) = number;
                }
                column_finish(column, rows);
                check(breaks, column, rows, hist.bins);
                column_unref(column);
            }
        }
    }
}

/* Integers spanning all 64 bits. */
static void test_wide_integers(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (size_t k = 0; k < bin_count_count(6); k++) {
        const struct histogram_bins hist = {.bins = bin_counts[k], .lo = INT64_MIN, .hi = INT64_MAX};
        int64_t rows = 3 * hist.bins + 2;
        struct column *column = column_reserve(TYPE_I64, TYPE_I64, rows);
        for (int64_t row = 0; row < rows; row++) {
            double edge = histogram_edge(&hist, row / 3 % hist.bins);
            int64_t integer = edge < -0x1p63 ? INT64_MIN : edge >= 0x1p63 ? INT64_MAX : (int64_t)edge;
            *(int64_t *)column_at(column, row) =
                row < 2 ? (row == 0 ? INT64_MIN : INT64_MAX) : (int64_t)((uint64_t)integer + (uint64_t)(row % 3) - 1);
        }
        column_finish(column, rows);
        check(breaks, column, rows, hist.bins);
        column_unref(column);
    }
}

/* NaN is in no bin; columns of only NaN, or with infinities, have no bins. */
static void test_odd_floats(void **state)
{
    static const double columns[][3] = {
        {NAN, NAN, NAN}, {NAN, 1, 2}, {INFINITY, 1, 2}, {-INFINITY, NAN, 0}, {-0.0, NAN, 0.0}};
    struct breaks *breaks = breaks_of(state);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        struct column *wide = column_of_floats(columns[k], 3);
        struct column *narrow = column_reserve(TYPE_F32, TYPE_F32, 3);
        for (int64_t row = 0; row < 3; row++)
            *(float *)column_at(narrow, row) = (float)columns[k][row];
        column_finish(narrow, 3);
        check(breaks, wide, 3, 4);
        check(breaks, narrow, 3, 4);
        column_unref(wide);
        column_unref(narrow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),         cmocka_unit_test(test_lengths),    cmocka_unit_test(test_edges),
        cmocka_unit_test(test_wide_integers), cmocka_unit_test(test_odd_floats),
    };
    return cmocka_run_group_tests(tests, breaks_open, breaks_close);
}
