/* The vectorised and exact evaluators on random tasks, compared with a row-at-a-time reference. If the reference
 * fails, the task must be flagged and the exact evaluator must find the same row; unflagged results must agree in
 * every bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/exact/exact.h"
#include "engine/task/run_task.h"
#include "evaluators.h"
#include "random_code.h"

#include <math.h>
#include <stdio.h>

enum { INPUTS = 5, MOST_OUTPUTS = 4, MOST_FILTERS = 3 };

static const struct span nowhere = {0};

struct trial {
    struct arena *arena;
    struct diags diags;
    struct queue queue;
    struct task *task;
    struct column *columns[INPUTS];
    enum kind kinds[INPUTS];
    int64_t rows; /* the task reads; the columns have task->first more */
};

/* The expected result. */
struct expected {
    bool failed;
    int64_t failed_row;
    int64_t rows;
    struct cell *cells; /* of each output of each row */
    struct agg_state state;
};

/* Of any file type, bool, or i64 stored as i32. Tame columns hold small numbers, often with a known range. */
static struct column *random_column(struct random *random, int64_t rows, bool tame)
{
    enum type type = (enum type)random_below(random, TYPE_COUNT);
    enum type store = type == TYPE_I64 && random_below(random, 2) == 0 ? TYPE_I32 : type;
    const struct type_info *info = &type_table[store];
    struct column *column = column_reserve(type, store, rows);
    assert_non_null(column);
    int64_t lo = tame && info->lo < -20 ? -20 : info->lo;
    int64_t hi = tame && info->hi > 40 ? 40 : info->hi;
    for (int64_t i = 0; i < rows; i++) {
        void *at = column_at(column, i);
        int64_t integer = random_within(random, lo, hi);
        double number = tame ? (double)random_within(random, -20, 20) / 4 : random_float(random);
        if (store == TYPE_F32)
            *(float *)at = fabs(number) > 1e30 ? INFINITY : (float)number;
        else if (store == TYPE_F64)
            *(double *)at = number;
        else
            memcpy(at, &integer, info->size);
    }
    column_finish(column, rows);
    column->range_known = tame && info->kind == KIND_INT && random_below(random, 2) == 0;
    column->lo = lo;
    column->hi = hi;
    return column;
}

static struct cell cell_of(const struct column *column, int64_t row)
{
    if (type_table[column->type].kind == KIND_FLOAT)
        return (struct cell){.number = column_get_float(column, row)};
    return (struct cell){.integer = column_get_int(column, row)};
}

/* Favours late values, which are the most complex. */
static value late_value(struct random *random, const struct code *code)
{
    return code->count - 1 - random_below(random, 1 + random_below(random, code->count));
}

/* Adds a condition that an input equals its value in a random row: before or after the first filter's condition, or
 * as the only filter. */
static void add_rare(struct random *random, struct trial *trial)
{
    struct task *task = trial->task;
    struct code *code = &task->code;
    const int k = random_below(random, INPUTS);
    if (trial->kinds[k] != KIND_INT || trial->rows == 0)
        return;
    const int64_t element = column_get_int(trial->columns[k], task->first + random_below(random, (int)trial->rows));
    value rare = code_op(code, OP_EQ, code_input(code, k, KIND_INT, nowhere), code_int(code, element, nowhere),
                         NO_VALUE, nowhere);
    struct filter *first = &task->filters[0];
    if (task->filter_count == 0) {
        task->filter_count = 1;
        first->keep = rare;
    } else if (random_below(random, 2) == 0) {
        first->keep = code_op(code, OP_AND, rare, first->keep, NO_VALUE, nowhere);
    } else {
        first->keep = code_op(code, OP_AND, first->keep, rare, NO_VALUE, nowhere);
    }
}

static void add_filters(struct random *random, struct task *task)
{
    task->filter_count = (size_t)random_below(random, MOST_FILTERS + 1);
    task->filters = arena_array(task->code.arena, MOST_FILTERS, sizeof *task->filters);
    for (size_t i = 0; i < task->filter_count; i++) {
        value keep = random_value(random, &task->code, KIND_BOOL);
        if (i == 1) /* true often enough that rows pass */
            keep = code_op(&task->code, OP_OR, keep, random_value(random, &task->code, KIND_BOOL), NO_VALUE, nowhere);
        task->filters[i].keep = keep;
    }
}

static void add_window(struct random *random, struct trial *trial)
{
    struct window *window = &trial->task->window;
    int rows = (int)trial->rows + 2;
    switch (random_below(random, 4)) {
    case 0:
        window->skip = random_below(random, rows);
        break;
    case 1:
        window->skip = random_below(random, 3);
        window->take = random_below(random, rows);
        break;
    case 2:
        window->tail = random_below(random, rows);
        break;
    default:
        break;
    }
}

