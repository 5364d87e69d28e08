/* Running tasks: queues, fused and not, against row-by-row interpretation; devices that give up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/exact/exact.h"
#include "engine/optimize/optimize.h"
#include "engine/task/run_queue.h"
#include "engine/task/run_task.h"
#include "evaluators.h"
#include "random_code.h"

#include <math.h>

enum { INPUTS = 3, TASKS = 3, MOST_ROWS = 60, OPERATIONS = 14, QUEUES = 4000 };

static const struct span nowhere = {0};
static const enum kind kinds[INPUTS] = {KIND_INT, KIND_FLOAT, KIND_BOOL};

/* Three chained tasks of INPUTS columns each; the last outputs rows or a sum. */
struct chain {
    struct arena *arena;
    struct diags diags;
    struct queue queue;
    struct column *columns[INPUTS];
    int64_t rows;
    /* The reference: the rows that each task keeps. */
    int64_t *kept[TASKS];
    int64_t kept_count[TASKS];
};

static struct column *random_column(struct random *random, enum kind kind, int64_t rows, bool tame)
{
    struct column *column = column_reserve(type_of_kind(kind), type_of_kind(kind), rows);
    for (int64_t i = 0; i < rows; i++) {
        void *at = column_at(column, i);
        if (kind == KIND_FLOAT)
            *(double *)at = tame ? random_below(random, 9) - 4 : random_float(random);
        else if (kind == KIND_BOOL)
            *(uint8_t *)at = (uint8_t)random_below(random, 2);
        else
            *(int64_t *)at = tame ? random_below(random, 9) - 4 : random_int(random);
    }
    column_finish(column, rows);
    column->range_known = tame;
    column->lo = -4;
    column->hi = 4;
    return column;
}

static void add_outputs(struct random *random, struct task *task)
{
    task->output_count = INPUTS;
    task->outputs = arena_array(task->code.arena, INPUTS, sizeof *task->outputs);
    for (size_t k = 0; k < INPUTS; k++)
        task->outputs[k] = (struct output){
            .value = random_value(random, &task->code, kinds[k]), .name = "c", .type = type_of_kind(kinds[k])};
}

static void add_task(struct chain *chain, struct random *random, struct task *before)
{
    struct task *task = queue_add(&chain->queue);
    task->rows = before ? -1 : chain->rows;
    task->rows_from = before;
    task->inputs = arena_array(chain->arena, INPUTS, sizeof *task->inputs);
    task->input_count = INPUTS;
    for (size_t k = 0; k < INPUTS; k++)
        task->inputs[k] = (struct input){.column = before ? NULL : chain->columns[k],
                                         .task = before,
                                         .output = k,
                                         .type = type_of_kind(kinds[k]),
                                         .name = "c"};
    random_code(random, &task->code, kinds, INPUTS, random_below(random, OPERATIONS));
    task->filters = arena_array(chain->arena, 1, sizeof *task->filters);
    task->filters[0].keep = random_value(random, &task->code, KIND_BOOL);
    switch (random_below(random, 4)) {
    case 0:
        task->filter_count = 1;
        break;
    case 1:
        task->window.skip = random_below(random, MOST_ROWS / 4);
        task->window.take = random_below(random, MOST_ROWS);
        break;
    case 2:
        task->window.tail = random_below(random, MOST_ROWS);
        break;
    default:
        break;
    }
    add_outputs(random, task);
}

static void chain_init(struct chain *chain, struct random *random)
{
    *chain = (struct chain){.arena = arena_new(), .rows = random_below(random, MOST_ROWS)};
    diags_init(&chain->diags, chain->arena);
    queue_init(&chain->queue, chain->arena);
    bool tame = random_below(random, 4) != 0;
    for (int k = 0; k < INPUTS; k++)
        queue_hold(&chain->queue, chain->columns[k] = random_column(random, kinds[k], chain->rows, tame));
    for (int t = 0; t < TASKS; t++)
        add_task(chain, random, t > 0 ? chain->queue.tasks[t - 1] : NULL);
    struct task *last = chain->queue.tasks[TASKS - 1];
    if (random_below(random, 2) == 0) {
        struct aggregate sum = {.kind = AGG_SUM, .value = random_value(random, &last->code, KIND_INT)};
        last->sink = SINK_AGGREGATE;
        last->aggregate_count = 1;
        last->aggregates = arena_array(chain->arena, 1, sizeof sum);
        last->aggregates[0] = sum;
        last->output_count = 0;
        last->window = (struct window){.take = INT64_MAX, .tail = -1};
    }
    queue_prune(&chain->queue);
}

