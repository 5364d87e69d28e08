/* A no_wait run starts on the evaluator and hands the remaining rows to a device once it is ready; results must not
 * depend on when that is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/evaluator/evaluator.h"
#include "engine/storage/residency.h"
#include "engine/task/run_task.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 3000000, MOST_PENDING = 9 };

static const struct span nowhere = {0};

/* The evaluator posing as a device that is ready after `pending` polls. */
struct late_device {
    struct backend base;
    struct backend *evaluator;
    int pending; /* polls until it is ready */
    bool unable; /* reports unable instead of ready */
    bool ready;  /* reported ready */
    int64_t first_row, rows;
};

static enum readiness late_begin(struct backend *backend, const struct job *job)
{
    struct late_device *device = (struct late_device *)backend;
    assert_non_null(job);
    if (device->pending-- > 0)
        return BACKEND_PENDING;
    device->ready = !device->unable;
    return device->unable ? BACKEND_UNABLE : BACKEND_READY;
}

static enum status late_prepare(struct backend *backend, const struct job *job)
{
    struct late_device *device = (struct late_device *)backend;
    if (device->ready)
        return STATUS_OK;
    assert_true(device->unable); /* callers must not wait */
    diag_note(job->diags, nowhere, "it did not build");
    return STATUS_UNABLE;
}

static int64_t late_range_rows(struct backend *backend, const struct job *job)
{
    (void)backend, (void)job;
    return 1 << 20;
}

static void count(struct late_device *device, const struct job *job)
{
    assert_true(device->ready);
    if (device->rows == 0)
        device->first_row = job->begin;
    device->rows += job->end - job->begin;
}

static enum status late_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                  bool *flagged)
{
    struct late_device *device = (struct late_device *)backend;
    count(device, job);
    return device->evaluator->ops->aggregate(device->evaluator, job, states, flagged);
}

static enum status late_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    struct late_device *device = (struct late_device *)backend;
    count(device, job);
    return device->evaluator->ops->rows(device->evaluator, job, sink, flagged);
}

static const struct backend_ops late_ops = {.begin = late_begin,
                                            .prepare = late_prepare,
                                            .range_rows = late_range_rows,
                                            .aggregate = late_aggregate,
                                            .rows = late_rows};

/* Test bed: an evaluator, and integer and float columns; the float sum depends on rounding. */
struct bench {
    struct backend *evaluator;
    struct column *columns[2];
};

/* Every kind of sink. */
enum { SUM, FLOAT_SUM, FLOAT_PRODUCT, FILTERED_ROWS, ALL_ROWS, WINDOW, SINKS };

/* A task and everything it points to. */
struct setup {
    struct queue queue;
    struct task *task;
    struct filter filter;
    struct aggregate aggregate;
    struct output outputs[2];
    struct input inputs[2];
};

static struct task *make_task(struct setup *setup, struct arena *arena, const struct bench *bench, int sink)
{
    queue_init(&setup->queue, arena);
    struct task *task = setup->task = queue_add(&setup->queue);
    value integer = code_input(&task->code, 0, KIND_INT, nowhere);
    value number = code_input(&task->code, 1, KIND_FLOAT, nowhere);
    value limit = code_int(&task->code, 700, nowhere);
    for (int k = 0; k < 2; k++)
        setup->inputs[k] = (struct input){.column = bench->columns[k], .type = bench->columns[k]->type};
    task->inputs = setup->inputs;
    task->input_count = 2;
    setup->filter.keep = code_op(&task->code, OP_LT, integer, limit, NO_VALUE, nowhere);
    task->filters = &setup->filter;
    task->filter_count = sink != ALL_ROWS;
    task->outputs = setup->outputs;
    task->aggregates = &setup->aggregate;
    if (sink >= FILTERED_ROWS) {
        value next = code_op(&task->code, OP_ADD, integer, limit, NO_VALUE, nowhere);
        setup->outputs[0] = (struct output){.value = next, .name = "c", .type = TYPE_I64, .needed = true};
        setup->outputs[1] = (struct output){.value = number, .name = "d", .type = TYPE_F64, .needed = true};
        task->output_count = 2;
        if (sink == WINDOW)
            task->window = (struct window){.skip = 100000, .take = 900000, .tail = -1};
        return task;
    }
    task->sink = SINK_AGGREGATE;
    task->aggregate_count = 1;
    setup->aggregate.kind = sink == FLOAT_PRODUCT ? AGG_PRODUCT : AGG_SUM;
    setup->aggregate.value = sink == SUM ? integer : number;
    return task;
}