static void add_outputs(struct random *random, struct task *task)
{
    task->output_count = 1 + (size_t)random_below(random, MOST_OUTPUTS);
    task->outputs = arena_array(task->code.arena, MOST_OUTPUTS, sizeof *task->outputs);
    for (size_t k = 0; k < task->output_count; k++) {
        value v = random_below(random, 3) == 0 ? random_below(random, INPUTS) /* an unchanged input */
                                               : late_value(random, &task->code);
        const struct instr *instr = &task->code.at[v];
        task->outputs[k] = (struct output){.value = v, .name = "c", .needed = true};
        task->outputs[k].type = instr->op == OP_INPUT || instr->op == OP_GATHER ? task->inputs[instr->integer].type
                                                                                : type_of_kind(instr->kind);
    }
}

static void add_aggregate(struct random *random, struct task *task)
{
    task->sink = SINK_AGGREGATE;
    task->aggregate_count = 1;
    task->aggregates = arena_array(task->code.arena, 1, sizeof *task->aggregates);
    enum aggregate_kind kind = (enum aggregate_kind)random_below(random, AGG_FOLD + 2);
    kind = kind >= AGG_FOLD ? AGG_SUM : kind;
    value v = late_value(random, &task->code);
    if (kind >= AGG_BITAND)
        v = random_value(random, &task->code, KIND_INT);
    task->aggregates[0] = (struct aggregate){.kind = kind, .value = kind == AGG_COUNT ? NO_VALUE : v};
}

static void trial_init(struct trial *trial, struct random *random, int64_t rows, int operations)
{
    static const struct stage_mark stage = {.name = "map", .text = "map"};
    *trial = (struct trial){.arena = arena_new(), .rows = rows};
    diags_init(&trial->diags, trial->arena);
    queue_init(&trial->queue, trial->arena);
    struct task *task = trial->task = queue_add(&trial->queue);
    task->stages = arena_array(trial->arena, 1, sizeof *task->stages);
    task->stages[0] = stage;
    task->stage_count = 1;
    task->rows = rows;
    task->first = random_below(random, 3) == 0 ? random_below(random, 50) : 0;
    task->inputs = arena_array(trial->arena, INPUTS, sizeof *task->inputs);
    task->input_count = INPUTS;
    bool tame = random_below(random, 3) != 0;
    for (int k = 0; k < INPUTS; k++) {
        trial->columns[k] = random_column(random, rows + task->first, tame);
        trial->kinds[k] = type_table[trial->columns[k]->type].kind;
        task->inputs[k] = (struct input){.column = trial->columns[k], .type = trial->columns[k]->type, .name = "c"};
    }
    random_program(random, &task->code, trial->kinds, INPUTS, operations, random_below(random, 2) == 0);
    add_filters(random, task);
    if (random_below(random, 3) == 0)
        add_rare(random, trial);
    if (random_below(random, 2) == 0)
        add_outputs(random, task);
    else
        add_aggregate(random, task);
    if (task->sink == SINK_ROWS || task->filter_count == 0)
        add_window(random, trial);
}

static void trial_free(struct trial *trial)
{
    for (int k = 0; k < INPUTS; k++)
        column_unref(trial->columns[k]);
    arena_free(trial->arena);
}

/* One row of the task, with memoised values. */
struct reference {
    const struct trial *trial;
    struct cell inputs[INPUTS];
    struct cell *cells;
    int64_t row;
};

static void go_to_row(struct reference *reference, int64_t row)
{
    const struct trial *trial = reference->trial;
    for (int k = 0; k < INPUTS; k++)
        reference->inputs[k] = cell_of(trial->columns[k], trial->task->first + row);
    memset(reference->cells, 0, (size_t)trial->task->code.count * sizeof *reference->cells);
    reference->row = row;
}

static struct cell element_of(const void *context, int64_t input, int64_t at)
{
    return cell_of(((const struct trial *)context)->columns[input], at);
}

static int64_t length_of(const void *context, int64_t input)
{
    return ((const struct trial *)context)->columns[input]->rows;
}

/* Returns false and records the row on failure. */
static bool look_up(struct reference *reference, value v, struct cell *cell, struct expected *expected)
{
    const struct task *task = reference->trial->task;
    const struct surroundings around = {
        .context = reference->trial,
        .element = element_of,
        .length = length_of,
        .first = task->first,
        .rows = reference->trial->rows,
    };
    *cell = lazy_value_in(&task->code, v, reference->inputs, reference->row, &around, reference->cells);
    if (!cell->failed)
        return true;
    expected->failed = true;
    expected->failed_row = task->first + reference->row;
    return false;
}

