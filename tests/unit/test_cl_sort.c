/* Sorting on an OpenCL device, every kernel variant, against the host and the definition: ordered and stable. */
#include "cl_rig.h"

#include "cl/compile/compile_client.h"
#include "cl/compile/program.h"
#include "cl/operators/operator.h"
#include "engine/operators/operator.h"

enum { MOST_COLUMNS = 8 };

/* Device configurations that select the sort variants. */
struct guise {
    const char *name;
    const struct kernel_config *shape;
    bool warps;
};
static const struct guise guises[] = {
    {"tiles", &kernel_config_grid, false},
    {"warps", &kernel_config_grid, true},
};
enum { GUISES = sizeof guises / sizeof *guises };

struct bench {
    struct rig *rig;
    struct accelerator *accelerators[GUISES]; /* NULL: not supported */
};

static void *open_accelerators(struct rig *rig)
{
    static struct bench bench;
    struct failure failure = {0};
    size_t count;
    struct device *devices = devices_find(&count, &failure);
    const struct device *device = device_choose(rig_choice(), devices, count);
    bench = (struct bench){.rig = rig};
    for (int k = 0; k < GUISES; k++) {
        struct device guised = *device;
        if (guises[k].warps && !device->warps)
            continue;
        guised.warps = guises[k].warps;
        bench.accelerators[k] = accelerator_open(&guised, guises[k].shape, &failure);
        assert_non_null(bench.accelerators[k]);
    }
    free(devices);
    return &bench;
}

static struct bench *bench_of(void **state)
{
    static struct bench *bench;
    struct rig *rig = rig_of(state);
    if (!bench)
        bench = open_accelerators(rig);
    return bench;
}

static int close_all(void **state)
{
    struct rig *rig = *state;
    if (rig->device) {
        struct bench *bench = bench_of(state);
        for (int k = 0; k < GUISES; k++)
            accelerator_close(bench->accelerators[k]);
    }
    return rig_close(state);
}

struct table {
    int64_t rows;
    size_t count;
    struct column *columns[MOST_COLUMNS];
    size_t key_count;
    size_t keys[MOST_COLUMNS];
    bool descending[MOST_COLUMNS];
    bool dropped[MOST_COLUMNS]; /* not among the results */
};

static void table_free(struct table *table)
{
    for (size_t k = 0; k < table->count; k++)
        column_unref(table->columns[k]);
}

static struct column *row_column(int64_t rows)
{
    struct column *column = column_reserve(TYPE_I32, TYPE_I32, rows);
    assert_non_null(column);
    for (int64_t row = 0; row < rows; row++)
        *(int32_t *)column_at(column, row) = (int32_t)row;
    column_finish(column, rows);
    return column;
}

static struct task *table_task(struct rig *rig, struct table *table)
{
    struct setup *setup = setup_new(rig, SINK_OPERATOR);
    for (size_t k = 0; k < table->count; k++) {
        value v = setup_input(setup, table->columns[k]);
        setup_output(setup, v, table->columns[k]->type);
        setup->outputs[k].needed = !table->dropped[k];
    }
    struct column_operator *column_op = arena_alloc(rig->arena, sizeof *column_op);
    *column_op = (struct column_operator){
        .kind = OPERATOR_SORT, .keys = table->keys, .descending = table->descending, .key_count = table->key_count};
    setup->task.column_op = column_op;
    return &setup->task;
}

static struct operator_job table_job(struct rig *rig, struct table *table, const struct task *task, int64_t *rows)
{
    struct operator_job job = {
        .task = task,
        .inputs = table->columns,
        .rows = table->rows,
        .results = arena_array(rig->arena, table->count, sizeof(struct column *)),
        .result_rows = rows,
        .timing = &rig->timing,
        .cancel = &rig->cancel,
        .diags = &rig->diags,
    };
    for (size_t k = 0; k < table->count; k++)
        if (!table->dropped[k])
            job.results[k] = column_reserve(table->columns[k]->type, table->columns[k]->store, table->rows);
    return job;
}

