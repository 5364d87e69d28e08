/* Leading filters: where they end, and their kernels compared with the evaluator. */
#include "cl_rig.h"

#include "cl/codegen/filter_order.h"
#include "cl/codegen/kernel_text.h"

enum { ROWS = 100003 };

/* At and around the rows a kernel has in flight, and odd sizes. */
static const int64_t ranges[][2] = {{0, 0},    {0, 1},    {7, 8},     {0, 255},        {0, 2047},
                                    {0, 2048}, {1, 2050}, {3, 70001}, {ROWS - 1, ROWS}};

/* Oclgrind takes seconds per thousand rows. */
static bool is_small(void)
{
    return getenv("RQL_TEST_OCLGRIND") != NULL;
}

static bool find(struct rig *rig, struct setup *setup, struct live_roots needs, struct leading_filter *filter)
{
    enum type stores[MOST_INPUTS];
    struct emitter emitter;
    for (size_t k = 0; k < setup->task.input_count; k++)
        stores[k] = setup->columns[k]->store;
    setup_analyse(setup, 10);
    assert_true(emitter_init(&emitter, &setup->task, stores, 0, rig->arena));
    return leading_filter_find(&emitter, needs, rig->arena, filter);
}

/* The leading filter's condition count, 0 if there is none. */
static size_t conditions_before_reads(struct rig *rig, struct setup *setup, struct live_roots needs)
{
    struct leading_filter filter;
    bool found = find(rig, setup, needs, &filter);
    setup_free(setup);
    return found ? filter.count : 0;
}

static const struct live_roots summing = {.filters = true, .aggregates = true};

/* The first column read before the filter. */
static int64_t first_column(struct rig *rig, struct setup *setup)
{
    const struct code *code = &setup->task.code;
    struct leading_filter filter;
    assert_true(find(rig, setup, summing, &filter));
    value v = 0;
    while (!filter.before[v] || code->at[v].op != OP_INPUT)
        v++;
    setup_free(setup);
    return code->at[v].integer;
}

static value column_of(struct rig *rig, struct setup *setup, uint64_t seed)
{
    struct random random = {seed};
    (void)rig;
    return setup_input(setup, random_column(&random, TYPE_I32, 10, true));
}

/* An aggregate task with three inputs. */
static struct setup *three_columns(struct rig *rig, value *a, value *b, value *c)
{
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    *a = column_of(rig, setup, 1);
    *b = column_of(rig, setup, 2);
    *c = column_of(rig, setup, 3);
    return setup;
}

static value above(struct setup *setup, value x, int64_t least)
{
    return op2(setup, OP_LT, int_literal(setup, least), x);
}

static value both(struct setup *setup, value a, value b)
{
    return op2(setup, OP_AND, a, b);
}

static void test_places(void **state)
{
    struct rig *rig = *state;
    value a, b, c;
    rig_start(rig);

    /* a > 1 && b > 2, summing a, b or c */
    for (int k = 0; k < 3; k++) {
        struct setup *setup = three_columns(rig, &a, &b, &c);
        setup_filter(setup, both(setup, above(setup, a, 1), above(setup, b, 2)));
        setup_aggregate(setup, AGG_SUM, k == 0 ? a : k == 1 ? b : c);
        assert_int_equal(conditions_before_reads(rig, setup, summing), 1);
    }
    /* The filter includes all conditions on columns already read, across filters and parentheses. */
    struct setup *setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, both(setup, above(setup, a, 1), above(setup, a, 2)));
    setup_filter(setup, both(setup, above(setup, op2(setup, OP_MUL, a, a), 3), above(setup, b, 4)));
    setup_filter(setup, above(setup, c, 5));
    setup_aggregate(setup, AGG_COUNT, NO_VALUE);
    assert_int_equal(conditions_before_reads(rig, setup, summing), 3);

    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, above(setup, a, 1));
    setup_aggregate(setup, AGG_SUM, b);
    assert_int_equal(conditions_before_reads(rig, setup, summing), 1);

    /* If nothing can fail, b == 1 is evaluated first, but never before a division that can fail. */
    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup,
                 both(setup, above(setup, c, 2), op2(setup, OP_EQ, op2(setup, OP_MUL, a, a), int_literal(setup, 3))));
    setup_filter(setup, op2(setup, OP_EQ, b, int_literal(setup, 1)));
    setup_aggregate(setup, AGG_SUM, a);
    assert_int_equal(first_column(rig, setup), 1);
    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, above(setup, op2(setup, OP_DIV, int_literal(setup, 100), c), 2));
    setup_filter(setup, op2(setup, OP_EQ, b, int_literal(setup, 1)));
    setup_aggregate(setup, AGG_SUM, a);
    assert_int_equal(first_column(rig, setup), 2);

    /* Columns not needed are not read. */
    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, above(setup, a, 1));
    setup_aggregate(setup, AGG_SUM, b);
    assert_int_equal(conditions_before_reads(rig, setup, (struct live_roots){.filters = true}), 0);
    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, above(setup, a, 1));
    setup_aggregate(setup, AGG_SUM, b);
    assert_int_equal(conditions_before_reads(rig, setup, (struct live_roots){.aggregates = true}), 0);
}