static void run(const struct bench *bench, struct backend *device, int sink, struct arena *arena,
                struct outcome *outcome, struct setup *setup, size_t notes)
{
    struct diags diags;
    diags_init(&diags, arena);
    const struct runner runner = {.evaluator = bench->evaluator, .device = device, .no_wait = device != NULL};
    struct task *task = make_task(setup, arena, bench, sink);
    assert_int_equal(
        run_task(&runner, task, (struct column *const *)bench->columns, ROWS, DEFER_NEVER, arena, outcome, &diags),
        STATUS_OK);
    assert_false(outcome->flagged);
    assert_int_equal(diags.count, notes);
}

static void assert_same(const struct outcome *got, const struct outcome *wanted, int sink)
{
    if (sink < FILTERED_ROWS) {
        assert_true(got->scalar.kind == wanted->scalar.kind && got->scalar.integer == wanted->scalar.integer);
        assert_memory_equal(&got->scalar.number, &wanted->scalar.number, sizeof got->scalar.number);
        return;
    }
    assert_int_equal(got->rows, wanted->rows);
    assert_int_equal(got->rows > 0, 1);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(got->columns[k]->store, wanted->columns[k]->store);
        size_t size = type_table[got->columns[k]->store].size;
        assert_memory_equal(got->columns[k]->data, wanted->columns[k]->data, (size_t)got->rows * size);
    }
}

static void results_do_not_depend_on_when(void **state)
{
    const struct bench *bench = *state;
    int64_t most_before = 0;
    for (int sink = 0; sink < SINKS; sink++) {
        struct arena *arena = arena_new();
        struct setup setup = {0};
        struct outcome wanted;
        run(bench, NULL, sink, arena, &wanted, &setup, 0);
        for (int pending = 0; pending <= MOST_PENDING; pending++) {
            struct late_device device = {.base = {.ops = &late_ops, .name = "late"}, .evaluator = bench->evaluator};
            struct setup late_setup = {0};
            struct outcome got;
            device.pending = pending;
            run(bench, &device.base, sink, arena, &got, &late_setup, 0);
            assert_same(&got, &wanted, sink);
            /* Polled before the first slice and after each; once ready, it gets all remaining rows. */
            assert_int_equal(device.rows > 0, device.ready);
            if (device.ready)
                assert_int_equal(device.first_row + device.rows, ROWS);
            assert_int_equal(device.first_row > 0, device.ready && pending > 0);
            most_before = device.first_row > most_before ? device.first_row : most_before;
            outcome_release(&got, late_setup.task);
        }
        outcome_release(&wanted, setup.task);
        arena_free(arena);
    }
    assert_in_range(most_before, 300000, ROWS - 1); /* some handovers come late */
}

static void unable_devices_are_told_of_once(void **state)
{
    const struct bench *bench = *state;
    for (int sink = 0; sink < SINKS; sink++) {
        struct arena *arena = arena_new();
        struct setup setup = {0};
        struct outcome wanted;
        run(bench, NULL, sink, arena, &wanted, &setup, 0);
        for (int pending = 0; pending <= 2; pending++) {
            struct late_device device = {.base = {.ops = &late_ops, .name = "late"}, .evaluator = bench->evaluator};
            struct setup late_setup = {0};
            struct outcome got;
            device.pending = pending;
            device.unable = true;
            run(bench, &device.base, sink, arena, &got, &late_setup, 1);
            assert_same(&got, &wanted, sink);
            assert_int_equal(device.rows, 0);
            outcome_release(&got, late_setup.task);
        }
        outcome_release(&wanted, setup.task);
        arena_free(arena);
    }
}

