/* Grouping on an OpenCL device: every method, against the host and against sums added row by row. */
#include "cl_operators.h"

/* Fills in the outputs: keys, then aggregates. */
static void finish_group(struct setup *setup)
{
    struct task *task = &setup->task;
    for (size_t k = 0; k < task->column_op->key_count; k++) {
        enum type type = setup->columns[task->column_op->keys[k]]->type;
        setup_output(setup, code_input(&task->code, (int64_t)task->column_op->keys[k], type_table[type].kind, nowhere),
                     type);
    }
    for (size_t k = 0; k < task->aggregate_count; k++) {
        const struct aggregate *aggregate = &task->aggregates[k];
        bool real = aggregate->value != NO_VALUE && task->code.at[aggregate->value].kind == KIND_FLOAT;
        bool number = aggregate->kind == AGG_MEAN || (real && aggregate->kind != AGG_COUNT);
        setup_output(setup, NO_VALUE, number ? TYPE_F64 : TYPE_I64);
    }
}

/* Adds min and max of a value, and sum and mean unless real. */
static void add_aggregates(struct setup *setup, value v, bool real)
{
    static const enum aggregate_kind kinds[] = {AGG_MIN, AGG_MAX, AGG_SUM, AGG_MEAN};
    for (size_t k = 0; k < (real ? 2 : 4); k++)
        setup_aggregate(setup, kinds[k], v);
}

/* Checks counts and sums of the first key. */
static void check_by_hand(const struct setup *setup, int64_t rows, const struct outcome *outcome, size_t count_output,
                          size_t sum_output, size_t value_input)
{
    const struct column *key = setup->columns[0], *values = setup->columns[value_input];
    int64_t sum_of_counts = 0;
    for (int64_t group = 0; group < outcome->rows; group++) {
        int64_t wanted = column_get_int(outcome->results[0], group), count = 0, sum = 0;
        if (group > 0)
            assert_true(wanted > column_get_int(outcome->results[0], group - 1));
        for (int64_t row = 0; row < rows; row++) {
            if (column_get_int(key, row) != wanted)
                continue;
            count++;
            sum += column_get_int(values, row);
        }
        assert_int_equal(column_get_int(outcome->results[count_output], group), count);
        assert_int_equal(column_get_int(outcome->results[sum_output], group), sum);
        sum_of_counts += count;
    }
    assert_int_equal(sum_of_counts, rows);
}

