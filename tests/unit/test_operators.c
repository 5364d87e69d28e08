/* Scatter and histograms on the host against naive definitions; interrupts of operators. */
#include "operator_rig.h"

/* `rows` distinct indices below `into`. */
static void add_positions(struct rig *rig, enum type type, int64_t rows, int64_t into)
{
    size_t number = add_numbers(rig, TYPE_I64, into);
    int64_t *places = column_at(rig->inputs[number], 0);
    for (int64_t i = into - 1; i > 0; i--) {
        int64_t j = (int64_t)(next(rig) % (uint64_t)(i + 1)), place = places[i];
        places[i] = places[j];
        places[j] = place;
    }
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t i = 0; i < rows; i++)
        put_int(column, i, places[i]);
    column_finish(column, rows);
    column_unref(rig->inputs[number]);
    rig->inputs[number] = column;
}

/* Rows go to their places, and zeros elsewhere. */
static void assert_scattered(const struct rig *rig, size_t input, size_t result, int64_t rows, int64_t into)
{
    static const char zero[8];
    const struct column *positions = rig->inputs[0], *from = rig->inputs[input];
    struct column *to = rig->results[result];
    const size_t size = type_table[from->store].size;
    char *taken = calloc((size_t)into + 1, 1);
    assert_non_null(taken);
    bool same = true;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t place = column_get_int(positions, i);
        same &= memcmp(column_at(to, place), (const char *)from->data + (size_t)i * size, size) == 0;
        taken[place] = 1;
    }
    for (int64_t i = 0; i < into; i++)
        same &= taken[i] || memcmp(column_at(to, i), zero, size) == 0;
    assert_true(same);
    free(taken);
}

static struct rig *rig_scatter(enum type positions, int64_t rows, int64_t into)
{
    struct rig *rig = rig_new((uint64_t)rows);
    rig->column_op.kind = OPERATOR_SCATTER;
    rig->column_op.key_count = 1;
    rig->column_op.into = into == rows ? -1 : into;
    add_positions(rig, positions, rows, into);
    return rig;
}

static void scatters(void **unused)
{
    (void)unused;
    for (int k = 0; k < LENGTHS; k++) {
        for (int type = 0; type < TYPE_COUNT; type++) {
            int64_t rows = lengths[k], into = type % 2 ? rows : 2 * rows + 1;
            struct rig *rig = rig_scatter(k % 2 ? TYPE_U32 : TYPE_I64, rows, into);
            add_carried(rig, add_column(rig, (enum type)type, rows, ANYTHING));
            run_into(rig, rows, into, k % 2 ? THREADS : 1);
            assert_false(rig->flagged);
            assert_scattered(rig, 1, 0, rows, into);
            rig_free(rig);
        }
    }
}

/* So many that they are partitioned by regions of the result, of 2^17 bytes; and one row less than that. */
static void scatters_in_regions(void **unused)
{
    (void)unused;
    static const struct {
        enum type type;
        int64_t rows, into;
    } cases[] = {{TYPE_U8, 300000, (1 << 24) + 1},  {TYPE_I16, 262144, 1 << 23},
                 {TYPE_I32, 1 << 22, 1 << 22},      {TYPE_I32, (1 << 22) - 1, (1 << 22) - 1},
                 {TYPE_I32, 700001, (1 << 22) + 1}, {TYPE_F64, (1 << 21) + 16383, (1 << 21) + 16383},
                 {TYPE_I64, 262144, (1 << 21) - 1}, {TYPE_U32, 262143, 1 << 22}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t rows = cases[i].rows, into = cases[i].into;
        struct rig *rig = rig_scatter(i % 2 ? TYPE_I64 : TYPE_I32, rows, into);
        add_carried(rig, add_column(rig, cases[i].type, rows, ANYTHING));
        add_carried(rig, add_column(rig, TYPE_BOOL, rows, ANYTHING));
        run_into(rig, rows, into, i % 2 ? THREADS : 1);
        assert_false(rig->flagged);
        assert_scattered(rig, 1, 0, rows, into);
        assert_scattered(rig, 2, 1, rows, into);
        /* One position taken twice, or out of bounds. */
        put_int(rig->inputs[0], rows - 1, i % 3 == 0 ? into : i % 3 == 1 ? -1 : column_get_int(rig->inputs[0], 7));
        run_into(rig, rows, into, THREADS);
        assert_true(rig->flagged);
        rig_free(rig);
    }
}