static void test_no_place(void **state)
{
    struct rig *rig = *state;
    value a, b, c;
    rig_start(rig);

    struct setup *setup = three_columns(rig, &a, &b, &c);
    setup_aggregate(setup, AGG_SUM, b);
    assert_int_equal(conditions_before_reads(rig, setup, summing), 0);

    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, above(setup, a, 1));
    setup_aggregate(setup, AGG_SUM, a);
    assert_int_equal(conditions_before_reads(rig, setup, summing), 0);

    /* || may need both operands. */
    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, op2(setup, OP_OR, above(setup, a, 1), above(setup, b, 1)));
    setup_aggregate(setup, AGG_SUM, a);
    assert_int_equal(conditions_before_reads(rig, setup, summing), 0);

    /* A condition on the row number reads no column, but is still a leading filter. */
    setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, above(setup, code_row(&setup->task.code, nowhere), 1));
    setup_aggregate(setup, AGG_SUM, a);
    assert_int_equal(conditions_before_reads(rig, setup, summing), 1);

    /* A condition with a gather would be evaluated twice. */
    setup = three_columns(rig, &a, &b, &c);
    setup->inputs[1].whole = true;
    setup_filter(setup, above(setup, code_gather(&setup->task.code, 1, KIND_INT, a, nowhere), 1));
    setup_aggregate(setup, AGG_SUM, c);
    assert_int_equal(conditions_before_reads(rig, setup, summing), 0);
}

/* Rows in which a column is 1 rather than 0: none, row 70000, a few, half, all. */
enum { NOWHERE, LAST, SINGLE, HALF, EVERYWHERE, WHERE_COUNT };

static struct column *lead_column(int where)
{
    struct column *column = column_reserve(TYPE_I16, TYPE_I16, ROWS);
    struct random random = {(uint64_t)where + 1};
    assert_non_null(column);
    for (int64_t row = 0; row < ROWS; row++) {
        bool single = row == 0 || row == 7 || row == 2047 || row == 2049 || row == ROWS - 1;
        bool set = where == EVERYWHERE || (where == HALF && random_below(&random, 2) == 0) ||
                   (where == SINGLE && single) || (where == LAST && row == 70000);
        *(int16_t *)column_at(column, row) = set;
    }
    column_finish(column, ROWS);
    return column;
}

static void compare_ranges(struct rig *rig, struct setup *setup)
{
    setup_analyse(setup, ROWS);
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        bool flagged;
        if (is_small() && ranges[k][1] - ranges[k][0] > 300)
            continue;
        assert_int_equal(compare(rig, setup, ranges[k][0], ranges[k][1], &flagged), STATUS_OK);
        assert_false(flagged);
    }
}

static value is_one(struct setup *setup, value lead)
{
    return op2(setup, OP_EQ, lead, int_literal(setup, 1));
}

