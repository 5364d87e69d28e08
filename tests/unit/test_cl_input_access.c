/* Neighbours, positions and folds on a device, against the evaluator. */
#include "cl_rig.h"

#include "engine/backend/user_reduce.h"

/* Pieces of a few thousand rows, so that neighbours lie in other pieces. */
static struct accelerator *open_small(const struct kernel_config *shape)
{
    struct accelerator *accelerator = rig_accelerator(shape);
    accelerator->device.largest_buffer = 16384 * sizeof(int64_t);
    accelerator->device.memory = UINT64_C(4) << 20;
    return accelerator;
}

typedef void test_fn(struct rig *rig);

static void in_all_shapes(void **state, test_fn *test)
{
    static const struct kernel_config *const shapes[] = {&kernel_config_cpu, &kernel_config_grid};
    struct rig *rig = rig_of(state);
    test(rig);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        rig->accelerator = open_small(shapes[k]);
        test(rig);
        accelerator_close(rig->accelerator);
        rig->accelerator = NULL;
    }
}

static bool is_small(void)
{
    return getenv("RQL_TEST_OCLGRIND") != NULL;
}

static const enum type stores[] = {TYPE_I8,  TYPE_I16, TYPE_I32, TYPE_I64, TYPE_U8,
                                   TYPE_U16, TYPE_U32, TYPE_F32, TYPE_F64};
enum { STORE_COUNT = sizeof stores / sizeof *stores };

/* Sums of all the neighbours; with a filter if `odd`. */
static void check_neighbours(struct rig *rig, enum type type, int64_t rows, int64_t first, bool odd)
{
    static const int64_t offsets[] = {-1, 1, 0, 17, -4096, 100000};
    struct random random = {(uint64_t)rows * 31 + (uint64_t)type + 7};
    bool flagged;
    struct setup *setup = setup_new(rig, SINK_ROWS);
    value x = setup_input(setup, random_column(&random, type, rows, true));
    enum kind kind = type_table[type].kind;
    value sum = x;
    for (size_t k = 0; k < sizeof offsets / sizeof *offsets; k++)
        sum = op2(setup, OP_ADD, sum, code_input_at(&setup->task.code, 0, offsets[k], kind, nowhere));
    setup->task.first = first;
    setup_output(setup, sum, type_of_kind(kind));
    setup_output(setup, code_input_at(&setup->task.code, 0, -3, kind, nowhere), type);
    if (odd)
        setup_filter(setup, op2(setup, OP_LT,
                                op2(setup, OP_BITAND, code_row(&setup->task.code, nowhere), int_literal(setup, 3)),
                                int_literal(setup, 2)));
    setup_analyse(setup, rows - first);
    assert_int_equal(compare(rig, setup, 0, rows - first, &flagged), STATUS_OK);
    assert_false(flagged);
    if (rows - first > 9000)
        assert_int_equal(compare(rig, setup, 4096, rows - first - 7, &flagged), STATUS_OK);
    setup_free(setup);
}

static void neighbours(struct rig *rig)
{
    for (size_t k = 0; k < STORE_COUNT; k += is_small() ? 4 : 1) {
        check_neighbours(rig, stores[k], is_small() ? 300 : 40003, k % 2, k % 3 == 0);
        check_neighbours(rig, stores[k], 1, 0, false);
    }
    check_neighbours(rig, TYPE_I32, is_small() ? 17 : 4097, 0, false);
}

static void test_neighbours(void **state)
{
    in_all_shapes(state, neighbours);
}

/* The column reversed, by position; `wanted`: a position is out of range. */
static void check_positions(struct rig *rig, enum type type, int64_t rows, int64_t whole, int64_t last, bool wanted)
{
    struct random random = {(uint64_t)rows * 131 + (uint64_t)type + 7};
    bool flagged;
    struct setup *setup = setup_new(rig, SINK_ROWS);
    struct code *code = &setup->task.code;
    setup_input(setup, random_column(&random, type, whole, true));
    setup->inputs[0].whole = true;
    value from_end = op2(setup, OP_SUB, code_rows(code, nowhere), int_literal(setup, last));
    value position = op2(setup, OP_SUB, from_end, code_row(code, nowhere));
    value element = code_gather(code, 0, type_table[type].kind, position, nowhere);
    setup_output(setup, element, type);
    setup_output(setup, code_rows(code, nowhere), TYPE_I64);
    setup_analyse(setup, rows);
    assert_int_equal(compare(rig, setup, 0, rows, &flagged), STATUS_OK);
    assert_int_equal(flagged, wanted);
    setup_free(setup);
}

