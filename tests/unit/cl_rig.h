/* Hand-built tasks, run on an OpenCL device and on the evaluator. Every function is static inline because a test
 * program is one source file. */
#ifndef RQL_TESTS_CL_RIG_H
#define RQL_TESTS_CL_RIG_H

#include "cl/accelerator_open.h"
#include "cl/cl.h"
#include "cl/memory/memory.h"
#include "cl/task/execute.h"
#include "cl/task/launch.h"
#include "cl/task/plan_program.h"
#include "engine/evaluator/evaluator.h"
#include "engine/optimize/optimize.h"
#include "engine/storage/residency.h"
#include "random_code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

enum { MOST_INPUTS = 12, MOST_RESULTS = 32 };

struct rig {
    struct backend *device, *host;
    struct accelerator *accelerator; /* used if not NULL */
    struct arena *arena;             /* of the current test */
    struct diags diags;
    struct timing timing;
    atomic_int cancel;
    size_t compared, flagged; /* ranges */
    int changed_signal;       /* signal whose handler OpenCL replaced at start; 0: none */
};

static inline const char *rig_choice(void)
{
    const char *choice = getenv("RQL_TEST_DEVICE");
    return choice ? choice : "auto";
}

/* Multiplies the default number of random tests. */
static inline int rig_patience(void)
{
    const char *text = getenv("RQL_TEST_LONG");
    int patience = text ? atoi(text) : 1;
    return patience > 0 ? patience : 1;
}

/* Rows of a test that spends its time on them. A simulator takes few, AddressSanitizer a quarter, which are still of
 * several tiles. */
static inline int64_t rig_rows(int64_t simulated, int64_t usual)
{
#ifdef __SANITIZE_ADDRESS__
    usual /= 4;
#endif
    return getenv("RQL_TEST_OCLGRIND") ? simulated : usual;
}

/* The rig's device with another configuration; builds nothing. */
static inline struct accelerator *rig_accelerator(const struct kernel_config *shape)
{
    struct failure failure = {0};
    size_t count;
    struct device *devices = devices_find(&count, &failure);
    const struct device *device = device_choose(rig_choice(), devices, count);
    assert_non_null(device);
    struct accelerator *accelerator = accelerator_open(device, shape, &failure);
    assert_non_null(accelerator);
    free(devices);
    return accelerator;
}

static inline void rig_start(struct rig *rig)
{
    arena_free(rig->arena);
    rig->arena = arena_new();
    diags_init(&rig->diags, rig->arena);
    timing_init(&rig->timing, rig->arena);
    rig->cancel = 0;
}

/* Opens the device named by RQL_TEST_DEVICE, or any. Without one, rig->device is NULL and tests are skipped. */
static inline int rig_open(void **state)
{
    struct rig *rig = calloc(1, sizeof *rig);
    struct sigaction before[SIGTERM + 1], after;
    for (int k = 1; k <= SIGTERM; k++)
        sigaction(k, NULL, &before[k]);
    rig->host = evaluator_open_threads(2);
    rig->device = cl_open(rig_choice(), NULL);
    assert_non_null(rig->device);
    rig_start(rig);

    struct task *task = arena_alloc(rig->arena, sizeof *task);
    code_init(&task->code, rig->arena);
    struct job job = {.task = task, .diags = &rig->diags};
    if (rig->device->ops->prepare(rig->device, &job) != STATUS_OK) {
        printf("# no OpenCL device to test: %s\n", rig->diags.count > 0 ? rig->diags.at[0].message : "?");
        rig->device->ops->close(rig->device);
        rig->device = NULL;
    } else {
        printf("# on %s\n", rig->device->name);
    }
    for (int k = 1; k <= SIGTERM; k++) {
        sigaction(k, NULL, &after);
        if (memcmp(&after.sa_handler, &before[k].sa_handler, sizeof after.sa_handler) != 0)
            rig->changed_signal = k;
    }
    *state = rig;
    return 0;
}

static inline int rig_close(void **state)
{
    struct rig *rig = *state;
    if (rig->device)
        rig->device->ops->close(rig->device);
    rig->host->ops->close(rig->host);
    arena_free(rig->arena);
    free(rig);
    return 0;
}

/* Returns the rig; skips the test without a device. */
static inline struct rig *rig_of(void **state)
{
    struct rig *rig = *state;
    if (!rig->device) {
        printf("# skipped: no OpenCL device\n");
        skip();
    }
    rig_start(rig);
    return rig;
}

/* A task over columns, filled in by the functions below; the test releases `columns`. */
struct setup {
    struct task task;
    int64_t rows; /* analysed row count */
    struct column *columns[MOST_INPUTS];
    struct input inputs[MOST_INPUTS];
    struct filter filters[MOST_RESULTS];
    struct output outputs[MOST_RESULTS];
    struct aggregate aggregates[MOST_RESULTS];
};

static const struct span nowhere = {0};