/* So few rows stay on the evaluator, and no program is begun for them. */
static void few_rows_stay(void **state)
{
    static const int64_t few[] = {1, 8192, 8193};
    const struct bench *bench = *state;
    for (size_t k = 0; k < sizeof few / sizeof *few; k++) {
        struct arena *arena = arena_new();
        struct diags diags;
        struct setup setup = {0};
        struct outcome outcome;
        struct late_device device = {.base = {.ops = &late_ops, .name = "late"}, .evaluator = bench->evaluator};
        const struct runner runner = {.evaluator = bench->evaluator, .device = &device.base, .no_wait = true};
        diags_init(&diags, arena);
        struct task *task = make_task(&setup, arena, bench, SUM);
        assert_int_equal(run_task(&runner, task, (struct column *const *)bench->columns, few[k], DEFER_NEVER, arena,
                                  &outcome, &diags),
                         STATUS_OK);
        assert_int_equal(device.rows, few[k] > 8192 ? few[k] : 0);
        assert_int_equal(device.ready, few[k] > 8192);
        outcome_release(&outcome, task);
        arena_free(arena);
    }
}

/* A device whose results stay device-resident until it fails mid-range. */
enum { MOST_STORED = 16 };

struct stored {
    struct residency residency; /* first member: cast back from it */
    struct failing_device *device;
    struct column *column;
    char *elements;
    int64_t begin;
};

struct failing_device {
    struct backend base;
    struct backend *evaluator;
    int ranges; /* until failure */
    bool lost;  /* the failure loses all its data */
    struct stored stored[MOST_STORED];
    size_t count;
};

static bool stored_fetch(struct residency *residency, int64_t begin, int64_t end)
{
    const struct stored *stored = (const struct stored *)residency;
    size_t size = type_table[stored->column->store].size;
    if (stored->device->lost && stored->device->ranges < 0)
        return false;
    memcpy(column_at(stored->column, begin), stored->elements + (size_t)(begin - stored->begin) * size,
           (size_t)(end - begin) * size);
    return true;
}

static void stored_drop(struct residency *residency)
{
    residency->begin = residency->end;
}

/* Moves rows to the device, clobbering the host copy. */
static void keep_rows(struct failing_device *device, struct column *column, int64_t begin, int64_t end)
{
    assert_in_range(device->count, 0, MOST_STORED - 1);
    struct stored *stored = &device->stored[device->count++];
    size_t bytes = (size_t)(end - begin) * type_table[column->store].size;
    *stored = (struct stored){.residency = {.begin = begin, .end = end, .fetch = stored_fetch, .drop = stored_drop},
                              .device = device,
                              .column = column,
                              .elements = malloc(bytes + 1),
                              .begin = begin};
    assert_non_null(stored->elements);
    memcpy(stored->elements, column_at(column, begin), bytes);
    memset(column_at(column, begin), 0x55, bytes);
    residency_add(column, &stored->residency);
}

static enum readiness failing_begin(struct backend *backend, const struct job *job)
{
    (void)backend, (void)job;
    return BACKEND_READY;
}

static enum status failing_prepare(struct backend *backend, const struct job *job)
{
    (void)backend, (void)job;
    return STATUS_OK;
}

static enum status failing_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    struct failing_device *device = (struct failing_device *)backend;
    struct job piece = *job;
    const int64_t before = sink->rows;
    bool fails = device->ranges-- == 0;
    if (fails) /* halfway through the range */
        piece.end = job->begin + (job->end - job->begin) / 2;
    assert_int_equal(device->evaluator->ops->rows(device->evaluator, &piece, sink, flagged), STATUS_OK);
    for (size_t k = 0; k < job->task->output_count; k++) {
        if (sink->columns[k] && before < sink->rows)
            keep_rows(device, sink->columns[k], before, sink->rows);
    }
    if (fails)
        diag_note(job->diags, nowhere, "it has failed");
    return fails ? STATUS_UNABLE : STATUS_OK;
}

static enum status failing_breaker(struct backend *backend, const struct operator_job *job, bool *flagged)
{
    struct failing_device *device = (struct failing_device *)backend;
    assert_int_equal(device->evaluator->ops->run_operator(device->evaluator, job, flagged), STATUS_OK);
    keep_rows(device, job->results[0], 0, job->rows);
    device->ranges = -1;
    diag_note(job->diags, nowhere, "it has failed");
    return STATUS_UNABLE;
}