static void job_free(const struct operator_job *job, size_t count)
{
    for (size_t k = 0; k < count; k++)
        column_unref(job->results[k]);
}

static int compare_floats(double a, double b, bool descending)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    int order = (a > b) - (a < b);
    return descending ? -order : order;
}

static int compare_rows(const struct table *table, int64_t a, int64_t b)
{
    int order = 0;
    for (size_t k = 0; k < table->key_count && order == 0; k++) {
        const struct column *column = table->columns[table->keys[k]];
        if (type_table[column->store].kind == KIND_FLOAT) {
            order = compare_floats(column_get_float(column, a), column_get_float(column, b), table->descending[k]);
        } else {
            int64_t x = column_get_int(column, a), y = column_get_int(column, b);
            order = (x > y) - (x < y);
            order = table->descending[k] ? -order : order;
        }
    }
    return order;
}

/* The last column holds each row's source row. */
static void assert_sorted(const struct table *table, const struct operator_job *job)
{
    const struct column *from = job->results[table->count - 1];
    bool *seen = calloc((size_t)table->rows + 1, sizeof *seen);
    for (int64_t row = 0; row < table->rows; row++) {
        int64_t here = column_get_int(from, row);
        assert_in_range(here, 0, table->rows - 1);
        assert_false(seen[here]);
        seen[here] = true;
        for (size_t k = 0; k < table->count; k++) {
            size_t size = type_table[table->columns[k]->store].size;
            if (job->results[k] &&
                memcmp(column_at(job->results[k], row), column_at(table->columns[k], here), size) != 0)
                fail_msg("column %zu, row %lld: not the element of row %lld", k, (long long)row, (long long)here);
        }
        if (row == 0)
            continue;
        int64_t before = column_get_int(from, row - 1);
        int order = compare_rows(table, before, here);
        if (order > 0 || (order == 0 && before > here))
            fail_msg("rows %lld and %lld: %lld does not come before %lld", (long long)row - 1, (long long)row,
                     (long long)before, (long long)here);
    }
    free(seen);
}

static void assert_same(const struct table *table, const struct operator_job *got, const struct operator_job *wanted,
                        const char *where)
{
    for (size_t k = 0; k < table->count; k++) {
        if (table->dropped[k])
            continue;
        size_t size = type_table[table->columns[k]->store].size;
        for (int64_t row = 0; row < table->rows; row++)
            if (memcmp(column_at(got->results[k], row), column_at(wanted->results[k], row), size) != 0)
                fail_msg("%s: column %zu of %lld rows differs in row %lld", where, k, (long long)table->rows,
                         (long long)row);
    }
}

/* Sorts the table in every guise and frees it; `numbered`: its last column is a row_column. */
static void check(struct bench *bench, struct table *table, bool numbered)
{
    struct rig *rig = bench->rig;
    int64_t rows = -1;
    bool flagged = false;
    struct task *task = table_task(rig, table);
    struct operator_job wanted = table_job(rig, table, task, &rows);
    assert_int_equal(host_operator_run(&wanted, &flagged), STATUS_OK);
    for (int k = 0; k < GUISES; k++) {
        if (!bench->accelerators[k])
            continue;
        struct operator_job job = table_job(rig, table, task, &rows);
        rows = -1;
        if (cl_sort(bench->accelerators[k], &job, &flagged) != STATUS_OK)
            fail_msg("%s: %s", guises[k].name, rig->diags.count > 0 ? rig->diags.at[0].message : "unable");
        assert_false(flagged);
        assert_int_equal(rows, table->rows);
        assert_int_equal(columns_fetch(job.results, table->count, NULL, nowhere, &rig->diags), STATUS_OK);
        assert_same(table, &job, &wanted, guises[k].name);
        if (numbered)
            assert_sorted(table, &job);
        job_free(&job, table->count);
        memory_sweep(bench->accelerators[k]->memory);
    }
    job_free(&wanted, table->count);
    table_free(table);
    for (int k = 0; k < GUISES; k++)
        if (bench->accelerators[k])
            memory_sweep(bench->accelerators[k]->memory);
    rig_start(rig);
}

