/* The OpenCL backend against the evaluator, query by query. RQL_TEST_DEVICE selects the device, like --device. */
#include "cl_rig.h"

#include <float.h>
#include <spawn.h>
#include <sys/wait.h>

enum { ROWS = 100003, LOADER_FINDS_MORE = 77 };

/* Row ranges: empty, one row, odd lengths, around vector and chunk boundaries, all rows. */
static const int64_t ranges[][2] = {{0, 0},        {0, 1},         {7, 8},    {0, 17},      {3, 4098},
                                    {0, 4095},     {0, 4096},      {0, 4097}, {4096, 8192}, {1, 12289},
                                    {99990, ROWS}, {49990, 50020}, {0, ROWS}};

/* A simulator needs seconds per thousand rows. */
static bool is_small(void)
{
    return getenv("RQL_TEST_OCLGRIND") != NULL;
}

static int64_t some_rows(void)
{
    return is_small() ? 300 : ROWS;
}

static bool is_too_long(const int64_t range[2])
{
    return is_small() && range[1] - range[0] > 300;
}

/* Compares all ranges; none may be flagged. */
static void compare_ranges(struct rig *rig, struct setup *setup)
{
    setup_analyse(setup, ROWS);
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        bool flagged;
        if (is_too_long(ranges[k]))
            continue;
        assert_int_equal(compare(rig, setup, ranges[k][0], ranges[k][1], &flagged), STATUS_OK);
        assert_false(flagged);
    }
}

/* Builds that missed the cache. */
static size_t builds(const struct rig *rig)
{
    size_t count = 0;
    for (size_t k = 0; k < rig->timing.count; k++)
        count += rig->timing.events[k].phase == PHASE_BUILD && strcmp(rig->timing.events[k].name, "cached") != 0;
    return count;
}

/* load ids | zip amounts | select id == `id` && amt > `least` | snds | sum */
static struct setup *main_query(struct rig *rig, int64_t id, int64_t least)
{
    struct random random = {42};
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    value ids = setup_input(setup, random_column(&random, TYPE_I32, ROWS, true));
    value amounts = setup_input(setup, random_column(&random, TYPE_I32, ROWS, false));
    value is = op2(setup, OP_EQ, ids, int_literal(setup, id));
    value more = op2(setup, OP_LT, int_literal(setup, least), amounts);
    setup_filter(setup, op2(setup, OP_AND, is, more));
    setup_aggregate(setup, AGG_SUM, amounts);
    return setup;
}

static void test_main_query(void **state)
{
    struct rig *rig = rig_of(state);
    struct setup *first = main_query(rig, 42, 0), *second = main_query(rig, 43, 0);
    compare_ranges(rig, first);
    assert_true(rig->timing.count > 0);
    timing_init(&rig->timing, rig->arena);
    compare_ranges(rig, second);
    assert_true(rig->timing.count > 0);
    assert_int_equal(builds(rig), 0); /* other literal, same program */
    setup_free(first);
    setup_free(second);
}

/* One program per kind of divisor; integer divisors only. */
static void test_division_by_literals(void **state)
{
    static const int32_t divisors[] = {1,  2,  3,  5,  7,   10,  12,  25,   64,    100,       126,       127,     128,
                                       -1, -2, -3, -7, -10, -64, 222, 1000, 46341, INT32_MAX, INT32_MIN, -100000, 641};
    struct rig *rig = rig_of(state);
    for (size_t k = 0; k < sizeof divisors / sizeof *divisors; k++) {
        struct random random = {7};
        struct setup *setup = setup_new(rig, SINK_ROWS);
        struct column *column = random_column(&random, TYPE_I32, ROWS, false);
        bool flagged;
        for (int32_t row = 0; row < 4000; row++) /* multiples and their neighbours */
            *(int32_t *)column_at(column, row) =
                (int32_t)((uint32_t)(row / 3 - 600) * (uint32_t)divisors[k] + (uint32_t)(row % 3 - 1));
        value x = setup_input(setup, column);
        setup_output(setup, op2(setup, OP_DIV, x, int_literal(setup, divisors[k])), TYPE_I64);
        setup_output(setup, op2(setup, OP_MOD, x, int_literal(setup, divisors[k])), TYPE_I64);
        setup_analyse(setup, ROWS);
        assert_int_equal(compare(rig, setup, 0, some_rows(), &flagged), STATUS_OK);
        assert_false(flagged);
        assert_int_equal(compare(rig, setup, 1, 20, &flagged), STATUS_OK);
        setup_free(setup);
    }
    size_t built = builds(rig);
    assert_true(built < sizeof divisors / sizeof *divisors / 2);
}