/* One key with few or many groups, dense or sparse. */
static void test_one_key(void **state)
{
    static const struct {
        int64_t lo, hi, times;
    } keys[] = {{7, 7, 1}, {-2, 2, 1}, {0, 999, 1}, {-30000, 30000, 1}, {-1000000, 1000000, 1}, {0, 40, 12345678}};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            struct random random = {n * 10 + k + 1};
            struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
            struct column *key = column_within(&random, TYPE_I32, lengths[n], keys[k].lo, keys[k].hi);
            for (int64_t row = 0; row < lengths[n]; row++)
                *(int32_t *)column_at(key, row) *= (int32_t)keys[k].times;
            operator_key(setup, key);
            value v = setup_input(setup, column_within(&random, TYPE_I32, lengths[n], -10000, 10000));
            setup_aggregate(setup, AGG_COUNT, NO_VALUE);
            add_aggregates(setup, v, false);
            finish_group(setup);
            struct outcome outcome = compare_all_breaks(breaks, setup, lengths[n]);
            if (lengths[n] <= 777)
                check_by_hand(setup, lengths[n], &outcome, 1, 4, 1);
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

/* The next type to test; a slow simulator tests every third. */
static enum type next_type(enum type type)
{
    return (enum type)(type + (getenv("RQL_TEST_OCLGRIND") ? 3 : 1));
}

/* Keys and values of every type, over its whole range. */
static void test_types(void **state)
{
    struct breaks *breaks = breaks_of(state);
    int64_t rows = rig_rows(333, 20011);
    for (enum type type = TYPE_BOOL; type < TYPE_COUNT; type = next_type(type)) {
        for (int mild = 0; mild < 2; mild++) {
            struct random random = {(uint64_t)type + 1};
            bool real = type_table[type].kind == KIND_FLOAT;
            struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
            operator_key(setup, random_column(&random, type, rows, mild));
            value few = setup_input(setup, random_column(&random, type, rows, mild));
            setup_aggregate(setup, AGG_COUNT, NO_VALUE);
            add_aggregates(setup, few, real);
            finish_group(setup);
            int unable;
            struct outcome outcome = compare_breaks(breaks, setup, rows, &unable);
            /* 64-bit min and max need 64-bit atomics. */
            assert_true(unable == 0 || type_table[type].size == 8);
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

/* Few groups of such values, combined in local memory and in per-chunk tables. */
static void test_few_groups_of_types(void **state)
{
    struct breaks *breaks = breaks_of(state);
    int64_t rows = rig_rows(555, 50021);
    for (enum type type = TYPE_BOOL; type < TYPE_COUNT; type = next_type(type)) {
        struct random random = {(uint64_t)type + 1};
        struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
        bool real = type_table[type].kind == KIND_FLOAT;
        operator_key(setup, column_within(&random, TYPE_I16, rows, -3, 9));
        value any = setup_input(setup, real ? column_of_odd_floats(&random, type, rows)
                                            : random_column(&random, type, rows, type == TYPE_I64));
        add_aggregates(setup, any, real);
        finish_group(setup);
        int unable;
        struct outcome outcome = compare_breaks(breaks, setup, rows, &unable);
        assert_true(unable == 0 || type == TYPE_F64);
        assert_false(outcome.flagged);
        outcome_free(&outcome);
        setup_free(setup);
    }
}

/* Many groups of integers, which kernels write, with holes between them; at last a sum that does not fit. */
static void test_many_of_integers(void **state)
{
    struct breaks *breaks = breaks_of(state);
    const int64_t rows = rig_rows(999, 30011);
    for (enum type type = TYPE_BOOL; type < TYPE_F32; type = next_type(type)) {
        for (int way = 0; way < 3; way++) {
            struct random random = {(uint64_t)type * 3 + (uint64_t)way + 1};
            struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
            struct column *first = column_within(&random, TYPE_I32, rows, -100, 99);
            operator_key(setup, first);
            operator_key(setup, column_within(&random, TYPE_U8, rows, 50, 249));
            struct column *values = random_column(&random, type, rows, true);
            if (type == TYPE_I64 && way > 0) {
                for (int64_t row = 0; row < rows; row++)
                    *(int64_t *)column_at(values, row) = row % 2 ? INT64_MAX - row : INT64_MIN + row;
                for (int64_t row = 0; way == 1 && row < rows; row++) /* these fit */
                    *(int64_t *)column_at(values, row) /= 100;
            }
            const value v = setup_input(setup, values);
            setup_aggregate(setup, AGG_SUM, v);
            setup_aggregate(setup, AGG_COUNT, NO_VALUE);
            if (type != TYPE_I64) { /* 64-bit ones need atomics of 64 bits */
                setup_aggregate(setup, AGG_MIN, v);
                setup_aggregate(setup, AGG_MAX, v);
            }
            finish_group(setup);
            if (way == 2)
                setup->task.outputs[1].needed = false;
            struct outcome outcome = compare_all_breaks(breaks, setup, rows);
            if (outcome.flagged)
                assert_true(type == TYPE_I64);
            if (type == TYPE_I64 && way == 2)
                assert_true(outcome.flagged);
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

/* Groups of which only the keys are read, or only their number, or also means of small integers: few, many in a table,
 * and many found by hashing. */
static void test_groups_alone(void **state)
{
    enum { NOTHING, KEYS, MEANS, WAYS };
    static const int64_t widths[] = {4, 40000, INT64_C(1) << 40};
    struct breaks *breaks = breaks_of(state);
    const int64_t rows = rig_rows(999, 70001);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
        for (int way = 0; way < WAYS; way++) {
            struct random random = {w * WAYS + (size_t)way + 1};
            struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
            operator_key(setup, column_within(&random, TYPE_I64, rows, 0, widths[w]));
            const value small = setup_input(setup, column_within(&random, TYPE_I16, rows, -3000, 2000));
            const value large = setup_input(setup, column_within(&random, TYPE_I32, rows, -(1 << 30), 1 << 30));
            setup_aggregate(setup, AGG_MEAN, small);
            setup_aggregate(setup, AGG_SUM, large);
            setup_aggregate(setup, AGG_MEAN, large);
            setup_aggregate(setup, AGG_COUNT, NO_VALUE);
            finish_group(setup);
            for (size_t k = way == NOTHING ? 0 : 1; k < setup->task.output_count; k++)
                setup->task.outputs[k].needed = way == MEANS;
            struct outcome outcome = compare_all_breaks(breaks, setup, rows);
            assert_true(outcome.rows > (w == 0 ? 4 : rows / 3));
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

/* Keys of which there are far fewer than their types allow. */
static void test_loose_bounds(void **state)
{
    struct breaks *breaks = breaks_of(state);
    const int64_t rows = (1 << 18) + 77;
    if (getenv("RQL_TEST_OCLGRIND"))
        skip();
    for (int way = 0; way < 3; way++) {
        struct random random = {(uint64_t)way + 1};
        struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
        operator_key(setup, column_within(&random, TYPE_I8, rows, -3, way < 2 ? -1 : 9));
        operator_key(setup, column_within(&random, TYPE_U8, rows, 250, way < 2 ? 251 : 255));
        const int64_t wide = way == 1 ? INT64_C(1) << 40 : 1000;
        value v = setup_input(setup, column_within(&random, TYPE_I64, rows, -wide, wide));
        setup_aggregate(setup, AGG_COUNT, NO_VALUE);
        add_aggregates(setup, v, false);
        finish_group(setup);
        int unable;
        struct outcome outcome = compare_breaks(breaks, setup, rows, &unable);
        assert_true(unable == 0 || way == 1); /* 64-bit min and max */
        assert_int_equal(outcome.rows, way < 2 ? 6 : 78);
        outcome_free(&outcome);
        setup_free(setup);
    }
}

/* Several keys, with floats: small and large range products, and more than 64 bits. */
static void test_several_keys(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count() && n < 8; n++) {
        int64_t rows = lengths[n];
        for (int way = 0; way < 4; way++) {
            struct random random = {n * 7 + (size_t)way};
            struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
            int64_t wide = way == 0 ? 5 : way == 1 ? 100000 : INT64_MAX;
            operator_key(setup, column_within(&random, TYPE_I64, rows, -wide, way == 3 ? -wide + 3 : wide));
            operator_key(setup, column_within(&random, TYPE_U8, rows, 250, 255));
            if (way == 3)
                operator_key(setup, column_of_odd_floats(&random, TYPE_F64, rows));
            operator_key(setup, column_of_odd_floats(&random, TYPE_F32, rows));
            value v = setup_input(setup, column_within(&random, TYPE_I64, rows, -1000000000, 1000000000));
            setup_aggregate(setup, AGG_SUM, v);
            setup_aggregate(setup, AGG_COUNT, NO_VALUE);
            finish_group(setup);
            struct outcome outcome = compare_all_breaks(breaks, setup, rows);
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

/* Sums near the 64-bit limits: exact if they fit, flagged otherwise. */
static void test_large_sums(void **state)
{
    static const int64_t edges[][3] = {{INT64_MAX, 0, 0},
                                       {INT64_MAX, 1, 0},
                                       {INT64_MIN, 0, 0},
                                       {INT64_MIN, -1, 0},
                                       {INT64_MAX, INT64_MAX, INT64_MIN},
                                       {INT64_MIN, INT64_MIN, INT64_MAX},
                                       {INT64_MAX, INT64_MIN, 1},
                                       {INT64_MAX, 1, -1}};
    struct breaks *breaks = breaks_of(state);
    for (size_t k = 0; k < sizeof edges / sizeof *edges; k++) {
        struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
        const int64_t keys[] = {5, 5, 5, 6, 6}, values[] = {edges[k][0], edges[k][1], edges[k][2], 17, -18};
        operator_key(setup, column_of_ints(keys, 5));
        value v = setup_input(setup, column_of_ints(values, 5));
        setup_aggregate(setup, AGG_SUM, v);
        setup_aggregate(setup, AGG_MEAN, v);
        finish_group(setup);
        struct outcome outcome = compare_all_breaks(breaks, setup, 5);
        __extension__ __int128 sum = (__int128)edges[k][0] + edges[k][1] + edges[k][2];
        assert_int_equal(outcome.flagged, sum > INT64_MAX || sum < INT64_MIN);
        if (!outcome.flagged)
            assert_int_equal(column_get_int(outcome.results[1], 0), (int64_t)sum);
        outcome_free(&outcome);
        setup_free(setup);
    }
}

/* Unneeded outputs, groups without aggregates, and columns of known range. */
static void test_parts(void **state)
{
    struct breaks *breaks = breaks_of(state);
    const int64_t rows = 3001;
    for (int way = 0; way < 8; way++) {
        struct random random = {(uint64_t)way};
        struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
        operator_key(setup, column_within(&random, TYPE_I32, rows, 100, way & 1 ? 120 : 100000000));
        operator_key(setup, column_within(&random, TYPE_U16, rows, 3, 5));
        setup->columns[1]->range_known = true;
        setup->columns[1]->lo = 0;
        setup->columns[1]->hi = 77;
        value v = setup_input(setup, column_within(&random, TYPE_I64, rows, -5, 500));
        if (way & 2) {
            setup_aggregate(setup, AGG_MAX, v);
            setup_aggregate(setup, AGG_SUM, v);
            setup_aggregate(setup, AGG_MEAN, v);
        }
        finish_group(setup);
        setup->outputs[0].needed = !(way & 4);
        if (way & 2)
            setup->outputs[3].needed = !(way & 4);
        struct outcome outcome = compare_all_breaks(breaks, setup, rows);
        outcome_free(&outcome);
        setup_free(setup);
    }
}

/* Tasks without kernels or without rows run on the host. */
static void test_unable(void **state)
{
    struct breaks *breaks = breaks_of(state);
    struct random random = {1};
    for (int way = 0; way < 2; way++) {
        int64_t rows = way == 0 ? 100 : 0;
        struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
        operator_key(setup, column_within(&random, TYPE_I32, rows, 0, 3));
        value v = setup_input(setup, random_column(&random, way == 0 ? TYPE_F64 : TYPE_I8, rows, true));
        setup_aggregate(setup, AGG_PRODUCT, v);
        finish_group(setup);
        for (int k = 0; k < GUISES; k++) {
            if (!breaks->accelerators[k])
                continue;
            struct outcome outcome = break_once(breaks, setup, rows, breaks->accelerators[k]);
            assert_int_equal(outcome.status, STATUS_UNABLE);
            assert_int_equal(breaks->rig->diags.count, 0);
            outcome_free(&outcome);
        }
        setup_free(setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_key),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_few_groups_of_types),
        cmocka_unit_test(test_many_of_integers),
        cmocka_unit_test(test_groups_alone),
        cmocka_unit_test(test_loose_bounds),
        cmocka_unit_test(test_several_keys),
        cmocka_unit_test(test_large_sums),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_unable),
    };
    return cmocka_run_group_tests(tests, breaks_open, breaks_close);
}
