/* Device scans against the host's and against a naive loop. */
#include "cl_rig.h"

#include "cl/operators/operator.h"
#include "engine/backend/user_reduce.h"
#include "engine/operators/operator.h"

static bool is_small(void)
{
    return getenv("RQL_TEST_OCLGRIND") != NULL;
}

static struct accelerator *open_shaped(const struct kernel_config *shape, bool small)
{
    struct accelerator *accelerator = rig_accelerator(shape);
    if (small) { /* several slabs */
        accelerator->device.largest_buffer = 16384 * sizeof(int64_t);
        accelerator->device.memory = UINT64_C(4) << 20;
    }
    return accelerator;
}

struct trial {
    enum aggregate_kind kind;
    enum type type;
    int64_t rows;
    bool exclusive, initial, mild;
    int64_t segment, stride;
    enum type store; /* of results; TYPE_COUNT: full width */
};

/* 251 p + q is x -> p x + q modulo 251. Composition: associative, not commutative. */
static struct user_reduce *composition(struct rig *rig)
{
    struct user_reduce *reducer = arena_alloc(rig->arena, sizeof *reducer);
    struct task *body = arena_alloc(rig->arena, sizeof *body);
    struct code *code = &body->code;
    *reducer = (struct user_reduce){.kind = KIND_INT, .body = body};
    body->inputs = arena_array(rig->arena, 2, sizeof *body->inputs);
    body->input_count = 2;
    body->outputs = arena_array(rig->arena, 1, sizeof *body->outputs);
    body->output_count = 1;
    body->window = (struct window){.take = INT64_MAX, .tail = -1};
    body->limit = INT64_MAX;
    code_init(code, rig->arena);
    value a = code_input(code, 0, KIND_INT, nowhere), b = code_input(code, 1, KIND_INT, nowhere);
    value m = code_int(code, 251, nowhere);
    for (size_t k = 0; k < 2; k++)
        body->inputs[k] = (struct input){.type = TYPE_I64, .name = k ? "b" : "a"};
    value pa = code_op(code, OP_DIV, a, m, NO_VALUE, nowhere), pb = code_op(code, OP_DIV, b, m, NO_VALUE, nowhere);
    value qa = code_op(code, OP_MOD, a, m, NO_VALUE, nowhere), qb = code_op(code, OP_MOD, b, m, NO_VALUE, nowhere);
    value p = code_op(code, OP_MOD, code_op(code, OP_MUL, pa, pb, NO_VALUE, nowhere), m, NO_VALUE, nowhere);
    value q = code_op(code, OP_ADD, code_op(code, OP_MUL, pb, qa, NO_VALUE, nowhere), qb, NO_VALUE, nowhere);
    q = code_op(code, OP_MOD, q, m, NO_VALUE, nowhere);
    value r = code_op(code, OP_ADD, code_op(code, OP_MUL, p, m, NO_VALUE, nowhere), q, NO_VALUE, nowhere);
    body->outputs[0] = (struct output){.value = r, .name = "r", .type = TYPE_I64, .needed = true};
    return reducer;
}

static struct column *trial_column(const struct trial *trial)
{
    struct random random = {(uint64_t)trial->rows * 77 + (uint64_t)trial->kind * 5 + trial->type + 1};
    struct column *column = random_column(&random, trial->type, trial->rows, trial->mild);
    for (int64_t row = 0; row < trial->rows && trial->kind == AGG_PRODUCT; row++) { /* small, some zeros */
        int64_t v = row % 1009 == 700 ? 0 : random_below(&random, 300) == 0 ? 2 : 1;
        memcpy(column_at(column, row), &v, type_table[trial->type].size);
    }
    for (int64_t row = 0; row < trial->rows && trial->kind == AGG_FOLD; row++) {
        int64_t v = random_below(&random, type_table[trial->type].size == 1 ? 100 : 251 * 100);
        memcpy(column_at(column, row), &v, type_table[trial->type].size);
    }
    return column;
}

static struct setup *new_scan(struct rig *rig, const struct trial *trial)
{
    struct setup *setup = setup_new(rig, SINK_OPERATOR);
    enum kind kind = type_table[trial->type].kind;
    value x = setup_input(setup, trial_column(trial));
    struct column_operator *column_op = arena_alloc(rig->arena, sizeof *column_op);
    column_op->kind = OPERATOR_SCAN;
    column_op->keys = arena_array(rig->arena, 1, sizeof *column_op->keys);
    column_op->key_count = 1;
    column_op->exclusive = trial->exclusive;
    column_op->segment = trial->segment;
    column_op->stride = trial->stride > 0 ? trial->stride : 1;
    setup->task.column_op = column_op;
    setup_aggregate(setup, trial->kind, x);
    setup->task.aggregate_count = 1;
    if (trial->kind == AGG_FOLD)
        setup->aggregates[0].reducer = composition(rig);
    setup->aggregates[0].has_initial = trial->initial;
    setup->aggregates[0].initial = kind == KIND_FLOAT ? scalar_float(2.5) : scalar_int(3);
    setup_output(setup, x, type_of_kind(kind));
    return setup;
}