/* 64 bits: each divisor's multiples across the whole range, and the limits. */
static void test_long_division_by_literals(void **state)
{
    static const int64_t divisors[] = {1,
                                       2,
                                       3,
                                       7,
                                       10,
                                       222,
                                       641,
                                       1000003,
                                       -1,
                                       -2,
                                       -3,
                                       -10,
                                       -64,
                                       INT32_MAX,
                                       INT32_MIN,
                                       INT64_C(4294967296),
                                       4294967297,
                                       123456789012345,
                                       -98765432109876,
                                       INT64_MAX,
                                       INT64_MIN,
                                       INT64_MIN + 1};
    struct rig *rig = rig_of(state);
    for (size_t k = 0; k < sizeof divisors / sizeof *divisors; k++) {
        struct random random = {7};
        struct setup *setup = setup_new(rig, SINK_ROWS);
        struct column *column = random_column(&random, TYPE_I64, ROWS, false);
        const uint64_t divisor = (uint64_t)divisors[k];
        const int64_t most = divisors[k] == INT64_MIN ? 1 : INT64_MAX / llabs(divisors[k]);
        bool flagged;
        for (int32_t row = 0; row < 4000; row++) {
            uint64_t times = (uint64_t)(row & 1 ? most - row / 6 : row / 6) % ((uint64_t)most + 1);
            uint64_t multiple = times * divisor;
            *(int64_t *)column_at(column, row) = (int64_t)(multiple + (uint64_t)(row % 3) - 1);
        }
        *(int64_t *)column_at(column, 4000) = INT64_MAX;
        *(int64_t *)column_at(column, 4001) = divisors[k] == -1 ? INT64_MIN + 1 : INT64_MIN;
        value x = setup_input(setup, column);
        setup_output(setup, op2(setup, OP_DIV, x, int_literal(setup, divisors[k])), TYPE_I64);
        setup_output(setup, op2(setup, OP_MOD, x, int_literal(setup, divisors[k])), TYPE_I64);
        setup_analyse(setup, ROWS);
        assert_int_equal(compare(rig, setup, 0, ROWS, &flagged), STATUS_OK);
        if (divisors[k] != -1)
            assert_false(flagged);
        assert_int_equal(compare(rig, setup, 1, 20, &flagged), STATUS_OK);
        setup_free(setup);
    }
    assert_true(builds(rig) < sizeof divisors / sizeof *divisors / 2);
}

/* Dividends that are 33-bit sums. */
static void test_division_of_sums(void **state)
{
    static const int32_t divisors[] = {1, -1, 2, 3, -7, 10, 127, 222, 641, INT32_MAX, INT32_MIN};
    struct rig *rig = rig_of(state);
    for (size_t k = 0; k < sizeof divisors / sizeof *divisors; k++) {
        struct random random = {7};
        struct setup *setup = setup_new(rig, SINK_ROWS);
        struct column *column = random_column(&random, TYPE_I32, ROWS, false);
        bool flagged;
        for (int32_t row = 0; row < 200; row++)
            *(int32_t *)column_at(column, row) = row < 100 ? INT32_MIN + row : INT32_MAX - (row - 100);
        value x = setup_input(setup, column);
        value sum = op2(setup, k % 2 ? OP_ADD : OP_SUB, x, int_literal(setup, 100));
        setup_output(setup, op2(setup, OP_DIV, sum, int_literal(setup, divisors[k])), TYPE_I64);
        setup_output(setup, op2(setup, OP_MOD, sum, int_literal(setup, divisors[k])), TYPE_I64);
        setup_analyse(setup, ROWS);
        assert_int_equal(compare(rig, setup, 0, ROWS, &flagged), STATUS_OK);
        assert_false(flagged);
        setup_free(setup);
    }
}

