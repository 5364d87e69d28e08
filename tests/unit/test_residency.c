/* Column rows that reside in a backend: fetched once, on demand, and lost if that fails. */
#include "engine/storage/residency.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROWS = 100 };

/* A backend that holds rows 10..59; each element is its row number. */
struct elsewhere {
    struct residency residency; /* first: cast to struct elsewhere */
    struct column *column;
    int64_t fetched;
    bool broken, dropped;
};

static bool fetch(struct residency *residency, int64_t begin, int64_t end)
{
    struct elsewhere *elsewhere = (struct elsewhere *)residency;
    for (int64_t row = begin; row < end && !elsewhere->broken; row++)
        *(int64_t *)column_at(elsewhere->column, row) = row;
    elsewhere->fetched += end - begin;
    return !elsewhere->broken;
}

static void drop(struct residency *residency)
{
    ((struct elsewhere *)residency)->dropped = true;
}

static int open_elsewhere(void **state)
{
    static struct elsewhere elsewhere;
    elsewhere = (struct elsewhere){.residency = {.begin = 10, .end = 60, .fetch = fetch, .drop = drop}};
    elsewhere.column = column_reserve(TYPE_I64, TYPE_I64, ROWS);
    assert_non_null(elsewhere.column);
    column_finish(elsewhere.column, ROWS);
    residency_add(elsewhere.column, &elsewhere.residency);
    *state = &elsewhere;
    return 0;
}

static int close_elsewhere(void **state)
{
    struct elsewhere *elsewhere = *state;
    residency_remove(elsewhere->column, &elsewhere->residency);
    column_unref(elsewhere->column);
    return 0;
}

static void test_fetched_as_asked(void **state)
{
    struct elsewhere *elsewhere = *state;
    struct column *column = elsewhere->column;
    assert_true(column_fetch(column, 0, 10));
    assert_true(column_fetch(column, 60, ROWS));
    assert_int_equal(elsewhere->fetched, 0);
    assert_true(column_fetch(column, 0, 20)); /* from the front: 10..19 */
    assert_int_equal(elsewhere->fetched, 10);
    assert_int_equal(column_get_int(column, 19), 19);
    assert_int_equal(column_get_int(column, 20), 0);
    assert_true(column_fetch(column, 55, ROWS)); /* from the back */
    assert_int_equal(elsewhere->residency.begin, 20);
    assert_int_equal(elsewhere->residency.end, 55);
    assert_true(column_fetch(column, 30, 31)); /* in the middle: not recorded */
    assert_int_equal(elsewhere->residency.begin, 20);
    assert_true(column_fetch(column, 0, ROWS));
    assert_null(column->residency);
    assert_int_equal(elsewhere->fetched, 10 + 5 + 1 + 35);
    for (int64_t row = 10; row < 60; row++)
        assert_int_equal(column_get_int(column, row), row);
}

static void test_columns(void **state)
{
    struct elsewhere *elsewhere = *state;
    struct column *columns[] = {NULL, elsewhere->column};
    const atomic_int interrupted = 1;
    assert_int_equal(columns_fetch(columns, 2, &interrupted, (struct span){0}, NULL), STATUS_CANCELLED);
    assert_int_equal(elsewhere->fetched, 0);
    assert_int_equal(columns_fetch(columns, 2, NULL, (struct span){0}, NULL), STATUS_OK);
    assert_null(elsewhere->column->residency);
    assert_int_equal(columns_fetch(columns, 2, &interrupted, (struct span){0}, NULL), STATUS_OK);
}

static void test_relation(void **state)
{
    struct elsewhere *elsewhere = *state;
    const char *name = "x";
    struct relation *relation = relation_new(ROWS, 1, &elsewhere->column, &name);
    assert_int_equal(relation_fetch(relation, 0, 12, (struct span){0}, NULL), STATUS_OK);
    assert_int_equal(relation_fetch(relation, ROWS - 3, ROWS, (struct span){0}, NULL), STATUS_OK);
    assert_int_equal(elsewhere->fetched, 2);
    relation_unref(relation);
}

static void test_lost(void **state)
{
    struct elsewhere *elsewhere = *state;
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    elsewhere->broken = true;
    assert_int_equal(columns_fetch(&elsewhere->column, 1, NULL, (struct span){0}, &diags), STATUS_FAILED);
    assert_int_equal(diags.count, 1);
    assert_non_null(diags.at[0].hint);
    residency_mark_lost(elsewhere->column);
    residency_remove(elsewhere->column, &elsewhere->residency);
    assert_false(column_fetch(elsewhere->column, 0, 1));
    assert_int_equal(columns_fetch(&elsewhere->column, 1, NULL, (struct span){0}, &diags), STATUS_FAILED);
    arena_free(arena);
}

static void test_discarded(void **state)
{
    struct elsewhere *elsewhere = *state;
    residency_discard(elsewhere->column, 11); /* begins before 11: kept */
    assert_true(!elsewhere->dropped && elsewhere->column->residency);
    residency_discard(elsewhere->column, 10);
    assert_true(elsewhere->dropped && !elsewhere->column->residency);
    assert_true(column_fetch(elsewhere->column, 0, ROWS));
    assert_int_equal(elsewhere->fetched, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fetched_as_asked, open_elsewhere, close_elsewhere),
        cmocka_unit_test_setup_teardown(test_columns, open_elsewhere, close_elsewhere),
        cmocka_unit_test_setup_teardown(test_relation, open_elsewhere, close_elsewhere),
        cmocka_unit_test_setup_teardown(test_lost, open_elsewhere, close_elsewhere),
        cmocka_unit_test_setup_teardown(test_discarded, open_elsewhere, close_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