static bool is_small(void)
{
    return getenv("RQL_TEST_OCLGRIND") != NULL;
}

/* Around tile boundaries; only the first on a simulator. */
static const int64_t sizes[] = {333, 0, 1, 2, 17, 511, 2047, 2048, 2049, 4095, 4096, 4097, 6143, 6145, 30011, 100003};

static size_t size_count(void)
{
    return is_small() ? 1 : sizeof sizes / sizeof *sizes;
}

/* A single column, decoded from its key codes. */
static void test_one_key(void **state)
{
    struct bench *bench = bench_of(state);
    struct random random = {11};
    for (enum type type = TYPE_BOOL; type < TYPE_COUNT; type = (enum type)(type + (is_small() ? 4 : 1)))
        for (size_t k = 0; k < size_count(); k++) {
            struct table table = {.rows = sizes[k], .count = 1, .key_count = 1, .descending = {k % 2 == 0}};
            table.columns[0] = random_column(&random, type, sizes[k], k % 3 == 0);
            check(bench, &table, false);
        }
}

/* Equal keys keep their order with any other columns. */
static void test_stable(void **state)
{
    static const enum type beside[][3] = {
        {TYPE_COUNT}, {TYPE_I8, TYPE_COUNT}, {TYPE_F32, TYPE_COUNT}, {TYPE_F64, TYPE_U16, TYPE_COUNT}};
    struct bench *bench = bench_of(state);
    struct random random = {12};
    for (size_t b = 0; b < sizeof beside / sizeof *beside; b++)
        for (size_t k = 0; k < size_count(); k++) {
            struct table table = {.rows = sizes[k], .count = 1, .key_count = 1, .descending = {k % 2 == 1}};
            table.columns[0] = random_column(&random, k % 4 == 0 ? TYPE_I64 : TYPE_F32, sizes[k], true);
            for (const enum type *type = beside[b]; *type != TYPE_COUNT; type++)
                table.columns[table.count++] = random_column(&random, *type, sizes[k], false);
            table.columns[table.count++] = row_column(sizes[k]);
            check(bench, &table, true);
        }
}

/* Keys packed into one word or several. */
static void test_several_keys(void **state)
{
    struct bench *bench = bench_of(state);
    struct random random = {13};
    int rounds = is_small() ? 1 : 12 * rig_patience();
    for (int round = 0; round < rounds; round++) {
        int64_t rows = is_small() ? 300 : random_below(&random, 20000);
        bool mild = random_below(&random, 3) > 0;
        struct table table = {.rows = rows, .key_count = is_small() ? 2 : (size_t)random_below(&random, 5) + 1};
        table.count = table.key_count + (size_t)random_below(&random, 2);
        for (size_t k = 0; k < table.count; k++) {
            table.columns[k] = random_column(&random, (enum type)random_below(&random, TYPE_COUNT), rows, mild);
            table.keys[k] = k;
            table.descending[k] = random_below(&random, 2);
        }
        for (size_t k = table.key_count; k-- > 1;) { /* shuffle the keys */
            size_t other = (size_t)random_below(&random, (int)k + 1), key = table.keys[k];
            table.keys[k] = table.keys[other];
            table.keys[other] = key;
        }
        for (size_t k = 0; k < table.count; k++)
            table.dropped[k] = random_below(&random, 4) == 0;
        table.columns[table.count++] = row_column(rows);
        check(bench, &table, true);
    }
}