/* Columns of every type, filters of varying selectivity; one program. */
static void test_filters(void **state)
{
    static const int64_t limits[] = {-101, -100, -99, -50, 0, 50, 90, 100, 101};
    struct rig *rig = rig_of(state);
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k += is_small() ? 4 : 1) {
        struct random random = {k + 1};
        struct setup *setup = setup_new(rig, SINK_ROWS);
        value key = setup_input(setup, random_column(&random, TYPE_I16, ROWS, true));
        for (enum type type = TYPE_I8; type < TYPE_COUNT; type++)
            setup_output(setup, setup_input(setup, random_column(&random, type, ROWS, false)), type);
        value keep = op2(setup, OP_LT, key, code_exact_int(&setup->task.code, 1000, nowhere));
        keep = op2(
            setup, OP_AND, keep,
            op2(setup, OP_LT, op2(setup, OP_ADD, key, int_literal(setup, 1000)), int_literal(setup, 1000 + limits[k])));
        setup_filter(setup, keep);
        setup_output(setup, keep, TYPE_BOOL);
        compare_ranges(rig, setup);
        setup_free(setup);
    }
    assert_int_equal(builds(rig), 1);
}

/* No filter, a slice from the middle, ROW, and an unused output. */
static void test_map(void **state)
{
    struct rig *rig = rig_of(state);
    struct random random = {3};
    struct setup *setup = setup_new(rig, SINK_ROWS);
    value narrow = setup_input(setup, random_column(&random, TYPE_U8, ROWS + 100, false));
    value wide = setup_input(setup, random_column(&random, TYPE_F32, ROWS + 100, false));
    value row = code_row(&setup->task.code, nowhere);
    setup->task.first = 77;
    setup_output(setup, op2(setup, OP_ADD, op2(setup, OP_MUL, row, int_literal(setup, 3)), narrow), TYPE_I64);
    setup_output(setup, op2(setup, OP_LT, narrow, row), TYPE_BOOL);
    setup_output(setup, op2(setup, OP_MUL, wide, wide), TYPE_F64);
    setup_output(setup, narrow, TYPE_U8);
    setup_output(setup, op2(setup, OP_SUB, narrow, row), TYPE_I64);
    setup->outputs[4].needed = false;
    compare_ranges(rig, setup);
    setup_free(setup);
}

/* Every aggregate of every type, with and without passing rows. */
static void test_aggregates(void **state)
{
    struct rig *rig = rig_of(state);
    for (enum type type = TYPE_I8; type < TYPE_COUNT; type++) {
        bool real = type_table[type].kind == KIND_FLOAT; /* float sums: test_float_sums */
        for (int64_t limit = 0; limit < 3; limit++) {
            struct random random = {(uint64_t)type + 1};
            struct setup *setup = setup_new(rig, SINK_AGGREGATE);
            value key = setup_input(setup, random_column(&random, TYPE_I8, ROWS, true));
            value x = setup_input(setup, random_column(&random, type, ROWS, limit == 1 || real));
            setup_filter(setup, op2(setup, OP_LE, key, int_literal(setup, limit * 100 - 101)));
            for (enum aggregate_kind kind = AGG_COUNT; kind <= AGG_MEAN; kind++)
                if (kind != AGG_PRODUCT || !real)
                    setup_aggregate(setup, kind, kind == AGG_COUNT ? NO_VALUE : x);
            compare_ranges(rig, setup);
            setup_free(setup);
        }
    }
}

static void test_products(void **state)
{
    static const int64_t cases[][4] = {{1, 1, 1, 1},
                                       {-1, -1, -1, 1},
                                       {3, -7, 11, 0},
                                       {INT64_MIN, 1, 1, 1},
                                       {INT64_MIN, -1, 1, 1},
                                       {INT64_MIN, 2, 0, 1},
                                       {INT64_C(1) << 31, INT64_C(1) << 31, 1, -1},
                                       {INT64_C(1) << 32, INT64_C(1) << 31, 1, -1},
                                       {INT64_C(1) << 32, INT64_C(1) << 31, 1, 1},
                                       {INT64_MAX, -1, -1, -1}};
    struct rig *rig = rig_of(state);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct setup *setup = setup_new(rig, SINK_AGGREGATE);
        struct column *column = column_reserve(TYPE_I64, TYPE_I64, ROWS);
        for (int64_t row = 0; row < ROWS; row++)
            *(int64_t *)column_at(column, row) = 1;
        for (int64_t at = 0; at < 4; at++)
            *(int64_t *)column_at(column, at * 33001 + 2) = cases[k][at];
        column_finish(column, ROWS);
        setup_aggregate(setup, AGG_PRODUCT, setup_input(setup, column));
        compare_ranges(rig, setup);
        setup_free(setup);
    }
}

