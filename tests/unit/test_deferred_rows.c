/* Deferred rows match rows computed at once, whatever is read first, and whether later statements recompute or read
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer_pool.h"
#include "engine/backend/deferred_rows.h"
#include "engine/evaluator/evaluator.h"
#include "engine/run/run.h"
#include "engine/storage/residency.h"
#include "queries.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 50001, POOLED = 1 << 24 };

/* Shell state; `runner` outlives deferred rows. */
struct desk {
    struct queries *queries;
    struct runner runner;
    atomic_int cancel;
    char error[200];
};

static void write_columns(struct queries *queries)
{
    static int32_t x[ROWS];
    static int64_t big[ROWS];
    static double f[ROWS];
    uint64_t seed = 12345;
    for (int i = 0; i < ROWS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[i] = (int32_t)(seed >> 40) - (1 << 23);
        big[i] = i % 7 == 0 ? INT64_MAX - i : i;
        f[i] = i % 11 == 0 ? NAN : (double)x[i] / 64;
    }
    queries_file(queries, "x.i32", x, sizeof x);
    queries_file(queries, "big.i64", big, sizeof big);
    queries_file(queries, "f.f64", f, sizeof f);
}

static int setup(void **state)
{
    struct desk *desk = calloc(1, sizeof *desk);
    assert_non_null(desk);
    desk->queries = queries_new();
    write_columns(desk->queries);
    desk->runner = (struct runner){
        .env = desk->queries->env,
        .evaluator = evaluator_open_threads(3),
        .pool = buffer_pool_new(POOLED),
        .fusion = true,
        .cancel = &desk->cancel,
    };
    *state = desk;
    return 0;
}

static int teardown(void **state)
{
    struct desk *desk = *state;
    queries_free(desk->queries);
    desk->runner.evaluator->ops->close(desk->runner.evaluator);
    buffer_pool_unref(desk->runner.pool);
    free(desk);
    return 0;
}

static enum status try(struct desk *desk, enum defer_choice defer, const char *text, struct result *result)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    desk->runner.defer = defer;
    enum status status = run_statement(&desk->runner, query_parse(desk->queries, text), arena, result, &diags);
    (void)snprintf(desk->error, sizeof desk->error, "%s", diags.count > 0 ? diags.at[0].message : "");
    arena_free(arena);
    return status;
}

/* Must succeed; the caller owns the result. */
static struct result run(struct desk *desk, enum defer_choice defer, const char *text)
{
    struct result result;
    if (try(desk, defer, text, &result) != STATUS_OK)
        fail_msg("%s: %s", text, desk->error);
    return result;
}

/* A relation with deferred rows, also stored as `_`. */
static struct relation *leave(struct desk *desk, const char *text)
{
    struct result result = run(desk, DEFER_ALWAYS, text);
    assert_int_equal(result.kind, RESULT_RELATION);
    if (!deferred_task(result.relation))
        fail_msg("%s: no rows were left", text);
    env_set_relation(desk->queries->env, ENV_LAST, result.relation);
    return result.relation;
}

static struct span nowhere(void)
{
    return (struct span){0};
}

/* Fetches rows begin .. end-1 and compares them. */
static void check_rows(const struct relation *relation, const struct relation *expected, int64_t begin, int64_t end)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    assert_int_equal(relation->rows, expected->rows);
    assert_int_equal(relation->count, expected->count);
    assert_int_equal(relation_fetch(relation, begin, end, nowhere(), &diags), STATUS_OK);
    for (size_t k = 0; k < relation->count; k++) {
        const struct column *column = relation->columns[k], *as = expected->columns[k];
        assert_int_equal(column->type, as->type);
        assert_int_equal(column->store, as->store);
        const size_t size = type_table[column->store].size;
        assert_memory_equal((const char *)column->data + (size_t)begin * size,
                            (const char *)as->data + (size_t)begin * size, (size_t)(end - begin) * size);
    }
    arena_free(arena);
}

