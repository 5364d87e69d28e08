/* Range analysis: its results must hold for all inputs, and must be tight enough for queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/optimize/passes.h"
#include "random_code.h"

#include <stdio.h>

enum { INPUTS = 4, PROGRAMS = 6000, OPERATIONS = 24, ROWS_TRIED = 24 };

static const struct span nowhere = {0};

struct fixture {
    struct arena *arena;
    struct queue queue;
    struct task *task;
    struct column columns[INPUTS];
    struct column *pointers[INPUTS];
};

/* A new task of INPUTS columns, without data: analysis uses only types and ranges. */
static void begin(struct fixture *fixture)
{
    fixture->arena = arena_new();
    queue_init(&fixture->queue, fixture->arena);
    struct task *task = fixture->task = queue_add(&fixture->queue);
    task->inputs = arena_array(fixture->arena, INPUTS, sizeof *task->inputs);
    task->input_count = INPUTS;
    for (int k = 0; k < INPUTS; k++)
        task->inputs[k] = (struct input){.column = &fixture->columns[k], .type = fixture->columns[k].type};
}

static int setup(void **state)
{
    static const enum type types[INPUTS] = {TYPE_I8, TYPE_I32, TYPE_I64, TYPE_F64};
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    for (int k = 0; k < INPUTS; k++) {
        fixture->columns[k] = (struct column){.type = types[k], .store = types[k], .rows = 1000};
        fixture->pointers[k] = &fixture->columns[k];
    }
    begin(fixture);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static value input(struct fixture *fixture, int k)
{
    return code_input(&fixture->task->code, k, type_table[fixture->columns[k].type].kind, nowhere);
}

static value op(struct fixture *fixture, enum op operation, value a, value b)
{
    return code_op(&fixture->task->code, operation, a, b, NO_VALUE, nowhere);
}

static value literal(struct fixture *fixture, int64_t n)
{
    return code_int(&fixture->task->code, n, nowhere);
}

static const struct instr *analysed(struct fixture *fixture, value v)
{
    range_analyse(fixture->task, fixture->pointers, 1000);
    return &fixture->task->code.at[v];
}

static void assert_range(const struct instr *instr, int64_t lo, int64_t hi, bool checked)
{
    assert_int_equal(instr->lo, lo);
    assert_int_equal(instr->hi, hi);
    assert_int_equal(instr->checked, checked);
}

static void columns_have_classes(void **state)
{
    struct fixture *fixture = *state;
    value v = input(fixture, 2);
    assert_range(analysed(fixture, v), INT64_MIN, INT64_MAX, false);
    assert_int_equal(analysed(fixture, v)->lane, LANE_I64);
    fixture->columns[2].range_known = true;
    fixture->columns[2].lo = 3;
    fixture->columns[2].hi = 100000;
    assert_range(analysed(fixture, v), 0, (1 << 30) - 1, false);
    assert_int_equal(analysed(fixture, v)->lane, LANE_I32);
    fixture->columns[2].hi = 200;
    assert_range(analysed(fixture, v), 0, 255, false);
    fixture->columns[2].lo = -1;
    assert_range(analysed(fixture, v), INT16_MIN, INT16_MAX, false);
    /* One spare bit, so that a sum of two fits the lane. */
    fixture->columns[2].lo = -5;
    fixture->columns[2].hi = (1 << 30) - 1;
    assert_range(analysed(fixture, v), -(1 << 30), (1 << 30) - 1, false);
    assert_int_equal(analysed(fixture, op(fixture, OP_ADD, v, v))->lane, LANE_I32);
    fixture->columns[2].hi = INT64_MAX / 2;
    assert_range(analysed(fixture, op(fixture, OP_SUB, v, v)), INT64_MIN + 1, INT64_MAX, false);
    fixture->columns[2].hi++;
    assert_range(analysed(fixture, v), INT64_MIN, INT64_MAX, false);
    fixture->columns[2].hi = 200;
    fixture->columns[2].lo = -1;
    /* Ranges found by a run are used too. */
    fixture->task->inputs[2].range_known = true;
    fixture->task->inputs[2].hi = 100;
    assert_range(analysed(fixture, v), 0, 127, false);
    fixture->task->inputs[2].range_known = false;
    /* Empty columns have no range. */
    fixture->columns[2].rows = 0;
    assert_range(analysed(fixture, v), INT64_MIN, INT64_MAX, false);
}

static void narrow_storage_counts(void **state)
{
    struct fixture *fixture = *state;
    fixture->columns[2].store = TYPE_I32;
    assert_range(analysed(fixture, input(fixture, 2)), INT32_MIN, INT32_MAX, false);
}

/* Literals of the same sign and size share a program. */
static void literals_have_classes(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int64_t n, lo, hi;
    } classes[] = {
        {0, 0, 0},
        {42, 1, 127},
        {43, 1, 127},
        {200, 1, 255},
        {222, 1, 255},
        {-1, -128, -1},
        {-129, INT16_MIN, -1},
        {100000, 1, INT32_MAX},
        {INT64_MAX, 1, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        assert_range(analysed(fixture, literal(fixture, classes[i].n)), classes[i].lo, classes[i].hi, false);
    value exact = code_exact_int(&fixture->task->code, 42, nowhere);
    assert_range(analysed(fixture, exact), 42, 42, false);
}

static void rows_have_classes(void **state)
{
    struct fixture *fixture = *state;
    value v = code_row(&fixture->task->code, nowhere);
    assert_range(analysed(fixture, v), 0, INT32_MAX, false);
    range_analyse(fixture->task, fixture->pointers, (int64_t)INT32_MAX + 1);
    assert_true(fixture->task->code.at[v].hi > INT32_MAX);
    range_analyse(fixture->task, fixture->pointers, INT64_MAX);
    assert_true(fixture->task->code.at[v].hi == INT64_MAX);
}

static void i32_arithmetic_needs_no_check(void **state)
{
    struct fixture *fixture = *state;
    value x = input(fixture, 1);
    assert_false(analysed(fixture, op(fixture, OP_ADD, x, literal(fixture, 1)))->checked);
    assert_int_equal(analysed(fixture, op(fixture, OP_ADD, x, literal(fixture, 1)))->lane, LANE_I64);
    assert_false(analysed(fixture, op(fixture, OP_MUL, x, x))->checked);
    assert_false(analysed(fixture, op(fixture, OP_NEG, x, NO_VALUE))->checked);
    assert_false(analysed(fixture, op(fixture, OP_ABS, x, NO_VALUE))->checked);
    assert_false(analysed(fixture, op(fixture, OP_SHL, x, literal(fixture, 31)))->checked);
    assert_true(analysed(fixture, op(fixture, OP_SHL, x, literal(fixture, 33)))->checked);
    assert_false(analysed(fixture, op(fixture, OP_SHR, x, literal(fixture, 63)))->checked);
    assert_true(analysed(fixture, op(fixture, OP_SHR, x, literal(fixture, 64)))->checked);
    value small = input(fixture, 0);
    assert_int_equal(analysed(fixture, op(fixture, OP_MUL, small, small))->lane, LANE_I32);
    value wide = input(fixture, 2);
    assert_true(analysed(fixture, op(fixture, OP_ADD, wide, literal(fixture, 1)))->checked);
    assert_false(analysed(fixture, op(fixture, OP_BITAND, wide, literal(fixture, 1)))->checked);
}

static void division_by_a_literal_needs_no_check(void **state)
{
    struct fixture *fixture = *state;
    value x = input(fixture, 2);
    assert_range(analysed(fixture, op(fixture, OP_MOD, x, literal(fixture, 222))), -254, 254, false);
    assert_false(analysed(fixture, op(fixture, OP_DIV, x, literal(fixture, 7)))->checked);
    assert_true(analysed(fixture, op(fixture, OP_DIV, x, literal(fixture, -7)))->checked); /* as for -1 */
    assert_false(analysed(fixture, op(fixture, OP_DIV, input(fixture, 1), literal(fixture, -7)))->checked);
    assert_true(analysed(fixture, op(fixture, OP_DIV, x, literal(fixture, 0)))->checked);
    assert_true(analysed(fixture, op(fixture, OP_MOD, x, input(fixture, 1)))->checked);
    value masked = op(fixture, OP_BITAND, x, literal(fixture, 15));
    assert_range(analysed(fixture, op(fixture, OP_MOD, masked, literal(fixture, 8))), 0, 126, false);
}

/* A divisor proved nonzero only if nothing failed may be zero after a failure. */
static void doubtful_divisors_are_checked(void **state)
{
    struct fixture *fixture = *state;
    value x = input(fixture, 2);
    value product = op(fixture, OP_MUL, x, x);
    value remainder = op(fixture, OP_MOD, op(fixture, OP_ABS, product, NO_VALUE), literal(fixture, 100));
    value divisor = op(fixture, OP_ADD, remainder, literal(fixture, 1));
    value quotient = op(fixture, OP_DIV, x, divisor);
    assert_true(analysed(fixture, divisor)->lo > 0);
    assert_true(analysed(fixture, quotient)->checked);
}

static void stores_are_narrow(void **state)
{
    struct fixture *fixture = *state;
    value sum = op(fixture, OP_ADD, input(fixture, 1), literal(fixture, 1));
    value low = op(fixture, OP_MOD, input(fixture, 1), literal(fixture, 10));
    value truth = op(fixture, OP_LT, sum, low);
    analysed(fixture, sum);
    const struct output outputs[] = {
        {.value = input(fixture, 0), .type = TYPE_I8},
        {.value = sum, .type = TYPE_I64},
        {.value = low, .type = TYPE_I64},
        {.value = truth, .type = TYPE_BOOL},
        {.value = input(fixture, 3), .type = TYPE_F64},
    };
    static const enum type stores[] = {TYPE_I8, TYPE_I64, TYPE_I32, TYPE_BOOL, TYPE_F64};
    for (size_t k = 0; k < 5; k++)
        assert_int_equal(output_store(fixture->task, &outputs[k], fixture->pointers), stores[k]);
}

/* A random element within the input's range, the same for each position. */
static struct cell element_of(const void *context, int64_t input, int64_t at)
{
    const struct fixture *fixture = context;
    struct random random = {(uint64_t)(input * 1000 + at + 1) * UINT64_C(0x9e3779b97f4a7c15)};
    const struct column *column = &fixture->columns[input];
    return (struct cell){.integer = input < INPUTS - 1 ? random_within(&random, column->lo, column->hi) : 0,
                         .number = random_float(&random)};
}

static int64_t length_of(const void *context, int64_t input)
{
    return ((const struct fixture *)context)->columns[input].rows;
}

/* No unchecked operation may have undefined behavior, even after a failure. */
static void check_eager(struct random *random, const struct code *code, const struct cell *inputs, int64_t row,
                        const struct surroundings *around)
{
    struct cell cells[INPUTS + OPERATIONS * 2 + 32];
    assert_true((size_t)code->count <= sizeof cells / sizeof *cells);
    eager_values(random, code, inputs, row, around, cells);
    for (value v = 0; v < code->count; v++) {
        const struct instr *instr = &code->at[v];
        bool divides = (instr->op == OP_DIV || instr->op == OP_MOD) && instr->kind == KIND_INT;
        bool shifts = instr->op == OP_SHL || instr->op == OP_SHR;
        if (cells[v].failed && !instr->checked)
            assert_false(divides || (shifts && (uint64_t)cells[instr->args[1]].integer > 63));
    }
}

static void ranges_hold_for_random_programs(void **state)
{
    struct fixture *fixture = *state;
    static const enum kind kinds[INPUTS] = {KIND_INT, KIND_INT, KIND_INT, KIND_FLOAT};
    struct random random = {20240611};
    int64_t unchecked = 0;
    for (int program = 0; program < PROGRAMS; program++) {
        struct code *code = &fixture->task->code;
        for (int k = 0; k < INPUTS - 1; k++) {
            struct column *column = &fixture->columns[k];
            int64_t a = random_within(&random, type_table[column->type].lo, type_table[column->type].hi);
            int64_t b = random_within(&random, type_table[column->type].lo, type_table[column->type].hi) >>
                        random_below(&random, 64);
            column->range_known = random_below(&random, 3) > 0;
            column->lo = column->range_known ? (a < b ? a : b) : type_table[column->type].lo;
            column->hi = column->range_known ? (a < b ? b : a) : type_table[column->type].hi;
        }
        const struct surroundings around = {
            .context = fixture, .element = element_of, .length = length_of, .rows = 1000};
        random_program(&random, code, kinds, INPUTS, OPERATIONS, program % 2 == 0);
        range_analyse(fixture->task, fixture->pointers, 1000);
        struct cell *cells = arena_array(fixture->arena, (size_t)code->count, sizeof *cells);
        for (int i = 0; i < ROWS_TRIED; i++) {
            struct cell inputs[INPUTS] = {{0}};
            for (int k = 0; k < INPUTS - 1; k++)
                inputs[k].integer = random_within(&random, fixture->columns[k].lo, fixture->columns[k].hi);
            inputs[INPUTS - 1].number = random_float(&random);
            int64_t row = random_below(&random, 1000);
            memset(cells, 0, (size_t)code->count * sizeof *cells);
            for (value v = 0; v < code->count; v++) {
                const struct instr *instr = &code->at[v];
                struct cell cell = lazy_value_in(code, v, inputs, row, &around, cells);
                if (cell.failed) {
                    /* It failed itself, which only a checked one may, or an argument did. */
                    bool by_argument = instr->checked;
                    for (int a = 0; a < op_table[instr->op].arity; a++)
                        by_argument = by_argument || cells[instr->args[a]].failed;
                    assert_true(by_argument);
                } else if (instr->kind != KIND_FLOAT) {
                    assert_true(cell.integer >= instr->lo && cell.integer <= instr->hi);
                }
                unchecked += code_can_fail(instr) && !instr->checked;
            }
            check_eager(&random, code, inputs, row, &around);
        }
        arena_free(fixture->arena);
        begin(fixture);
    }
    assert_true(unchecked > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_have_classes, setup, teardown),
        cmocka_unit_test_setup_teardown(narrow_storage_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(literals_have_classes, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_have_classes, setup, teardown),
        cmocka_unit_test_setup_teardown(i32_arithmetic_needs_no_check, setup, teardown),
        cmocka_unit_test_setup_teardown(division_by_a_literal_needs_no_check, setup, teardown),
        cmocka_unit_test_setup_teardown(doubtful_divisors_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(stores_are_narrow, setup, teardown),
        cmocka_unit_test_setup_teardown(ranges_hold_for_random_programs, setup, teardown),
    };
    return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
