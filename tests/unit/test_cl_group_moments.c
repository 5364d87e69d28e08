/* Sums, means, variances and correlations of groups on an OpenCL device, against the host. */
#include "cl_operators.h"
#include "float_values.h"

#include "cl/operators/column_minmax.h"

#include <unistd.h>

/* Floats of this content; EXTREME and what is not as wide as sums of digits is left to the host. */
static struct column *column_of(enum type type, enum content content, uint64_t seed, int64_t rows)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t row = 0; row < rows; row++)
        set_float(column, row, value_of(&seed, content, row, rows));
    column_finish(column, rows);
    return column;
}

static struct setup *setup_groups(struct breaks *breaks, struct random *random, int64_t rows, int64_t groups)
{
    struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
    struct column *key = column_within(random, TYPE_I32, rows, -1, groups - 2);
    operator_key(setup, key);
    setup_output(setup, code_input(&setup->task.code, 0, KIND_INT, nowhere), TYPE_I32);
    setup_aggregate(setup, AGG_COUNT, NO_VALUE);
    setup_output(setup, NO_VALUE, TYPE_I64);
    return setup;
}

static void add(struct setup *setup, enum aggregate_kind kind, value v, value other, value where)
{
    setup_aggregate(setup, kind, v);
    setup->aggregates[setup->task.aggregate_count - 1].other = other;
    setup->aggregates[setup->task.aggregate_count - 1].where = where;
    setup_output(setup, NO_VALUE, TYPE_F64);
}

/* Compares with the host, unless its sums are uncertain; returns how many guises left it to the host. */
static int compare_certain(struct breaks *breaks, struct setup *setup, int64_t rows)
{
    struct outcome wanted = break_once(breaks, setup, rows, NULL);
    int unable = 0;
    assert_int_equal(wanted.status, STATUS_OK);
    for (int k = 0; k < GUISES && !wanted.flagged; k++) {
        if (!breaks->accelerators[k])
            continue;
        struct outcome got = break_once(breaks, setup, rows, breaks->accelerators[k]);
        unable += got.status == STATUS_UNABLE && guises[k].shares;
        if (got.status == STATUS_OK)
            assert_same_outcome(setup, &got, &wanted, guises[k].name);
        assert_int_equal(breaks->rig->diags.count, 0);
        outcome_free(&got);
    }
    outcome_free(&wanted);
    return unable;
}

static void test_float_sums(void **state)
{
    static const int64_t groups[] = {1, 7, 300, 70000};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (int content = 0; content < CONTENTS; content++) {
            struct random random = {n * 100 + (size_t)content + 1};
            const enum type type = n % 3 == 2 ? TYPE_F32 : TYPE_F64;
            struct setup *setup = setup_groups(breaks, &random, lengths[n], groups[(n + (size_t)content) % 4]);
            const value v = setup_input(setup, column_of(type, (enum content)content, n + 1, lengths[n]));
            add(setup, AGG_SUM, v, NO_VALUE, NO_VALUE);
            add(setup, AGG_MEAN, v, NO_VALUE, NO_VALUE);
            if (type == TYPE_F32) /* 64-bit ones need atomics of 64 bits */
                add(setup, AGG_MAX, v, NO_VALUE, NO_VALUE);
            const int unable = compare_certain(breaks, setup, lengths[n]);
            if (content == UNIFORM || content == NORMAL || content == BROAD || content == ZEROS || content == HALFWAY)
                assert_int_equal(unable, 0);
            setup_free(setup);
        }
    }
}

/* The host, which measures floats while a kernel is built, and kernels find the same. */
static void test_digits(void **state)
{
    struct breaks *breaks = breaks_of(state);
    for (int content = 0; content < CONTENTS; content++) {
        const int64_t rows = content % 2 ? 100003 : 3;
        struct column *column = column_of(content % 3 ? TYPE_F64 : TYPE_F32, (enum content)content, 7, rows);
        const struct task task = {0};
        const struct operator_job job = {.task = &task,
                                         .rows = rows,
                                         .timing = &breaks->rig->timing,
                                         .cancel = &breaks->rig->cancel,
                                         .diags = &breaks->rig->diags};
        struct column_minmax wanted;
        assert_int_equal(column_digits_on_host(&job, column, &wanted), STATUS_OK);
        for (int k = 0; k < GUISES; k++) {
            struct column_minmax got;
            if (!breaks->accelerators[k])
                continue;
            assert_int_equal(column_minmax_digits(breaks->accelerators[k], &job, column, &got), STATUS_OK);
            assert_int_equal(got.least, wanted.least);
            assert_int_equal(got.most, wanted.most);
            assert_int_equal(got.nan, wanted.nan);
        }
        column_unref(column);
    }
}

static void test_float_moments(void **state)
{
    static const enum content contents[] = {UNIFORM, NORMAL, BROAD, CANCEL, ZEROS, EXTREME, HALFWAY, SINKING};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n++) {
        for (size_t k = 0; k < sizeof contents / sizeof *contents; k++) {
            struct random random = {n * 100 + k + 1};
            struct setup *setup = setup_groups(breaks, &random, lengths[n], k % 2 ? 3 : 5000);
            const value x = setup_input(setup, column_of(TYPE_F64, contents[k], n + 1, lengths[n]));
            const value y = setup_input(setup, column_of(TYPE_F64, contents[(k + 1) % 3], n + 2, lengths[n]));
            const value where = setup_input(setup, column_within(&random, TYPE_BOOL, lengths[n], 0, 1));
            add(setup, AGG_VAR, x, NO_VALUE, NO_VALUE);
            add(setup, AGG_VAR, x, NO_VALUE, where);
            add(setup, AGG_CORR, x, y, n % 2 ? where : NO_VALUE);
            const int unable = compare_certain(breaks, setup, lengths[n]);
            if (k < 3)
                assert_int_equal(unable, 0);
            setup_free(setup);
        }
    }
}

