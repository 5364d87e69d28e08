/* Column statistics: collected by one query, used by the next, dropped with the file, no effect on results. */
#include "queries.h"

#include "base/buffer_pool.h"
#include "engine/evaluator/evaluator.h"
#include "engine/run/run.h"
#include "engine/storage/column_stats.h"

#include <pthread.h>

enum { ROWS = 200000, LONG_ROWS = 1100000, MEGABYTE = 1 << 20 };

struct fixture {
    struct queries *queries;
    struct runner runner;
    struct timing timing; /* of the last query */
};

/* Row i holds i / 1000 in sorted.i32, i * 7 % 1000 in mixed.i32. */
static void write_columns(struct fixture *fixture, int64_t rows)
{
    int32_t *values = malloc((size_t)rows * sizeof *values);
    for (int64_t i = 0; i < rows; i++)
        values[i] = (int32_t)(i / 1000);
    queries_file(fixture->queries, "sorted.i32", values, (size_t)rows * sizeof *values);
    for (int64_t i = 0; i < rows; i++)
        values[i] = (int32_t)(i * 7 % 1000);
    queries_file(fixture->queries, "mixed.i32", values, (size_t)rows * sizeof *values);
    free(values);
}

static struct stats_collector *keep(struct fixture *fixture, size_t most, bool eager)
{
    stats_collector_free(fixture->runner.collector);
    fixture->runner.collector = stats_collector_new(most, fixture->runner.pool);
    stats_collector_set_eager(fixture->runner.collector, eager);
    return fixture->runner.collector;
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    fixture->queries = queries_new();
    fixture->runner = (struct runner){.env = fixture->queries->env,
                                      .evaluator = evaluator_open_threads(2),
                                      .pool = buffer_pool_new(64 * MEGABYTE),
                                      .fusion = true};
    write_columns(fixture, ROWS);
    keep(fixture, 64 * MEGABYTE, true);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    stats_collector_free(fixture->runner.collector);
    queries_free(fixture->queries); /* columns outlive the collector */
    fixture->runner.evaluator->ops->close(fixture->runner.evaluator);
    buffer_pool_unref(fixture->runner.pool);
    free(fixture);
    return 0;
}

static enum status run(struct fixture *fixture, const char *text, struct result *result)
{
    struct scratch *scratch = fixture->queries->scratch;
    timing_init(&fixture->timing, scratch->arena);
    fixture->runner.timing = &fixture->timing;
    return run_statement(&fixture->runner, query_parse(fixture->queries, text), scratch->arena, result,
                         &scratch->diags);
}

static void assert_gives(struct fixture *fixture, const char *text, int64_t expected)
{
    struct result result;
    if (run(fixture, text, &result) != STATUS_OK)
        fail_msg("%s: %s", text, fixture->queries->scratch->diags.at[0].message);
    assert_int_equal(result.kind, RESULT_SCALAR);
    assert_true(result.scalar.integer == expected);
    result_release(&result);
}

/* The file cache's column of a file. */
static const struct column *column_of(struct fixture *fixture, const char *name)
{
    struct loaded loaded;
    struct scratch *scratch = fixture->queries->scratch;
    assert_int_equal(file_cache_load(fixture->queries->file_cache, name, scratch->span, NULL, &loaded, &scratch->diags),
                     STATUS_OK);
    column_unref(loaded.columns[0]); /* the file cache holds it */
    return loaded.columns[0];
}

