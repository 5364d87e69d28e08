/* The evaluator where random tests do not reach: large row numbers, failures in one block, timing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/optimize/passes.h"
#include "engine/task/run_task.h"
#include "evaluators.h"

#include <stdlib.h>
#include <string.h>

static const struct span nowhere = {0};

/* Creates a queue's only task. */
static struct task *new_task(struct arena *arena, struct diags *diags, struct queue *queue)
{
    diags_init(diags, arena);
    queue_init(queue, arena);
    return queue_add(queue);
}

/* A task without inputs over a few large row numbers, its only value. */
static void far_rows(void **state)
{
    struct backend *evaluator = *state;
    struct arena *arena = arena_new();
    struct diags diags;
    struct queue queue;
    struct task *task = new_task(arena, &diags, &queue);
    value row = code_row(&task->code, nowhere);
    struct filter odd = {
        .keep = code_op(&task->code, OP_EQ, code_int(&task->code, 1, nowhere),
                        code_op(&task->code, OP_BITAND, row, code_int(&task->code, 1, nowhere), NO_VALUE, nowhere),
                        NO_VALUE, nowhere)};
    struct aggregate sum = {.kind = AGG_SUM, .value = row};
    task->rows = INT64_C(1) << 33;
    task->sink = SINK_AGGREGATE;
    task->aggregates = &sum;
    task->aggregate_count = 1;
    range_analyse(task, NULL, task->rows);
    const int64_t begin = INT64_C(1) << 32;
    struct job job = {.task = task, .begin = begin - 3, .end = begin + 4, .diags = &diags};
    for (int filtered = 0; filtered < 2; filtered++) {
        task->filters = &odd;
        task->filter_count = (size_t)filtered;
        bool flagged = false;
        struct agg_state state_of;
        agg_init(&state_of, &sum, &task->code);
        assert_int_equal(evaluator->ops->aggregate(evaluator, &job, &state_of, &flagged), STATUS_OK);
        assert_false(flagged);
        assert_int_equal((int64_t)state_of.sum, filtered ? 4 * begin : 7 * begin);
    }
    arena_free(arena);
}

/* select(c, 1 / x + 1 / y, 0) over rows (c, x, y): c guards both divisions, so failures count only where it holds,
 * whichever failed last. */
