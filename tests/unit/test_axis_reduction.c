/* Reduction along an axis against grouping by a key column, bit for bit: shapes with short, long and very long rows,
 * few, many and very many columns. */
#include "scratch.h"

#include "engine/operators/operator.h"

#include <math.h>

enum { KEY, VALUE, COLUMNS };

static const struct {
    int64_t rows, cols;
} shapes[] = {
    {1, 1},     {1, 2},     {7, 1},     {1, 2048},  {3, 63},     {5, 64},    {777, 63},  {777, 65},
    {40001, 3}, {3, 2047},  {3, 2049},  {3, 65535}, {2, 150000}, {1, 70001}, {90, 1023}, {90, 1024},
    {60, 1025}, {9, 16383}, {9, 16384}, {5, 20001}, {2, 65537},  {3000, 17},
};

static const enum aggregate_kind kinds[] = {AGG_COUNT, AGG_SUM, AGG_MIN, AGG_MAX, AGG_MEAN};

static const enum type types[] = {TYPE_BOOL, TYPE_I8,  TYPE_I16, TYPE_I32, TYPE_I64,
                                  TYPE_U8,   TYPE_U16, TYPE_U32, TYPE_F32, TYPE_F64};

/* A separate generator: tests must not depend on the library's. */
static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void put(struct column *column, int64_t row, uint64_t bits, bool large)
{
    static const double odd[] = {0.0, -0.0, NAN, INFINITY, 1e30, -1e30, 1e-30, 0.1};
    const double number = bits % 50 < 8 && large ? odd[bits % 50] : (double)(int64_t)bits * 0x1p-60;
    void *at = column_at(column, row);
    switch (column->store) {
    case TYPE_F64:
        *(double *)at = number;
        break;
    case TYPE_F32:
        *(float *)at = (float)number;
        break;
    case TYPE_I64:
        *(int64_t *)at = large ? (int64_t)bits : (int64_t)bits >> 20;
        break;
    case TYPE_BOOL:
        *(uint8_t *)at = bits & 1;
        break;
    default:
        memcpy(at, &bits, type_table[column->store].size);
    }
}

static struct column *new_column(enum type type, int64_t rows, uint64_t *state)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    const bool large = next(state) % 4 == 0;
    for (int64_t i = 0; i < rows; i++)
        put(column, i, next(state), large);
    column_finish(column, rows);
    return column;
}

/* The lines of `blocks` shapes of rows x cols, one after another. */
static struct column *new_keys(int64_t blocks, int64_t rows, int64_t cols, bool axis_rows)
{
    const int64_t size = rows * cols;
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, blocks * size);
    assert_non_null(column);
    for (int64_t i = 0; i < blocks * size; i++)
        *(int64_t *)column_at(column, i) = axis_rows ? i / cols : i / size * cols + i % cols;
    column_finish(column, blocks * size);
    return column;
}

/* *flagged: a sum exceeds 64 bits, or floats need an exact sum. */
static struct column *run(const struct task *task, struct column **inputs, int64_t rows, int threads, bool *flagged,
                          struct diags *diags)
{
    struct column *results[COLUMNS] = {NULL};
    int64_t result_rows = -1;
    struct operator_job job = {
        .task = task,
        .inputs = inputs,
        .rows = rows,
        .results = results,
        .result_rows = &result_rows,
        .diags = diags,
    };
    *flagged = false;
    assert_int_equal(host_operator_run_threads(&job, threads, flagged), STATUS_OK);
    assert_null(results[KEY]);
    assert_true(*flagged ? !results[VALUE] : results[VALUE]->rows == result_rows);
    return results[VALUE];
}

static void assert_equal(const struct column *a, const struct column *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->store, b->store);
    for (int64_t i = 0; i < a->rows; i++) {
        if (a->store == TYPE_F64 && isnan(column_get_float(a, i)))
            assert_true(isnan(column_get_float(b, i)));
        else
            assert_memory_equal((const int64_t *)a->data + i, (const int64_t *)b->data + i, sizeof(int64_t));
    }
}

