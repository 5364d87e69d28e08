/* Distinct rows on an OpenCL device, hashed and dense, checked against the host and the definition. */
#include "cl_operators.h"

/* Outputs all columns of the setup. */
static void carry_all(struct setup *setup)
{
    for (size_t k = 0; k < setup->task.input_count; k++)
        setup_output(setup,
                     code_input(&setup->task.code, (int64_t)k, type_table[setup->columns[k]->type].kind, nowhere),
                     setup->columns[k]->type);
}

static bool same_rows(const struct setup *setup, int64_t a, int64_t b)
{
    for (size_t k = 0; k < setup->task.output_count; k++) {
        const struct column *column = setup->columns[k];
        if (type_table[column->store].kind == KIND_FLOAT) {
            double x = column_get_float(column, a), y = column_get_float(column, b);
            if (x != y && !(isnan(x) && isnan(y)))
                return false;
        } else if (column_get_int(column, a) != column_get_int(column, b)) {
            return false;
        }
    }
    return true;
}

/* Every row is the next result row or equals an earlier row. */
static void check_by_hand(const struct setup *setup, int64_t rows, const struct outcome *outcome)
{
    int64_t next = 0;
    for (int64_t row = 0; row < rows; row++) {
        bool seen = false;
        for (int64_t before = 0; before < row && !seen; before++)
            seen = same_rows(setup, before, row);
        if (seen)
            continue;
        for (size_t k = 0; k < setup->task.output_count; k++) {
            size_t size = type_table[setup->columns[k]->store].size;
            assert_memory_equal(column_at(outcome->results[k], next), column_at(setup->columns[k], row), size);
        }
        next++;
    }
    assert_int_equal(outcome->rows, next);
}

static void check(struct breaks *breaks, struct setup *setup, int64_t rows)
{
    carry_all(setup);
    struct outcome outcome = compare_all_breaks(breaks, setup, rows);
    if (rows <= 777)
        check_by_hand(setup, rows, &outcome);
    outcome_free(&outcome);
    setup_free(setup);
}

/* From one key to one per row, dense and sparse. */
static void test_lengths(void **state)
{
    static const int64_t most[] = {0, 3, 1000, 60000, 3000000, INT32_MAX};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
            struct random random = {n * 10 + k};
            struct setup *setup = operator_setup(breaks, OPERATOR_DISTINCT);
            setup_input(setup, column_within(&random, TYPE_I32, lengths[n], -most[k], most[k]));
            check(breaks, setup, lengths[n]);
        }
    }
}

/* All rows distinct, ascending. */
static void test_all_different(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (int64_t step = 1; step < INT32_MAX; step *= 30011) {
        for (size_t n = 0; n < length_count(); n++) {
            struct column *column = column_reserve(TYPE_I64, TYPE_I64, lengths[n]);
            for (int64_t row = 0; row < lengths[n]; row++)
                *(int64_t *)column_at(column, row) = row * step;
            column_finish(column, lengths[n]);
            struct setup *setup = operator_setup(breaks, OPERATOR_DISTINCT);
            setup_input(setup, column);
            carry_all(setup);
            struct outcome outcome = compare_all_breaks(breaks, setup, lengths[n]);
            assert_int_equal(outcome.rows, lengths[n]);
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

static void test_types(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (enum type type = TYPE_BOOL; type < TYPE_COUNT; type++) {
        for (int way = 0; way < 3; way++) {
            int64_t rows = way == 0 ? 300 : rig_rows(300, 10007);
            struct random random = {(uint64_t)type};
            struct setup *setup = operator_setup(breaks, OPERATOR_DISTINCT);
            bool odd = way == 0 && type_table[type].kind == KIND_FLOAT;
            setup_input(setup,
                        odd ? column_of_odd_floats(&random, type, rows) : random_column(&random, type, rows, way == 1));
            check(breaks, setup, rows);
        }
    }
}

/* Several columns, all needed or one not, with keys of narrow and wide ranges. */
static void test_several_columns(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (int way = 0; way < 2; way++) {
            int64_t rows = lengths[n], wide = way == 0 ? 2 : INT64_MAX / 3;
            struct random random = {n};
            struct setup *setup = operator_setup(breaks, OPERATOR_DISTINCT);
            setup_input(setup, column_of_odd_floats(&random, TYPE_F32, rows));
            setup_input(setup, column_within(&random, TYPE_I64, rows, -wide, -wide + 4));
            setup_input(setup, column_within(&random, TYPE_I64, rows, wide - 4, wide));
            setup_input(setup, column_of_odd_floats(&random, TYPE_F64, rows));
            if (way == 0)
                check(breaks, setup, rows);
            else {
                carry_all(setup);
                setup->outputs[1].needed = false;
                struct outcome outcome = compare_all_breaks(breaks, setup, rows);
                outcome_free(&outcome);
                setup_free(setup);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_all_different),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_several_columns),
    };
    return cmocka_run_group_tests(tests, breaks_open, breaks_close);
}
