/* Sums that the work-items of a group share, row by row (rows_terms.cl), against the evaluator. */
#include "cl/codegen/kernel_text.h"
#include "cl/codegen/loop_terms.h"
#include "cl/task/round_steps.h"
#include "cl_rig.h"

#include "engine/plan/code_loop.h"

enum { ELEMENTS = 6000, ROWS = 900 };

/* Terms of a row: around what one work-item adds up, what a group does alone, and the turns of both. */
static int64_t terms_of(struct random *random, int64_t row)
{
    static const int64_t edges[] = {0,   1,   2,   31,  32,  33,  63,   64,   65,   66,  255,
                                    256, 257, 258, 511, 512, 513, 4095, 4096, 4097, 5000};
    const int count = (int)(sizeof edges / sizeof *edges);
    return row < count ? edges[row] : row % 50 == 49 ? edges[random_below(random, count)] : row % 7;
}

/* The first element of each row, and the last one. */
static void make_ranges(struct random *random, int64_t rows, bool all_long, struct column **first, struct column **last)
{
    *first = column_reserve(TYPE_I32, TYPE_I32, rows);
    *last = column_reserve(TYPE_I32, TYPE_I32, rows);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t count = all_long ? 64 + row % 300 : terms_of(random, row);
        const int32_t from = (int32_t)random_below(random, (int)(ELEMENTS - count));
        const int32_t to = from + (int32_t)count - 1;
        memcpy(column_at(*first, row), &from, sizeof from);
        memcpy(column_at(*last, row), &to, sizeof to);
    }
    column_finish(*first, rows);
    column_finish(*last, rows);
}

static struct column *elements_of(struct random *random, enum type type, int64_t odd)
{
    struct column *column = random_column(random, type, ELEMENTS, true);
    for (int64_t row = 0; type == TYPE_F64 && row < ELEMENTS; row++) {
        const double number = column_get_float(column, row) * 0.1; /* sums of which are rounded */
        memcpy(column_at(column, row), &number, sizeof number);
    }
    for (int64_t row = 0; odd != 0 && row < ELEMENTS; row += 97) {
        const double number = odd == 1 ? 0x1p60 : odd == 2 ? INFINITY : NAN;
        if (type == TYPE_F64)
            memcpy(column_at(column, row), &number, sizeof number);
        else
            memcpy(column_at(column, row), &(int64_t){INT64_MAX - row}, sizeof(int64_t));
    }
    column_finish(column, ELEMENTS);
    return column;
}

/* Sums of floats, of integers and of their squares, and how many there are, over elements first..last. `odd`: elements
 * so large that sums are uncertain or do not fit, or infinite, or no numbers; `failing`: positions that are outside. */
static void check(struct rig *rig, int64_t rows, bool all_long, int64_t odd, bool failing, bool *flagged)
{
    struct random random = {(uint64_t)rows * 77 + (uint64_t)odd * 5 + 3};
    struct setup *setup = setup_new(rig, SINK_ROWS);
    struct code *code = &setup->task.code;
    struct column *first, *last;
    make_ranges(&random, rows, all_long, &first, &last);
    const value from = setup_input(setup, first);
    value to = setup_input(setup, last);
    setup_input(setup, elements_of(&random, TYPE_F64, odd));
    setup_input(setup, elements_of(&random, TYPE_I64, odd == 1));
    setup->inputs[2].whole = setup->inputs[3].whole = true;
    if (failing)
        to = op2(setup, OP_ADD, to, int_literal(setup, 5000));
    const value index = code_counter(code, 0, from, to, nowhere);
    const value number = code_gather(code, 2, KIND_FLOAT, index, nowhere);
    const value integer = code_gather(code, 3, KIND_INT, index, nowhere);
    const value numbers = code_fold(code, AGG_SUM, index, number, false, nowhere);
    const value integers = code_fold(code, AGG_SUM, index, integer, false, nowhere);
    setup_output(setup, numbers, TYPE_F64);
    setup_output(setup, integers, TYPE_I64);
    setup_output(setup,
                 code_fold(code, AGG_SUM, index, op2(setup, OP_MUL, index, int_literal(setup, 3)), false, nowhere),
                 TYPE_I64);
    /* A range that depends on another sum. */
    const value more = op2(setup, OP_ADD, from, op2(setup, OP_BITAND, integers, int_literal(setup, 127)));
    const value next = code_counter(code, 1, from, more, nowhere);
    setup_output(setup, code_fold(code, AGG_SUM, next, op2(setup, OP_ADD, next, from), false, nowhere), TYPE_I64);
    setup_output(setup, op2(setup, OP_SUB, code_rows(code, nowhere), from), TYPE_I64);
    setup_analyse(setup, rows);
    assert_int_equal(compare(rig, setup, 0, rows, flagged), STATUS_OK);
    if (rows > 300) {
        bool again;
        assert_int_equal(compare(rig, setup, 13, rows - 5, &again), STATUS_OK);
    }
    setup_free(setup);
}

