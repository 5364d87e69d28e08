/* The verifier: code, tasks and queues that are broken in one place, each reported, and none that is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/plan/code_loop.h"
#include "engine/plan/verify.h"

#include <string.h>

static const struct span nowhere = {0};

/* load i32, f64 | map ... with a loop that sums, | sort | sum */
struct plan {
    struct arena *arena;
    struct queue queue;
    struct task *rows, *sort, *sum;
    value ints, floats, both, ratio, chosen, index, state, loop, final, total;
};

static struct task *add_task(struct plan *plan, struct task *from, enum sink sink)
{
    struct task *task = queue_add(&plan->queue);
    task->sink = sink;
    task->rows_from = from;
    task->rows = from ? -1 : 100;
    task->inputs = arena_array(plan->arena, 4, sizeof *task->inputs);
    task->outputs = arena_array(plan->arena, 4, sizeof *task->outputs);
    task->filters = arena_array(plan->arena, 4, sizeof *task->filters);
    task->aggregates = arena_array(plan->arena, 4, sizeof *task->aggregates);
    return task;
}

/* Adds an input of this type, an output of the task `from`. */
static value add_input(struct task *task, struct task *from, size_t output, enum type type)
{
    task->inputs[task->input_count] = (struct input){.task = from, .output = output, .type = type};
    return code_input(&task->code, (int64_t)task->input_count++, type_table[type].kind, nowhere);
}

static void add_output(struct task *task, value v, enum type type)
{
    task->outputs[task->output_count++] = (struct output){.value = v, .type = type, .needed = true};
}

static void add_loop(struct plan *plan)
{
    struct code *code = &plan->rows->code;
    plan->index = code_counter(code, 0, code_exact_int(code, 0, nowhere), plan->ints, nowhere);
    plan->state = code_state(code, 0, 0, KIND_INT, nowhere);
    const struct carry carry = {.first = code_exact_int(code, 0, nowhere),
                                .next = code_op(code, OP_ADD, plan->state, plan->index, NO_VALUE, nowhere)};
    plan->loop = code_loop(code, plan->index, code_bool(code, true, nowhere), &carry, 1, nowhere);
    plan->final = code_final(code, plan->loop, 0, KIND_INT, nowhere);
}

static void begin(struct plan *plan)
{
    *plan = (struct plan){.arena = arena_new()};
    queue_init(&plan->queue, plan->arena);
    struct task *rows = plan->rows = add_task(plan, NULL, SINK_ROWS);
    struct code *code = &rows->code;
    plan->ints = add_input(rows, NULL, 0, TYPE_I32);
    plan->floats = add_input(rows, NULL, 0, TYPE_F64);
    const value limit = code_int(code, 7, nowhere);
    const value small = code_op(code, OP_LT, plan->ints, limit, NO_VALUE, nowhere);
    plan->ratio = code_op(code, OP_DIV, limit, plan->ints, NO_VALUE, nowhere);
    plan->chosen = code_op(code, OP_SELECT, small, plan->ratio, plan->ints, nowhere);
    const value root = code_op(code, OP_SQRT, plan->floats, NO_VALUE, NO_VALUE, nowhere);
    plan->both =
        code_op(code, OP_AND, small, code_op(code, OP_LE, root, plan->floats, NO_VALUE, nowhere), NO_VALUE, nowhere);
    add_loop(plan);
    rows->filters[rows->filter_count++] = (struct filter){.keep = plan->both};
    add_output(rows, plan->chosen, TYPE_I64);
    add_output(rows, plan->final, TYPE_I64);

    struct task *sort = plan->sort = add_task(plan, rows, SINK_OPERATOR);
    sort->column_op = arena_alloc(plan->arena, sizeof *sort->column_op);
    *sort->column_op = (struct column_operator){.kind = OPERATOR_SORT, .key_count = 1};
    sort->column_op->keys = arena_array(plan->arena, 1, sizeof *sort->column_op->keys);
    sort->column_op->descending = arena_array(plan->arena, 1, sizeof *sort->column_op->descending);
    add_output(sort, add_input(sort, rows, 0, TYPE_I64), TYPE_I64);

    struct task *sum = plan->sum = add_task(plan, sort, SINK_AGGREGATE);
    plan->total = add_input(sum, sort, 0, TYPE_I64);
    sum->aggregates[sum->aggregate_count++] =
        (struct aggregate){.kind = AGG_SUM, .value = plan->total, .other = NO_VALUE, .where = NO_VALUE};
}

static struct instr *at(struct plan *plan, value v)
{
    return &plan->rows->code.at[v];
}

/* Code. */
static void later_argument(struct plan *plan)
{
    at(plan, plan->ratio)->args[0] = plan->loop;
}

