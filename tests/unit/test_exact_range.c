/* The exact evaluator on several threads, by ranges, and from finished tasks, against its own single-threaded run of
 * the whole queue: same values, same errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/exact/exact.h"
#include "engine/plan/result.h"
#include "engine/plan/row_count.h"
#include "random_code.h"

#include <math.h>

enum { COLUMNS = 3, MOST_ROWS = 3000, TRIALS = 1500 };

static const struct span nowhere = {0};
static const enum kind kinds[COLUMNS] = {KIND_INT, KIND_FLOAT, KIND_BOOL};

struct trial {
    struct arena *arena;
    struct diags diags;
    struct queue queue;
    struct column *columns[COLUMNS];
    int64_t rows;
};

/* Small numbers, few of them zero, so that division by them fails late or never. */
static struct column *random_column(struct random *random, enum kind kind, int64_t rows)
{
    struct column *column = column_reserve(type_of_kind(kind), type_of_kind(kind), rows);
    int64_t zero = random_below(random, 2 * MOST_ROWS);
    for (int64_t i = 0; i < rows; i++) {
        void *at = column_at(column, i);
        if (kind == KIND_FLOAT)
            *(double *)at = ldexp(random_below(random, 2001) - 1000, random_below(random, 100) - 50);
        else if (kind == KIND_BOOL)
            *(uint8_t *)at = (uint8_t)random_below(random, 2);
        else
            *(int64_t *)at = i == zero ? 0 : 1 + random_below(random, 1000);
    }
    column_finish(column, rows);
    return column;
}

static value random_quotient(struct random *random, struct code *code)
{
    return code_op(code, OP_DIV, random_value(random, code, KIND_INT), 0, NO_VALUE, nowhere);
}

static void set_outputs(struct trial *trial, struct random *random, struct task *task)
{
    task->output_count = COLUMNS;
    task->outputs = arena_array(trial->arena, COLUMNS, sizeof *task->outputs);
    for (int k = 0; k < COLUMNS; k++) {
        value v = k == 0 && random_below(random, 2) ? random_quotient(random, &task->code)
                                                    : random_value(random, &task->code, kinds[k]);
        task->outputs[k] = (struct output){.value = v, .name = "c", .type = type_of_kind(kinds[k]), .needed = true};
    }
}

static void set_aggregates(struct trial *trial, struct random *random, struct task *task)
{
    static const enum aggregate_kind of_ints[] = {AGG_COUNT, AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX, AGG_MEAN, AGG_XOR};
    static const enum aggregate_kind of_floats[] = {AGG_SUM, AGG_PRODUCT, AGG_MIN, AGG_MAX, AGG_MEAN};
    enum kind kind = kinds[random_below(random, 2)];
    struct aggregate aggregate = {.value = random_value(random, &task->code, kind)};
    aggregate.kind = kind == KIND_INT ? of_ints[random_below(random, 7)] : of_floats[random_below(random, 5)];
    if (kind == KIND_INT && random_below(random, 2))
        aggregate.value = random_quotient(random, &task->code);
    task->sink = SINK_AGGREGATE;
    task->aggregate_count = 1;
    task->aggregates = arena_array(trial->arena, 1, sizeof aggregate);
    task->aggregates[0] = aggregate;
}

static struct task *add_task(struct trial *trial, struct random *random, struct task *before, bool last)
{
    struct task *task = queue_add(&trial->queue);
    task->inputs = arena_array(trial->arena, COLUMNS, sizeof *task->inputs);
    task->input_count = COLUMNS;
    task->rows = before ? -1 : trial->rows;
    task->rows_from = before;
    for (size_t k = 0; k < COLUMNS; k++) {
        task->inputs[k] = (struct input){.task = before, .output = k, .type = type_of_kind(kinds[k]), .name = "c"};
        task->inputs[k].column = before ? NULL : trial->columns[k];
    }
    random_program(random, &task->code, kinds, COLUMNS, 5, before && random_below(random, 2));
    bool filtered = random_below(random, 2) == 0;
    task->filters = arena_array(trial->arena, 2, sizeof *task->filters);
    task->filter_count = filtered ? 1 + (size_t)random_below(random, 2) : 0;
    for (size_t i = 0; i < task->filter_count; i++)
        task->filters[i].keep = random_value(random, &task->code, KIND_BOOL);
    if (last && random_below(random, 2)) {
        set_aggregates(trial, random, task);
        return task;
    }
    set_outputs(trial, random, task);
    int window = random_below(random, 4);
    if (window == 0)
        task->window.tail = random_below(random, MOST_ROWS / 2);
    else if (window == 1)
        task->window = (struct window){random_below(random, 100), random_below(random, MOST_ROWS), -1};
    return task;
}

