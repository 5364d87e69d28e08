/* Stores of lists: what they refuse, their types' names, and their lists as JSON. */
#include "engine/storage/list_store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

static struct relation *elements_of(size_t count, struct column **columns, const char *const *names)
{
    struct relation *relation = relation_new(columns[0]->rows, count, columns, names);
    columns_unref(columns, count);
    return relation;
}

static struct relation *integers(int64_t rows)
{
    static const int64_t values[] = {10, 20, 30, 40};
    struct column *column = column_of_ints(values, rows);
    return elements_of(1, &column, (const char *const[]){""});
}

static struct column *validity_of(const char *present)
{
    const int64_t rows = (int64_t)strlen(present);
    struct column *column = column_reserve(TYPE_BOOL, TYPE_BOOL, rows);
    for (int64_t k = 0; k < rows; k++)
        column_set_int(column, k, present[k] == '1');
    column_finish(column, rows);
    return column;
}

static void expect_json(const struct column *column, int64_t row, const char *json)
{
    struct strbuf out = {0};
    list_add_json(&out, column, row);
    assert_string_equal(out.text, json);
    strbuf_free(&out);
}

static void lists_are_within_their_elements(void **state)
{
    (void)state;
    static const int64_t good[] = {0, 2, 2, 4}, beyond[] = {0, 5}, back[] = {2, 1}, below[] = {-1, 2};
    struct list_store *store = list_store_of_offsets(good, 3, integers(4), false);
    assert_non_null(store);
    assert_int_equal(store->count, 3);
    assert_int_equal(store->lengths->hi, 2);
    list_store_unref(store);
    assert_null(list_store_of_offsets(beyond, 1, integers(4), false));
    assert_null(list_store_of_offsets(back, 1, integers(4), false));
    assert_null(list_store_of_offsets(below, 1, integers(4), false));
    static const int64_t huge[] = {INT64_MAX, 1}, starts[] = {1, INT64_MAX}, two[] = {3, 0}, fewer[] = {1};
    assert_null(list_store_new(column_of_ints(starts, 2), column_of_ints(huge, 2), integers(4), false));
    assert_null(list_store_new(column_of_ints(two, 2), column_of_ints(fewer, 1), integers(4), false));
    assert_null(list_store_new(column_of_ints(two, 2), column_of_ints(two, 2), integers(4), false));
    assert_null(column_of_lists(NULL, 0, NULL));
}

static void without_lists_there_is_an_empty_one(void **state)
{
    (void)state;
    struct list_store *store = list_store_unread(integers(0), false);
    assert_int_equal(store->count, 1);
    assert_int_equal(column_get_int(store->lengths, 0), 0);
    assert_string_equal(logical_type_name((struct logical_type){.kind = LOGICAL_LIST, .lists = store}, TYPE_I64),
                        "list of i64");
    list_store_unref(store);
}

static void lists_print_as_json(void **state)
{
    (void)state;
    static const int64_t offsets[] = {0, 2, 2, 3}, outer[] = {0, 1, 3};
    struct column *inner =
        column_of_lists(list_store_of_offsets(offsets, 3, integers(4), false), 3, validity_of("110"));
    expect_json(inner, 0, "[10,20]");
    expect_json(inner, 1, "[]");
    expect_json(inner, 2, "null");
    struct list_store *store =
        list_store_of_offsets(outer, 2, elements_of(1, &inner, (const char *const[]){""}), false);
    assert_string_equal(store->type.name, "list of list of i64");
    struct column *column = column_of_lists(store, 2, NULL);
    expect_json(column, 0, "[[10,20]]");
    expect_json(column, 1, "[[],null]");
    column_unref(column);
}

static void structs_and_maps_print_as_objects(void **state)
{
    (void)state;
    static const int64_t numbers[] = {1, 2, 3}, offsets[] = {0, 2};
    static const double floats[] = {0.5, 1, 2};
    struct column *columns[] = {column_of_ints(numbers, 3), column_of_floats(floats, 3), column_of_ints(numbers, 3)};
    column_set_validity(columns[2], validity_of("101"));
    struct relation *structs = elements_of(3, columns, (const char *const[]){"id", "price.net", "price.\"x\".y"});
    struct list_store *store = list_store_of_offsets(offsets, 1, structs, false);
    assert_string_equal(store->type.name, "list of (id i64, price.net f64, price.\"x\".y i64)");
    struct column *column = column_of_lists(store, 1, NULL);
    expect_json(column, 0,
                "[{\"id\":1,\"price\":{\"net\":0.5,\"\\\"x\\\"\":{\"y\":1}}},"
                "{\"id\":2,\"price\":{\"net\":1.0,\"\\\"x\\\"\":null}}]");
    column_unref(column);
    struct column *entries[] = {column_of_ints(numbers, 3), column_of_floats(floats, 3)};
    store = list_store_of_offsets(offsets, 1, elements_of(2, entries, (const char *const[]){"key", "value"}), true);
    assert_string_equal(store->type.name, "map of i64 to f64");
    column = column_of_lists(store, 1, NULL);
    expect_json(column, 0, "{\"1\":0.5,\"2\":1.0}");
    column_unref(column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_are_within_their_elements),
        cmocka_unit_test(without_lists_there_is_an_empty_one),
        cmocka_unit_test(lists_print_as_json),
        cmocka_unit_test(structs_and_maps_print_as_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
