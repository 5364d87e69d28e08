/* Column residency: uploaded once, kept on the device while they fit, retrieved on demand. Every device is configured
 * as one with its own memory. */
#include "cl_rig.h"

#include <string.h>

enum { ROWS = 50021 };

static int64_t test_rows(void)
{
    return getenv("RQL_TEST_OCLGRIND") ? 3001 : ROWS;
}

/* A device that reports this much memory. */
static struct accelerator *open_with(uint64_t memory, uint64_t largest_buffer)
{
    struct accelerator *accelerator = rig_accelerator(&kernel_config_grid);
    accelerator->device.memory = memory;
    accelerator->device.largest_buffer = largest_buffer;
    return accelerator;
}

static void close_rig_accelerator(struct rig *rig)
{
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

static int64_t bytes_of(const struct rig *rig, enum phase phase)
{
    int64_t bytes = 0;
    for (size_t k = 0; k < rig->timing.count; k++)
        bytes += rig->timing.events[k].phase == phase ? rig->timing.events[k].bytes : 0;
    return bytes;
}

static struct column *column_of_rows(int64_t rows)
{
    struct column *column = column_reserve(TYPE_I32, TYPE_I32, rows);
    assert_non_null(column);
    for (int64_t row = 0; row < rows; row++)
        *(int32_t *)column_at(column, row) = (int32_t)row;
    column_finish(column, rows);
    return column;
}

/* x * 3; if `some`, only for x not divisible by 5. */
static struct setup *setup_triple(struct rig *rig, struct column *column, bool some)
{
    struct setup *setup = setup_new(rig, SINK_ROWS);
    value x = setup_input(setup, column_ref(column));
    setup_output(setup, op2(setup, OP_MUL, x, int_literal(setup, 3)), TYPE_I64);
    if (some)
        setup_filter(setup, op2(setup, OP_NE, op2(setup, OP_MOD, x, int_literal(setup, 5)), int_literal(setup, 0)));
    setup_analyse(setup, column->rows);
    return setup;
}

/* The result, finished like a task's. */
static struct column *run_triple(struct rig *rig, struct column *column, bool some)
{
    struct setup *setup = setup_triple(rig, column, some);
    struct job job = setup_job(rig, setup, 0, column->rows);
    struct row_sink sink = new_sink(rig, setup, 0, column->rows);
    bool flagged = false;
    assert_int_equal(run_on_device(rig, &job, NULL, &sink, &flagged), STATUS_OK);
    assert_false(flagged);
    column_finish(sink.columns[0], sink.rows);
    setup_free(setup);
    return sink.columns[0];
}

static void assert_triple(struct column *column, int64_t rows, bool some)
{
    assert_true(column_fetch(column, 0, column->rows));
    assert_null(column->residency);
    int64_t at = 0;
    for (int64_t row = 0; row < rows; row++) {
        if (!some || row % 5 != 0)
            assert_int_equal(column_get_int(column, at++), 3 * row);
    }
    assert_int_equal(column->rows, at);
}

static struct scalar run_sum(struct rig *rig, struct column *column)
{
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    setup_aggregate(setup, AGG_SUM, setup_input(setup, column_ref(column)));
    setup_analyse(setup, column->rows);
    struct job job = setup_job(rig, setup, 0, column->rows);
    struct agg_state *states = new_states(rig, &setup->task);
    struct scalar sum = {0};
    bool flagged = false, certain = true;
    assert_int_equal(run_on_device(rig, &job, states, NULL, &flagged), STATUS_OK);
    assert_int_equal(agg_finish(states, &setup->aggregates[0], &sum, &certain, &rig->diags), STATUS_OK);
    setup_free(setup);
    return sum;
}

static void test_results_stay(void **state)
{
    struct rig *rig = rig_of(state);
    int64_t rows = test_rows();
    rig->accelerator = open_with(UINT64_C(1) << 30, UINT64_C(1) << 28);
    struct column *x = column_of_rows(rows), *y = run_triple(rig, x, false);
    assert_non_null(y->residency);
    assert_int_equal(bytes_of(rig, PHASE_UPLOAD), rows * 4);
    assert_int_equal(bytes_of(rig, PHASE_RETRIEVE), 0);

    /* The next task reuses it, even after the host has fetched part of it. */
    assert_true(run_sum(rig, y).integer == (int128)3 * rows * (rows - 1) / 2);
    assert_int_equal(memory_missing(rig->accelerator->memory, y, 0, rows), 0);
    assert_true(column_fetch(y, rows - 10, rows));
    assert_int_equal(column_get_int(y, rows - 1), 3 * (rows - 1));
    assert_non_null(y->residency);
    assert_int_equal(y->residency->end, rows - 10);
    assert_true(run_sum(rig, y).integer == (int128)3 * rows * (rows - 1) / 2);
    assert_int_equal(bytes_of(rig, PHASE_UPLOAD), rows * 4);
    assert_triple(y, rows, false);
    column_unref(y);
    column_unref(x);
    close_rig_accelerator(rig);
}

static void test_uploaded_once(void **state)
{
    struct rig *rig = rig_of(state);
    rig->accelerator = open_with(UINT64_C(1) << 30, UINT64_C(1) << 28);
    struct column *x = column_of_rows(test_rows());
    run_sum(rig, x);
    int64_t uploaded = bytes_of(rig, PHASE_UPLOAD);
    assert_int_equal(uploaded, test_rows() * 4);
    column_unref(run_triple(rig, x, true));
    run_sum(rig, x);
    memory_sweep(rig->accelerator->memory); /* x is still in use */
    run_sum(rig, x);
    assert_int_equal(bytes_of(rig, PHASE_UPLOAD), uploaded);
    memory_drop(rig->accelerator->memory);
    assert_int_equal(memory_missing(rig->accelerator->memory, x, 5, test_rows() - 5), test_rows() - 5);
    run_sum(rig, x);
    assert_int_equal(bytes_of(rig, PHASE_UPLOAD), 2 * uploaded);
    column_unref(x);
    close_rig_accelerator(rig);
}

/* A sweep keeps columns still in use; a drop retrieves them. */
static void test_sweep(void **state)
{
    struct rig *rig = rig_of(state);
    rig->accelerator = open_with(UINT64_C(1) << 30, UINT64_C(1) << 28);
    struct column *x = column_of_rows(test_rows()), *y = run_triple(rig, x, false), *kept = column_ref(y);
    memory_sweep(rig->accelerator->memory);
    assert_true(y->refs > 2);
    column_unref(y);
    assert_true(kept->refs == 2);
    memory_drop(rig->accelerator->memory);
    assert_true(kept->refs == 1);
    assert_null(kept->residency);
    assert_triple(kept, test_rows(), false);
    column_unref(kept);
    column_unref(x);
    close_rig_accelerator(rig);
}

/* Discarding a column to be overwritten frees its device memory. */
static void test_discarded(void **state)
{
    struct rig *rig = rig_of(state);
    rig->accelerator = open_with(UINT64_C(1) << 30, UINT64_C(16384) * 8);
    struct column *x = column_of_rows(test_rows()), *y = run_triple(rig, x, true);
    assert_non_null(y->residency);
    residency_discard(y, 0);
    assert_null(y->residency);
    assert_int_equal(y->refs, 1);
    assert_false(memory_has(rig->accelerator->memory, y, 0, 1));
    column_unref(y);
    y = run_triple(rig, x, true);
    assert_triple(y, test_rows(), true);
    column_unref(y);
    column_unref(x);
    close_rig_accelerator(rig);
}

/* Filter output produced in pieces spans several buffers, which are then merged. */
static void test_parts(void **state)
{
    struct rig *rig = rig_of(state);
    int64_t rows = test_rows(), parts = 0;
    rig->accelerator = open_with(UINT64_C(1) << 30, UINT64_C(16384) * 8);
    struct column *x = column_of_rows(rows), *y = run_triple(rig, x, true);
    for (const struct residency *residency = y->residency; residency; residency = residency->next)
        parts++;
    assert_true(rows < ROWS || parts > 1);
    struct memory *memory = rig->accelerator->memory;
    assert_int_equal(memory_missing(memory, y, 0, y->rows), 0);
    assert_int_equal(memory_has(memory, y, 0, y->rows), parts == 1);
    struct view view;
    assert_true(memory_input(rig->accelerator->memory, y, 0, y->rows, &rig->timing, &view));
    memory_done(rig->accelerator->memory, &rig->timing);
    assert_non_null(y->residency);
    assert_null(y->residency->next);
    assert_int_equal(y->residency->begin, 0);
    assert_int_equal(y->residency->end, y->rows);
    assert_triple(y, rows, true);
    column_unref(y);
    column_unref(x);
    close_rig_accelerator(rig);
}

/* Columns and results many times larger than device memory are streamed. */
static void test_larger_than_device(void **state)
{
    struct rig *rig = rig_of(state);
    int64_t rows = test_rows();
    enum { RESULTS = 5 };
    struct column *x = column_of_rows(rows), *results[RESULTS];
    rig->accelerator = open_with(UINT64_C(1) << 17, UINT64_C(1) << 15);
    for (int k = 0; k < RESULTS; k++) {
        results[k] = run_triple(rig, x, k % 2);
        assert_true(run_sum(rig, x).integer == (int128)rows * (rows - 1) / 2);
        assert_true(run_sum(rig, results[0]).integer == (int128)3 * rows * (rows - 1) / 2);
    }
    close_rig_accelerator(rig);
    for (int k = 0; k < RESULTS; k++) {
        assert_triple(results[k], rows, k % 2);
        column_unref(results[k]);
    }
    column_unref(x);
}

/* Results that fit only one at a time: the least recently used go to the host. */
static void test_least_recently_used(void **state)
{
    struct rig *rig = rig_of(state);
    int64_t rows = test_rows();
    enum { RESULTS = 6 };
    struct column *x = column_of_rows(rows), *results[RESULTS];
    rig->accelerator = open_with((uint64_t)rows * 40, (uint64_t)rows * 8);
    for (int k = 0; k < RESULTS; k++)
        results[k] = run_triple(rig, x, false);
    assert_null(results[0]->residency);
    assert_non_null(results[RESULTS - 1]->residency);
    close_rig_accelerator(rig);
    for (int k = 0; k < RESULTS; k++) {
        assert_null(results[k]->residency);
        assert_triple(results[k], rows, false);
        column_unref(results[k]);
    }
    column_unref(x);
}

static void test_interrupted(void **state)
{
    struct rig *rig = rig_of(state);
    rig->accelerator = open_with(UINT64_C(1) << 17, UINT64_C(1) << 15);
    struct column *x = column_of_rows(test_rows());
    struct setup *setup = setup_triple(rig, x, false);
    struct job job = setup_job(rig, setup, 0, x->rows);
    struct row_sink sink = new_sink(rig, setup, 0, x->rows);
    bool flagged = false;
    rig->cancel = 1;
    assert_int_equal(run_on_device(rig, &job, NULL, &sink, &flagged), STATUS_CANCELLED);
    rig->cancel = 0;
    sink_free(&sink, &setup->task);
    setup_free(setup);
    struct column *y = run_triple(rig, x, false);
    rig->cancel = 1;
    if (y->residency)
        assert_int_equal(columns_fetch(&y, 1, &rig->cancel, nowhere, &rig->diags), STATUS_CANCELLED);
    assert_triple(y, test_rows(), false);
    column_unref(y);
    column_unref(x);
    close_rig_accelerator(rig);
}

/* Other backends, the evaluator and a device, read this one's results. */
static void test_other_backends(void **state)
{
    struct rig *rig = rig_of(state);
    int64_t rows = test_rows();
    rig->accelerator = open_with(UINT64_C(1) << 30, UINT64_C(1) << 28);
    struct column *x = column_of_rows(rows), *y = run_triple(rig, x, false), *z = run_triple(rig, x, false);
    struct accelerator *first = rig->accelerator;
    rig->accelerator = open_with(UINT64_C(1) << 30, UINT64_C(1) << 28);
    assert_true(run_sum(rig, y).integer == (int128)3 * rows * (rows - 1) / 2);
    assert_null(y->residency);
    close_rig_accelerator(rig);
    rig->accelerator = first;

    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    setup_aggregate(setup, AGG_MAX, setup_input(setup, z));
    setup_analyse(setup, rows);
    struct job job = setup_job(rig, setup, 0, rows);
    struct agg_state *states = new_states(rig, &setup->task);
    struct scalar most = {0};
    bool flagged = false, certain = true;
    assert_non_null(z->residency);
    assert_int_equal(rig->host->ops->aggregate(rig->host, &job, states, &flagged), STATUS_OK);
    assert_int_equal(agg_finish(states, &setup->aggregates[0], &most, &certain, &rig->diags), STATUS_OK);
    assert_true(most.integer == 3 * (rows - 1));
    setup_free(setup);
    column_unref(y);
    column_unref(x);
    close_rig_accelerator(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_stay),
        cmocka_unit_test(test_uploaded_once),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_discarded),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_larger_than_device),
        cmocka_unit_test(test_least_recently_used),
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_other_backends),
    };
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