/* Every aggregate, over columns read before and after the filter; conditions on both sides. */
static void test_aggregates(void **state)
{
    static const enum type types[] = {TYPE_I8, TYPE_I32, TYPE_U32, TYPE_I64, TYPE_F64};
    struct rig *rig = rig_of(state);
    rig->accelerator = rig_accelerator(&kernel_config_grid);
    for (size_t t = 0; t < sizeof types / sizeof *types; t += is_small() ? 4 : 1) {
        bool real = type_table[types[t]].kind == KIND_FLOAT;
        for (int where = 0; where < WHERE_COUNT; where++) {
            struct random random = {t * 10 + (uint64_t)where + 1};
            struct setup *setup = setup_new(rig, SINK_AGGREGATE);
            value lead = setup_input(setup, lead_column(where));
            value x = setup_input(setup, random_column(&random, types[t], ROWS, where % 2 == 1 || real));
            value y = setup_input(setup, random_column(&random, TYPE_U8, ROWS, false));
            setup_filter(setup, both(setup, is_one(setup, lead), above(setup, y, 99)));
            for (enum aggregate_kind kind = AGG_COUNT; kind <= AGG_MEAN; kind++)
                if (kind != AGG_PRODUCT || !real)
                    setup_aggregate(setup, kind, kind == AGG_COUNT ? NO_VALUE : x);
            setup_aggregate(setup, AGG_SUM, lead);
            compare_ranges(rig, setup);
            setup_free(setup);
        }
    }
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

/* Row output, with neighbours and a gather after the filter. */
static void test_rows(void **state)
{
    struct rig *rig = rig_of(state);
    rig->accelerator = rig_accelerator(&kernel_config_grid);
    for (int where = 0; where < WHERE_COUNT; where++) {
        struct random random = {(uint64_t)where + 1};
        struct setup *setup = setup_new(rig, SINK_ROWS);
        struct code *code = &setup->task.code;
        value lead = setup_input(setup, lead_column(where));
        value x = setup_input(setup, random_column(&random, TYPE_I32, ROWS, true));
        value place = setup_input(setup, random_column(&random, TYPE_U8, ROWS, false));
        setup_input(setup, random_column(&random, TYPE_I16, 256, true));
        setup->inputs[3].whole = true;
        value next = code_input_at(code, 1, 3, KIND_INT, nowhere);
        value there = code_gather(code, 3, KIND_INT, place, nowhere);
        setup_filter(setup, is_one(setup, lead));
        setup_filter(setup, op2(setup, OP_LT, op2(setup, OP_ADD, x, next), op2(setup, OP_ADD, there, place)));
        setup_output(setup, x, TYPE_I32);
        setup_output(setup, op2(setup, OP_SUB, next, there), TYPE_I64);
        compare_ranges(rig, setup);
        setup_free(setup);
    }
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

/* 100 / x, before or after the filter, with x == 0 in one row: flagged only if that row passes what precedes it. */
static void check_failure(struct rig *rig, bool behind, bool passes, bool wanted)
{
    struct random random = {5};
    const int64_t row = 4321 % (is_small() ? 300 : ROWS);
    struct setup *setup = setup_new(rig, SINK_AGGREGATE);
    struct column *divisors = random_column(&random, TYPE_U8, ROWS, false), *leads = lead_column(HALF);
    bool flagged;
    for (int64_t k = 0; k < ROWS; k++)
        *(uint8_t *)column_at(divisors, k) |= 1;
    *(uint8_t *)column_at(divisors, row) = 0;
    *(int16_t *)column_at(leads, row) = passes;
    value lead = setup_input(setup, leads), x = setup_input(setup, divisors);
    value other = setup_input(setup, random_column(&random, TYPE_I32, ROWS, true));
    value quotient = op2(setup, OP_DIV, int_literal(setup, 100), x);
    value is_large = above(setup, quotient, 200); /* false wherever it does not fail */
    setup_filter(setup,
                 behind ? both(setup, is_one(setup, lead), is_large) : both(setup, is_large, is_one(setup, lead)));
    setup_aggregate(setup, AGG_SUM, other);
    setup_analyse(setup, ROWS);
    assert_int_equal(compare(rig, setup, 0, is_small() ? 300 : ROWS, &flagged), STATUS_OK);
    assert_int_equal(flagged, wanted);
    assert_int_equal(compare(rig, setup, row + 1, is_small() ? 300 : ROWS, &flagged), STATUS_OK);
    assert_false(flagged);
    setup_free(setup);
}

static void test_failures(void **state)
{
    struct rig *rig = rig_of(state);
    rig->accelerator = rig_accelerator(&kernel_config_grid);
    check_failure(rig, true, false, false);
    check_failure(rig, true, true, true);
    check_failure(rig, false, false, true);
    check_failure(rig, false, true, true);
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

/* Bytes per row in timings, and kernel text: chunk kernels have no filter. */
static void test_plans(void **state)
{
    struct rig *rig = *state;
    const enum type stores[] = {TYPE_I32, TYPE_I32, TYPE_I64};
    struct kernel_plan plan;
    value a, b, c;
    rig_start(rig);
    struct setup *setup = three_columns(rig, &a, &b, &c);
    setup_filter(setup, both(setup, above(setup, a, 1), above(setup, b, 1)));
    setup_aggregate(setup, AGG_SUM, c);
    setup_analyse(setup, 10);
    assert_true(kernel_plan_make(&plan, &setup->task, &kernel_config_grid, stores, NULL, rig->arena));
    assert_int_equal(kernel_row_bytes(&plan, KERNEL_AGGREGATE, rig->arena), 4);
    assert_non_null(strstr(kernel_plan_text(&plan), "passed[j]"));
    assert_true(kernel_plan_make(&plan, &setup->task, &kernel_config_cpu, stores, NULL, rig->arena));
    assert_int_equal(kernel_row_bytes(&plan, KERNEL_AGGREGATE, rig->arena), 16);
    assert_null(strstr(kernel_plan_text(&plan), "passed[j]"));
    setup_free(setup);

    /* Both passes have a filter. */
    setup = three_columns(rig, &a, &b, &c);
    setup->task.sink = SINK_ROWS;
    setup_filter(setup, both(setup, above(setup, a, 1), above(setup, b, 1)));
    setup_output(setup, c, TYPE_I32);
    setup_analyse(setup, 10);
    assert_true(kernel_plan_make(&plan, &setup->task, &kernel_config_grid, stores, stores, rig->arena));
    assert_int_equal(kernel_row_bytes(&plan, KERNEL_COUNT, rig->arena), 4);
    assert_int_equal(kernel_row_bytes(&plan, KERNEL_WRITE, rig->arena), 4);
    setup_free(setup);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),     cmocka_unit_test(test_no_place), cmocka_unit_test(test_plans),
        cmocka_unit_test(test_aggregates), cmocka_unit_test(test_rows),     cmocka_unit_test(test_failures),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