/* Adds the row to the results. */
static bool use_row(struct reference *reference, struct expected *expected)
{
    const struct task *task = reference->trial->task;
    struct cell cell = {0};
    for (size_t k = 0; k < task->output_count; k++) {
        if (!look_up(reference, task->outputs[k].value, &cell, expected))
            return false;
        expected->cells[(size_t)expected->rows * task->output_count + k] = cell;
    }
    expected->rows++;
    if (task->sink == SINK_ROWS)
        return true;
    value v = task->aggregates[0].value;
    if (v != NO_VALUE && !look_up(reference, v, &cell, expected))
        return false;
    if (v != NO_VALUE && task->code.at[v].kind == KIND_FLOAT)
        agg_add_float(&expected->state, cell.number);
    else
        agg_add_int(&expected->state, cell.integer);
    return true;
}

static bool passes(struct reference *reference, int64_t row, bool *passed, struct expected *expected)
{
    const struct task *task = reference->trial->task;
    go_to_row(reference, row);
    *passed = true;
    for (size_t i = 0; i < task->filter_count && *passed; i++) {
        struct cell keep;
        if (!look_up(reference, task->filters[i].keep, &keep, expected))
            return false;
        *passed = keep.integer;
    }
    return true;
}

/* With a tail window, all rows are filtered before any output is computed. */
static struct expected expect(const struct trial *trial)
{
    const struct task *task = trial->task;
    const struct window *window = &task->window;
    struct expected expected = {
        .cells = arena_array(trial->arena, (size_t)trial->rows * task->output_count + 1, sizeof *expected.cells)};
    struct reference reference = {.trial = trial};
    reference.cells = arena_array(trial->arena, (size_t)task->code.count, sizeof *reference.cells);
    int64_t *kept = arena_array(trial->arena, (size_t)trial->rows + 1, sizeof *kept);
    int64_t count = 0;
    if (task->sink == SINK_AGGREGATE)
        agg_init(&expected.state, &task->aggregates[0], &task->code);
    for (int64_t row = 0; row < trial->rows && !expected.failed; row++) {
        bool passed;
        if (!passes(&reference, row, &passed, &expected) || !passed)
            continue;
        int64_t number = count - window->skip;
        kept[count++] = row;
        if (window->tail < 0 && number >= 0 && number < window->take)
            use_row(&reference, &expected);
    }
    for (int64_t i = count > window->tail ? count - window->tail : 0; window->tail >= 0 && i < count; i++) {
        go_to_row(&reference, kept[i]);
        if (expected.failed || !use_row(&reference, &expected))
            break;
    }
    return expected;
}

static void assert_float(double actual, double wanted)
{
    if (isnan(actual) && isnan(wanted))
        return;
    assert_memory_equal(&actual, &wanted, sizeof actual);
}

static void assert_columns(const struct trial *trial, const struct expected *expected, struct column *const *columns)
{
    const struct task *task = trial->task;
    for (size_t k = 0; k < task->output_count; k++) {
        const struct column *column = columns[k];
        assert_int_equal(column->rows, expected->rows);
        assert_int_equal(column->type, task->outputs[k].type);
        for (int64_t row = 0; row < column->rows; row++) {
            const struct cell *cell = &expected->cells[(size_t)row * task->output_count + k];
            struct scalar actual = column_get(column, row);
            if (actual.kind == KIND_FLOAT)
                assert_float(actual.number, cell->number);
            else
                assert_true(actual.integer == cell->integer);
            if (column->range_known)
                assert_true(column->lo <= actual.integer && actual.integer <= column->hi);
        }
    }
}

static void assert_scalar(const struct scalar *actual, const struct scalar *wanted)
{
    assert_int_equal(actual->kind, wanted->kind);
    if (actual->kind == KIND_FLOAT)
        assert_float(actual->number, wanted->number);
    else
        assert_true(actual->integer == wanted->integer);
}

/* The aggregate's result, or a failure: product overflow, minimum of no rows. */
static enum status finish(const struct trial *trial, const struct expected *expected, struct scalar *scalar)
{
    struct diags unread;
    diags_init(&unread, trial->arena);
    bool certain;
    enum status status = agg_finish(&expected->state, &trial->task->aggregates[0], scalar, &certain, &unread);
    assert_true(certain);
    return status;
}

/* Returns whether the results were not flagged. */
static bool check_evaluator(struct trial *trial, const struct expected *expected, struct backend *evaluator)
{
    const struct runner runner = {.evaluator = evaluator};
    struct outcome outcome;
    enum status status =
        run_task(&runner, trial->task, trial->columns, trial->rows, DEFER_NEVER, trial->arena, &outcome, &trial->diags);
    bool sure = !outcome.flagged;
    if (expected->failed)
        assert_false(sure);
    if (sure && trial->task->sink == SINK_AGGREGATE) {
        struct scalar wanted;
        assert_int_equal(status, finish(trial, expected, &wanted));
        if (status == STATUS_OK)
            assert_scalar(&outcome.scalar, &wanted);
    } else if (sure) {
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(outcome.rows, expected->rows);
        assert_columns(trial, expected, outcome.columns);
    }
    outcome_release(&outcome, trial->task);
    return sure;
}

