/* Scatter on an OpenCL device, against the host's and the definition. */
#include "cl_operators.h"

/* Positions 0..rows-1 in random order, times `step`, as a column of `type`. */
static struct column *shuffled(struct random *random, enum type type, int64_t rows, int64_t step)
{
    struct column *column = column_reserve(type, type, rows);
    int64_t *positions = calloc((size_t)rows, sizeof *positions);
    for (int64_t row = 0; row < rows; row++) {
        int64_t other = random_within(random, 0, row);
        positions[row] = positions[other];
        positions[other] = row;
    }
    for (int64_t row = 0; row < rows; row++) {
        int64_t position = positions[row] * step;
        memcpy(column_at(column, row), &position, type_table[type].size);
    }
    free(positions);
    column_finish(column, rows);
    return column;
}

/* Scatters a column of every type to the positions, key 0, which are not output themselves. */
static struct setup *scatter_setup(struct breaks *breaks, struct random *random, struct column *positions, int64_t rows,
                                   int64_t into)
{
    struct setup *setup = operator_setup(breaks, OPERATOR_SCATTER);
    operator_key(setup, positions);
    for (enum type type = TYPE_BOOL; type < TYPE_COUNT; type++)
        setup_output(setup, setup_input(setup, random_column(random, type, rows, false)), type);
    setup->task.column_op->into = into;
    return setup;
}

static void check_by_hand(const struct setup *setup, int64_t rows, int64_t into, const struct outcome *outcome)
{
    assert_int_equal(outcome->rows, into);
    for (size_t k = 0; k < setup->task.output_count; k++) {
        const struct column *from = setup->columns[k + 1];
        size_t size = type_table[from->store].size;
        char *wanted = calloc((size_t)into, size);
        for (int64_t row = 0; row < rows; row++)
            memcpy(wanted + (size_t)column_get_int(setup->columns[0], row) * size,
                   (const char *)from->data + (size_t)row * size, size);
        assert_memory_equal(outcome->results[k]->data, wanted, (size_t)into * size);
        free(wanted);
    }
}

static void test_lengths(void **state)
{
    static const enum type types[] = {TYPE_I64, TYPE_U32, TYPE_I32};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (int64_t step = 1; step < 4; step++) {
            struct random random = {n + 1};
            int64_t rows = lengths[n], into = step == 1 ? rows : rows * step + 5;
            struct column *positions = shuffled(&random, types[step - 1], rows, step);
            struct setup *setup = scatter_setup(breaks, &random, positions, rows, into);
            if (step == 1)
                setup->task.column_op->into = -1;
            struct outcome outcome = compare_all_breaks(breaks, setup, rows);
            assert_false(outcome.flagged);
            check_by_hand(setup, rows, into, &outcome);
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

/* Narrow positions, and unread results. */
static void test_narrow(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (enum type type = TYPE_I8; type <= TYPE_U16; type++) {
        struct random random = {(uint64_t)type};
        int64_t rows = type_table[type].size == 1 ? 100 : 20000;
        struct setup *setup = scatter_setup(breaks, &random, shuffled(&random, type, rows, 1), rows, rows + 7);
        for (size_t k = 0; k < setup->task.output_count; k += 2)
            setup->outputs[k].needed = false;
        struct outcome outcome = compare_all_breaks(breaks, setup, rows);
        assert_false(outcome.flagged);
        outcome_free(&outcome);
        setup_free(setup);
    }
}

/* Any invalid position is found: duplicate, too small, too large. */
static void test_wrong(void **state)
{
    static const int64_t wrong[] = {-1, 0, 1000, INT64_MAX, INT64_MIN, INT64_C(1) << 32};
    struct breaks *breaks = breaks_of(state);
    const int64_t rows = 999;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        for (int64_t at = 0; at < rows; at += 333) {
            struct random random = {k};
            struct column *positions = column_reserve(TYPE_I64, TYPE_I64, rows);
            for (int64_t row = 0; row < rows; row++)
                *(int64_t *)column_at(positions, row) = row == at ? wrong[k] : rows - row;
            if (wrong[k] == 0) /* 0 is valid, a second 0 is not */
                *(int64_t *)column_at(positions, rows - 1 - at) = 0;
            column_finish(positions, rows);
            struct setup *setup = scatter_setup(breaks, &random, positions, rows, 1000);
            struct outcome outcome = compare_all_breaks(breaks, setup, rows);
            assert_true(outcome.flagged || (wrong[k] == 0 && rows - 1 - at == at));
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, breaks_open, breaks_close);
}
