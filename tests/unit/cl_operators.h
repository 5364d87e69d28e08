/* Operators on an OpenCL device, in every configuration, compared with the host. All functions are static inline
 * because a test program is one source file. */
#ifndef RQL_TESTS_CL_BREAKS_H
#define RQL_TESTS_CL_BREAKS_H

#include "cl_rig.h"

#include "cl/operators/operator.h"
#include "engine/operators/operator.h"

/* Configurations a device can emulate. */
struct guise {
    const char *name;
    const struct kernel_config *shape;
    bool shares, long_atomics;
};
static const struct guise guises[] = {
    {"cpu", &kernel_config_cpu, false, true},
    {"cpu and shared tables", &kernel_config_cpu, true, true},
    {"groups", &kernel_config_grid, true, true},
    {"groups without long atomics", &kernel_config_grid, true, false},
};
enum { GUISES = sizeof guises / sizeof *guises };

struct breaks {
    struct rig *rig;
    struct accelerator *accelerators[GUISES]; /* NULL: not available on this device */
    struct kernel_config shapes[GUISES];
};

static inline int breaks_open(void **state)
{
    rig_open(state);
    struct breaks *breaks = calloc(1, sizeof *breaks);
    struct failure failure = {0};
    size_t count;
    struct device *devices = devices_find(&count, &failure);
    const struct device *device = device_choose(rig_choice(), devices, count);
    *breaks = (struct breaks){.rig = *state};
    for (int k = 0; k < GUISES && breaks->rig->device; k++) {
        struct device guised = *device;
        if (guises[k].shape->contiguous && !(device->type & CL_DEVICE_TYPE_CPU))
            continue;
        guised.long_atomics = guises[k].long_atomics && device->long_atomics;
        breaks->shapes[k] = *guises[k].shape;
        breaks->shapes[k].shared_tables = guises[k].shares;
        breaks->shapes[k].plain_loads = !getenv("RQL_TEST_OCLGRIND");
        breaks->accelerators[k] = accelerator_open(&guised, &breaks->shapes[k], &failure);
        assert_non_null(breaks->accelerators[k]);
    }
    free(devices);
    *state = breaks;
    return 0;
}

static inline int breaks_close(void **state)
{
    struct breaks *breaks = *state;
    for (int k = 0; k < GUISES; k++)
        accelerator_close(breaks->accelerators[k]);
    *state = breaks->rig;
    free(breaks);
    return rig_close(state);
}

static inline struct breaks *breaks_of(void **state)
{
    struct breaks *breaks = *state;
    void *rig = breaks->rig;
    rig_of(&rig);
    return breaks;
}

/* Lengths at the edges of tiles and groups; a simulator takes the first few. */
static const int64_t lengths[] = {1, 2, 25, 777, 4095, 4096, 4097, 100003, 3000001};

static inline size_t length_count(void)
{
    enum { SIMULATED = 4, USUAL = 8, ALL = sizeof lengths / sizeof *lengths };
    return getenv("RQL_TEST_OCLGRIND") ? SIMULATED : rig_patience() > 1 ? ALL : USUAL;
}

static inline struct setup *operator_setup(struct breaks *breaks, enum operator_kind kind)
{
    struct setup *setup = setup_new(breaks->rig, SINK_OPERATOR);
    struct column_operator *column_op = arena_alloc(breaks->rig->arena, sizeof *column_op);
    *column_op = (struct column_operator){.kind = kind, .stride = 1, .into = -1};
    column_op->keys = arena_array(breaks->rig->arena, MOST_INPUTS, sizeof *column_op->keys);
    setup->task.column_op = column_op;
    return setup;
}

/* Adds a column as the next key; the setup owns it. */
static inline value operator_key(struct setup *setup, struct column *column)
{
    struct column_operator *column_op = setup->task.column_op;
    column_op->keys[column_op->key_count++] = setup->task.input_count;
    return setup_input(setup, column);
}

/* The result of one run. */
struct outcome {
    enum status status;
    bool flagged;
    int64_t rows;
    struct column *results[MOST_RESULTS];
};

/* Reserves the results that the operator's caller must provide. */
static inline void reserve_results(const struct setup *setup, int64_t rows, struct outcome *outcome)
{
    const struct task *task = &setup->task;
    int64_t gives = operator_result_rows(task->column_op, rows);
    for (size_t k = 0; k < task->output_count && gives >= 0; k++) {
        const struct output *output = &task->outputs[k];
        enum type store = output->type;
        if (operator_carries(task->column_op))
            store = setup->columns[task->code.at[output->value].integer]->store;
        if (output->needed)
            outcome->results[k] = column_reserve(output->type, store, gives);
    }
}