static enum type result_type(enum aggregate_kind kind, enum type type)
{
    bool number = kind != AGG_COUNT && (type_table[type].kind == KIND_FLOAT || kind == AGG_MEAN);
    return number ? TYPE_F64 : TYPE_I64;
}

static void axis_as_by_keys(struct column **inputs, enum aggregate_kind kind, int64_t blocks, int64_t rows,
                            int64_t cols, bool axis_rows)
{
    const int64_t all = blocks * rows * cols;
    struct scratch *scratch = scratch_new();
    size_t keys[] = {KEY};
    bool descending[] = {false}, flagged, flagged_by_keys;
    struct input task_inputs[COLUMNS] = {{.type = TYPE_I64}, {.type = inputs[VALUE]->type}};
    struct output outputs[COLUMNS];
    struct aggregate aggregate = {.kind = kind, .value = NO_VALUE};
    struct column_operator column_op = {
        .kind = OPERATOR_GROUP, .keys = keys, .descending = descending, .key_count = 1, .stride = 1};
    struct task task = {.inputs = task_inputs,
                        .input_count = COLUMNS,
                        .sink = SINK_OPERATOR,
                        .column_op = &column_op,
                        .outputs = outputs,
                        .output_count = COLUMNS,
                        .aggregates = &aggregate,
                        .aggregate_count = 1};
    code_init(&task.code, scratch->arena);
    value key = code_input(&task.code, KEY, KIND_INT, scratch->span);
    if (kind != AGG_COUNT)
        aggregate.value = code_input(&task.code, VALUE, type_table[inputs[VALUE]->type].kind, scratch->span);
    outputs[KEY] = (struct output){.value = key, .type = TYPE_I64};
    outputs[VALUE] = (struct output){.value = kind == AGG_COUNT ? key : aggregate.value,
                                     .type = result_type(kind, inputs[VALUE]->type),
                                     .needed = true};
    struct column *by_keys = run(&task, inputs, all, 1, &flagged_by_keys, &scratch->diags);
    column_op.segment = axis_rows ? cols : blocks > 1 ? rows * cols : 0;
    column_op.stride = axis_rows ? 1 : cols;
    struct column *misled[] = {inputs[VALUE], inputs[VALUE]}; /* wrong keys: must not be read */
    struct column **given = axis_rows || (cols > 1 && inputs[VALUE]->type != TYPE_I64) ? misled : inputs;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct column *along = run(&task, given, all, threads, &flagged, &scratch->diags);
        assert_true(flagged_by_keys || !flagged);
        if (!flagged_by_keys)
            assert_equal(along, by_keys);
        column_unref(along);
    }
    column_unref(by_keys);
    scratch_free(scratch);
}

static void check_shape(size_t s, int64_t blocks, bool axis_rows, uint64_t *state)
{
    const int64_t rows = shapes[s].rows, cols = shapes[s].cols;
    struct column *keys = new_keys(blocks, rows, cols, axis_rows);
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        struct column *inputs[COLUMNS] = {keys, new_column(types[t], blocks * rows * cols, state)};
        axis_as_by_keys(inputs, kinds[(s + t) % 5], blocks, rows, cols, axis_rows);
        axis_as_by_keys(inputs, AGG_SUM, blocks, rows, cols, axis_rows);
        column_unref(inputs[VALUE]);
    }
    column_unref(keys);
}

static void all_shapes(void **unused)
{
    (void)unused;
    uint64_t state = 1;
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        check_shape(s, 1, true, &state);
        check_shape(s, 1, false, &state);
        if (shapes[s].rows * shapes[s].cols < 70000)
            check_shape(s, 3 + (int64_t)s % 2 * 200 / shapes[s].rows, false, &state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_shapes),
    };
    return cmocka_run_group_tests_name("along", tests, NULL, NULL);
}
