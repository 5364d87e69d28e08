/* The rows that lead their groups, on an OpenCL device, against the host. */
#include "cl_operators.h"

static struct setup *setup_leading(struct breaks *breaks, struct column *values, struct column *present,
                                   struct column *groups, int64_t count, bool smallest)
{
    struct setup *setup = operator_setup(breaks, OPERATOR_MOVING);
    struct moving_operator *op = &setup->task.column_op->moving;
    *op = (struct moving_operator){
        .kind = AGG_LEADING, .scattered = true, .leading = count, .smallest = smallest, .from_first = true};
    op->has[MOVING_VALUES] = op->has[MOVING_GROUPS] = true;
    op->has[MOVING_PRESENT] = present;
    const value v = operator_key(setup, values);
    if (present)
        operator_key(setup, present);
    operator_key(setup, groups);
    setup_aggregate(setup, AGG_LEADING, v);
    setup_output(setup, NO_VALUE, TYPE_BOOL);
    return setup;
}

static void test_leading(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 8};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (enum type type = TYPE_BOOL; type < TYPE_COUNT; type = (enum type)(type + (n % 2 ? 2 : 3))) {
            struct random random = {n * 100 + (size_t)type + 1};
            const int64_t rows = lengths[n], groups = type % 2 ? rows / 3 + 1 : 5;
            struct column *values = n % 3 == 0 && type_table[type].kind == KIND_FLOAT
                                        ? column_of_odd_floats(&random, type, rows)
                                        : random_column(&random, type, rows, n % 2);
            struct column *present = n % 3 == 2 ? column_within(&random, TYPE_BOOL, rows, 0, 1) : NULL;
            struct column *number = column_within(&random, n % 2 ? TYPE_U32 : TYPE_I64, rows, 0, groups - 1);
            struct setup *setup = setup_leading(breaks, values, present, number, counts[(n + type) % 4], n % 4 > 1);
            int unable;
            struct outcome outcome = compare_breaks(breaks, setup, rows, &unable);
            assert_true(unable <= 1); /* without 64-bit atomics */
            outcome_free(&outcome);
            setup_free(setup);
        }
    }
}

/* Windows, and more rows than rounds pay for, are left to the host. */
static void test_unable(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (int way = 0; way < 2; way++) {
        struct random random = {1};
        struct setup *setup = setup_leading(breaks, random_column(&random, TYPE_I32, 100, true), NULL,
                                            column_within(&random, TYPE_U32, 100, 0, 3), way == 0 ? 64 : 2, false);
        if (way == 1)
            setup->task.column_op->moving.kind = AGG_MAX;
        for (int k = 0; k < GUISES; k++) {
            if (!breaks->accelerators[k])
                continue;
            struct outcome outcome = break_once(breaks, setup, 100, breaks->accelerators[k]);
            assert_int_equal(outcome.status, STATUS_UNABLE);
            outcome_free(&outcome);
        }
        setup_free(setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_leading),
        cmocka_unit_test(test_unable),
    };
    return cmocka_run_group_tests(tests, breaks_open, breaks_close);
}