/* Key words of different widths in either order, the first and last taking one pass or several. */
static void test_words(void **state)
{
    static const enum type keys[][3] = {{TYPE_I8, TYPE_I64, TYPE_I16},
                                        {TYPE_F64, TYPE_I64, TYPE_I16},
                                        {TYPE_I16, TYPE_I64, TYPE_F64},
                                        {TYPE_U8, TYPE_I64, TYPE_U8},
                                        {TYPE_I64, TYPE_U8, TYPE_I64}};
    struct bench *bench = bench_of(state);
    struct random random = {17};
    int64_t rows = is_small() ? 300 : 7001;
    for (size_t t = is_small() ? 4 : 0; t < sizeof keys / sizeof *keys; t++) {
        struct table table = {
            .rows = rows, .key_count = is_small() ? 2 : 3, .count = 4, .keys = {0, 1, 2}, .descending = {false, true}};
        for (size_t k = 0; k < 3; k++)
            table.columns[k] = random_column(&random, keys[t][k], rows, false);
        for (int64_t row = 0; row < rows; row++) /* ties, so other keys matter */
            if (type_table[keys[t][0]].size == 8 && row % 4 != 0)
                memcpy(column_at(table.columns[0], row), column_at(table.columns[0], 0), 8);
        table.columns[3] = row_column(rows);
        check(bench, &table, true);
    }
}

static struct column *column_of(enum type type, const void *elements, int64_t rows)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    memcpy(column_at(column, 0), elements, (size_t)rows * type_table[type].size);
    column_finish(column, rows);
    return column;
}

/* Zeroes of both signs are equal; NaNs are equal and sort last, even descending. */
static void test_float_order(void **state)
{
    const double doubles[] = {0.0, -0.0, NAN, -NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-310, -1e-310, 1e300, NAN, -1};
    float floats[sizeof doubles / sizeof *doubles];
    const int64_t rows = sizeof doubles / sizeof *doubles;
    struct bench *bench = bench_of(state);
    for (int64_t row = 0; row < rows; row++)
        floats[row] = (float)doubles[row];
    for (int k = 0; k < (is_small() ? 1 : 8); k++) {
        bool narrow = k & 1, alone = k & 4;
        struct table table = {.rows = rows, .count = 1, .key_count = 1, .descending = {k & 2}};
        table.columns[0] = narrow ? column_of(TYPE_F32, floats, rows) : column_of(TYPE_F64, doubles, rows);
        if (!alone)
            table.columns[table.count++] = row_column(rows);
        check(bench, &table, !alone);
    }
}

/* A known range skips the min/max pass and shortens keys. */
static void test_known_range(void **state)
{
    struct bench *bench = bench_of(state);
    struct random random = {14};
    int64_t rows = is_small() ? 300 : 5000;
    for (int k = 0; k < (is_small() ? 1 : 4); k++) {
        struct table table = {.rows = rows, .count = 1, .key_count = 1, .descending = {k & 1}};
        struct column *column = random_column(&random, k & 2 ? TYPE_I64 : TYPE_I16, rows, true);
        column->range_known = true;
        column->lo = -120;
        column->hi = 3000;
        table.columns[0] = column;
        table.columns[table.count++] = row_column(rows);
        check(bench, &table, true);
    }
}

/* All equal: nothing moves. */
static void test_constant(void **state)
{
    struct bench *bench = bench_of(state);
    int64_t rows = is_small() ? 300 : 9001;
    for (int k = 0; k < 2; k++) {
        struct table table = {.rows = rows, .count = 2, .key_count = 1, .descending = {k == 1}};
        table.columns[0] = column_reserve(TYPE_I32, TYPE_I32, rows);
        for (int64_t row = 0; row < rows; row++)
            *(int32_t *)column_at(table.columns[0], row) = -7;
        column_finish(table.columns[0], rows);
        table.columns[1] = row_column(rows);
        check(bench, &table, true);
    }
}