static const struct backend_ops failing_ops = {.begin = failing_begin,
                                               .prepare = failing_prepare,
                                               .range_rows = late_range_rows,
                                               .rows = failing_rows,
                                               .run_operator = failing_breaker};

static void close_failing(struct failing_device *device)
{
    for (size_t i = 0; i < device->count; i++)
        free(device->stored[i].elements);
}

/* Rows match a run without the device, whether or not its data survive, and none stay resident. */
static void what_a_failed_device_kept_is_replaced(void **state)
{
    const struct bench *bench = *state;
    for (int sink = FILTERED_ROWS; sink < SINKS; sink++) {
        struct arena *arena = arena_new();
        struct setup setup = {0};
        struct outcome wanted;
        run(bench, NULL, sink, arena, &wanted, &setup, 0);
        for (int trial = 0; trial < 6; trial++) {
            struct failing_device device = {.base = {.ops = &failing_ops, .name = "failing"},
                                            .evaluator = bench->evaluator,
                                            .ranges = trial / 2,
                                            .lost = trial % 2};
            struct setup failing_setup = {0};
            struct outcome got;
            run(bench, &device.base, sink, arena, &got, &failing_setup, 1);
            assert_true(device.ranges < 0);
            for (int k = 0; k < 2; k++)
                assert_null(got.columns[k]->residency);
            assert_same(&got, &wanted, sink);
            outcome_release(&got, failing_setup.task);
            close_failing(&device);
        }
        outcome_release(&wanted, setup.task);
        arena_free(arena);
    }
}

/* A failed operator is rerun from scratch. */
static void a_failed_breaker_is_done_anew(void **state)
{
    const struct bench *bench = *state;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct failing_device device = {
        .base = {.ops = &failing_ops, .name = "failing"}, .evaluator = bench->evaluator, .lost = true};
    const struct runner runner = {.evaluator = bench->evaluator, .device = &device.base};
    struct setup setup = {0};
    struct task *task = make_task(&setup, arena, bench, ALL_ROWS);
    size_t key = 0;
    struct column_operator column_op = {.kind = OPERATOR_SORT, .stride = 1, .into = -1, .keys = &key, .key_count = 1};
    setup.outputs[0] = (struct output){.value = 0, .name = "c", .type = TYPE_I64, .needed = true};
    setup.outputs[1].needed = false;
    task->sink = SINK_OPERATOR;
    task->column_op = &column_op;
    struct outcome outcome;
    assert_int_equal(
        run_task(&runner, task, (struct column *const *)bench->columns, ROWS, DEFER_NEVER, arena, &outcome, &diags),
        STATUS_OK);
    assert_int_equal(device.count, 1);
    assert_null(outcome.columns[0]->residency);
    for (int64_t row = 0; row < ROWS; row++)
        assert_true(column_get_int(outcome.columns[0], row) == row / (ROWS / 1000));
    outcome_release(&outcome, task);
    close_failing(&device);
    arena_free(arena);
}

static int open_bench(void **state)
{
    struct bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    bench->evaluator = evaluator_open_threads(2);
    bench->columns[0] = column_reserve(TYPE_I64, TYPE_I64, ROWS);
    bench->columns[1] = column_reserve(TYPE_F64, TYPE_F64, ROWS);
    for (int64_t i = 0; i < ROWS; i++) {
        *(int64_t *)column_at(bench->columns[0], i) = i * 7919 % 1000;
        *(double *)column_at(bench->columns[1], i) = 1 + (double)(i % 97 - 48) * 1e-9;
    }
    column_finish(bench->columns[0], ROWS);
    column_finish(bench->columns[1], ROWS);
    *state = bench;
    return 0;
}

static int close_bench(void **state)
{
    struct bench *bench = *state;
    column_unref(bench->columns[0]);
    column_unref(bench->columns[1]);
    bench->evaluator->ops->close(bench->evaluator);
    free(bench);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_do_not_depend_on_when),
        cmocka_unit_test(unable_devices_are_told_of_once),
        cmocka_unit_test(few_rows_stay),
        cmocka_unit_test(what_a_failed_device_kept_is_replaced),
        cmocka_unit_test(a_failed_breaker_is_done_anew),
    };
    return cmocka_run_group_tests_name("handover", tests, open_bench, close_bench);
}
