/* Errors of operators, neighbours and column elements, and the values these need not compute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/backend/user_reduce.h"
#include "engine/evaluator/evaluator.h"
#include "engine/task/run_queue.h"

#include <string.h>

/* A pipeline under construction: the stages of `text` in order, the first reading one integer column. */
struct stages {
    struct arena *arena;
    struct diags diags;
    struct queue queue;
    struct source source;
    uint32_t at; /* where the next stage's text begins */
    struct column *column;
};

static struct span next_span(struct stages *stages)
{
    const char *begin = stages->source.text + stages->at;
    const char *end = strstr(begin, " | ");
    uint32_t length = end ? (uint32_t)(end - begin) : (uint32_t)strlen(begin);
    struct span span = {.source = &stages->source, .begin = stages->at, .end = stages->at + length};
    stages->at += length + (end ? 3 : 0);
    return span;
}

/* The next stage's task, which reads all outputs of the last one. */
static struct task *add_stage(struct stages *stages)
{
    struct task *before = stages->queue.count > 0 ? stages->queue.tasks[stages->queue.count - 1] : NULL;
    struct task *task = queue_add(&stages->queue);
    struct arena *arena = stages->arena;
    task->span = next_span(stages);
    task->stages = arena_array(arena, 1, sizeof *task->stages);
    task->stages[0].name = "stage";
    task->stages[0].text =
        arena_text(arena, task->span.source->text + task->span.begin, task->span.end - task->span.begin);
    task->stages[0].span = task->span;
    task->stage_count = 1;
    task->rows = before ? -1 : stages->column->rows;
    task->rows_from = before;
    task->input_count = before ? before->output_count : 1;
    task->inputs = arena_array(arena, task->input_count + 2, sizeof *task->inputs);
    task->outputs = arena_array(arena, 4, sizeof *task->outputs);
    for (size_t k = 0; k < task->input_count; k++) {
        task->inputs[k] = (struct input){.column = before ? NULL : stages->column, .task = before, .output = k};
        task->inputs[k].type = before ? before->outputs[k].type : TYPE_I64;
        task->inputs[k].name = "x";
    }
    return task;
}

static value read_input(struct task *task, size_t k)
{
    return input_value(&task->code, (int64_t)k, &task->inputs[k], task->span);
}

static void give(struct task *task, value v, enum type type)
{
    task->outputs[task->output_count++] = (struct output){.value = v, .name = "c", .type = type};
}

static struct column_operator *make_breaker(struct stages *stages, struct task *task, enum operator_kind kind)
{
    struct column_operator *column_op = task->column_op = arena_alloc(stages->arena, sizeof *column_op);
    task->sink = SINK_OPERATOR;
    column_op->kind = kind;
    column_op->stride = 1;
    column_op->into = -1;
    column_op->keys = arena_array(stages->arena, 2, sizeof *column_op->keys);
    column_op->descending = arena_array(stages->arena, 2, sizeof *column_op->descending);
    column_op->key_count = kind != OPERATOR_DISTINCT;
    return column_op;
}

static void begin(struct stages *stages, const char *text, const int64_t *values, int64_t rows)
{
    *stages = (struct stages){.arena = arena_new(), .source = {"test", text, strlen(text)}};
    diags_init(&stages->diags, stages->arena);
    queue_init(&stages->queue, stages->arena);
    stages->column = column_of_ints(values, rows);
    queue_hold(&stages->queue, stages->column);
    struct task *load = add_stage(stages);
    give(load, read_input(load, 0), TYPE_I64);
}

static void add_take(struct stages *stages, int64_t rows)
{
    struct task *task = add_stage(stages);
    for (size_t k = 0; k < task->input_count; k++)
        give(task, read_input(task, k), task->inputs[k].type);
    task->window.take = rows;
}

/* Adds 10 / x as a second column. */
static void add_quotient(struct stages *stages)
{
    struct task *task = add_stage(stages);
    value x = read_input(task, 0);
    give(task, x, TYPE_I64);
    give(task, code_op(&task->code, OP_DIV, code_int(&task->code, 10, task->span), x, NO_VALUE, task->span), TYPE_I64);
}

static void add_scan(struct stages *stages, enum aggregate_kind kind, struct user_reduce *reducer, bool exclusive)
{
    struct task *task = add_stage(stages);
    make_breaker(stages, task, OPERATOR_SCAN)->exclusive = exclusive;
    task->aggregates = arena_array(stages->arena, 1, sizeof *task->aggregates);
    task->aggregates[0] =
        (struct aggregate){.kind = kind, .value = read_input(task, 0), .span = task->span, .reducer = reducer};
    task->aggregate_count = 1;
    give(task, NO_VALUE, TYPE_I64);
}

static void add_sort(struct stages *stages, size_t key, bool descending)
{
    struct task *task = add_stage(stages);
    struct column_operator *column_op = make_breaker(stages, task, OPERATOR_SORT);
    column_op->keys[0] = key;
    column_op->descending[0] = descending;
    for (size_t k = 0; k < task->input_count; k++)
        give(task, read_input(task, k), task->inputs[k].type);
}