static void scatters_nowhere(void **unused)
{
    (void)unused;
    static const int64_t wrong[] = {-1, 5000, INT64_MIN, INT64_MAX, 17};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct rig *rig = rig_new(4);
        rig->column_op.kind = OPERATOR_SCATTER;
        rig->column_op.key_count = 1;
        add_numbers(rig, TYPE_I64, 5000);
        *(int64_t *)column_at(rig->inputs[0], 4000) = wrong[i];
        add_carried(rig, 0);
        run_into(rig, 5000, 5000, THREADS);
        assert_true(rig->flagged);
        rig_free(rig);
    }
}

static void histograms(void **unused)
{
    (void)unused;
    static const int64_t bins[] = {1, 2, 10, 1000};
    for (int k = 1; k < LENGTHS; k++) {
        for (int type = 0; type < TYPE_COUNT; type++) {
            struct rig *rig = rig_new((uint64_t)k);
            int64_t rows = lengths[k], count = bins[(k + type) % 4];
            bool number = type_table[type].kind == KIND_FLOAT;
            rig->column_op.kind = OPERATOR_HIST;
            rig->column_op.key_count = 1;
            rig->column_op.into = count;
            add_column(rig, (enum type)type, rows, k % 3 == 0 ? FEW : ANYTHING);
            if (number && rows > 3)
                put_int(rig->inputs[0], 1, -1); /* NaN, skipped */
            add_output(rig, 0, TYPE_F64);
            add_output(rig, 0, TYPE_F64);
            add_output(rig, 0, TYPE_I64);
            run_into(rig, rows, count, k % 2 ? THREADS : 1);
            assert_false(rig->flagged);
            int64_t *expected = calloc((size_t)count, sizeof *expected);
            assert_non_null(expected);
            for (int64_t i = 0; i < rows; i++) {
                double v = number ? column_get_float(rig->inputs[0], i) : (double)column_get_int(rig->inputs[0], i);
                int64_t bin = 0;
                while (bin < count - 1 && v >= column_get_float(rig->results[0], bin + 1))
                    bin++;
                expected[bin] += !isnan(v);
            }
            /* Double-valued edges are inexact for integers beyond 2^53. */
            for (int64_t i = 0; i < count && type != TYPE_I64; i++)
                assert_int_equal(column_get_int(rig->results[2], i), expected[i]);
            for (int64_t i = 0; i + 1 < count; i++)
                assert_true(column_get_float(rig->results[1], i) == column_get_float(rig->results[0], i + 1));
            free(expected);
            rig_free(rig);
        }
    }
}

/* Intervals of calendar units, whose number the operator chooses. */
static void calendar_histograms(void **unused)
{
    (void)unused;
    static const enum logical kinds[] = {LOGICAL_DATE, LOGICAL_TIMESTAMP, LOGICAL_DURATION};
    for (int k = 0; k < LENGTHS; k++) {
        for (int kind = 0; kind < 3; kind++) {
            struct rig *rig = rig_new((uint64_t)k);
            int64_t rows = lengths[k];
            enum type type = kinds[kind] == LOGICAL_DATE ? TYPE_I32 : TYPE_I64;
            rig->column_op.kind = OPERATOR_HIST;
            rig->column_op.calendar = (struct logical_type){.kind = kinds[kind]};
            rig->column_op.key_count = 1;
            rig->column_op.into = 1 + k * 3;
            add_column(rig, type, rows, k % 3 == 0 ? FEW : ANYTHING);
            add_output(rig, 0, type);
            add_output(rig, 0, type);
            add_output(rig, 0, TYPE_I64);
            assert_int_equal(operator_result_rows(&rig->column_op, rows), -1);
            run_freely(rig, rows, k % 2 ? THREADS : 1);
            assert_true(rig->flagged == (rows == 0));
            int64_t total = 0;
            for (int64_t i = 0; i < rig->result_rows; i++) {
                int64_t lo = column_get_int(rig->results[0], i), hi = column_get_int(rig->results[1], i), count = 0;
                bool last = i + 1 == rig->result_rows;
                assert_true(lo < hi && (last || hi == column_get_int(rig->results[0], i + 1)));
                for (int64_t row = 0; row < rows; row++) {
                    int64_t element = column_get_int(rig->inputs[0], row);
                    count += element >= lo && (element < hi || (last && element == hi));
                }
                assert_int_equal(column_get_int(rig->results[2], i), count);
                total += count;
            }
            assert_int_equal(total, rows);
            rig_free(rig);
        }
    }
}