static void itself(struct plan *plan)
{
    at(plan, plan->chosen)->args[1] = plan->chosen;
}

static void missing_argument(struct plan *plan)
{
    at(plan, plan->ratio)->args[1] = NO_VALUE;
}

static void third_argument(struct plan *plan)
{
    at(plan, plan->ratio)->args[2] = plan->ints;
}

static void float_in_integers(struct plan *plan)
{
    at(plan, plan->ratio)->args[1] = plan->floats;
}

static void float_condition(struct plan *plan)
{
    at(plan, plan->chosen)->args[0] = plan->floats;
}

static void mixed_comparison(struct plan *plan)
{
    at(plan, at(plan, plan->chosen)->args[0])->args[0] = plan->floats;
}

static void integer_comparison_result(struct plan *plan)
{
    at(plan, plan->both)->kind = KIND_INT;
}

/* Annotations. */
static void narrow_lane(struct plan *plan)
{
    at(plan, plan->ratio)->lane = LANE_I32;
}

static void lane_of_bools(struct plan *plan)
{
    at(plan, plan->ints)->lane = LANE_BOOL;
}

static void constant_beyond(struct plan *plan)
{
    at(plan, at(plan, plan->ratio)->args[0])->hi = 6;
}

static void integer_guard(struct plan *plan)
{
    at(plan, plan->ratio)->guard = plan->ints;
}

static void guard_beyond(struct plan *plan)
{
    at(plan, plan->ratio)->guard = plan->rows->code.count;
}

/* Loops. */
static void deep_level(struct plan *plan)
{
    at(plan, plan->index)->integer = LOOP_LEVELS;
}

static void other_level(struct plan *plan)
{
    at(plan, plan->loop)->integer = 1;
}

static void state_not_carried(struct plan *plan)
{
    at(plan, plan->state)->offset = 1;
}

static void final_not_carried(struct plan *plan)
{
    at(plan, plan->final)->offset = 1;
}

static void begins_with_itself(struct plan *plan)
{
    at(plan, at(plan, plan->loop)->args[0])->args[0] = plan->state;
}

static void endless_chain(struct plan *plan)
{
    at(plan, at(plan, plan->loop)->args[0])->args[2] = plan->both;
}

static void no_loop(struct plan *plan)
{
    at(plan, plan->final)->args[0] = plan->both;
}

static void round_outside(struct plan *plan)
{
    plan->rows->outputs[1].value = plan->state;
}

/* Tasks. */
static void unknown_input(struct plan *plan)
{
    at(plan, plan->ints)->integer = 2;
}

static void input_of_another_kind(struct plan *plan)
{
    plan->rows->inputs[0].type = TYPE_F64;
}

static void whole_in_a_row(struct plan *plan)
{
    plan->rows->inputs[0].whole = true;
}

static void integer_filter(struct plan *plan)
{
    plan->rows->filters[0].keep = plan->ints;
}

static void no_output(struct plan *plan)
{
    plan->rows->outputs[0].value = NO_VALUE;
}

static void output_of_another_kind(struct plan *plan)
{
    plan->rows->outputs[0].type = plan->sort->inputs[0].type = TYPE_BOOL;
}

static void other_kind_than_output(struct plan *plan)
{
    plan->sort->inputs[0].type = TYPE_F64;
}

static void output_beyond(struct plan *plan)
{
    plan->sort->inputs[0].output = 2;
}

static void unknown_key(struct plan *plan)
{
    plan->sort->column_op->keys[0] = 1;
}

static void no_direction(struct plan *plan)
{
    plan->sort->column_op->descending = NULL;
}

static void operator_with_window(struct plan *plan)
{
    plan->sort->window.take = 3;
}

static void operator_that_computes(struct plan *plan)
{
    code_op(&plan->sort->code, OP_NEG, 0, NO_VALUE, NO_VALUE, nowhere);
}

static void two_keys(struct plan *plan)
{
    plan->sort->column_op->kind = OPERATOR_EXPAND;
}

static void output_without_aggregate(struct plan *plan)
{
    add_output(plan->sum, plan->total, TYPE_I64);
    add_output(plan->sum, plan->total, TYPE_I64);
}

static void aggregate_of_nothing(struct plan *plan)
{
    plan->sum->aggregates[0].value = 9;
}

static void two_windows(struct plan *plan)
{
    plan->rows->window = (struct window){.skip = 1, .take = INT64_MAX, .tail = 3};
}

/* Queues. */
static void wrong_number(struct plan *plan)
{
    plan->sort->number = 0;
}

static void reads_later(struct plan *plan)
{
    plan->rows->rows_from = plan->sum;
}