/* `accelerator` NULL: the host. */
static inline struct outcome break_waiting(struct breaks *breaks, struct setup *setup, int64_t rows,
                                           struct accelerator *accelerator, bool waits)
{
    struct rig *rig = breaks->rig;
    struct outcome outcome = {.rows = -1};
    reserve_results(setup, rows, &outcome);
    const struct operator_job job = {
        .task = &setup->task,
        .inputs = setup->columns,
        .rows = rows,
        .results = outcome.results,
        .result_rows = &outcome.rows,
        .no_wait = !waits,
        .timing = &rig->timing,
        .cancel = &rig->cancel,
        .diags = &rig->diags,
    };
    outcome.status = accelerator ? cl_operator(setup->task.column_op->kind)(accelerator, &job, &outcome.flagged)
                                 : host_operator_run_threads(&job, 2, &outcome.flagged);
    assert_int_equal(columns_fetch(outcome.results, MOST_RESULTS, NULL, nowhere, &rig->diags), STATUS_OK);
    return outcome;
}

static inline struct outcome break_once(struct breaks *breaks, struct setup *setup, int64_t rows,
                                        struct accelerator *accelerator)
{
    return break_waiting(breaks, setup, rows, accelerator, true);
}

static inline void outcome_free(struct outcome *outcome)
{
    for (size_t k = 0; k < MOST_RESULTS; k++)
        column_unref(outcome->results[k]);
}

static inline void assert_same_element(const char *where, size_t k, const struct column *got,
                                       const struct column *wanted, int64_t row)
{
    size_t size = type_table[got->store].size;
    const char *a = (const char *)got->data + (size_t)row * size, *b = (const char *)wanted->data + (size_t)row * size;
    if (memcmp(a, b, size) == 0)
        return;
    if (type_table[got->store].kind == KIND_FLOAT) {
        double x = column_get_float(got, row), y = column_get_float(wanted, row);
        if (!isnan(x) || !isnan(y))
            fail_msg("%s: output %zu, row %lld: %a is not %a", where, k, (long long)row, x, y);
    } else {
        fail_msg("%s: output %zu, row %lld: %lld is not %lld", where, k, (long long)row,
                 (long long)column_get_int(got, row), (long long)column_get_int(wanted, row));
    }
}

static inline void assert_same_outcome(const struct setup *setup, const struct outcome *got,
                                       const struct outcome *wanted, const char *where)
{
    assert_int_equal(got->flagged, wanted->flagged);
    if (wanted->flagged)
        return;
    assert_int_equal(got->rows, wanted->rows);
    for (size_t k = 0; k < setup->task.output_count; k++) {
        if (!setup->task.outputs[k].needed) {
            assert_null(got->results[k]);
            continue;
        }
        assert_non_null(got->results[k]);
        assert_int_equal(got->results[k]->store, wanted->results[k]->store);
        for (int64_t row = 0; row < wanted->rows; row++)
            assert_same_element(where, k, got->results[k], wanted->results[k], row);
    }
}

/* Runs it on the host and in every guise, and compares. Returns the host's outcome, which the caller frees. `unable`
 * counts guises that fell back to the host, except those without shared tables. */
static inline struct outcome compare_breaks(struct breaks *breaks, struct setup *setup, int64_t rows, int *unable)
{
    struct outcome wanted = break_once(breaks, setup, rows, NULL);
    assert_int_equal(wanted.status, STATUS_OK);
    *unable = 0;
    for (int k = 0; k < GUISES; k++) {
        if (!breaks->accelerators[k])
            continue;
        struct outcome got = break_once(breaks, setup, rows, breaks->accelerators[k]);
        if (breaks->rig->diags.count > 0)
            fail_msg("%s: %s", guises[k].name, breaks->rig->diags.at[0].message);
        if (got.status == STATUS_UNABLE)
            *unable += guises[k].shares;
        else
            assert_int_equal(got.status, STATUS_OK);
        if (got.status == STATUS_OK)
            assert_same_outcome(setup, &got, &wanted, guises[k].name);
        breaks->rig->compared += got.status == STATUS_OK;
        outcome_free(&got);
    }
    return wanted;
}

/* Like compare_breaks, but every guise must run it. */
static inline struct outcome compare_all_breaks(struct breaks *breaks, struct setup *setup, int64_t rows)
{
    int unable;
    struct outcome outcome = compare_breaks(breaks, setup, rows, &unable);
    assert_int_equal(unable, 0);
    return outcome;
}

/* Integers of a store type from lo to hi. */
static inline struct column *column_within(struct random *random, enum type type, int64_t rows, int64_t lo, int64_t hi)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t row = 0; row < rows; row++) {
        int64_t integer = random_within(random, lo, hi);
        memcpy(column_at(column, row), &integer, type_table[type].size);
    }
    column_finish(column, rows);
    return column;
}

/* Sets an element of a column of floats, of either width. */
static inline void set_float(struct column *column, int64_t row, double number)
{
    const float narrow = (float)number;
    if (column->type == TYPE_F32)
        memcpy(column_at(column, row), &narrow, sizeof narrow);
    else
        memcpy(column_at(column, row), &number, sizeof number);
}

/* Few distinct floats, with both zeros, infinities and NaNs of both signs. */
static inline struct column *column_of_odd_floats(struct random *random, enum type type, int64_t rows)
{
    static const double odd[] = {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, 1.5, -1.5, 1e30, -1e-30, 4e-320};
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t row = 0; row < rows; row++) {
        set_float(column, row, odd[random_below(random, sizeof odd / sizeof *odd)]);
    }
    column_finish(column, rows);
    return column;
}

#endif