static void failures_of_one_guard_add_up(void **state)
{
    static const struct {
        uint8_t c[2];
        int64_t x[2], y[2];
        bool flagged;
    } cases[] = {
        {{1, 0}, {1, 0}, {1, 0}, false}, {{1, 0}, {0, 1}, {1, 0}, true},  {{0, 1}, {1, 0}, {0, 1}, true},
        {{1, 0}, {1, 0}, {0, 1}, true},  {{0, 0}, {0, 0}, {0, 0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new();
        struct diags diags;
        struct queue queue;
        struct task *task = new_task(arena, &diags, &queue);
        struct code *code = &task->code;
        struct column *columns[3] = {column_reserve(TYPE_BOOL, TYPE_BOOL, 2), column_of_ints(cases[i].x, 2),
                                     column_of_ints(cases[i].y, 2)};
        memcpy(column_at(columns[0], 0), cases[i].c, 2);
        column_finish(columns[0], 2);
        struct input inputs[3] = {
            {.type = TYPE_BOOL, .name = "c"}, {.type = TYPE_I64, .name = "x"}, {.type = TYPE_I64, .name = "y"}};
        value c = code_input(code, 0, KIND_BOOL, nowhere), one = code_int(code, 1, nowhere);
        value x = code_op(code, OP_DIV, one, code_input(code, 1, KIND_INT, nowhere), NO_VALUE, nowhere);
        value y = code_op(code, OP_DIV, one, code_input(code, 2, KIND_INT, nowhere), NO_VALUE, nowhere);
        value sum = code_op(code, OP_ADD, x, y, NO_VALUE, nowhere);
        struct output output = {.value = code_op(code, OP_SELECT, c, sum, code_int(code, 0, nowhere), nowhere),
                                .needed = true};
        output.type = TYPE_I64;
        task->inputs = inputs;
        task->input_count = 3;
        task->outputs = &output;
        task->output_count = 1;
        const struct runner runner = {.evaluator = *state};
        struct outcome outcome;
        enum status wanted = cases[i].flagged ? STATUS_FAILED : STATUS_OK;
        assert_int_equal(run_task(&runner, task, columns, 2, DEFER_NEVER, arena, &outcome, &diags), wanted);
        assert_int_equal(outcome.flagged, cases[i].flagged);
        outcome_release(&outcome, task);
        for (int k = 0; k < 3; k++)
            column_unref(columns[k]);
        arena_free(arena);
    }
}

enum { STRETCHES = 6, STRETCH = 50001, SIEVED = STRETCHES * STRETCH };

/* The amounts, or their sum, where id == 42 && amount > 0 && amount % 3 == 0, as one filter or three. The share of rows
 * with id 42 differs for each stretch of rows. */
static void few_rows_are_gathered(void **state)
{
    struct backend *alone = evaluator_open_threads(1);
    static const int apart[STRETCHES] = {900, 1, SIEVED, 60, 2048, 3};
    struct column *columns[3] = {column_reserve(TYPE_I64, TYPE_I16, SIEVED), column_reserve(TYPE_I64, TYPE_I32, SIEVED),
                                 column_reserve(TYPE_F64, TYPE_F64, SIEVED)};
    static int32_t kept[SIEVED];
    int64_t count = 0, sum = 0;
    for (int i = 0; i < SIEVED; i++) {
        const int32_t amount = (int32_t)((int64_t)i * 7919 % 20011) - 10000;
        const int16_t id = (int16_t)(i % STRETCH % apart[i / STRETCH] == 0 ? 42 : i % 41);
        const double number = amount / 4.0;
        memcpy(column_at(columns[0], i), &id, sizeof id);
        memcpy(column_at(columns[1], i), &amount, sizeof amount);
        memcpy(column_at(columns[2], i), &number, sizeof number);
        if (id == 42 && amount > 0 && amount % 3 == 0) {
            kept[count++] = amount;
            sum += amount;
        }
    }
    for (int k = 0; k < 3; k++)
        column_finish(columns[k], SIEVED);
    for (int way = 0; way < 16; way++) {
        const bool joined = way & 1, rows = way & 2, last = way & 4; /* last: id is filtered last */
        const bool workers = way & 8;
        struct arena *arena = arena_new();
        struct diags diags;
        struct queue queue;
        struct task *task = new_task(arena, &diags, &queue);
        struct code *code = &task->code;
        struct input inputs[3] = {{.type = TYPE_I64}, {.type = TYPE_I64}, {.type = TYPE_F64}};
        value id = code_input(code, 0, KIND_INT, nowhere), amount = code_input(code, 1, KIND_INT, nowhere);
        value number = code_input(code, 2, KIND_FLOAT, nowhere);
        value rest = code_op(code, OP_MOD, amount, code_int(code, 3, nowhere), NO_VALUE, nowhere);
        value keeps[3] = {
            code_op(code, OP_EQ, id, code_int(code, 42, nowhere), NO_VALUE, nowhere),
            code_op(code, OP_LT, code_float(code, 0, nowhere), number, NO_VALUE, nowhere),
            code_op(code, OP_EQ, rest, code_int(code, 0, nowhere), NO_VALUE, nowhere),
        };
        struct filter filters[3];
        for (int k = 0; k < 3; k++)
            filters[k] = (struct filter){.keep = keeps[last ? 2 - k : k]};
        for (int k = 1; k < 3 && joined; k++)
            filters[0].keep = code_op(code, OP_AND, filters[0].keep, filters[k].keep, NO_VALUE, nowhere);
        struct output output = {.value = amount, .type = TYPE_I64, .needed = true};
        struct aggregate total = {.kind = AGG_SUM, .value = amount};
        task->inputs = inputs;
        task->input_count = 3;
        task->filters = filters;
        task->filter_count = joined ? 1 : 3;
        task->outputs = &output;
        task->output_count = rows;
        task->sink = rows ? SINK_ROWS : SINK_AGGREGATE;
        task->aggregates = &total;
        task->aggregate_count = !rows;
        struct timing timing;
        timing_init(&timing, arena);
        const struct runner runner = {.evaluator = workers ? *state : alone, .timing = &timing};
        struct outcome outcome;
        assert_int_equal(run_task(&runner, task, columns, SIEVED, DEFER_NEVER, arena, &outcome, &diags), STATUS_OK);
        assert_false(outcome.flagged);
        if (rows)
            assert_int_equal(outcome.rows, count);
        else
            assert_int_equal(outcome.scalar.integer, sum);
        /* In half of the stretches, id 42 is rare enough to skip most of the other columns. With several workers,
         * that depends on the blocks each one sees. */
        const int64_t read = timing.events[0].bytes - rows * count * 8, all = SIEVED * (2 + 4 + 8);
        assert_true(workers || (read > all / 2 && read < all * 3 / 4));
        for (int64_t i = 0; i < count && rows; i++)
            assert_int_equal(column_get_int(outcome.columns[0], i), kept[i]);
        outcome_release(&outcome, task);
        arena_free(arena);
    }
    for (int k = 0; k < 3; k++)
        column_unref(columns[k]);
    alone->ops->close(alone);
}

/* Timing reports a task's name, time and bytes read. */
static void time_is_told(void **state)
{
    enum { ROWS = 1000 };
    struct arena *arena = arena_new();
    struct diags diags;
    struct queue queue;
    struct task *task = new_task(arena, &diags, &queue);
    static const int64_t zeroes[ROWS];
    struct column *column = column_of_ints(zeroes, ROWS);
    struct input input = {.type = TYPE_I64};
    struct stage_mark stages[] = {{.name = "load", .text = "load x.i64", .span = {.end = 10}},
                                  {.name = "sum", .text = "sum", .span = {.begin = 13, .end = 16}}};
    struct aggregate sum = {.kind = AGG_SUM, .value = code_input(&task->code, 0, KIND_INT, nowhere)};
    task->stages = stages;
    task->stage_count = 2;
    task->inputs = &input;
    task->input_count = 1;
    task->sink = SINK_AGGREGATE;
    task->aggregates = &sum;
    task->aggregate_count = 1;
    struct timing timing;
    timing_init(&timing, arena);
    const struct runner runner = {.evaluator = *state, .timing = &timing};
    struct outcome outcome;
    for (int64_t run = 1; run <= 2; run++) { /* runs of a task add up */
        assert_int_equal(run_task(&runner, task, &column, ROWS, DEFER_NEVER, arena, &outcome, &diags), STATUS_OK);
        assert_int_equal(timing.count, 1);
        assert_int_equal(timing.events[0].phase, PHASE_KERNEL);
        assert_string_equal(timing.events[0].name, "load+sum");
        assert_int_equal(timing.events[0].bytes, run * ROWS * 8);
        assert_true(timing.events[0].ns > 0);
    }
    timing_add(&timing, PHASE_BUILD, "load+sum", 5, 0);
    assert_int_equal(timing.count, 2); /* another phase is another event */
    timing_add(NULL, PHASE_BUILD, "load+sum", 5, 0);
    column_unref(column);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_rows),
        cmocka_unit_test(failures_of_one_guard_add_up),
        cmocka_unit_test(few_rows_are_gathered),
        cmocka_unit_test(time_is_told),
    };
    return cmocka_run_group_tests_name("eval_cases", tests, open_evaluator, close_evaluator);
}