static void chain_free(struct chain *chain)
{
    queue_release(&chain->queue);
    arena_free(chain->arena);
}

/* A value of task t at a row, through all earlier tasks. */
static struct cell value_at(const struct chain *chain, int t, int64_t row, value v)
{
    const struct task *task = chain->queue.tasks[t];
    struct cell inputs[INPUTS];
    for (size_t k = 0; k < INPUTS; k++) {
        if (t > 0)
            inputs[k] = value_at(chain, t - 1, chain->kept[t - 1][row], chain->queue.tasks[t - 1]->outputs[k].value);
        else if (kinds[k] == KIND_FLOAT)
            inputs[k] = (struct cell){.number = column_get_float(chain->columns[k], row)};
        else
            inputs[k] = (struct cell){.integer = column_get_int(chain->columns[k], row)};
    }
    struct cell *cells = calloc((size_t)task->code.count, sizeof *cells);
    assert_non_null(cells);
    struct cell result = lazy_value(&task->code, v, inputs, row, cells);
    free(cells);
    return result;
}

/* Finds the rows that task t keeps; false if a filter fails. */
static bool keep_rows(struct chain *chain, int t, int64_t rows)
{
    const struct task *task = chain->queue.tasks[t];
    chain->kept[t] = arena_array(chain->arena, (size_t)rows + 1, sizeof(int64_t));
    int64_t count = 0;
    for (int64_t row = 0; row < rows; row++) {
        struct cell keep = {.integer = 1};
        if (task->filter_count > 0)
            keep = value_at(chain, t, row, task->filters[0].keep);
        if (keep.failed)
            return false;
        if (keep.integer)
            chain->kept[t][count++] = row;
    }
    int64_t begin = task->window.skip < count ? task->window.skip : count;
    if (task->window.tail >= 0)
        begin = count > task->window.tail ? count - task->window.tail : 0;
    int64_t left = count - begin;
    chain->kept_count[t] = left < task->window.take ? left : task->window.take;
    memmove(chain->kept[t], chain->kept[t] + begin, (size_t)chain->kept_count[t] * sizeof(int64_t));
    return true;
}

static bool keep_all_rows(struct chain *chain)
{
    int64_t rows = chain->rows;
    for (int t = 0; t < TASKS; t++) {
        if (!keep_rows(chain, t, rows))
            return false;
        rows = chain->kept_count[t];
    }
    return true;
}

/* Checks the result against row-by-row evaluation, errors included. */
static void check_result(const struct chain *chain, bool kept, enum status status, const struct result *result)
{
    const struct task *last = chain->queue.tasks[TASKS - 1];
    bool failed = !kept;
    int128 sum = 0;
    for (int64_t i = 0; i < chain->kept_count[TASKS - 1] && kept; i++) {
        int64_t row = chain->kept[TASKS - 1][i];
        if (last->sink == SINK_AGGREGATE) {
            struct cell cell = value_at(chain, TASKS - 1, row, last->aggregates[0].value);
            failed = failed || cell.failed;
            sum += cell.integer;
        }
        for (size_t k = 0; k < last->output_count; k++) {
            struct cell cell = value_at(chain, TASKS - 1, row, last->outputs[k].value);
            failed = failed || cell.failed;
            if (failed || status != STATUS_OK)
                continue;
            struct scalar actual = column_get(result->relation->columns[k], i);
            if (kinds[k] == KIND_FLOAT)
                assert_true(actual.number == cell.number || (isnan(actual.number) && isnan(cell.number)));
            else
                assert_true(actual.integer == cell.integer);
        }
    }
    assert_int_equal(status, failed ? STATUS_FAILED : STATUS_OK);
    if (status == STATUS_OK && last->sink == SINK_AGGREGATE)
        assert_true(result->scalar.integer == sum);
    else if (status == STATUS_OK)
        assert_int_equal(result->relation->rows, chain->kept_count[TASKS - 1]);
}