static void test_integer_moments(void **state)
{
    static const enum type types[] = {TYPE_I8, TYPE_BOOL, TYPE_U32, TYPE_I64};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 1; n < length_count(); n += 2) {
        for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
            struct random random = {n * 100 + k + 1};
            struct setup *setup = setup_groups(breaks, &random, lengths[n], k % 2 ? 3 : 5000);
            const value x = setup_input(setup, random_column(&random, types[k], lengths[n], types[k] == TYPE_I64));
            const value y = setup_input(setup, random_column(&random, types[n / 2 % 3], lengths[n], n % 4 == 1));
            const value where = setup_input(setup, column_within(&random, TYPE_BOOL, lengths[n], 0, 1));
            add(setup, AGG_MEAN, x, NO_VALUE, NO_VALUE);
            add(setup, AGG_VAR, x, NO_VALUE, n % 4 == 1 ? where : NO_VALUE);
            add(setup, AGG_CORR, x, y, where);
            setup->aggregates[2].scale = (int)(n % 4);
            assert_int_equal(compare_certain(breaks, setup, lengths[n]), 0);
            setup_free(setup);
        }
    }
}

static void test_quantiles(void **state)
{
    static const double shares[] = {0.5, 0, 1, 0.9, 0.25};
    static const enum type types[] = {TYPE_U8, TYPE_I32, TYPE_F64};
    struct breaks *breaks = breaks_of(state);
    for (size_t n = 0; n < length_count(); n += 2) {
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            const enum type type = types[i];
            struct random random = {n * 100 + (size_t)type + 1};
            const bool real = type_table[type].kind == KIND_FLOAT;
            struct setup *setup = setup_groups(breaks, &random, lengths[n], type % 2 ? 3 : 5000);
            const enum content content = (enum content)((n + (size_t)type) % CONTENTS);
            const value v = setup_input(setup, real ? column_of(type, content, n + 1, lengths[n])
                                                    : random_column(&random, type, lengths[n], n % 2));
            const value where = setup_input(setup, column_within(&random, TYPE_BOOL, lengths[n], 0, 1));
            for (int way = 0; way < 3; way++) {
                add(setup, AGG_QUANTILE, v, NO_VALUE, way > 0 ? where : NO_VALUE);
                setup->aggregates[way + 1].quantile = shares[(n + (size_t)type + (size_t)way) % 5];
            }
            if (!real) {
                setup->aggregates[2].lower = true;
                setup->outputs[3].type = type;
            }
            struct outcome wanted = break_once(breaks, setup, lengths[n], NULL);
            for (int k = 0; k < GUISES; k++) {
                if (!breaks->accelerators[k])
                    continue;
                struct outcome got = break_once(breaks, setup, lengths[n], breaks->accelerators[k]);
                assert_int_equal(got.status, guises[k].shape->host_memory ? STATUS_UNABLE : STATUS_OK);
                if (got.status == STATUS_OK)
                    assert_same_outcome(setup, &got, &wanted, guises[k].name);
                outcome_free(&got);
            }
            outcome_free(&wanted);
            setup_free(setup);
        }
    }
}

/* Without waiting for programs, it is left to the host until they are built. */
static void test_no_wait(void **state)
{
    enum { TRIES = 3000, PAUSE = 20000, GROUPS_GUISE = 2 };
    struct breaks *breaks = breaks_of(state);
    struct accelerator *accelerator = breaks->accelerators[GROUPS_GUISE];
    const int64_t rows = rig_rows(99, 70001);
    for (int way = 0; way < 2; way++) {
        struct random random = {(uint64_t)way + 1};
        struct setup *setup = operator_setup(breaks, OPERATOR_GROUP);
        const int64_t most = way == 0 ? INT64_C(1) << 60 : 999; /* hashed, and dense */
        operator_key(setup, column_within(&random, TYPE_I64, rows, -most, most));
        setup_output(setup, code_input(&setup->task.code, 0, KIND_INT, nowhere), TYPE_I64);
        const value v = setup_input(setup, column_of(TYPE_F32, NORMAL, 5, rows));
        add(setup, AGG_SUM, v, NO_VALUE, NO_VALUE);
        add(setup, way == 0 ? AGG_MEAN : AGG_QUANTILE, v, NO_VALUE, NO_VALUE);
        struct outcome wanted = break_once(breaks, setup, rows, NULL), got = {.status = STATUS_UNABLE};
        for (int k = 0; k < TRIES && got.status == STATUS_UNABLE; k++) {
            outcome_free(&got);
            got = break_waiting(breaks, setup, rows, accelerator, false);
            usleep(PAUSE);
        }
        assert_int_equal(got.status, STATUS_OK);
        assert_same_outcome(setup, &got, &wanted, guises[GROUPS_GUISE].name);
        outcome_free(&got);
        outcome_free(&wanted);
        setup_free(setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_float_sums),      cmocka_unit_test(test_digits),    cmocka_unit_test(test_float_moments),
        cmocka_unit_test(test_integer_moments), cmocka_unit_test(test_quantiles), cmocka_unit_test(test_no_wait),
    };
    return cmocka_run_group_tests(tests, breaks_open, breaks_close);
}