static void positions(struct rig *rig)
{
    int64_t rows = is_small() ? 300 : 10003;
    for (size_t k = 0; k < STORE_COUNT; k += is_small() ? 4 : 1)
        check_positions(rig, stores[k], rows, rows, 1, false);
    check_positions(rig, TYPE_I32, rows, rows - 1, 1, true);
    check_positions(rig, TYPE_I32, rows, rows, 2, true);
    check_positions(rig, TYPE_I32, 5, 0, 1, true);
    check_positions(rig, TYPE_I64, 1, 1, 1, false);
}

static void test_positions(void **state)
{
    in_all_shapes(state, positions);
}

/* A position is out of range only where it is not evaluated. */
static void guarded(struct rig *rig)
{
    struct random random = {99};
    bool flagged;
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    struct code *code = &setup->task.code;
    int64_t rows = is_small() ? 300 : 20000;
    setup_input(setup, random_column(&random, TYPE_I32, 10, true));
    setup->inputs[0].whole = true;
    value row = code_row(code, nowhere);
    value inside = op2(setup, OP_LT, row, int_literal(setup, 10));
    value element = code_gather(code, 0, KIND_INT, row, nowhere);
    setup_aggregate(setup, AGG_SUM, code_op(code, OP_SELECT, inside, element, int_literal(setup, 1), nowhere));
    setup_analyse(setup, rows);
    assert_int_equal(compare(rig, setup, 0, rows, &flagged), STATUS_OK);
    assert_false(flagged);
    setup_free(setup);
}

static void test_guarded(void **state)
{
    in_all_shapes(state, guarded);
}

static void bits(struct rig *rig)
{
    static const enum aggregate_kind kinds[] = {AGG_BITAND, AGG_XOR, AGG_BITOR};
    for (size_t k = 0; k < 3; k++) {
        for (int narrow = 0; narrow < 2; narrow++) {
            struct random random = {k * 2 + 5};
            bool flagged;
            int64_t rows = is_small() ? 300 : 50001;
            struct setup *setup = setup_new(rig, SINK_AGGREGATE);
            value x = setup_input(setup, random_column(&random, narrow ? TYPE_I32 : TYPE_I64, rows, false));
            if (k == 0)
                x = op2(setup, OP_BITOR, x, int_literal(setup, 5));
            if (narrow)
                setup_filter(setup, op2(setup, OP_LT, x, int_literal(setup, 1000000000)));
            setup_aggregate(setup, kinds[k], x);
            setup_analyse(setup, rows);
            assert_int_equal(compare(rig, setup, 0, rows, &flagged), STATUS_OK);
            assert_false(flagged);
            setup_free(setup);
        }
    }
}

static void test_bits(void **state)
{
    in_all_shapes(state, bits);
}

/* Associative functions: left operand; right operand unless 0; sum, which may overflow; affine composition; and. */
enum function_kind { LEFT, LATER, SUM, PAIR, AND };

static struct user_reduce *function_of(struct rig *rig, enum function_kind kind)
{
    struct user_reduce *reducer = arena_alloc(rig->arena, sizeof *reducer);
    struct task *body = arena_alloc(rig->arena, sizeof *body);
    struct code *code = &body->code;
    reducer->kind = kind == AND ? KIND_BOOL : KIND_INT;
    reducer->body = body;
    body->inputs = arena_array(rig->arena, 2, sizeof *body->inputs);
    body->input_count = 2;
    body->outputs = arena_array(rig->arena, 1, sizeof *body->outputs);
    body->output_count = 1;
    body->window = (struct window){.take = INT64_MAX, .tail = -1};
    body->limit = INT64_MAX;
    code_init(code, rig->arena);
    value a = code_input(code, 0, reducer->kind, nowhere), b = code_input(code, 1, reducer->kind, nowhere);
    value zero = code_int(code, 0, nowhere), v = a;
    for (size_t k = 0; k < 2; k++)
        body->inputs[k] = (struct input){.type = type_of_kind(reducer->kind), .name = k ? "b" : "a"};
    switch (kind) {
    case LEFT:
        break;
    case LATER:
        v = code_op(code, OP_SELECT, code_op(code, OP_EQ, b, zero, NO_VALUE, nowhere), a, b, nowhere);
        break;
    case SUM:
        v = code_op(code, OP_ADD, a, b, NO_VALUE, nowhere);
        break;
    case PAIR: { /* composes x -> p x + q mod 251, encoded as 256 p + q, with literals */
        value m = code_int(code, 251, nowhere), w = code_int(code, 256, nowhere);
        value pa = code_op(code, OP_SHR, a, code_int(code, 8, nowhere), NO_VALUE, nowhere);
        value pb = code_op(code, OP_SHR, b, code_int(code, 8, nowhere), NO_VALUE, nowhere);
        value qa = code_op(code, OP_BITAND, a, code_int(code, 255, nowhere), NO_VALUE, nowhere);
        value qb = code_op(code, OP_BITAND, b, code_int(code, 255, nowhere), NO_VALUE, nowhere);
        value p = code_op(code, OP_MOD, code_op(code, OP_MUL, pa, pb, NO_VALUE, nowhere), m, NO_VALUE, nowhere);
        value q = code_op(code, OP_ADD, code_op(code, OP_MUL, pb, qa, NO_VALUE, nowhere), qb, NO_VALUE, nowhere);
        q = code_op(code, OP_MOD, q, m, NO_VALUE, nowhere);
        v = code_op(code, OP_ADD, code_op(code, OP_MUL, p, w, NO_VALUE, nowhere), q, NO_VALUE, nowhere);
        break;
    }
    case AND:
        v = code_op(code, OP_AND, a, b, NO_VALUE, nowhere);
        break;
    }
    body->outputs[0] = (struct output){.value = v, .name = "r", .type = type_of_kind(reducer->kind), .needed = true};
    return reducer;
}