static inline struct setup *setup_new(struct rig *rig, enum sink sink)
{
    struct setup *setup = arena_alloc(rig->arena, sizeof *setup);
    struct task *task = &setup->task;
    task->inputs = setup->inputs;
    task->filters = setup->filters;
    task->outputs = setup->outputs;
    task->aggregates = setup->aggregates;
    task->sink = sink;
    task->window = (struct window){.take = INT64_MAX, .tail = -1};
    task->limit = INT64_MAX;
    code_init(&task->code, rig->arena);
    return setup;
}

static inline void setup_free(struct setup *setup)
{
    for (size_t k = 0; k < setup->task.input_count; k++)
        column_unref(setup->columns[k]);
}

/* Adopts the column; returns its value. */
static inline value setup_input(struct setup *setup, struct column *column)
{
    struct task *task = &setup->task;
    size_t k = task->input_count++;
    setup->columns[k] = column;
    setup->inputs[k] = (struct input){.column = column, .type = column->type, .name = "x"};
    return code_input(&task->code, (int64_t)k, type_table[column->type].kind, nowhere);
}

static inline void setup_filter(struct setup *setup, value keep)
{
    setup->filters[setup->task.filter_count++] = (struct filter){keep, nowhere};
}

static inline void setup_output(struct setup *setup, value v, enum type type)
{
    setup->outputs[setup->task.output_count++] = (struct output){.value = v, .name = "y", .type = type, .needed = true};
}

static inline void setup_aggregate(struct setup *setup, enum aggregate_kind kind, value v)
{
    setup->aggregates[setup->task.aggregate_count++] =
        (struct aggregate){.kind = kind, .value = v, .name = "a", .span = nowhere};
}

static inline value op2(struct setup *setup, enum op op, value a, value b)
{
    return code_op(&setup->task.code, op, a, b, NO_VALUE, nowhere);
}

static inline value int_literal(struct setup *setup, int64_t n)
{
    return code_int(&setup->task.code, n, nowhere);
}

/* `rows` elements, small if `mild`, else of any size. */
static inline struct column *random_column(struct random *random, enum type type, int64_t rows, bool mild)
{
    const struct type_info *info = &type_table[type];
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t row = 0; row < rows; row++) {
        void *at = column_at(column, row);
        if (info->kind == KIND_FLOAT) {
            double number = mild ? (double)random_below(random, 2001) / 8 - 125 : random_float(random);
            float narrow = (float)number;
            if (type == TYPE_F32)
                memcpy(at, &narrow, sizeof narrow);
            else
                memcpy(at, &number, sizeof number);
        } else {
            int64_t lo = mild && info->lo < -100 ? -100 : info->lo, hi = mild && info->hi > 100 ? 100 : info->hi;
            int64_t integer = random_within(random, lo, hi);
            memcpy(at, &integer, info->size); /* little-endian */
        }
    }
    column_finish(column, rows);
    return column;
}

static inline void setup_analyse(struct setup *setup, int64_t rows)
{
    setup->rows = rows;
    optimize_task(&setup->task, setup->columns, rows);
}

static inline struct job setup_job(struct rig *rig, struct setup *setup, int64_t begin, int64_t end)
{
    return (struct job){.task = &setup->task,
                        .columns = setup->columns,
                        .rows = setup->rows,
                        .begin = begin,
                        .end = end,
                        .timing = &rig->timing,
                        .cancel = &rig->cancel,
                        .diags = &rig->diags};
}

/* Runs on the rig's accelerator as cl.c does on its own. */
static inline enum status run_shaped(struct rig *rig, const struct job *job, struct agg_state *states,
                                     struct row_sink *sink, bool *flagged)
{
    const struct task *task = job->task;
    enum type inputs[MOST_INPUTS], outputs[MOST_RESULTS] = {TYPE_BOOL};
    struct kernel_plan plan;
    for (size_t k = 0; k < task->input_count; k++)
        inputs[k] = job->columns[k]->store;
    for (size_t k = 0; sink && k < task->output_count; k++)
        outputs[k] = sink->columns[k]->store;
    if (!kernel_plan_make(&plan, task, rig->accelerator->config, inputs, outputs, rig->arena))
        return STATUS_UNABLE;
    struct program *program = program_for(rig->accelerator, &plan, job->diags);
    if (!program)
        fail_msg("%s", job->diags->at[job->diags->count - 1].message);
    if (!program->launched)
        assert_true(launch_warm_up(rig->accelerator, &plan, program, job));
    const struct execution execution = {rig->accelerator, &plan, program, job};
    return sink ? execute_rows(&execution, sink, flagged) : execute_aggregate(&execution, states, flagged);
}

static inline enum status run_on_device(struct rig *rig, const struct job *job, struct agg_state *states,
                                        struct row_sink *sink, bool *flagged)
{
    struct backend *device = rig->device;
    if (rig->accelerator)
        return run_shaped(rig, job, states, sink, flagged);
    enum status status = device->ops->prepare(device, job);
    if (status != STATUS_OK)
        return status;
    assert_true(device->ops->range_rows(device, job) >= 4096);
    return sink ? device->ops->rows(device, job, sink, flagged) : device->ops->aggregate(device, job, states, flagged);
}

static inline struct agg_state *new_states(struct rig *rig, const struct task *task)
{
    struct agg_state *states = arena_array(rig->arena, task->aggregate_count + 1, sizeof *states);
    for (size_t k = 0; k < task->aggregate_count; k++)
        agg_init(&states[k], &task->aggregates[k], &task->code);
    return states;
}

