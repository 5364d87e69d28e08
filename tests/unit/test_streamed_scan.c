/* Files larger than the memory limit: read in ranges, released behind the scan, same results. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory_size.h"
#include "engine/backend/memory_limit.h"
#include "engine/backend/streamed_scan.h"
#include "engine/evaluator/evaluator.h"
#include "engine/run/run.h"
#include "engine/storage/mapped_file.h"
#include "queries.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 300000, MEMORY = 1 << 20 };

static void write_file(const char *name)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    for (int32_t i = 0; i < ROWS; i++) {
        int32_t v = (int32_t)((int64_t)i * 7919 % 100003);
        assert_int_equal(fwrite(&v, sizeof v, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

/* Runs with a memory limit; the caller owns the result. */
static enum status run(struct queries *queries, struct backend *evaluator, const char *text, int64_t memory,
                       struct result *result, char *error, size_t size)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct runner runner = {.env = queries->env, .evaluator = evaluator, .fusion = true, .pool = buffer_pool_new(0)};
    buffer_pool_set_limit(runner.pool, memory, memory > MEMORY ? "/var/tmp" : "/proc"); /* which has no room */
    enum status status = run_statement(&runner, query_parse(queries, text), arena, result, &diags);
    (void)snprintf(error, size, "%s", diags.count > 0 ? diags.at[0].message : "");
    arena_free(arena);
    buffer_pool_unref(runner.pool);
    return status;
}

static void results_are_the_same(void **state)
{
    static const char *const pipelines[] = {
        "load big.i32 | sum",
        "load big.i32 | select x % 3 == 1 | map x * 2 + row | sum",
        "load big.i32 | zip other.i32 | select big > 500 | map big - 2 * other | max",
        "load big.i32 | stencil -1..1 else 0: at(-1) * 2 - at(1) | sum",
        "load big.i32 | skip 1001 | select x == 5 | count",
        "load big.i32 | tail 200000 | map x + row | sum",
        "load big.i32 | select x < 500 | map x * 3 | sum",
    };
    struct backend *evaluator = evaluator_open();
    write_file("big.i32");
    write_file("other.i32");
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        struct result all, parts;
        char error[200];
        enum status status = run(*state, evaluator, pipelines[i], 0, &all, error, sizeof error);
        if (status != STATUS_OK)
            fail_msg("%s: %s", pipelines[i], error);
        assert_int_equal(run(*state, evaluator, pipelines[i], MEMORY, &parts, error, sizeof error), STATUS_OK);
        assert_int_equal(all.kind, RESULT_SCALAR);
        assert_int_equal(parts.kind, RESULT_SCALAR);
        assert_true(all.scalar.integer == parts.scalar.integer);
    }
    remove("big.i32");
    remove("other.i32");
    evaluator->ops->close(evaluator);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const char *const pipelines[] = {
        "load big.i32 | map x * 2",
        "load big.i32 | select x >= 0",
        "load big.i32 | sort",
        "load big.i32 | scan +",
        "load big.i32 | zip other.i32 | sort big",
        "load big.i32 | group big: median(big)",
    };
    struct backend *evaluator = evaluator_open();
    write_file("big.i32");
    write_file("other.i32");
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        struct result result = {0};
        char error[200];
        assert_int_equal(run(*state, evaluator, pipelines[i], MEMORY, &result, error, sizeof error), STATUS_FAILED);
        if (!strstr(error, "of memory"))
            fail_msg("%s: %s", pipelines[i], error);
        if (run(*state, evaluator, pipelines[i], 16 * MEMORY, &result, error, sizeof error) != STATUS_OK)
            fail_msg("%s: %s", pipelines[i], error);
        result_release(&result);
    }
    remove("big.i32");
    remove("other.i32");
    evaluator->ops->close(evaluator);
}

static void streams_what_is_more_than_half_of_memory(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    struct mappings *mappings = mappings_new();
    struct diags diags;
    struct mapping *mapping;
    diags_init(&diags, arena);
    write_file("big.i32");
    assert_int_equal(mapping_open(mappings, "big.i32", (struct span){0}, &mapping, &diags), STATUS_OK);
    struct column *column = column_of_mapping(TYPE_I32, mapping);
    struct queue queue;
    queue_init(&queue, arena);
    struct task *task = queue_add(&queue);
    struct input input = {.type = TYPE_I32, .name = "x"};
    struct aggregate sum = {.kind = AGG_SUM};
    task->inputs = &input;
    task->input_count = 1;
    task->code.arena = arena;
    task->sink = SINK_AGGREGATE;
    task->aggregates = &sum;
    task->aggregate_count = 1;
    sum.value = input_value(&task->code, 0, &input, (struct span){0});

    struct streamed_scan stream;
    assert_false(streamed_scan_open(&stream, task, &column, 0, ROWS, (int64_t)ROWS * 4 * 2, arena));
    assert_true(streamed_scan_open(&stream, task, &column, 0, ROWS, MEMORY, arena));
    assert_true(stream.rows >= 4096 && stream.rows * 4 <= MEMORY / 8);
    for (int64_t row = 0; row < ROWS; row += stream.rows) {
        assert_true(column_get_int(column, row) == row * 7919 % 100003);
        streamed_scan_release(&stream, row + stream.rows);
        assert_true(stream.released <= row || stream.released == stream.kept); /* keeps the range just read */
    }
    assert_true(stream.released > stream.kept);
    /* Released pages are read from disk again. */
    for (int64_t row = 0; row < ROWS; row++)
        assert_true(column_get_int(column, row) == row * 7919 % 100003);
    column_unref(column);
    mapping_unref(mapping);
    queue_release(&queue);
    mappings_free(mappings);
    remove("big.i32");
    arena_free(arena);
}

static void free_memory_is_within_all(void **state)
{
    (void)state;
    assert_true(system_memory_free_bytes() > 0);
    assert_true(system_memory_bytes() > 0);
    assert_true(system_memory_has(1));
    assert_false(system_memory_has(INT64_MAX));
    struct diags diags = {.arena = arena_new()};
    struct buffer_pool *pool = buffer_pool_new(0);
    assert_int_equal(memory_work_check(NULL, 1, (struct span){0}, &diags), STATUS_OK);
    buffer_pool_set_limit(pool, 64 << 20, "/proc"); /* which has no room */
    assert_int_equal(memory_work_check(pool, 1000, (struct span){0}, &diags), STATUS_OK);
    assert_int_equal(diags.count, 0);
    assert_int_equal(memory_work_check(pool, (64 << 20) + 1, (struct span){0}, &diags), STATUS_FAILED);
    assert_int_equal(memory_work_check(NULL, INT64_MAX, (struct span){0}, &diags), STATUS_FAILED);
    assert_int_equal(diags.count, 2);
    buffer_pool_unref(pool);
    arena_free(diags.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(results_are_the_same, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, queries_setup, queries_teardown),
        cmocka_unit_test_setup_teardown(streams_what_is_more_than_half_of_memory, queries_setup, queries_teardown),
        cmocka_unit_test(free_memory_is_within_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