static void histogram_edges(void **unused)
{
    (void)unused;
    const struct histogram_bins wide = {.bins = 4, .lo = INT64_MIN, .hi = INT64_MAX};
    assert_int_equal(histogram_bin_of_int(&wide, INT64_MIN), 0);
    assert_int_equal(histogram_bin_of_int(&wide, -1), 1);
    assert_int_equal(histogram_bin_of_int(&wide, INT64_MAX - 1), 3);
    assert_int_equal(histogram_bin_of_int(&wide, INT64_MAX), 3);
    const struct histogram_bins thirds = {.bins = 3, .lo = 0, .hi = 9};
    assert_int_equal(histogram_bin_of_int(&thirds, 2), 0);
    assert_int_equal(histogram_bin_of_int(&thirds, 3), 1);
    assert_int_equal(histogram_bin_of_int(&thirds, 9), 2);
    assert_true(histogram_edge(&thirds, 1) == 3 && histogram_edge(&thirds, 3) == 9);
    const struct histogram_bins huge = {.bins = 2, .number = true, .flo = -DBL_MAX, .fhi = DBL_MAX};
    assert_true(histogram_edge(&huge, 1) == 0);
    assert_int_equal(histogram_bin_of_float(&huge, -1), 0);
    assert_int_equal(histogram_bin_of_float(&huge, 0), 1);
    assert_int_equal(histogram_bin_of_float(&huge, DBL_MAX), 1);
    const struct histogram_bins one = {.bins = 5, .number = true, .flo = 1.5, .fhi = 1.5};
    assert_int_equal(histogram_bin_of_float(&one, 1.5), 4);
    const struct histogram_bins one_int = {.bins = 5, .lo = 7, .hi = 7};
    assert_int_equal(histogram_bin_of_int(&one_int, 7), 4);
}

static void histograms_without_range(void **unused)
{
    (void)unused;
    static const double bad[][2] = {{INFINITY, 1}, {-INFINITY, 0}, {NAN, NAN}};
    for (int i = -1; i < 3; i++) {
        struct rig *rig = rig_new(5);
        rig->column_op.kind = OPERATOR_HIST;
        rig->column_op.key_count = 1;
        rig->column_op.into = 3;
        rig->inputs[0] = column_of_floats(i < 0 ? bad[0] : bad[i], i < 0 ? 0 : 2);
        rig->task.input_count = 1;
        add_output(rig, 0, TYPE_F64);
        run_into(rig, i < 0 ? 0 : 2, 3, 1);
        assert_true(rig->flagged);
        rig_free(rig);
    }
}

static void interrupted(void **unused)
{
    (void)unused;
    static const atomic_int now = 1;
    static const enum operator_kind kinds[] = {OPERATOR_SCAN, OPERATOR_SORT, OPERATOR_GROUP, OPERATOR_DISTINCT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rig *rig = rig_new(6);
        rig->column_op.kind = kinds[i];
        rig->column_op.key_count = 1;
        add_column(rig, TYPE_I32, 100000, ANYTHING);
        add_carried(rig, 0);
        rig->task.aggregates[0] = (struct aggregate){.kind = AGG_MAX, .value = input_of(rig, 0)};
        if (kinds[i] == OPERATOR_SORT || kinds[i] == OPERATOR_SCAN)
            rig->results[0] = column_reserve(TYPE_I64, TYPE_I64, 100000);
        struct operator_job job = {.task = &rig->task,
                                   .inputs = rig->inputs,
                                   .rows = 100000,
                                   .results = rig->results,
                                   .result_rows = &rig->result_rows,
                                   .cancel = &now,
                                   .diags = &rig->diags};
        assert_int_equal(host_operator_run(&job, &rig->flagged), STATUS_CANCELLED);
        assert_int_equal(rig->diags.count, 0);
        rig_free(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatters),
        cmocka_unit_test(scatters_in_regions),
        cmocka_unit_test(scatters_nowhere),
        cmocka_unit_test(histograms),
        cmocka_unit_test(calendar_histograms),
        cmocka_unit_test(histogram_edges),
        cmocka_unit_test(histograms_without_range),
        cmocka_unit_test(interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