static void second_queries_skip(void **state)
{
    struct fixture *fixture = *state;
    const struct {
        const char *text;
        int64_t expected;
        bool skips;
    } cases[] = {
        {"load sorted.i32 | select sorted == 150 | count", 1000, true},
        {"load sorted.i32 | select sorted == 77 || sorted == 3 | sum", 80000, true},
        {"load sorted.i32 | select sorted > 500 | count", 0, true},
        {"load sorted.i32 | select sorted < 500 | count", ROWS, false},
        {"load sorted.i32, mixed.i32 | select sorted == 199 && mixed < 10 | count", 10, true},
        {"load sorted.i32, mixed.i32 | select mixed == 10 && sorted > 10 | count", 189, true},
        {"load sorted.i32 | skip 100500 | select sorted == 150 | count", 1000, true},
        {"load sorted.i32 | select sorted >= 0 && row >= 199999 | count", 1, true},
        {"load sorted.i32 | stencil -1..0 else 0: at(-1) as before | select before == 150 | count", 1000, false},
        {"load sorted.i32 | map sorted * 2 | select x == 302 | count", 1000, true},
        {"load mixed.i32 | select mixed == 150 | count", 200, false},
    };
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            assert_gives(fixture, cases[i].text, cases[i].expected);
            if (round > 0 && (fixture->timing.skipped > 0) != cases[i].skips)
                fail_msg("%s: skipped %lld", cases[i].text, (long long)fixture->timing.skipped);
            assert_true(fixture->timing.skipped <= fixture->timing.zones);
        }
    }
    fixture->runner.fusion = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_gives(fixture, cases[i].text, cases[i].expected);
}

/* Row-number conditions skip zones without statistics. */
static void row_numbers_tell_at_once(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        const char *text;
        int64_t expected, skipped, zones;
    } cases[] = {
        {"load sorted.i32 | select row < 1000 | count", 1000, 3, 4},
        {"load sorted.i32 | select row >= 199999 | sum", 199, 3, 4},
        {"load sorted.i32, mixed.i32 | select mixed < 10 && row < 500 && sorted == 0 | count", 7, 3, 4},
        {"load sorted.i32 | skip 100 | select row < 1000 | sum", 100, 3, 4}, /* rows count from the skip */
        {"range 0..999999999 | select row == 500000000 | sum", 500000000, 15258, 15259},
        {"range 0..1000000000000 | select row < 3 || row > 999999999998 | count", 5, 65522, 65524},
        {"load sorted.i32 | select row % 2 == 0 | count", 100000, 0, 4},
        {"load sorted.i32 | select sorted < 500 | count", ROWS, 0, 0},
    };
    keep(fixture, 64 * MEGABYTE, false);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_gives(fixture, cases[i].text, cases[i].expected);
        if (fixture->timing.skipped != cases[i].skipped || fixture->timing.zones != cases[i].zones)
            fail_msg("%s: skipped %lld of %lld", cases[i].text, (long long)fixture->timing.skipped,
                     (long long)fixture->timing.zones);
    }
}

/* Failures are reported, for the same row, even in zones where no row would pass. */
static void failures_are_not_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct scratch *scratch = fixture->queries->scratch;
    struct result result;
    for (int round = 0; round < 2; round++) {
        const size_t before = scratch->diags.count;
        assert_int_equal(run(fixture, "load sorted.i32 | select 1000 / (sorted - 150) > 5000 | count", &result),
                         STATUS_FAILED);
        assert_non_null(strstr(scratch->diags.at[before].message, "150000"));
        scratch->diags.count = before;
        assert_gives(fixture, "load sorted.i32 | select sorted != 150 && 1000 / (sorted - 150) == 1000 | count", 1000);
        assert_gives(fixture, "load sorted.i32 | select sorted > 160 | select 1000 / (sorted - 150) > 90 | count", 0);
    }
}