static const char *const pipelines[] = {
    "load x.i32 | map x + 1",
    "load x.i32 | select x % 2 == 0",
    "load x.i32, f.f64 | select x > 0 | map f * 2 as f, x as x, x & 255 as low",
    "load x.i32, f.f64 | derive g = f / 3, big = x > 100",
    "load x.i32 | map x + 1 as y | select even(y) | map y * 3 as z",
    "load x.i32 | stencil -1..1 else 0: at(-1) + at(1) as s",
    "load x.i32 | skip 1001 | map x ^ row as s",
    "load x.i32 | select x % 100 == 1",
    "load x.i32 | select row > 2000",
    "load x.i32 | select row < 9000",
    "load x.i32 | select row < 4300 || row == 49000",
    "load x.i32 | sort | map x - row as d",
    "range 1..40000 | select fst % 3 == 0 | map fst & 1023 as low",
};

static void rows_are_those_made_at_once(void **state)
{
    struct desk *desk = *state;
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        struct result whole = run(desk, DEFER_NEVER, pipelines[i]);
        const int64_t rows = whole.relation->rows;
        for (int order = 0; order < 3; order++) {
            struct relation *relation = leave(desk, pipelines[i]);
            if (order == 0)
                check_rows(relation, whole.relation, 0, 5);
            if (order < 2) {
                check_rows(relation, whole.relation, rows - 5, rows);
                if (!deferred_task(relation))
                    fail_msg("%s: all rows were made for the last", pipelines[i]);
            }
            if (order == 2)
                check_rows(relation, whole.relation, rows / 2, rows / 2 + 9);
            check_rows(relation, whole.relation, 0, rows);
            for (size_t k = 0; k < relation->count; k++)
                assert_null(relation->columns[k]->residency);
            relation_unref(relation);
        }
        result_release(&whole);
    }
}

static void what_may_fail_or_is_dear_is_made_at_once(void **state)
{
    static const char *const eager[] = {
        "load big.i64 | map big + 1 - 2 as b",
        "load x.i32 | select 1000 / x == 0 || x == 0",
        "load x.i32 | take 20000",
        "load x.i32 | sort",
        "load f.f64 | map sin(f) + cos(f) + tan(f) + exp(f) + log(f)",
    };
    struct desk *desk = *state;
    for (size_t i = 0; i < sizeof eager / sizeof *eager; i++) {
        struct result result;
        if (try(desk, DEFER_ALWAYS, eager[i], &result) == STATUS_OK && deferred_task(result.relation))
            fail_msg("%s: rows were left", eager[i]);
        result_release(&result);
    }
    struct result named = run(desk, DEFER_ALWAYS, "let r = load x.i32 | map x + 1");
    assert_null(deferred_task(named.relation));
    result_release(&named);
    struct result shorter = run(desk, DEFER_LONG, "load x.i32 | map x + 1");
    assert_null(deferred_task(shorter.relation));
    result_release(&shorter);
}

static void what_goes_on_computes_them_again(void **state)
{
    static const char *const rests[] = {"sum $1",
                                        "select $1 > 7 | max $1",
                                        "map row * 2 as r | sum",
                                        "sort $1 | take 100 | sum $1",
                                        "tail 300 | min $1",
                                        "pick $1 | scan + | count fst > 0"};
    struct desk *desk = *state;
    for (size_t i = 0; i < sizeof pipelines / sizeof *pipelines; i++) {
        struct relation *relation = leave(desk, pipelines[i]);
        for (size_t k = 0; k < sizeof rests / sizeof *rests; k++) {
            char text[300];
            (void)snprintf(text, sizeof text, "%s | %s", pipelines[i], rests[k]);
            struct result expected, result;
            const enum status as = try(desk, DEFER_NEVER, text, &expected);
            (void)snprintf(text, sizeof text, "_ | %s", rests[k]);
            assert_int_equal(try(desk, DEFER_NEVER, text, &result), as);
            if (as == STATUS_OK && result.scalar.kind == KIND_FLOAT)
                assert_memory_equal(&result.scalar.number, &expected.scalar.number, sizeof(double));
            else if (as == STATUS_OK)
                assert_true(result.scalar.integer == expected.scalar.integer);
            assert_non_null(deferred_task(relation));
        }
        relation_unref(relation);
    }
}