/* Doubles that are hard to sum, because of row order or magnitude. */
static void fill_hard(struct column *column, int kind, struct random *random)
{
    for (int64_t row = 0; row < ROWS; row++) {
        double x = (double)(random_below(random, 2000001) - 1000000) / 7;
        switch (kind) {
        case 0:
            break;
        case 1: /* all magnitudes */
            x = ldexp(x, random_below(random, 1900) - 1000);
            break;
        case 2: /* pairs that cancel */
            x = row % 2 ? -*(double *)column_at(column, row - 1) : ldexp(x, random_below(random, 200) - 100);
            break;
        case 3: /* subnormals */
            x = (double)(random_below(random, 2001) - 1000) * DBL_TRUE_MIN;
            break;
        case 4:
            x = -0.0;
            break;
        case 5: /* one large value and many that add up to half its ulp */
            x = row == 50000 ? 0x1p80 : ldexp(1, 25);
            break;
        case 6:
            x = row == 70001 ? INFINITY : x;
            break;
        case 7:
            x = row == 70001 ? INFINITY : row == 7 ? -INFINITY : x;
            break;
        case 8:
            x = row == 70001 ? NAN : x;
            break;
        case 11:
            x = NAN;
            break;
        case 9: /* near DBL_MAX, without overflow */
            x = ldexp(x, 960);
            break;
        case 10: /* scaled down close to zero */
            x = ldexp(x, -1060);
            break;
        }
        *(double *)column_at(column, row) = x;
    }
}

static void test_float_sums(void **state)
{
    struct rig *rig = rig_of(state);
    size_t unsure = 0;
    for (int kind = 0; kind <= 11; kind++) {
        struct random random = {(uint64_t)kind + 1};
        struct setup *setup = setup_new(rig, SINK_AGGREGATE);
        struct column *column = column_reserve(TYPE_F64, TYPE_F64, ROWS);
        fill_hard(column, kind, &random);
        column_finish(column, ROWS);
        value x = setup_input(setup, column);
        setup_aggregate(setup, AGG_SUM, x);
        setup_aggregate(setup, AGG_MEAN, x);
        setup_aggregate(setup, AGG_MIN, x);
        setup_aggregate(setup, AGG_MAX, x);
        compare_ranges(rig, setup);

        struct job job = setup_job(rig, setup, 0, some_rows());
        struct agg_state *states = new_states(rig, &setup->task);
        struct scalar sum;
        bool flagged = false, certain;
        assert_int_equal(run_on_device(rig, &job, states, NULL, &flagged), STATUS_OK);
        assert_int_equal(agg_finish(&states[0], &setup->aggregates[0], &sum, &certain, &rig->diags), STATUS_OK);
        unsure += !certain;
        setup_free(setup);
    }
    assert_int_equal(builds(rig), 1);
    assert_true(unsure <= 2); /* mixed magnitudes, and perhaps one other case */
}

static void test_sums_beyond_the_device(void **state)
{
    struct rig *rig = rig_of(state);
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    double values[] = {DBL_MAX, DBL_MAX / 2, -DBL_MAX};
    struct column *column = column_of_floats(values, 3);
    bool flagged;
    setup_aggregate(setup, AGG_SUM, setup_input(setup, column));
    setup_analyse(setup, 3);
    assert_int_equal(compare(rig, setup, 0, 3, &flagged), STATUS_UNABLE);
    assert_int_equal(rig->diags.count, 0); /* the user could do nothing about it */

    struct setup *product = setup_new(rig, SINK_AGGREGATE);
    setup_aggregate(product, AGG_PRODUCT, setup_input(product, column_ref(column)));
    setup_analyse(product, 3);
    assert_int_equal(compare(rig, product, 0, 3, &flagged), STATUS_UNABLE);
    setup_free(product);
    setup_free(setup);
}