static void copies_are_narrow(void **state)
{
    struct fixture *fixture = *state;
    assert_gives(fixture, "load sorted.i32, mixed.i32 | select mixed >= 500 | sum sorted", 9950000);
    const struct column *sorted = column_of(fixture, "sorted.i32"), *mixed = column_of(fixture, "mixed.i32");
    assert_int_equal(column_narrow(sorted)->store, TYPE_U8);
    assert_int_equal(column_narrow(mixed)->store, TYPE_I16);
    assert_int_equal(column_narrow(mixed)->type, TYPE_I32);
    assert_int_equal(column_zones(mixed)->all.hi, 999);
    assert_gives(fixture, "load sorted.i32, mixed.i32 | select mixed >= 500 | sum sorted", 9950000);

    /* An unchanged file column is shared; computed results may be stored like the narrow copy. */
    struct result result;
    assert_int_equal(run(fixture, "load mixed.i32", &result), STATUS_OK);
    assert_ptr_equal(result.relation->columns[0], mixed);
    result_release(&result);
    static const char *const ways[] = {"load mixed.i32 | select mixed < 3", "load mixed.i32 | sort | take 600"};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(run(fixture, ways[i], &result), STATUS_OK);
        assert_int_equal(result.relation->rows, 600);
        assert_int_equal(result.relation->columns[0]->type, TYPE_I32);
        int64_t sum = 0;
        for (int64_t row = 0; row < 600; row++)
            sum += column_get_int(result.relation->columns[0], row);
        assert_int_equal(sum, 600);
        result_release(&result);
    }
}

/* Even if no narrower type fits the elements, their range may allow a narrower result. */
static void results_are_narrow(void **state)
{
    struct fixture *fixture = *state;
    static const struct {
        int32_t greatest;
        enum type second; /* storage type of x + 1 in the second query */
    } cases[] = {{(1 << 30) - 1, TYPE_I32}, {INT32_MAX - 1, TYPE_I64}, {INT32_MAX, TYPE_I64}};
    for (size_t i = 0; i < 3; i++) {
        const int32_t values[] = {3, cases[i].greatest, 0};
        const char *const name = i == 0 ? "a.i32" : i == 1 ? "b.i32" : "c.i32";
        struct strbuf text = {0};
        strbuf_printf(&text, "load %s | map $1 + 1", name);
        queries_file(fixture->queries, name, values, sizeof values);
        for (int round = 0; round < 2; round++) {
            struct result result;
            assert_int_equal(run(fixture, text.text, &result), STATUS_OK);
            const struct column *column = result.relation->columns[0];
            assert_int_equal(column->type, TYPE_I64);
            assert_int_equal(column->store, round == 0 ? TYPE_I64 : cases[i].second);
            for (int64_t row = 0; row < 3; row++)
                assert_true(column_get_int(column, row) == (int64_t)values[row] + 1);
            result_release(&result);
        }
        strbuf_free(&text);
    }
}

static void changed_files_are_read_anew(void **state)
{
    struct fixture *fixture = *state;
    assert_gives(fixture, "load sorted.i32 | max", 199);
    assert_non_null(column_narrow(column_of(fixture, "sorted.i32")));
    const int32_t other[] = {-70000, 5};
    queries_file(fixture->queries, "sorted.i32", other, sizeof other);
    assert_gives(fixture, "load sorted.i32 | min", -70000);
    assert_null(column_narrow(column_of(fixture, "sorted.i32"))); /* no narrower type fits */
    assert_int_equal(column_zones(column_of(fixture, "sorted.i32"))->all.hi, 5);
}

static void copies_are_bounded(void **state)
{
    struct fixture *fixture = *state;
    int32_t *values = calloc(ROWS, sizeof *values);
    values[0] = 1000;
    queries_file(fixture->queries, "another.i32", values, ROWS * sizeof *values);
    free(values);
    /* A column too large for the limit, then a limit that fits one of two. */
    keep(fixture, ROWS, true);
    assert_gives(fixture, "load sorted.i32 | max", 199);
    assert_null(column_narrow(column_of(fixture, "sorted.i32")));
    assert_null(column_zones(column_of(fixture, "sorted.i32")));
    keep(fixture, 3 * ROWS, true);
    assert_gives(fixture, "load mixed.i32 | max", 999);
    assert_non_null(column_narrow(column_of(fixture, "mixed.i32")));
    assert_gives(fixture, "load another.i32 | max", 1000);
    assert_null(column_narrow(column_of(fixture, "another.i32")));
    for (int i = 0; i < 20; i++) /* until the first has gone unused for a while */
        assert_gives(fixture, "load another.i32 | max", 1000);
    assert_non_null(column_narrow(column_of(fixture, "another.i32")));
    assert_null(column_narrow(column_of(fixture, "mixed.i32")));
}

