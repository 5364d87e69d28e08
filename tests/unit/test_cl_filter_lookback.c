/* Filters in one pass, and in two, at and around the edges of tiles, compared with the evaluator. On devices that are
 * none of NVIDIA's the kernel's portable form runs. */
#include "cl_rig.h"

enum { TWO_PASSES = 0, GROUP = 256, LARGEST = 3 * 32 * GROUP + 77 };

static bool is_small(void)
{
    return getenv("RQL_TEST_OCLGRIND") != NULL;
}

/* The grid with `rows` rows of a work-item in a pass. */
static struct kernel_config one_pass(struct rig *rig, size_t rows)
{
    struct kernel_config config = kernel_config_grid;
    struct accelerator *accelerator = rig_accelerator(&kernel_config_grid);
    config.single_pass = rows;
    config.single_group = GROUP;
    config.warps = accelerator->device.warps;
    accelerator_close(accelerator);
    rig_start(rig);
    return config;
}

static void open_one_pass(struct rig *rig, struct kernel_config *config, size_t rows)
{
    *config = one_pass(rig, rows);
    rig->accelerator = rig_accelerator(config);
}

static void close_one_pass(struct rig *rig)
{
    accelerator_close(rig->accelerator);
    rig->accelerator = NULL;
}

/* Rows with 1: none, the last of each tile, every 20th, half of them at random, all. */
enum { NONE, LAST, FEW, HALF, ALL, SHARES };

static struct column *marks(int share, int64_t tile)
{
    struct column *column = column_reserve(TYPE_I16, TYPE_I16, LARGEST);
    struct random random = {(uint64_t)share + 1};
    assert_non_null(column);
    for (int64_t row = 0; row < LARGEST; row++) {
        bool set = share == ALL || (share == HALF && random_below(&random, 2) == 0) ||
                   (share == FEW && row % 20 == 3) || (share == LAST && row % tile == tile - 1);
        *(int16_t *)column_at(column, row) = set;
    }
    column_finish(column, LARGEST);
    return column;
}

/* Compares rows from odd places on, as many as fill warps and tiles, one less and one more. */
static void compare_lengths(struct rig *rig, struct setup *setup, int64_t per_item)
{
    const int64_t warp = 32 * per_item, tile = GROUP * per_item;
    const int64_t lengths[] = {0,        1,        2,    31,       32,           33,       warp - 1,     warp,
                               warp + 1, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile, 3 * tile + 70};
    bool flagged;
    setup_analyse(setup, LARGEST);
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int64_t begin = k % 3 == 2 ? 7 : 0;
        if (is_small() && lengths[k] > tile + 1)
            continue;
        assert_int_equal(compare(rig, setup, begin, begin + lengths[k], &flagged), STATUS_OK);
        assert_false(flagged);
    }
}

static value is_one(struct setup *setup, value mark)
{
    return op2(setup, OP_EQ, mark, int_literal(setup, 1));
}

static void test_types(void **state)
{
    static const enum type types[] = {TYPE_BOOL, TYPE_I8,  TYPE_U8,  TYPE_I16, TYPE_U16,
                                      TYPE_I32,  TYPE_U32, TYPE_I64, TYPE_F32, TYPE_F64};
    static const size_t per_items[] = {24, 5, 32, TWO_PASSES};
    struct rig *rig = rig_of(state);
    for (size_t p = 0; p < sizeof per_items / sizeof *per_items; p++) {
        struct kernel_config config;
        size_t per_item = is_small() && per_items[p] != TWO_PASSES ? p + 1 : per_items[p];
        open_one_pass(rig, &config, per_item);
        per_item = per_item == TWO_PASSES ? config.tile : per_item;
        for (size_t t = p == 0 ? 0 : 5; t < sizeof types / sizeof *types; t += p == 0 && !is_small() ? 1 : 4) {
            for (int share = 0; share < SHARES; share++) {
                struct random random = {t + 1};
                struct setup *setup = setup_new(rig, SINK_ROWS);
                value mark = setup_input(setup, marks(share, (int64_t)per_item * GROUP));
                value x = setup_input(setup, random_column(&random, types[t], LARGEST, false));
                setup_filter(setup, is_one(setup, mark));
                setup_output(setup, x, types[t]);
                setup_output(setup, mark, TYPE_I16);
                compare_lengths(rig, setup, (int64_t)per_item);
                setup_free(setup);
            }
        }
        close_one_pass(rig);
    }
}