/* Errors cite row numbers as displayed, counted after the filter. */
static void failures_are_told_of_the_rows_shown(void **state)
{
    struct desk *desk = *state;
    struct result result;
    struct relation *relation = leave(desk, "load x.i32 | select row >= 10");
    assert_int_equal(try(desk, DEFER_ALWAYS, "_ | map 1 / (row - 5) as q | sum", &result), STATUS_FAILED);
    if (!strstr(desk->error, "row 5"))
        fail_msg("%s", desk->error);
    assert_null(deferred_task(relation));
    relation_unref(relation);
}

static void interrupted_it_is_asked_for_again(void **state)
{
    struct desk *desk = *state;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct result whole = run(desk, DEFER_NEVER, pipelines[1]);
    struct relation *relation = leave(desk, pipelines[1]);
    desk->cancel = 1;
    assert_int_equal(relation_fetch(relation, 0, relation->rows, nowhere(), &diags), STATUS_CANCELLED);
    assert_int_equal(diags.count, 0);
    desk->cancel = 0;
    check_rows(relation, whole.relation, 0, relation->rows);
    relation_unref(relation);
    result_release(&whole);
    arena_free(arena);
}

static void what_is_too_much_for_memory_can_be_looked_at(void **state)
{
    struct desk *desk = *state;
    struct arena *arena = arena_new();
    struct diags diags;
    struct result result;
    diags_init(&diags, arena);
    buffer_pool_set_limit(desk->runner.pool, 1 << 16, "/proc");
    assert_int_equal(try(desk, DEFER_NEVER, pipelines[0], &result), STATUS_FAILED);
    struct relation *relation = leave(desk, pipelines[0]);
    assert_int_equal(relation->rows, ROWS);
    assert_int_equal(relation_fetch(relation, ROWS - 3, ROWS, nowhere(), &diags), STATUS_OK);
    assert_int_equal(relation_fetch(relation, 0, ROWS, nowhere(), &diags), STATUS_FAILED);
    assert_non_null(strstr(diags.at[0].message, "of memory"));
    result = run(desk, DEFER_NEVER, "_ | sum");
    assert_int_equal(result.kind, RESULT_SCALAR);
    relation_unref(relation);
    arena_free(arena);
}

static void a_file_rewritten_meanwhile_is_an_error(void **state)
{
    struct desk *desk = *state;
    struct arena *arena = arena_new();
    struct diags diags;
    struct result result;
    diags_init(&diags, arena);
    struct relation *relation = leave(desk, pipelines[1]);
    FILE *file = fopen("x.i32", "r+b");
    assert_non_null(file);
    assert_int_equal(fputc(1, file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(try(desk, DEFER_NEVER, "_ | sum", &result), STATUS_FAILED);
    assert_non_null(strstr(desk->error, "x.i32"));
    assert_int_equal(relation_fetch(relation, 0, relation->rows, nowhere(), &diags), STATUS_FAILED);
    assert_non_null(strstr(diags.at[0].message, "x.i32"));
    relation_unref(relation);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_are_those_made_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(what_may_fail_or_is_dear_is_made_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(what_goes_on_computes_them_again, setup, teardown),
        cmocka_unit_test_setup_teardown(failures_are_told_of_the_rows_shown, setup, teardown),
        cmocka_unit_test_setup_teardown(interrupted_it_is_asked_for_again, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_too_much_for_memory_can_be_looked_at, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_rewritten_meanwhile_is_an_error, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