static void check_exact(struct trial *trial, const struct expected *expected)
{
    struct result result = {0};
    struct scalar wanted = {0};
    trial->diags.count = 0;
    enum status status = exact_run(&trial->queue, NULL, NULL, &result, &trial->diags);
    if (expected->failed) {
        assert_int_equal(status, STATUS_FAILED);
        assert_int_equal(trial->diags.count, 1);
        const char *row = strstr(trial->diags.at[0].message, " at row ");
        assert_non_null(row);
        assert_int_equal(strtoll(row + strlen(" at row "), NULL, 10), expected->failed_row);
    } else if (trial->task->sink == SINK_ROWS) {
        assert_int_equal(status, STATUS_OK);
        assert_int_equal(result.relation->rows, expected->rows);
        assert_columns(trial, expected, result.relation->columns);
    } else {
        assert_int_equal(status, finish(trial, expected, &wanted));
        if (status == STATUS_OK)
            assert_scalar(&result.scalar, &wanted);
    }
    relation_unref(result.relation);
}

/* Runs a random task all ways; returns whether it was not flagged. */
static bool try_task(struct evaluators *evaluators, uint64_t seed, int64_t rows, int operations)
{
    struct random random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
    evaluators->seed = seed;
    struct trial trial;
    trial_init(&trial, &random, rows, operations);
    struct expected expected = expect(&trial);
    bool sure = check_evaluator(&trial, &expected, evaluators->alone);
    assert_int_equal(check_evaluator(&trial, &expected, evaluators->workers), sure);
    check_exact(&trial, &expected);
    trial_free(&trial);
    evaluators->seed = 0;
    return sure;
}

/* Row counts at and around block and piece sizes, and the number of tasks for each. At least `sure` must not be
 * flagged: only those are compared. */
static void random_tasks_agree(void **state)
{
    static const struct {
        int64_t rows;
        int tasks, operations, sure;
    } plans[] = {
        {0, 60, 10, 60},    {1, 1500, 30, 500}, {7, 3000, 30, 1000}, {100, 1500, 30, 500},
        {2047, 60, 20, 15}, {2048, 60, 20, 15}, {2049, 60, 20, 15},  {4097, 30, 60, 5},
        {9001, 150, 6, 60}, {100003, 8, 6, 3},  {200001, 8, 4, 3},
    };
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        int sure = 0;
        for (int n = 0; n < plans[i].tasks; n++, seed++)
            sure += try_task(*state, seed, plans[i].rows, plans[i].operations);
        if (sure < plans[i].sure)
            fail_msg("of %lld rows only %d tasks were compared", (long long)plans[i].rows, sure);
    }
}

static void interrupts_are_seen(void **state)
{
    const struct evaluators *evaluators = *state;
    const atomic_int cancel = 1;
    for (uint64_t seed = 1; seed < 20; seed++) {
        struct random random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
        struct trial trial;
        trial_init(&trial, &random, 100003, 4);
        trial.task->window = (struct window){.take = INT64_MAX, .tail = -1};
        const struct runner runner = {.evaluator = evaluators->workers, .cancel = &cancel};
        struct outcome outcome;
        enum status status =
            run_task(&runner, trial.task, trial.columns, trial.rows, DEFER_NEVER, trial.arena, &outcome, &trial.diags);
        /* An existing column and the number of all rows need not be computed. */
        const bool counted = trial.task->aggregate_count > 0 && trial.task->aggregates[0].value == NO_VALUE;
        if ((trial.task->sink == SINK_AGGREGATE && !counted) || trial.task->filter_count > 0)
            assert_int_equal(status, STATUS_CANCELLED);
        outcome_release(&outcome, trial.task);
        struct result result = {0};
        status =
            exact_run(&trial.queue, NULL, &(struct exact_options){.workers.cancel = &cancel}, &result, &trial.diags);
        assert_true(status == STATUS_CANCELLED || status == STATUS_FAILED);
        trial_free(&trial);
    }
}

static int tell_seed(void **state)
{
    const struct evaluators *evaluators = *state;
    if (evaluators->seed != 0)
        print_error("the task of seed %llu failed\n", (unsigned long long)evaluators->seed);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(random_tasks_agree, tell_seed),
        cmocka_unit_test(interrupts_are_seen),
    };
    return cmocka_run_group_tests_name("eval", tests, open_evaluators, close_evaluators);
}