/* Runs it fused and unfused; expects an error message, or the values of the last column. */
static void check(struct stages *stages, const char *error, const int64_t *values, int64_t rows)
{
    struct runner runner = {.evaluator = evaluator_open_threads(1)};
    queue_prune(&stages->queue);
    for (int fusion = 0; fusion < 2; fusion++) {
        struct result result = {0};
        runner.fusion = fusion;
        stages->diags.count = 0;
        enum status status = run_queue(&runner, &stages->queue, DEFER_NEVER, &result, &stages->diags);
        if (error) {
            assert_int_equal(status, STATUS_FAILED);
            assert_string_equal(stages->diags.at[0].message, error);
            continue;
        }
        if (status != STATUS_OK)
            fail_msg("%s", stages->diags.at[0].message);
        const struct relation *relation = result.relation;
        assert_int_equal(relation->rows, rows);
        for (int64_t row = 0; row < rows; row++)
            assert_int_equal(column_get_int(relation->columns[relation->count - 1], row), values[row]);
        relation_unref(result.relation);
    }
    runner.evaluator->ops->close(runner.evaluator);
    queue_release(&stages->queue);
    arena_free(stages->arena);
}

static const int64_t wide[] = {INT64_MAX, 1, -5, 2};

static void running_values_fail_where_they_are_read(void **state)
{
    (void)state;
    static const int64_t first[] = {INT64_MAX};
    struct stages stages;
    begin(&stages, "load x | scan +", wide, 4);
    add_scan(&stages, AGG_SUM, NULL, false);
    check(&stages, "the running sum does not fit in 64 bits in `scan +`, row 1", NULL, 0);

    begin(&stages, "load x | scan * exclusive", wide, 4);
    add_scan(&stages, AGG_PRODUCT, NULL, true);
    check(&stages, "the running product does not fit in 64 bits in `scan * exclusive`, row 3", NULL, 0);

    begin(&stages, "load x | scan + | take 1", wide, 4);
    add_scan(&stages, AGG_SUM, NULL, false);
    add_take(&stages, 1);
    check(&stages, NULL, first, 1);
}

static struct user_reduce *new_adder(struct stages *stages)
{
    struct queue *queue = arena_alloc(stages->arena, sizeof *queue);
    struct user_reduce *reducer = arena_alloc(stages->arena, sizeof *reducer);
    queue_init(queue, stages->arena);
    struct task *body = queue_add(queue);
    const struct span nowhere = {0};
    body->inputs = arena_array(stages->arena, 2, sizeof *body->inputs);
    body->input_count = 2;
    for (int i = 0; i < 2; i++)
        body->inputs[i] = (struct input){.type = TYPE_I64, .name = i == 0 ? "a" : "b"};
    value a = code_input(&body->code, 0, KIND_INT, nowhere), b = code_input(&body->code, 1, KIND_INT, nowhere);
    body->outputs = arena_array(stages->arena, 1, sizeof *body->outputs);
    body->output_count = 1;
    body->outputs[0] =
        (struct output){.value = code_op(&body->code, OP_ADD, a, b, NO_VALUE, nowhere), .name = "r", .type = TYPE_I64};
    reducer->kind = KIND_INT;
    reducer->body = body;
    return reducer;
}

static void functions_tell_what_failed(void **state)
{
    (void)state;
    static const int64_t few[] = {3, 4, 5}, sums[] = {3, 7, 12};
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        struct stages stages;
        begin(&stages, "load x | scan |a, b| a + b", wide, 4);
        add_scan(&stages, AGG_FOLD, new_adder(&stages), exclusive);
        struct aggregate *aggregate = &stages.queue.tasks[1]->aggregates[0];
        aggregate->has_initial = exclusive;
        aggregate->initial = scalar_int(0);
        check(&stages, "9223372036854775807 + 1 does not fit in 64 bits at row 1", NULL, 0);
    }
    struct stages stages;
    begin(&stages, "load x | scan |a, b| a + b", few, 3);
    add_scan(&stages, AGG_FOLD, new_adder(&stages), false);
    check(&stages, NULL, sums, 3);
}

static void groups_are_named_by_key(void **state)
{
    (void)state;
    static const int64_t same[] = {7, 7, INT64_MAX, INT64_MAX, 7};
    struct stages stages;
    begin(&stages, "load x | group x: sum(x)", same, 5);
    struct task *task = add_stage(&stages);
    make_breaker(&stages, task, OPERATOR_GROUP);
    give(task, read_input(task, 0), TYPE_I64);
    give(task, NO_VALUE, TYPE_I64);
    task->aggregates = arena_array(stages.arena, 1, sizeof *task->aggregates);
    task->aggregates[0] = (struct aggregate){.kind = AGG_SUM, .value = read_input(task, 0), .span = task->span};
    task->aggregate_count = 1;
    check(&stages, "the sum of key 9223372036854775807 does not fit in 64 bits in `group x: sum(x)`", NULL, 0);
}