/* Runs fused and unfused, and exactly on the fused and the bound queue. */
static void queues_agree(void **state)
{
    struct backend *evaluator = *state;
    int right = 0;
    for (uint64_t seed = 1; seed <= QUEUES; seed++) {
        struct random random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
        struct chain chain;
        chain_init(&chain, &random);
        bool kept = keep_all_rows(&chain);
        for (int way = 0; way < 4; way++) {
            struct result result = {.kind = RESULT_NONE};
            struct runner runner = {.evaluator = evaluator, .fusion = way == 0};
            struct queue fused;
            queue_init(&fused, chain.arena);
            optimize_queue(&chain.queue, &fused);
            enum status status = way < 2
                                     ? run_queue(&runner, &chain.queue, DEFER_NEVER, &result, &chain.diags)
                                     : exact_run(way == 2 ? &fused : &chain.queue, NULL, NULL, &result, &chain.diags);
            check_result(&chain, kept, status, &result);
            right += status == STATUS_OK;
            relation_unref(result.relation);
            queue_release(&fused);
        }
        chain_free(&chain);
    }
    assert_in_range(right, QUEUES, 4 * QUEUES - QUEUES / 4); /* some fail, some do not */
}

/* A device that takes small ranges and gives up for good after some of them. */
struct weak_device {
    struct backend base;
    struct backend *evaluator;
    int ranges_left; /* -1: prepare fails */
    int64_t stored;  /* rows of ranges whose results were stored */
};

static enum status give_up(const struct job *job)
{
    diag_note(job->diags, nowhere, "the device is out of memory");
    return STATUS_UNABLE;
}

static enum status weak_prepare(struct backend *backend, const struct job *job)
{
    return ((struct weak_device *)backend)->ranges_left < 0 ? give_up(job) : STATUS_OK;
}

static int64_t weak_range_rows(struct backend *backend, const struct job *job)
{
    (void)backend, (void)job;
    return 5000; /* the engine rounds it to 4096 */
}

static enum status weak_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                  bool *flagged)
{
    struct weak_device *device = (struct weak_device *)backend;
    assert_int_equal(job->begin % 4096, 0);
    enum status status = device->evaluator->ops->aggregate(device->evaluator, job, states, flagged);
    return device->ranges_left-- > 0 ? status : give_up(job); /* with states corrupted */
}

static enum status weak_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    struct weak_device *device = (struct weak_device *)backend;
    device->stored += sink->columns[0] ? job->end - job->begin : 0;
    enum status status = device->evaluator->ops->rows(device->evaluator, job, sink, flagged);
    return device->ranges_left-- > 0 ? status : give_up(job);
}

static void devices_may_give_up(void **state)
{
    static const struct backend_ops ops = {
        .prepare = weak_prepare, .range_rows = weak_range_rows, .aggregate = weak_aggregate, .rows = weak_rows};
    const int64_t rows = 30000;
    struct arena *arena = arena_new();
    struct diags diags;
    struct queue queue;
    queue_init(&queue, arena);
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, rows);
    for (int64_t i = 0; i < rows; i++)
        *(int64_t *)column_at(column, i) = i % 1000;
    column_finish(column, rows);
    for (int ranges = -1; ranges < 9; ranges++) {
        struct weak_device device = {.base = {.ops = &ops, .name = "weak"}, .evaluator = *state};
        const struct runner runner = {.evaluator = *state, .device = &device.base};
        for (int sink = SINK_ROWS; sink <= SINK_AGGREGATE; sink++) {
            struct task *task = queue_add(&queue);
            value v = code_input(&task->code, 0, KIND_INT, nowhere);
            struct filter filter = {
                .keep = code_op(&task->code, OP_LT, v, code_int(&task->code, 500, nowhere), NO_VALUE, nowhere)};
            struct aggregate sum = {.kind = AGG_SUM, .value = v};
            struct output output = {.value = v, .name = "c", .type = TYPE_I64, .needed = true};
            struct input input = {.column = column, .type = TYPE_I64};
            task->inputs = &input;
            task->input_count = task->filter_count = 1;
            task->filters = &filter;
            task->sink = (enum sink)sink;
            task->outputs = &output;
            task->output_count = sink == SINK_ROWS;
            task->aggregates = &sum;
            task->aggregate_count = sink == SINK_AGGREGATE;
            device.ranges_left = ranges;
            diags_init(&diags, arena);
            struct outcome outcome;
            assert_int_equal(run_task(&runner, task, &column, rows, DEFER_NEVER, arena, &outcome, &diags), STATUS_OK);
            assert_false(outcome.flagged);
            assert_int_equal(diags.count, ranges < 8); /* one note unless all eight ranges ran */
            if (sink == SINK_AGGREGATE)
                assert_true(outcome.scalar.integer == 30 * (499 * 500 / 2));
            else
                assert_int_equal(outcome.rows, 15000);
            for (int64_t i = 0; i < outcome.rows && sink == SINK_ROWS; i++)
                assert_int_equal(column_get_int(outcome.columns[0], i), i % 500);
            outcome_release(&outcome, task);
        }
    }
    column_unref(column);
    arena_free(arena);
}