/* Two conditions on two columns, an output of neighbours, and one of a gather. */
static void test_reads(void **state)
{
    struct rig *rig = rig_of(state);
    struct kernel_config config;
    open_one_pass(rig, &config, is_small() ? 2 : 24);
    for (int share = 0; share < SHARES; share++) {
        struct random random = {(uint64_t)share + 1};
        struct setup *setup = setup_new(rig, SINK_ROWS);
        struct code *code = &setup->task.code;
        value mark = setup_input(setup, marks(share, 77));
        value x = setup_input(setup, random_column(&random, TYPE_I32, LARGEST, true));
        value place = setup_input(setup, random_column(&random, TYPE_U8, LARGEST, false));
        setup_input(setup, random_column(&random, TYPE_I16, 256, true));
        setup->inputs[3].whole = true;
        setup_filter(setup, is_one(setup, mark));
        setup_filter(setup, op2(setup, OP_LT, int_literal(setup, -50), x));
        setup_output(setup, code_gather(code, 3, KIND_INT, place, nowhere), TYPE_I64);
        setup_output(setup, code_row(code, nowhere), TYPE_I64);
        setup_output(setup, op2(setup, OP_MUL, x, x), TYPE_I64);
        setup_output(setup, code_rows(code, nowhere), TYPE_I64);
        compare_lengths(rig, setup, is_small() ? 2 : 12);
        setup_free(setup);
    }
    close_one_pass(rig);
}

/* A row that fails counts only if it is kept, and the next launch finds no flag. */
static void test_flag(void **state)
{
    struct rig *rig = rig_of(state);
    struct kernel_config config;
    int64_t rows = is_small() ? 600 : LARGEST;
    open_one_pass(rig, &config, is_small() ? 1 : 24);
    for (int kept = 0; kept < 2; kept++) {
        struct setup *setup = setup_new(rig, SINK_ROWS);
        struct column *by = column_reserve(TYPE_I16, TYPE_I16, LARGEST);
        bool flagged;
        for (int64_t row = 0; row < LARGEST; row++)
            *(int16_t *)column_at(by, row) = row != 333;
        column_finish(by, LARGEST);
        value mark = setup_input(setup, marks(kept ? ALL : FEW, 20));
        value x = setup_input(setup, by);
        setup_filter(setup, is_one(setup, mark));
        setup_output(setup, op2(setup, OP_DIV, int_literal(setup, 100), x), TYPE_I64);
        setup_analyse(setup, LARGEST);
        assert_int_equal(compare(rig, setup, 0, rows, &flagged), STATUS_OK);
        assert_int_equal(flagged, kept);
        assert_int_equal(compare(rig, setup, 340, rows, &flagged), STATUS_OK);
        assert_false(flagged);
        setup_free(setup);
    }
    close_one_pass(rig);
}

/* Results of few rows give back what they have reserved when memory is short, instead of going to the host. */
static void test_trim(void **state)
{
    enum { ROWS = 20000, RESULTS = 8 };
    struct rig *rig = rig_of(state);
    struct kernel_config config;
    if (is_small())
        skip();
    open_one_pass(rig, &config, 24);
    struct setup *setup = setup_new(rig, SINK_ROWS);
    struct column *column = column_reserve(TYPE_I64, TYPE_I64, ROWS);
    struct row_sink sinks[RESULTS];
    rig->accelerator->device.memory = (uint64_t)ROWS * sizeof(int64_t) * 5;
    for (int64_t row = 0; row < ROWS; row++)
        *(int64_t *)column_at(column, row) = row;
    column_finish(column, ROWS);
    value x = setup_input(setup, column);
    setup_filter(setup, is_one(setup, op2(setup, OP_MOD, x, int_literal(setup, 20))));
    setup_output(setup, x, TYPE_I64);
    setup_analyse(setup, ROWS);
    for (int k = 0; k < RESULTS; k++) {
        struct job job = setup_job(rig, setup, 0, ROWS);
        bool flagged = false;
        sinks[k] = new_sink(rig, setup, 0, ROWS);
        assert_int_equal(run_on_device(rig, &job, NULL, &sinks[k], &flagged), STATUS_OK);
        assert_int_equal(sinks[k].rows, ROWS / 20);
    }
    for (int k = 0; k < RESULTS; k++) {
        struct column *result = sinks[k].columns[0];
        assert_non_null(result->residency);
        assert_true(column_fetch(result, 0, sinks[k].rows));
        for (int64_t row = 0; row < sinks[k].rows; row++)
            assert_int_equal(column_get_int(result, row), row * 20 + 1);
        sink_free(&sinks[k], &setup->task);
    }
    setup_free(setup);
    close_one_pass(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_flag),
        cmocka_unit_test(test_trim),
    };
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