static void add_scatter(struct stages *stages)
{
    struct task *task = add_stage(stages);
    make_breaker(stages, task, OPERATOR_SCATTER);
    give(task, read_input(task, 0), TYPE_I64);
}

static void positions_are_checked(void **state)
{
    (void)state;
    static const int64_t beyond[] = {1, 0, 3}, twice[] = {1, 2, 1}, good[] = {2, 0, 1}, moved[] = {0, 1, 2};
    struct stages stages;
    begin(&stages, "load x | scatter x", beyond, 3);
    add_scatter(&stages);
    check(&stages, "position 3 is outside 0..2 in `scatter x`, row 2", NULL, 0);
    begin(&stages, "load x | scatter x", twice, 3);
    add_scatter(&stages);
    check(&stages, "position 1 is already taken by row 0 in `scatter x`, row 2", NULL, 0);
    begin(&stages, "load x | scatter x", good, 3);
    add_scatter(&stages);
    check(&stages, NULL, moved, 3);

    for (int i = 0; i < 2; i++) {
        begin(&stages, "load x | map x[x]", i == 0 ? beyond : good, 3);
        struct task *task = add_stage(&stages);
        task->inputs[1] = task->inputs[0];
        task->inputs[1].whole = true;
        task->input_count = 2;
        give(task, code_gather(&task->code, 1, KIND_INT, read_input(task, 0), task->span), TYPE_I64);
        static const int64_t elements[] = {1, 2, 0};
        check(&stages, i == 0 ? "position 3 is outside 0..2 in `map x[x]`, row 2" : NULL, elements, 3);
    }
}

/* A neighbour's error names its own row, not the row that reads it. */
static void failing_neighbours_are_named(void **state)
{
    (void)state;
    static const int64_t values[] = {5, 2, 10, 0, 1};
    struct stages stages;
    begin(&stages, "load x | map 10 / x | stencil 0..1 else 0: at(1)", values, 5);
    add_quotient(&stages);
    struct task *task = add_stage(&stages);
    struct code *code = &task->code;
    value at =
        code_op(code, OP_ADD, code_row(code, task->span), code_exact_int(code, 1, task->span), NO_VALUE, task->span);
    value inside = code_op(code, OP_LT, at, code_rows(code, task->span), NO_VALUE, task->span);
    value next = input_value_at(code, 1, 1, &task->inputs[1], task->span);
    give(task, code_op(code, OP_SELECT, inside, next, code_int(code, 0, task->span), task->span), TYPE_I64);
    check(&stages, "division by zero in `map 10 / x`, row 3", NULL, 0);
}

/* Rows cut after a sort are not computed; keys are. */
static void sorting_is_lazy(void **state)
{
    (void)state;
    static const int64_t values[] = {2, 0, 5}, quotients[] = {2, 5};
    struct stages stages;
    begin(&stages, "load x | derive q = 10 / x | sort x desc | take 2", values, 3);
    add_quotient(&stages);
    add_sort(&stages, 0, true);
    add_take(&stages, 2);
    check(&stages, NULL, quotients, 2);
    begin(&stages, "load x | derive q = 10 / x | sort q | take 2", values, 3);
    add_quotient(&stages);
    add_sort(&stages, 1, false);
    add_take(&stages, 2);
    check(&stages, "division by zero in `derive q = 10 / x`, row 1", NULL, 0);
}

static void few_rows_are_rows(void **state)
{
    (void)state;
    static const int64_t one[] = {0};
    for (int64_t rows = 0; rows < 2; rows++) {
        struct stages stages;
        begin(&stages, "load x | scan +", one, rows);
        add_scan(&stages, AGG_SUM, NULL, false);
        check(&stages, NULL, one, rows);
        begin(&stages, "load x | sort", one, rows);
        add_sort(&stages, 0, false);
        check(&stages, NULL, one, rows);
        begin(&stages, "load x | scatter x", one, rows);
        add_scatter(&stages);
        check(&stages, NULL, one, rows);
        static const enum operator_kind kinds[] = {OPERATOR_GROUP, OPERATOR_DISTINCT};
        for (int i = 0; i < 2; i++) {
            begin(&stages, "load x | distinct", one, rows);
            struct task *task = add_stage(&stages);
            make_breaker(&stages, task, kinds[i]);
            give(task, read_input(task, 0), TYPE_I64);
            check(&stages, NULL, one, rows);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_values_fail_where_they_are_read),
        cmocka_unit_test(functions_tell_what_failed),
        cmocka_unit_test(groups_are_named_by_key),
        cmocka_unit_test(positions_are_checked),
        cmocka_unit_test(failing_neighbours_are_named),
        cmocka_unit_test(sorting_is_lazy),
        cmocka_unit_test(few_rows_are_rows),
    };
    return cmocka_run_group_tests_name("exact_break", tests, NULL, NULL);
}