static void found_out_in_the_background(void **state)
{
    struct fixture *fixture = *state;
    struct stats_collector *collector = keep(fixture, 64 * MEGABYTE, false);
    assert_gives(fixture, "load mixed.i32 | max", 999);
    stats_collector_wait(collector);
    assert_null(column_zones(column_of(fixture, "mixed.i32"))); /* too few rows */
    write_columns(fixture, LONG_ROWS);                          /* new sizes: new columns */
    assert_gives(fixture, "load mixed.i32 | take 10 | max", 63);
    stats_collector_wait(collector);
    assert_null(column_zones(column_of(fixture, "mixed.i32"))); /* few rows read */
    for (int i = 0; i < 3; i++) {
        assert_gives(fixture, "load sorted.i32, mixed.i32 | select sorted == 1099 && mixed < 10 | count", 10);
        stats_collector_wait(collector);
        assert_int_equal(column_narrow(column_of(fixture, "sorted.i32"))->store, TYPE_I16);
        assert_true((fixture->timing.skipped > 0) == (i > 0));
    }
    /* Freed while it is busy. */
    write_columns(fixture, 4 * LONG_ROWS);
    assert_gives(fixture, "load sorted.i32, mixed.i32 | max sorted", 4 * LONG_ROWS / 1000 - 1);
    stats_collector_free(collector);
    fixture->runner.collector = NULL;
    assert_gives(fixture, "load mixed.i32 | select mixed > 999 | count", 0);
    assert_int_equal(fixture->timing.skipped, 0);
}

/* Memory reserved for a copy is released if no thread can be started. */
static void without_a_thread_nothing_is_held(void **state)
{
    struct fixture *fixture = *state;
    pthread_attr_t usual, too_large;
    pthread_getattr_default_np(&usual);
    pthread_attr_init(&too_large);
    assert_int_equal(pthread_attr_setstacksize(&too_large, (size_t)1 << 50), 0); /* more than any machine has */
    write_columns(fixture, LONG_ROWS);
    struct stats_collector *collector = keep(fixture, LONG_ROWS * sizeof(int32_t) / 2, false); /* at most one copy */
    assert_int_equal(pthread_setattr_default_np(&too_large), 0);
    assert_gives(fixture, "load sorted.i32 | max", LONG_ROWS / 1000 - 1);
    stats_collector_wait(collector);
    assert_null(column_zones(column_of(fixture, "sorted.i32")));
    assert_int_equal(pthread_setattr_default_np(&usual), 0);
    assert_gives(fixture, "load mixed.i32 | max", 999);
    stats_collector_wait(collector);
    assert_non_null(column_narrow(column_of(fixture, "mixed.i32")));
    pthread_attr_destroy(&too_large);
    pthread_attr_destroy(&usual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(second_queries_skip, setup, teardown),
        cmocka_unit_test_setup_teardown(row_numbers_tell_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(failures_are_not_skipped, setup, teardown),
        cmocka_unit_test_setup_teardown(copies_are_narrow, setup, teardown),
        cmocka_unit_test_setup_teardown(results_are_narrow, setup, teardown),
        cmocka_unit_test_setup_teardown(changed_files_are_read_anew, setup, teardown),
        cmocka_unit_test_setup_teardown(copies_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(found_out_in_the_background, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_thread_nothing_is_held, setup, teardown),
    };
    return cmocka_run_group_tests_name("keeper", tests, NULL, NULL);
}