/* select(100 / x > 0) | skip 5 | take 10 over 1, 2, ...: the predicate is evaluated for every row, but only the rows
 * needed are stored. */
static void windows_store_little(void **state)
{
    static const struct backend_ops ops = {.prepare = weak_prepare, .range_rows = weak_range_rows, .rows = weak_rows};
    enum { ROWS = 1000000 };
    static const int64_t zeroes_at[] = {-1, 3, 500000, ROWS - 1};
    struct arena *arena = arena_new();
    struct diags diags;
    struct queue queue;
    queue_init(&queue, arena);
    for (size_t i = 0; i < sizeof zeroes_at / sizeof *zeroes_at; i++) {
        struct column *column = column_reserve(TYPE_I64, TYPE_I64, ROWS);
        for (int64_t row = 0; row < ROWS; row++)
            *(int64_t *)column_at(column, row) = row == zeroes_at[i] ? 0 : 1 + row % 2000;
        column_finish(column, ROWS);
        struct task *task = queue_add(&queue);
        value v = code_input(&task->code, 0, KIND_INT, nowhere);
        value hundred = code_int(&task->code, 100, nowhere), zero = code_int(&task->code, 0, nowhere);
        value quotient = code_op(&task->code, OP_DIV, hundred, v, NO_VALUE, nowhere);
        struct filter filter = {.keep = code_op(&task->code, OP_LT, zero, quotient, NO_VALUE, nowhere)};
        struct output output = {.value = quotient, .name = "c", .type = TYPE_I64, .needed = true};
        struct input input = {.column = column, .type = TYPE_I64, .name = "x"};
        task->inputs = &input;
        task->filters = &filter;
        task->outputs = &output;
        task->input_count = task->filter_count = task->output_count = 1;
        task->window = (struct window){.skip = 5, .take = 10, .tail = -1};
        diags_init(&diags, arena);
        struct weak_device device = {.base = {.ops = &ops}, .evaluator = *state, .ranges_left = ROWS};
        for (int weak = 0; weak < 2; weak++) {
            const struct runner runner = {.evaluator = *state, .device = weak ? &device.base : NULL};
            struct outcome outcome;
            enum status wanted = zeroes_at[i] >= 0 ? STATUS_FAILED : STATUS_OK;
            assert_int_equal(run_task(&runner, task, &column, ROWS, DEFER_NEVER, arena, &outcome, &diags), wanted);
            assert_int_equal(outcome.flagged, zeroes_at[i] >= 0);
            assert_true(output.needed);
            if (!outcome.flagged) {
                assert_int_equal(outcome.rows, 10);
                assert_int_equal(outcome.columns[0]->rows, 10);
                for (int64_t row = 0; row < 10; row++)
                    assert_int_equal(column_get_int(outcome.columns[0], row), 100 / (6 + row));
            }
            outcome_release(&outcome, task);
        }
        assert_in_range(device.stored, 1, 100000);
        column_unref(column);
    }
    arena_free(arena);
}

/* An evaluator that flags ranges needlessly. */
struct wary_evaluator {
    struct backend base;
    struct backend *evaluator;
    int64_t row; /* flags this row's range; -1: all */
};

static bool is_wary_of(const struct backend *backend, const struct job *job)
{
    const int64_t row = ((const struct wary_evaluator *)backend)->row;
    return row < 0 || (job->begin <= row && row < job->end);
}