/* A failing row flags the ranges that contain it, unless it is filtered out. */
static void test_flags(void **state)
{
    static const enum op ops[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_SHL, OP_SHR};
    static const int64_t bad[][2] = {
        {INT64_MAX, 1}, {INT64_MIN, 1}, {INT64_C(1) << 62, 2}, {INT64_MIN, -1}, {5, 0}, {INT64_C(1) << 62, 1}, {1, 64}};
    struct rig *rig = rig_of(state);
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        for (int filtered = 0; filtered < 2; filtered++) {
            struct setup *setup = setup_new(rig, SINK_AGGREGATE);
            struct column *a = column_reserve(TYPE_I64, TYPE_I64, ROWS), *b = column_reserve(TYPE_I64, TYPE_I64, ROWS);
            for (int64_t row = 0; row < ROWS; row++) {
                *(int64_t *)column_at(a, row) = row == 50001 ? bad[k][0] : row - 50000;
                *(int64_t *)column_at(b, row) = row == 50001 ? bad[k][1] : row % 7 + 1;
            }
            column_finish(a, ROWS);
            column_finish(b, ROWS);
            value x = setup_input(setup, a), y = setup_input(setup, b), row = code_row(&setup->task.code, nowhere);
            if (filtered)
                setup_filter(setup, op2(setup, OP_NE, row, int_literal(setup, 50001)));
            setup_aggregate(setup, AGG_SUM, op2(setup, ops[k], x, y));
            setup_analyse(setup, ROWS);
            for (size_t at = 0; at < sizeof ranges / sizeof *ranges; at++) {
                bool flagged;
                if (is_too_long(ranges[at]))
                    continue;
                assert_int_equal(compare(rig, setup, ranges[at][0], ranges[at][1], &flagged), STATUS_OK);
                assert_int_equal(flagged, !filtered && ranges[at][0] <= 50001 && 50001 < ranges[at][1]);
            }
            setup_free(setup);
        }
    }
}

/* An assertion flags the ranges that contain the row violating it. */
static void test_assert_flags(void **state)
{
    struct rig *rig = rig_of(state);
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    value row = code_row(&setup->task.code, nowhere);
    value holds = op2(setup, OP_NE, row, int_literal(setup, 50001));
    setup_filter(setup, code_op(&setup->task.code, OP_ASSERT, holds, NO_VALUE, NO_VALUE, nowhere));
    setup_aggregate(setup, AGG_SUM, row);
    setup_analyse(setup, ROWS);
    for (size_t at = 0; at < sizeof ranges / sizeof *ranges; at++) {
        bool flagged;
        if (is_too_long(ranges[at]))
            continue;
        assert_int_equal(compare(rig, setup, ranges[at][0], ranges[at][1], &flagged), STATUS_OK);
        assert_int_equal(flagged, ranges[at][0] <= 50001 && 50001 < ranges[at][1]);
    }
    setup_free(setup);
}

static void test_cancel(void **state)
{
    struct rig *rig = rig_of(state);
    struct setup *setup = main_query(rig, 42, 0);
    setup_analyse(setup, ROWS);
    struct job job = setup_job(rig, setup, 0, ROWS);
    struct agg_state *states = new_states(rig, &setup->task);
    bool flagged = false;
    rig->cancel = 1;
    assert_int_equal(run_on_device(rig, &job, states, NULL, &flagged), STATUS_CANCELLED);
    assert_int_equal(rig->diags.count, 0);
    setup_free(setup);
}

/* The source of a task's program, which never contains column names from files. */
static void test_source(void **state)
{
    struct rig *rig = rig_of(state);
    struct setup *setup = main_query(rig, 42, 7);
    setup->inputs[0].name = "#error";
    setup_analyse(setup, ROWS);
    struct job job = setup_job(rig, setup, 0, ROWS);
    const char *text = rig->device->ops->source(rig->device, &job);
    assert_non_null(text);
    assert_non_null(strstr(text, "aggregate("));
    assert_null(strstr(text, "42"));
    assert_null(strstr(text, "#error"));
    setup_free(setup);
}

static void test_choices(void **state)
{
    struct rig *rig = rig_of(state);
    struct strbuf text = {0};
    assert_null(cl_open("fast", NULL));
    assert_null(cl_open("", NULL));
    assert_null(cl_open("1x", NULL));
    struct backend *none = cl_open("9999", NULL);
    assert_non_null(none);
    struct setup *setup = main_query(rig, 42, 0);
    setup_analyse(setup, ROWS);
    struct job job = setup_job(rig, setup, 0, ROWS);
    assert_int_equal(none->ops->prepare(none, &job), STATUS_FAILED);
    assert_int_equal(none->ops->prepare(none, &job), STATUS_FAILED);
    assert_int_equal(rig->diags.count, 2);
    assert_non_null(strstr(rig->diags.at[0].hint, "1: "));
    assert_null(none->ops->source(none, &job));
    none->ops->sweep(none);
    none->ops->close(none);
    setup_free(setup);

    cl_describe(&text, NULL);
    assert_non_null(strstr(text.text, "1: "));
    strbuf_free(&text);
}