static struct column *run_trial(struct rig *rig, const struct trial *trial, struct setup *setup, bool host,
                                enum status *status, bool *flagged)
{
    enum type type = type_of_kind(type_table[trial->type].kind);
    struct column *result = column_reserve(type, trial->store < TYPE_COUNT ? trial->store : type, trial->rows);
    int64_t result_rows = -1;
    struct operator_job job = {.task = &setup->task,
                               .inputs = setup->columns,
                               .rows = trial->rows,
                               .results = &result,
                               .result_rows = &result_rows,
                               .timing = &rig->timing,
                               .cancel = &rig->cancel,
                               .diags = &rig->diags};
    assert_non_null(result);
    *flagged = false;
    *status = host               ? host_operator_run_threads(&job, 1, flagged)
              : rig->accelerator ? cl_scan(rig->accelerator, &job, flagged)
                                 : rig->device->ops->run_operator(rig->device, &job, flagged);
    if (*status == STATUS_OK)
        assert_int_equal(result_rows, trial->rows);
    column_finish(result, trial->rows);
    assert_true(column_fetch(result, 0, trial->rows));
    return result;
}

/* Sequential reference in 128 bits; false if a value does not fit. */
static bool check_plainly(const struct trial *trial, const struct column *from, const struct column *result)
{
    int64_t stride = trial->stride > 0 ? trial->stride : 1;
    for (int64_t chain = 0; chain < stride; chain++) {
        int128 identity = trial->kind == AGG_PRODUCT  ? 1
                          : trial->kind == AGG_MIN    ? INT64_MAX
                          : trial->kind == AGG_MAX    ? INT64_MIN
                          : trial->kind == AGG_BITAND ? -1
                                                      : 0;
        int128 start = trial->initial ? 3 : identity, running = start;
        for (int64_t row = chain; row < trial->rows; row += stride) {
            int128 v = column_get_int(from, row);
            if (trial->segment > 0 && row % trial->segment == 0)
                running = start;
            int128 before = running;
            switch (trial->kind) {
            case AGG_SUM:
                running += v;
                break;
            case AGG_PRODUCT:
                running *= v;
                break;
            case AGG_MIN:
                running = v < running ? v : running;
                break;
            case AGG_MAX:
                running = v > running ? v : running;
                break;
            case AGG_BITAND:
                running &= v;
                break;
            case AGG_XOR:
                running ^= v;
                break;
            default:
                running |= v;
            }
            if (running > INT64_MAX || running < INT64_MIN)
                return false;
            int128 wanted = trial->exclusive ? before : running;
            if (column_get_int(result, row) != (int64_t)wanted)
                fail_msg("kind %d, row %lld of %lld: %lld is not %lld", (int)trial->kind, (long long)row,
                         (long long)trial->rows, (long long)column_get_int(result, row), (long long)wanted);
        }
    }
    return true;
}

static void check(struct rig *rig, const struct trial *trial)
{
    struct setup *setup = new_scan(rig, trial);
    enum status status, host_status;
    bool flagged, host_flagged, number = type_table[trial->type].kind == KIND_FLOAT;
    struct column *got = run_trial(rig, trial, setup, false, &status, &flagged);
    struct column *wanted = run_trial(rig, trial, setup, true, &host_status, &host_flagged);
    assert_int_equal(host_status, STATUS_OK);
    if (status == STATUS_UNABLE) {
        assert_true(trial->stride > 1 || (number && trial->kind == AGG_PRODUCT));
    } else {
        assert_int_equal(status, STATUS_OK);
        assert_true(flagged || !host_flagged || number);
        if (trial->mild && !number)
            assert_false(flagged);
        for (int64_t row = 0; row < trial->rows && !flagged && !host_flagged; row++) {
            if (number)
                assert_same_number(column_get_float(got, row), column_get_float(wanted, row));
            else if (column_get_int(got, row) != column_get_int(wanted, row))
                fail_msg("kind %d, row %lld: %lld is not %lld", (int)trial->kind, (long long)row,
                         (long long)column_get_int(got, row), (long long)column_get_int(wanted, row));
        }
        if (!number && trial->kind != AGG_FOLD && !flagged)
            assert_true(check_plainly(trial, setup->columns[0], got));
        rig->compared += !flagged;
        rig->flagged += flagged;
    }
    column_unref(got);
    column_unref(wanted);
    setup_free(setup);
}

static const int64_t sizes[] = {0, 1, 257, 4095, 4096, 4097, 100003};

static size_t size_count(void)
{
    return is_small() ? 3 : sizeof sizes / sizeof *sizes;
}