static enum status wary_aggregate(struct backend *backend, const struct job *job, struct agg_state *states,
                                  bool *flagged)
{
    struct backend *evaluator = ((struct wary_evaluator *)backend)->evaluator;
    enum status status = evaluator->ops->aggregate(evaluator, job, states, flagged);
    *flagged = *flagged || is_wary_of(backend, job);
    return status;
}

static enum status wary_rows(struct backend *backend, const struct job *job, struct row_sink *sink, bool *flagged)
{
    struct backend *evaluator = ((struct wary_evaluator *)backend)->evaluator;
    enum status status = evaluator->ops->rows(evaluator, job, sink, flagged);
    *flagged = *flagged || is_wary_of(backend, job);
    return status;
}

/* select x < 1900 | map 100 / x: flagged ranges are recomputed exactly, on a device or the evaluator. */
static void flags_without_need_are_resolved(void **state)
{
    enum { ROWS = 300000 };
    struct backend *evaluator = *state;
    struct backend_ops ops = *evaluator->ops;
    static const int64_t wary_of[] = {-1, 0, 150000, ROWS - 1};
    ops.aggregate = wary_aggregate;
    ops.rows = wary_rows;
    struct arena *arena = arena_new();
    struct queue queue;
    queue_init(&queue, arena);
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, ROWS);
    int64_t sum = 0, passed = 0;
    for (int64_t row = 0; row < ROWS; row++) {
        int64_t x = 1 + row % 2000;
        *(int64_t *)column_at(column, row) = x;
        sum += x < 1900 ? 100 / x : 0;
        passed += x < 1900;
    }
    column_finish(column, ROWS);
    struct task *task = queue_add(&queue);
    value v = code_input(&task->code, 0, KIND_INT, nowhere);
    value hundred = code_int(&task->code, 100, nowhere), most = code_int(&task->code, 1900, nowhere);
    value quotient = code_op(&task->code, OP_DIV, hundred, v, NO_VALUE, nowhere);
    struct filter filter = {.keep = code_op(&task->code, OP_LT, v, most, NO_VALUE, nowhere)};
    struct output output = {.value = quotient, .name = "c", .type = TYPE_I64, .needed = true};
    struct aggregate aggregate = {.kind = AGG_SUM, .value = quotient};
    struct input input = {.column = column, .type = TYPE_I64, .name = "x"};
    task->inputs = &input;
    task->filters = &filter;
    task->outputs = &output;
    task->aggregates = &aggregate;
    task->input_count = task->filter_count = 1;
    for (size_t i = 0; i < 4 * (sizeof wary_of / sizeof *wary_of); i++) {
        struct wary_evaluator wary = {.base = {.ops = &ops, .name = "wary"}, .evaluator = evaluator};
        wary.row = wary_of[i / 4];
        const bool aggregates = i % 2, is_device = i / 2 % 2;
        const struct runner runner = {.evaluator = is_device ? evaluator : &wary.base,
                                      .device = is_device ? &wary.base : NULL};
        task->sink = aggregates ? SINK_AGGREGATE : SINK_ROWS;
        task->output_count = !aggregates;
        task->aggregate_count = aggregates;
        struct diags diags;
        diags_init(&diags, arena);
        struct outcome outcome;
        assert_int_equal(run_task(&runner, task, &column, ROWS, DEFER_NEVER, arena, &outcome, &diags), STATUS_OK);
        assert_false(outcome.flagged);
        assert_int_equal(diags.count, 0);
        if (aggregates)
            assert_true(outcome.scalar.integer == sum);
        else
            assert_int_equal(outcome.rows, passed);
        for (int64_t row = 0; row < outcome.rows && !aggregates; row++)
            assert_int_equal(column_get_int(outcome.columns[0], row), 100 / (1 + row % 1899));
        outcome_release(&outcome, task);
    }
    column_unref(column);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queues_agree),
        cmocka_unit_test(devices_may_give_up),
        cmocka_unit_test(windows_store_little),
        cmocka_unit_test(flags_without_need_are_resolved),
    };
    return cmocka_run_group_tests_name("run_task", tests, open_evaluator, close_evaluator);
}