/* Whether the program of such a task is the one that is tested. */
static void test_is_chosen(void **state)
{
    struct rig *rig = rig_of(state);
    struct random random = {5};
    struct column *first, *last;
    const enum type inputs[] = {TYPE_I32, TYPE_I32}, outputs[] = {TYPE_I64};
    for (int by_data = 0; by_data < 2; by_data++) {
        struct setup *setup = setup_new(rig, SINK_ROWS);
        struct code *code = &setup->task.code;
        struct kernel_plan plan;
        make_ranges(&random, ROWS, false, &first, &last);
        const value from = setup_input(setup, first), to = setup_input(setup, last);
        const value index = code_counter(code, 0, by_data ? from : int_literal(setup, 0),
                                         by_data ? to : int_literal(setup, 1000), nowhere);
        setup_output(setup, code_fold(code, AGG_SUM, index, op2(setup, OP_ADD, index, from), false, nowhere), TYPE_I64);
        setup_analyse(setup, ROWS);
        assert_true(kernel_plan_make(&plan, &setup->task, &kernel_config_grid, inputs, outputs, rig->arena));
        assert_int_equal(kernel_least_rows(&plan), kernel_config_grid.group); /* long code: a row each */
        assert_int_equal(plan.roles[KERNEL_TERMS], by_data);
        assert_int_equal(plan.listed, by_data);
        assert_true(kernel_plan_make(&plan, &setup->task, &kernel_config_cpu, inputs, outputs, rig->arena));
        assert_false(plan.roles[KERNEL_TERMS]);
        setup_free(setup);
    }
}

static void test_sums(void **state)
{
    static const int64_t sizes[] = {1, 2, 19, 255, 256, 257, ROWS};
    struct rig *rig = rig_of(state);
    bool flagged;
    rig->accelerator = rig_accelerator(&kernel_config_grid);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        check(rig, sizes[k], false, 0, false, &flagged);
        assert_false(flagged);
    }
    check(rig, 300, true, 0, false, &flagged);
    assert_false(flagged);
    check(rig, 9000, false, 0, false, &flagged); /* several rows of a group's tile at once */
    assert_false(flagged);
    for (int64_t odd = 1; odd <= 3; odd++) {
        check(rig, ROWS, false, odd, false, &flagged);
        assert_true(flagged);
    }
    check(rig, ROWS, false, 0, true, &flagged);
    assert_true(flagged);
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

/* A round of which all rows have sums of `terms` terms; `failing`: one of the last row does not fit. */
static void check_round(struct rig *rig, int64_t rows, int64_t terms, bool failing)
{
    struct random random = {(uint64_t)(rows * terms)};
    struct setup *setup = setup_new(rig, SINK_ROWS);
    struct code *code = &setup->task.code;
    struct column *column = random_column(&random, TYPE_I64, rows, true);
    if (failing)
        memcpy(column_at(column, rows - 1), &(int64_t){INT64_MAX / 4}, sizeof(int64_t));
    const value x = setup_input(setup, column);
    setup_input(setup, elements_of(&random, TYPE_F64, 0));
    setup->inputs[1].whole = true;
    const value index = code_counter(code, 0, int_literal(setup, 0), int_literal(setup, terms - 1), nowhere);
    const value number = code_gather(code, 1, KIND_FLOAT, index, nowhere);
    setup_output(setup, code_fold(code, AGG_SUM, index, op2(setup, OP_ADD, x, index), false, nowhere), TYPE_I64);
    setup_output(setup, code_fold(code, AGG_SUM, index, number, false, nowhere), TYPE_F64);
    setup_analyse(setup, rows);

    const struct job job = setup_job(rig, setup, 0, rows);
    struct row_sink got = new_sink(rig, setup, 0, rows), wanted = new_sink(rig, setup, 0, rows);
    const struct round_task task = {.job = &job, .written = got.columns};
    const struct rounds_job rounds_job = {
        .tasks = &task, .count = 1, .timing = &rig->timing, .cancel = &rig->cancel, .diags = &rig->diags};
    for (size_t k = 0; k < setup->task.output_count; k++)
        column_finish(got.columns[k], rows);
    struct backend_rounds *rounds = rounds_open(rig->accelerator, &rounds_job);
    struct rounds_end end;
    bool flagged = false;
    assert_non_null(rounds);
    assert_int_equal(rounds->steps[0].kernel_count, 1);
    assert_int_equal(rounds->steps[0].kernels[0].role, terms > MANY_TERMS ? KERNEL_TERMS : KERNEL_WRITE);
    assert_int_equal(rounds_run(rounds, 0, 1, &end), STATUS_OK);
    assert_int_equal(end.done, failing ? 0 : 1);
    assert_int_equal(end.flagged, failing);
    for (size_t k = 0; k < setup->task.output_count; k++)
        assert_true(memory_fetch(rig->accelerator->memory, got.columns[k], 0, rows, rounds_view(rounds, got.columns[k]),
                                 &rig->timing));
    rounds_close(rounds);
    assert_int_equal(rig->host->ops->rows(rig->host, &job, &wanted, &flagged), STATUS_OK);
    assert_int_equal(flagged, failing);
    got.rows = wanted.rows;
    if (!failing)
        assert_same_rows(&setup->task, &got, &wanted, 0);
    sink_free(&got, &setup->task);
    sink_free(&wanted, &setup->task);
    setup_free(setup);
}

static void test_rounds(void **state)
{
    static const int64_t sizes[] = {1, 255, 257, ROWS, 9000};
    struct rig *rig = rig_of(state);
    rig->accelerator = rig_accelerator(&kernel_config_grid);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        check_round(rig, sizes[k], 300, false);
    check_round(rig, 30, 5000, false);
    check_round(rig, 300, MANY_TERMS, false);
    check_round(rig, 300, 300, true);
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_is_chosen), cmocka_unit_test(test_sums),
                                       cmocka_unit_test(test_rounds)};
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