static void check_fold(struct rig *rig, enum function_kind kind, int64_t rows, bool filtered, bool mild)
{
    struct random random = {(uint64_t)rows + kind + 3};
    bool flagged;
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    value x = setup_input(setup, random_column(&random, mild ? TYPE_I16 : TYPE_I64, rows, mild));
    if (kind == PAIR) {
        value p = op2(setup, OP_BITAND, op2(setup, OP_SHR, x, int_literal(setup, 3)), int_literal(setup, 127));
        p = op2(setup, OP_ADD, p, int_literal(setup, 1));
        x = op2(setup, OP_BITOR, op2(setup, OP_SHL, p, int_literal(setup, 8)),
                op2(setup, OP_BITAND, x, int_literal(setup, 127)));
    } else if (kind == AND) {
        x = op2(setup, OP_LT, x, int_literal(setup, 1000));
    }
    if (filtered)
        setup_filter(setup,
                     op2(setup, OP_NE, op2(setup, OP_MOD, code_row(&setup->task.code, nowhere), int_literal(setup, 7)),
                         int_literal(setup, 2)));
    setup_aggregate(setup, AGG_FOLD, x);
    setup->aggregates[0].reducer = function_of(rig, kind);
    setup_analyse(setup, rows);
    assert_int_equal(compare(rig, setup, 0, rows, &flagged), STATUS_OK);
    if (mild)
        assert_false(flagged);
    setup_free(setup);
}

/* PoCL 3.1 with groups of 256 computes 0 for 64-bit products in a loop followed by one with barriers. Only this test
 * runs such kernels on a CPU. */
static bool miscompiles(const struct rig *rig)
{
    return rig->accelerator && !rig->accelerator->config->contiguous &&
           (rig->accelerator->device.type & CL_DEVICE_TYPE_CPU) && !is_small();
}

static void folds(struct rig *rig)
{
    static const int64_t sizes[] = {1, 2, 257, 4095, 4097, 100003};
    for (size_t k = 0; k < (is_small() ? 3 : sizeof sizes / sizeof *sizes); k++) {
        check_fold(rig, LEFT, sizes[k], k % 2, true);
        check_fold(rig, LATER, sizes[k], k % 2 == 0, true);
        check_fold(rig, SUM, sizes[k], k % 2, k != 3);
        if (!miscompiles(rig))
            check_fold(rig, PAIR, sizes[k], k % 2 == 0, true);
        check_fold(rig, AND, sizes[k], k % 2, true);
    }
}

static void test_folds(void **state)
{
    in_all_shapes(state, folds);
}

/* Elements of all types as they are, compared with sums of them: an assembler once took uints for ints there. */
static void test_extremes(void **state)
{
    struct rig *rig = rig_of(state);
    for (enum type type = TYPE_I8; type <= TYPE_U32; type++) {
        struct random random = {(uint64_t)type + 1};
        struct setup *setup = setup_new(rig, SINK_AGGREGATE);
        bool flagged;
        value x = setup_input(setup, random_column(&random, type, 5001, false)), sum = op2(setup, OP_ADD, x, x);
        setup_filter(setup, op2(setup, OP_LT, sum, x));
        setup_aggregate(setup, AGG_SUM, sum);
        setup_aggregate(setup, AGG_COUNT, NO_VALUE);
        setup_analyse(setup, 5001);
        assert_int_equal(compare(rig, setup, 0, 5001, &flagged), STATUS_OK);
        assert_int_equal(flagged, type == TYPE_I64);
        setup_free(setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_positions), cmocka_unit_test(test_guarded),
        cmocka_unit_test(test_bits),       cmocka_unit_test(test_folds),     cmocka_unit_test(test_extremes),
    };
    if (getenv("RQL_TEST_ONLY"))
        cmocka_set_test_filter(getenv("RQL_TEST_ONLY"));
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