static void test_large(void **state)
{
    struct bench *bench = bench_of(state);
    struct random random = {15};
    if (rig_patience() == 1)
        skip();
    struct table table = {.rows = 3000017, .count = 3, .key_count = 2, .keys = {1, 0}, .descending = {true, false}};
    table.columns[0] = random_column(&random, TYPE_I32, table.rows, false);
    table.columns[1] = random_column(&random, TYPE_U8, table.rows, false);
    table.columns[2] = row_column(table.rows);
    check(bench, &table, true);
}

static void test_cancelled(void **state)
{
    struct bench *bench = bench_of(state);
    struct random random = {16};
    struct table table = {.rows = 1000, .count = 1, .key_count = 1};
    table.columns[0] = random_column(&random, TYPE_I32, table.rows, false);
    struct rig *rig = bench->rig;
    struct task *task = table_task(rig, &table);
    int64_t rows;
    bool flagged = false;
    rig->cancel = 1;
    for (int k = 0; k < GUISES; k++) {
        struct operator_job job = table_job(rig, &table, task, &rows);
        if (bench->accelerators[k])
            assert_int_equal(cl_sort(bench->accelerators[k], &job, &flagged), STATUS_CANCELLED);
        job_free(&job, table.count);
        if (bench->accelerators[k])
            memory_drop(bench->accelerators[k]->memory);
    }
    table_free(&table);
}

static enum status sort_on(struct rig *rig, struct table *table, struct accelerator *accelerator, bool no_wait)
{
    struct task *task = table_task(rig, table);
    int64_t rows;
    bool flagged = false;
    struct operator_job job = table_job(rig, table, task, &rows);
    job.no_wait = accelerator->no_wait = no_wait;
    enum status status = cl_sort(accelerator, &job, &flagged);
    job_free(&job, table->count);
    memory_drop(accelerator->memory);
    return status;
}

/* A no_wait run starts building all programs it will need: for each key word, for gathering each element size, and for
 * the keys' min/max, which the host computes meanwhile. */
static void test_all_programs_are_begun(void **state)
{
    struct bench *bench = bench_of(state);
    struct random random = {17};
    struct table table = {
        .rows = 1000, .count = 4, .key_count = 3, .keys = {0, 1, 2}, .descending = {false, true, false}};
    table.columns[0] = random_column(&random, TYPE_I64, table.rows, false);
    table.columns[1] = random_column(&random, TYPE_F32, table.rows, false);
    table.columns[2] = random_column(&random, TYPE_I32, table.rows, false);
    table.columns[3] = random_column(&random, TYPE_U8, table.rows, false);
    struct accelerator *first = rig_accelerator(&kernel_config_grid), *second = rig_accelerator(&kernel_config_grid);
    size_t under_way, needed;
    assert_int_equal(sort_on(bench->rig, &table, first, false), STATUS_OK);
    needed = programs_count(first->programs, &under_way);
    assert_true(needed >= 8 && under_way == 0); /* three min/max, two or three key words, three element sizes */
    /* A compiler that never replies. */
    const char *const arguments[] = {"cat", NULL};
    second->compiler = compiler_new("/bin/cat", arguments, 60000, 1);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(sort_on(bench->rig, &table, second, true), STATUS_UNABLE);
        assert_int_equal(programs_count(second->programs, &under_way), needed);
        assert_int_equal(under_way, needed);
    }
    assert_int_equal(bench->rig->diags.count, 0);
    assert_int_equal(sort_on(bench->rig, &table, first, true), STATUS_OK);
    accelerator_close(first);
    accelerator_close(second);
    table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_key),      cmocka_unit_test(test_stable),
        cmocka_unit_test(test_several_keys), cmocka_unit_test(test_words),
        cmocka_unit_test(test_float_order),  cmocka_unit_test(test_known_range),
        cmocka_unit_test(test_constant),     cmocka_unit_test(test_large),
        cmocka_unit_test(test_cancelled),    cmocka_unit_test(test_all_programs_are_begun),
    };
    return cmocka_run_group_tests(tests, rig_open, close_all);
}