static void trial_init(struct trial *trial, struct random *random, int tasks)
{
    *trial = (struct trial){.arena = arena_new(), .rows = random_below(random, MOST_ROWS)};
    diags_init(&trial->diags, trial->arena);
    queue_init(&trial->queue, trial->arena);
    for (int k = 0; k < COLUMNS; k++)
        queue_hold(&trial->queue, trial->columns[k] = random_column(random, kinds[k], trial->rows));
    for (int t = 0; t < tasks; t++)
        add_task(trial, random, t > 0 ? trial->queue.tasks[t - 1] : NULL, t + 1 == tasks);
    queue_prune(&trial->queue);
}

static void trial_free(struct trial *trial)
{
    queue_release(&trial->queue);
    arena_free(trial->arena);
}

static void assert_scalar(const struct scalar *a, const struct scalar *b)
{
    assert_int_equal(a->kind, b->kind);
    if (a->kind == KIND_FLOAT)
        assert_true(a->number == b->number || (isnan(a->number) && isnan(b->number)));
    else
        assert_true(a->integer == b->integer);
}

/* The column's rows from begin on equal the whole's. */
static void assert_rows(const struct column *whole, const struct column *column, int64_t begin)
{
    for (int64_t i = 0; i < whole->rows; i++) {
        struct scalar a = column_get(whole, i), b = column_get(column, begin + i);
        assert_scalar(&a, &b);
    }
}

static const char *message(const struct diags *diags)
{
    assert_int_equal(diags->count, 1);
    return diags->at[0].message;
}

static void assert_outcome(enum status wanted, const struct diags *wanted_diags, enum status status,
                           const struct diags *diags)
{
    assert_int_equal(status, wanted);
    if (wanted == STATUS_FAILED)
        assert_string_equal(message(diags), message(wanted_diags));
}

/* Runs the job in ranges of random sizes. */
static enum status run_ranges(struct random *random, struct job *job, struct row_sink *sink, struct agg_state *states,
                              bool *undecided)
{
    const struct exact_options options = {.workers = {.threads = 3}};
    const int64_t end = job->end;
    enum status status = STATUS_OK;
    *undecided = false;
    for (job->end = job->begin; job->begin < end && status == STATUS_OK && !*undecided; job->begin = job->end) {
        int64_t rows = 1 + random_below(random, MOST_ROWS);
        job->end = end - job->begin > rows ? job->begin + rows : end;
        status = job->task->sink == SINK_ROWS ? exact_rows(job, &options, sink, undecided)
                                              : exact_aggregate(job, &options, states, undecided);
    }
    return status;
}

/* Checks one task; returns whether its rows have values. */
static bool check_ranges(struct trial *trial, struct random *random)
{
    const struct task *task = trial->queue.tasks[0];
    struct result whole = {0};
    struct diags diags;
    diags_init(&diags, trial->arena);
    enum status wanted = exact_run(&trial->queue, NULL, NULL, &whole, &trial->diags), status;
    struct job job = {
        .task = task, .columns = trial->columns, .rows = trial->rows, .end = trial->rows, .diags = &diags};
    if (task->filter_count == 0)
        rows_kept(&task->window, trial->rows, &job.begin, &job.end);
    bool undecided = false;
    if (task->sink == SINK_AGGREGATE) {
        struct agg_state state;
        struct scalar scalar;
        bool certain;
        agg_init(&state, &task->aggregates[0], &task->code);
        status = run_ranges(random, &job, NULL, &state, &undecided);
        if (status == STATUS_OK && !undecided)
            status = agg_finish(&state, &task->aggregates[0], &scalar, &certain, &diags);
        if (!undecided)
            assert_outcome(wanted, &trial->diags, status, &diags);
        if (status == STATUS_OK && !undecided)
            assert_scalar(&whole.scalar, &scalar);
    } else {
        struct column *columns[COLUMNS];
        struct row_sink sink = {.columns = columns};
        for (int k = 0; k < COLUMNS; k++)
            columns[k] = column_reserve(type_of_kind(kinds[k]), type_of_kind(kinds[k]), trial->rows);
        status = run_ranges(random, &job, &sink, NULL, &undecided);
        if (!undecided)
            assert_outcome(wanted, &trial->diags, status, &diags);
        if (status == STATUS_OK && !undecided) {
            int64_t begin = 0, end = sink.rows;
            if (task->filter_count > 0)
                rows_kept(&task->window, sink.rows, &begin, &end);
            assert_int_equal(whole.relation->rows, end - begin);
            for (int k = 0; k < COLUMNS; k++)
                assert_rows(whole.relation->columns[k], columns[k], begin);
        }
        for (int k = 0; k < COLUMNS; k++)
            column_unref(columns[k]);
    }
    if (undecided) {
        assert_int_equal(diags.count, 0);
        assert_true(task->window.tail >= 0);
    }
    relation_unref(whole.relation);
    return wanted == STATUS_OK;
}