/* Runs in a child process whose loader finds no driver. */
static int without_devices(void)
{
    struct failure failure = {0};
    size_t count;
    free(devices_find(&count, &failure));
    if (count > 0)
        return LOADER_FINDS_MORE;
    static const char *const choices[] = {"auto", "cpu"};
    static const enum status wanted[] = {STATUS_UNABLE, STATUS_FAILED};
    for (int k = 0; k < 2; k++) {
        struct rig rig = {0};
        rig_start(&rig);
        struct setup *setup = main_query(&rig, 42, 0);
        setup_analyse(setup, ROWS);
        struct job job = setup_job(&rig, setup, 0, ROWS);
        struct backend *device = cl_open(choices[k], NULL);
        bool right = device->ops->prepare(device, &job) == wanted[k] && rig.diags.count == 1 &&
                     (rig.diags.at[0].severity == SEVERITY_NOTE) == (wanted[k] == STATUS_UNABLE);
        device->ops->close(device);
        setup_free(setup);
        arena_free(rig.arena);
        if (!right)
            return 1;
    }
    return 0;
}

/* A device is started only if the rest of the task takes longer than starting it. */
static void test_start_has_to_pay(void **state)
{
    enum { SHORT_NS = 5000000, LONG_NS = 1000000000, WATCH_NS = 100000000, MOST_WATCH_NS = 200000000 };
    (void)state;
    struct rig rig = {0};
    rig_start(&rig);
    struct setup *setup = main_query(&rig, 42, 0);
    setup_analyse(setup, ROWS);
    struct job job = setup_job(&rig, setup, 0, ROWS);
    struct backend *device = cl_open("auto", NULL);
    struct profile profile;
    job.left_ns = SHORT_NS;
    int64_t began = now_ns(), now = began;
    for (; now - began < WATCH_NS; now = now_ns()) {
        assert_int_equal(device->ops->begin(device, &job), BACKEND_PENDING);
        (void)usleep(5000);
    }
    if (now - began < MOST_WATCH_NS) { /* on a busy machine, the device may have started by now */
        (void)usleep(50000);
        assert_int_equal(device->ops->profile(device, false, &profile), BACKEND_PENDING);
    }
    job.left_ns = LONG_NS;
    (void)device->ops->begin(device, &job);
    for (int k = 0; k < 2000 && device->ops->profile(device, false, &profile) == BACKEND_PENDING; k++)
        (void)usleep(5000);
    assert_int_not_equal(device->ops->profile(device, false, &profile), BACKEND_PENDING);
    device->ops->close(device);
    setup_free(setup);
    arena_free(rig.arena);
}

static void test_without_devices(void **state)
{
    (void)state;
    char self[] = "/proc/self/exe", word[] = "--without-devices";
    char *arguments[] = {self, word, NULL};
    pid_t child;
    int status;
    assert_int_equal(setenv("OCL_ICD_VENDORS", "/nonexistent", 1), 0);
    assert_int_equal(posix_spawn(&child, self, NULL, NULL, arguments, environ), 0);
    assert_int_equal(unsetenv("OCL_ICD_VENDORS"), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == LOADER_FINDS_MORE) {
        printf("# skipped: this OpenCL loader does not read OCL_ICD_VENDORS\n");
        skip();
    }
    assert_int_equal(status, 0);
}

/* Driver handlers are removed (SIGFPE is PoCL's, SIGINT its compiler's); no signal stays blocked. */
static void test_signals(void **state)
{
    const struct rig *rig = rig_of(state);
    sigset_t blocked;
    assert_int_equal(rig->changed_signal, 0);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, NULL, &blocked), 0);
    for (int k = 1; k <= SIGTERM; k++)
        assert_int_equal(sigismember(&blocked, k), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_without_devices),
        cmocka_unit_test(test_start_has_to_pay),
        cmocka_unit_test(test_main_query),
        cmocka_unit_test(test_division_by_literals),
        cmocka_unit_test(test_long_division_by_literals),
        cmocka_unit_test(test_division_of_sums),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_aggregates),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_float_sums),
        cmocka_unit_test(test_sums_beyond_the_device),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_assert_flags),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_signals),
    };
    if (argc > 1 && strcmp(argv[1], "--without-devices") == 0)
        return without_devices();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