static void reads_another_queue(struct plan *plan)
{
    struct task *copy = arena_alloc(plan->arena, sizeof *copy);
    *copy = *plan->rows;
    plan->sort->inputs[0].task = copy;
}

static const struct broken {
    void (*breaks)(struct plan *plan);
    const char *fault;
} broken[] = {
    {later_argument, "v4 (DIV) reads a value that is not computed before it"},
    {itself, "(SELECT) reads a value that is not computed before it"},
    {missing_argument, "(DIV) reads a value that is not computed before it"},
    {third_argument, "(DIV) has more arguments than its operation takes"},
    {float_in_integers, "(DIV) reads an argument of another kind"},
    {float_condition, "(SELECT) reads an argument of another kind"},
    {mixed_comparison, "(LT) has arguments of two kinds"},
    {integer_comparison_result, "another kind"},
    {narrow_lane, "(DIV) is computed in a lane that does not hold it"},
    {lane_of_bools, "(INPUT) is computed in a lane that does not hold it"},
    {constant_beyond, "(CONST) is a constant outside of its interval"},
    {integer_guard, "(DIV) has a guard that is no bool"},
    {guard_beyond, "(DIV) has a guard that is no bool"},
    {deep_level, "(COUNTER) counts in no level of loops"},
    {other_level, "(LOOP) is of another level than its COUNTER"},
    {state_not_carried, "(LOOP) reads a state that it does not carry"},
    {final_not_carried, "(FINAL) is a state that its LOOP does not carry"},
    {begins_with_itself, "(LOOP) begins with a value of its own rounds"},
    {endless_chain, "(CARRY) ends in no COUNTER"},
    {no_loop, "(FINAL) is of no LOOP"},
    {round_outside, "output 1 reads a value of a loop's rounds"},
    {unknown_input, "reads an input that its task does not have"},
    {input_of_another_kind, "has another kind than its input"},
    {whole_in_a_row, "reads in its own row what is read whole"},
    {integer_filter, "filter 0 has a value of another kind"},
    {no_output, "output 0 names no value"},
    {output_of_another_kind, "task 0: output 0 has a value of another kind"},
    {other_kind_than_output, "task 1: input 0 has another kind than the output that it reads"},
    {output_beyond, "task 1: input 0 reads an output that its task does not have"},
    {unknown_key, "task 1: key 0 is an input that the operator does not have"},
    {no_direction, "sorts in no direction"},
    {operator_with_window, "has filters or a window"},
    {operator_that_computes, "is computed by an operator"},
    {two_keys, "has another number of keys than it reads"},
    {output_without_aggregate, "task 2: sink 1 has another number of aggregates than of outputs"},
    {aggregate_of_nothing, "task 2: aggregate 0 names no value"},
    {two_windows, "keeps no rows that can be told"},
    {wrong_number, "task 1: has another number than its place"},
    {reads_later, "task 0: reads a task that does not run before it"},
    {reads_another_queue, "task 1: reads a task that does not run before it"},
};

/* Of the queue, and of the first task with the annotations that range analysis makes. */
static const char *fault_of(const struct plan *plan)
{
    const char *fault = queue_fault(&plan->queue);
    return fault ? fault : task_fault(plan->rows, CODE_ANALYSED);
}

static void sound_plans_pass(void **state)
{
    (void)state;
    struct plan plan;
    begin(&plan);
    assert_null(fault_of(&plan));
    assert_true(queue_is_valid(&plan.queue, "nothing"));
    arena_free(plan.arena);
}

static void each_fault_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct plan plan;
        begin(&plan);
        broken[i].breaks(&plan);
        const char *fault = fault_of(&plan);
        if (!fault || !strstr(fault, broken[i].fault))
            fail_msg("case %zu: `%s` instead of `%s`", i, fault ? fault : "no fault", broken[i].fault);
        arena_free(plan.arena);
    }
}

/* Guards may come later, and a COUNTER's condition until loops are in order. */
static void conditions_may_come_later(void **state)
{
    (void)state;
    struct plan plan;
    begin(&plan);
    at(&plan, plan.ratio)->guard = plan.both;
    assert_null(fault_of(&plan));
    struct code *code = &plan.rows->code;
    const value later = code_op(code, OP_NOT, plan.both, NO_VALUE, NO_VALUE, nowhere);
    at(&plan, plan.index)->args[2] = later;
    assert_null(task_fault(plan.rows, CODE_GUARDED));
    assert_non_null(task_fault(plan.rows, CODE_ANALYSED));
    arena_free(plan.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_plans_pass),
        cmocka_unit_test(each_fault_is_found),
        cmocka_unit_test(conditions_may_come_later),
    };
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