static void ranges_agree_with_the_whole(void **state)
{
    (void)state;
    int good = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct random random = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
        struct trial trial;
        trial_init(&trial, &random, 1);
        good += check_ranges(&trial, &random);
        trial_free(&trial);
    }
    assert_in_range(good, TRIALS / 4, TRIALS - TRIALS / 8);
}

static void assert_results(const struct result *a, const struct result *b)
{
    assert_int_equal(a->kind, b->kind);
    if (a->kind == RESULT_SCALAR)
        assert_scalar(&a->scalar, &b->scalar);
    for (size_t k = 0; a->relation && k < a->relation->count; k++) {
        assert_int_equal(a->relation->rows, b->relation->rows);
        assert_rows(a->relation->columns[k], b->relation->columns[k], 0);
    }
}

/* The first task's columns; NULL if it fails. */
static struct relation *run_first(const struct trial *trial)
{
    struct queue first = trial->queue;
    struct result result = {0};
    struct diags unread;
    diags_init(&unread, trial->arena);
    first.count = 1;
    (void)exact_run(&first, NULL, NULL, &result, &unread);
    return result.relation;
}

static void threads_and_done_tasks_agree(void **state)
{
    (void)state;
    int good = 0, done_first = 0;
    for (uint64_t seed = 1; seed <= TRIALS; seed++) {
        struct random random = {seed * UINT64_C(0xd1342543de82ef95) + 1};
        struct trial trial;
        trial_init(&trial, &random, 2);
        struct relation *first = run_first(&trial);
        struct result whole = {0};
        enum status wanted = exact_run(&trial.queue, NULL, NULL, &whole, &trial.diags);
        for (int way = 0; way < (first ? 2 : 1); way++) {
            struct column *const *const columns[] = {first ? first->columns : NULL};
            const struct exact_options options = {.workers = {.threads = 3}};
            struct result result = {0};
            struct diags diags;
            diags_init(&diags, trial.arena);
            const struct exact_done done = {.count = 1, .columns = columns, .rows = first ? &first->rows : NULL};
            enum status status = exact_run(&trial.queue, way ? &done : NULL, &options, &result, &diags);
            assert_outcome(wanted, &trial.diags, status, &diags);
            if (status == STATUS_OK)
                assert_results(&whole, &result);
            relation_unref(result.relation);
        }
        good += wanted == STATUS_OK;
        done_first += first != NULL;
        relation_unref(whole.relation);
        relation_unref(first);
        trial_free(&trial);
    }
    assert_in_range(good, TRIALS / 4, TRIALS - TRIALS / 8);
    assert_in_range(done_first, TRIALS / 4, TRIALS - TRIALS / 8);
}

/* User-defined folds need the whole queue, evaluated in row order. */
static void user_functions_are_undecided(void **state)
{
    (void)state;
    struct aggregate fold = {.kind = AGG_FOLD};
    struct task task = {.sink = SINK_AGGREGATE, .aggregates = &fold, .aggregate_count = 1};
    const struct job job = {.task = &task, .rows = 1, .end = 1};
    bool undecided = false;
    assert_int_equal(exact_aggregate(&job, NULL, NULL, &undecided), STATUS_OK);
    assert_true(undecided);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_agree_with_the_whole),
        cmocka_unit_test(threads_and_done_tasks_agree),
        cmocka_unit_test(user_functions_are_undecided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