/* A sink for `rows` rows after `before` existing ones. */
static inline struct row_sink new_sink(struct rig *rig, struct setup *setup, int64_t before, int64_t rows)
{
    const struct task *task = &setup->task;
    struct row_sink sink = {arena_array(rig->arena, task->output_count + 1, sizeof(struct column *)), before};
    for (size_t k = 0; k < task->output_count; k++) {
        enum type store = output_store(task, &task->outputs[k], setup->columns);
        if (task->outputs[k].needed)
            sink.columns[k] = column_reserve(task->outputs[k].type, store, before + rows);
    }
    return sink;
}

static inline void sink_free(const struct row_sink *sink, const struct task *task)
{
    for (size_t k = 0; k < task->output_count; k++)
        column_unref(sink->columns[k]);
}

static inline void assert_same_number(double a, double b)
{
    if (memcmp(&a, &b, sizeof a) != 0 && !(isnan(a) && isnan(b)))
        fail_msg("%a is not %a", a, b);
}

static inline void assert_same_aggregates(struct rig *rig, const struct task *task, const struct agg_state *got,
                                          const struct agg_state *wanted)
{
    for (size_t k = 0; k < task->aggregate_count; k++) {
        struct scalar a = {0}, b = {0};
        bool certain = true, b_certain = true;
        enum status status = agg_finish(&got[k], &task->aggregates[k], &a, &certain, &rig->diags);
        assert_int_equal(status, agg_finish(&wanted[k], &task->aggregates[k], &b, &b_certain, &rig->diags));
        if (status != STATUS_OK || !certain)
            continue;
        assert_int_equal(a.kind, b.kind);
        if (a.kind == KIND_FLOAT)
            assert_same_number(a.number, b.number);
        else if (a.integer != b.integer)
            fail_msg("aggregate %zu of kind %d: %lld is not %lld", k, (int)task->aggregates[k].kind,
                     (long long)a.integer, (long long)b.integer);
    }
}

static inline void assert_same_rows(const struct task *task, const struct row_sink *got, const struct row_sink *wanted,
                                    int64_t before)
{
    assert_int_equal(got->rows, wanted->rows);
    for (size_t k = 0; k < task->output_count; k++) {
        if (!task->outputs[k].needed)
            continue;
        assert_true(column_fetch(got->columns[k], before, got->rows));
        assert_null(got->columns[k]->residency);
        size_t size = type_table[got->columns[k]->store].size;
        size_t bytes = (size_t)(got->rows - before) * size;
        if (bytes == 0 || memcmp(column_at(got->columns[k], before), column_at(wanted->columns[k], before), bytes) == 0)
            continue;
        for (int64_t row = before; row < got->rows; row++) {
            if (type_table[got->columns[k]->store].kind == KIND_FLOAT)
                assert_same_number(column_get_float(got->columns[k], row), column_get_float(wanted->columns[k], row));
            else if (column_get_int(got->columns[k], row) != column_get_int(wanted->columns[k], row))
                fail_msg("output %zu, row %lld: %lld is not %lld", k, (long long)row,
                         (long long)column_get_int(got->columns[k], row),
                         (long long)column_get_int(wanted->columns[k], row));
        }
    }
}

/* Runs rows begin .. end-1 of an analysed task on both and compares; returns STATUS_UNABLE if the device does.
 * *flagged is the device's: it may flag more than the evaluator, never less. */
static inline enum status compare(struct rig *rig, struct setup *setup, int64_t begin, int64_t end, bool *flagged)
{
    const int64_t before = 5; /* existing rows, to be kept */
    const struct task *task = &setup->task;
    struct job job = setup_job(rig, setup, begin, end);
    bool host_flagged = false;
    enum status status;
    *flagged = false;
    if (task->sink == SINK_AGGREGATE) {
        struct agg_state *got = new_states(rig, task), *wanted = new_states(rig, task);
        status = run_on_device(rig, &job, got, NULL, flagged);
        assert_int_equal(rig->host->ops->aggregate(rig->host, &job, wanted, &host_flagged), STATUS_OK);
        if (status == STATUS_OK && !*flagged && !host_flagged)
            assert_same_aggregates(rig, task, got, wanted);
    } else {
        struct row_sink got = new_sink(rig, setup, before, end - begin);
        struct row_sink wanted = new_sink(rig, setup, before, end - begin);
        status = run_on_device(rig, &job, NULL, &got, flagged);
        assert_int_equal(rig->host->ops->rows(rig->host, &job, &wanted, &host_flagged), STATUS_OK);
        if (status == STATUS_OK && !*flagged && !host_flagged)
            assert_same_rows(task, &got, &wanted, before);
        sink_free(&got, task);
        sink_free(&wanted, task);
    }
    if (status == STATUS_OK && host_flagged && !*flagged)
        fail_msg("the evaluator raised the flag and the device did not");
    rig->compared += status == STATUS_OK;
    rig->flagged += status == STATUS_OK && *flagged;
    return status;
}

#endif
