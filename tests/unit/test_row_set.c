/* Row sets against lists of rows. */
#include "engine/storage/row_set.h"

#include "base/integer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { ROWS = 300, ROUNDS = 500 };

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Random rows of 0..rows-1, in runs, as a set and as bytes. */
static void random_set(struct row_set *set, bool *has, int64_t rows, uint32_t *state)
{
    for (int64_t row = 0; row < rows;) {
        const int64_t end = min_int64(row + 1 + next_random(state) % 9, rows);
        const bool in = next_random(state) % 3 == 0;
        for (int64_t i = row; i < end; i++)
            has[i] = in;
        if (in)
            row_set_add(set, row, end);
        row = end;
    }
}

static void check_set(const struct row_set *set, const bool *has, int64_t rows)
{
    int64_t before = 0;
    for (int64_t row = 0; row < rows; row++) {
        assert_int_equal(row_set_before(set, row), before);
        const size_t i = row_set_find(set, row);
        assert_true(i == set->count || set->ends[i] > row);
        assert_true(i == 0 || set->ends[i - 1] <= row);
        assert_int_equal(has[row], i < set->count && set->begins[i] <= row);
        before += has[row];
    }
    assert_int_equal(set->rows, before);
    for (size_t i = 1; i < set->count; i++)
        assert_true(set->ends[i - 1] < set->begins[i]);
}

/* The list of the set's rows gives the same set. */
static void check_listed(const struct row_set *set, struct arena *arena)
{
    const struct workers workers = {.threads = 3};
    struct row_set again;
    int64_t rows[ROWS], count = 0;
    for (size_t i = 0; i < set->count; i++) {
        for (int64_t row = set->begins[i]; row < set->ends[i]; row++)
            rows[count++] = row;
    }
    struct column *numbers = column_of_ints(rows, count);
    row_set_init(&again, arena);
    assert_true(row_set_add_listed(&again, numbers, &workers));
    assert_int_equal(again.count, set->count);
    assert_int_equal(again.rows, set->rows);
    for (size_t i = 0; i < set->count; i++) {
        assert_int_equal(again.begins[i], set->begins[i]);
        assert_int_equal(again.ends[i], set->ends[i]);
        assert_int_equal(again.places[i], set->places[i]);
    }
    column_unref(numbers);
}

/* Rows in several parts, with ranges across their borders. */
static void listed_in_parts(void **state)
{
    (void)state;
    enum { MANY = 1 << 20 };
    struct arena *arena = arena_new();
    const struct workers workers = {.threads = 3};
    struct row_set set, again;
    struct column *numbers = column_reserve(TYPE_I64, TYPE_I64, MANY);
    uint32_t random = 5;
    int64_t count = 0;
    row_set_init(&set, arena);
    row_set_init(&again, arena);
    for (int64_t row = 0; count < MANY; row++) {
        const int64_t end =
            min_int64(row + 1 + next_random(&random) % (count % 7 == 0 ? 100000 : 3), row + MANY - count);
        row_set_add(&set, row, end);
        for (; row < end; row++)
            column_set_int(numbers, count++, row);
    }
    column_finish(numbers, MANY);
    assert_true(row_set_add_listed(&again, numbers, &workers));
    assert_int_equal(again.count, set.count);
    assert_int_equal(again.rows, MANY);
    assert_memory_equal(again.begins, set.begins, set.count * sizeof *set.begins);
    assert_memory_equal(again.ends, set.ends, set.count * sizeof *set.ends);
    assert_memory_equal(again.places, set.places, set.count * sizeof *set.places);
    column_unref(numbers);
    arena_free(arena);
}

static void sets_of_rows(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    uint32_t random = 1;
    int64_t values[ROWS];
    for (int64_t i = 0; i < ROWS; i++)
        values[i] = i * i;
    for (int round = 0; round < ROUNDS; round++) {
        bool has[ROWS] = {false}, part_has[ROWS] = {false}, both_has[ROWS] = {false};
        struct row_set set, part, both;
        row_set_init(&set, arena);
        row_set_init(&part, arena);
        row_set_init(&both, arena);
        random_set(&set, has, ROWS, &random);
        check_set(&set, has, ROWS);
        random_set(&part, part_has, set.rows, &random);
        row_set_within(&both, &set, &part);
        for (int64_t row = 0, place = 0; row < ROWS; row++) {
            if (has[row])
                both_has[row] = part_has[place++];
        }
        check_set(&both, both_has, ROWS);
        check_listed(&both, arena);
        struct column *column = column_of_ints(values, ROWS), *taken = row_set_take(&both, column, NULL);
        assert_int_equal(taken->rows, both.rows);
        for (int64_t row = 0, place = 0; row < ROWS; row++) {
            if (both_has[row])
                assert_int_equal(column_get_int(taken, place++), row * row);
        }
        column_unref(taken);
        column_unref(column);
    }
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sets_of_rows), cmocka_unit_test(listed_in_parts)};
    return cmocka_run_group_tests_name("row_set", tests, NULL, NULL);
}