static void scans(struct rig *rig)
{
    static const enum aggregate_kind kinds[] = {AGG_SUM,    AGG_PRODUCT, AGG_MIN,   AGG_MAX,
                                                AGG_BITAND, AGG_XOR,     AGG_BITOR, AGG_FOLD};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int form = 0; form < 3; form++) { /* few programs: sizes are not in the text */
            for (size_t s = 0; s < size_count(); s++) {
                struct trial trial = {.kind = kinds[k],
                                      .type = form == 0   ? TYPE_I32
                                              : form == 1 ? TYPE_I64
                                                          : TYPE_U8,
                                      .rows = sizes[s],
                                      .exclusive = form == 1,
                                      .initial = form == 1 || (form == 2 && s % 2),
                                      .mild = form != 1 || kinds[k] == AGG_FOLD || kinds[k] == AGG_PRODUCT,
                                      .segment = form == 2 ? (s % 2 ? 100 : 6000) : 0,
                                      .store = TYPE_COUNT};
                check(rig, &trial);
            }
        }
    }
}

static void floats(struct rig *rig)
{
    static const enum aggregate_kind kinds[] = {AGG_SUM, AGG_MIN, AGG_MAX, AGG_PRODUCT};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int form = 0; form < 3; form++) {
            for (size_t s = 0; s < size_count(); s++) {
                struct trial trial = {.kind = kinds[k],
                                      .type = form == 0 ? TYPE_F32 : TYPE_F64,
                                      .rows = sizes[s],
                                      .exclusive = form == 1,
                                      .initial = form > 0,
                                      .mild = form != 1,
                                      .segment = form == 2 ? (s % 2 ? 100 : 6000) : 0,
                                      .store = TYPE_COUNT};
                check(rig, &trial);
            }
        }
    }
}

static void types(struct rig *rig)
{
    static const enum type stores[] = {TYPE_I8, TYPE_I16, TYPE_U16, TYPE_U32};
    for (size_t k = 0; k < sizeof stores / sizeof *stores; k++) {
        struct trial trial = {.kind = AGG_SUM,
                              .type = stores[k],
                              .rows = is_small() ? 300 : 10007,
                              .mild = true,
                              .store = k == 0 ? TYPE_I32 : TYPE_COUNT};
        check(rig, &trial);
    }
}

static void columns(struct rig *rig)
{
    static const int64_t strides[] = {2, 100, 5000};
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        struct trial trial = {.kind = AGG_SUM,
                              .type = TYPE_I32,
                              .rows = is_small() ? 400 : 15000,
                              .mild = true,
                              .stride = strides[k],
                              .initial = k == 1,
                              .exclusive = k == 2,
                              .store = TYPE_COUNT};
        check(rig, &trial);
    }
}

/* Float sums that need more than two doubles are flagged or right. */
static void hard_floats(struct rig *rig)
{
    struct trial trial = {.kind = AGG_SUM, .type = TYPE_F64, .rows = 3000, .store = TYPE_COUNT};
    struct setup *setup = new_scan(rig, &trial);
    enum status status;
    bool flagged;
    double *at = column_at(setup->columns[0], 0);
    struct exact_sum sum;
    for (int64_t row = 0; row < trial.rows; row++)
        at[row] = ldexp(row % 3 == 1 ? -1.0 : 1.0, (int)(row * 37 % 120) - 60) * (1 + (double)row / 1024);
    struct column *got = run_trial(rig, &trial, setup, false, &status, &flagged);
    assert_int_equal(status, STATUS_OK);
    exact_sum_init(&sum);
    for (int64_t row = 0; row < trial.rows && !flagged; row++) {
        bool certain = true;
        exact_sum_add(&sum, at[row]);
        assert_same_number(column_get_float(got, row), exact_sum_result(&sum, &certain));
    }
    column_unref(got);
    setup_free(setup);
}

typedef void test_fn(struct rig *rig);

static void in_all_shapes(void **state, test_fn *test)
{
    static const struct kernel_config *const shapes[] = {&kernel_config_cpu, &kernel_config_grid};
    struct rig *rig = rig_of(state);
    for (size_t k = 0; k < 4; k++) {
        if (is_small() && k % 2)
            continue;
        rig->accelerator = open_shaped(shapes[k / 2], k % 2);
        test(rig);
        accelerator_close(rig->accelerator);
        rig->accelerator = NULL;
    }
}

static void test_scans(void **state)
{
    in_all_shapes(state, scans);
}

static void test_floats(void **state)
{
    in_all_shapes(state, floats);
}

static void test_types(void **state)
{
    in_all_shapes(state, types);
}

static void test_columns(void **state)
{
    in_all_shapes(state, columns);
}

static void test_hard_floats(void **state)
{
    in_all_shapes(state, hard_floats);
}

/* Through the backend; millions of rows with RQL_TEST_LONG. */
static void test_backend(void **state)
{
    struct rig *rig = rig_of(state);
    struct trial trial = {
        .kind = AGG_SUM, .type = TYPE_I32, .rows = getenv("RQL_TEST_LONG") ? 5000011 : 300, .store = TYPE_COUNT};
    check(rig, &trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scans),   cmocka_unit_test(test_floats),      cmocka_unit_test(test_types),
        cmocka_unit_test(test_columns), cmocka_unit_test(test_hard_floats), cmocka_unit_test(test_backend),
    };
    if (getenv("RQL_TEST_ONLY"))
        cmocka_set_test_filter(getenv("RQL_TEST_ONLY"));
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
