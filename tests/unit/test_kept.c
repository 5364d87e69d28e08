/* What is kept of columns: found by its key, until a column is in use no more or others need the room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/storage/kept.h"

static int released;

static void release(void *value)
{
    (void)value;
    released++;
}

static struct kept_key key_of(struct column *const *columns, size_t count, const char *how)
{
    return (struct kept_key){.columns = columns, .count = count, .how = how, .how_size = 1};
}

static struct column *column(int64_t value)
{
    return column_of_ints(&value, 1);
}

static void test_keys(void **state)
{
    (void)state;
    struct kept *kept = kept_new();
    struct column *a = column(1), *b = column(1), *both[] = {a, b}, *turned[] = {b, a};
    int of_a, of_both, other;
    released = 0;
    const struct kept_key key_a = key_of(&a, 1, "x"), key_b = key_of(&b, 1, "x"), key_other = key_of(&a, 1, "y"),
                          key_both = key_of(both, 2, "x"), key_turned = key_of(turned, 2, "x");
    kept_add(kept, &key_a, &of_a, release, 1); /* there is no limit yet */
    assert_int_equal(released, 1);
    assert_null(kept_find(kept, &key_a));
    kept_set_limit(kept, 100);
    kept_add(kept, &key_a, &of_a, release, 1);
    kept_add(kept, &key_both, &of_both, release, 1);
    kept_add(kept, &key_other, &other, release, 1);
    assert_ptr_equal(kept_find(kept, &key_a), &of_a);
    assert_ptr_equal(kept_find(kept, &key_both), &of_both);
    assert_ptr_equal(kept_find(kept, &key_other), &other);
    assert_null(kept_find(kept, &key_b));
    assert_null(kept_find(kept, &key_turned));
    assert_null(kept_find(NULL, &key_a));
    kept_free(kept);
    assert_int_equal(released, 4);
    column_unref(a);
    column_unref(b);
}

static void test_sweep(void **state)
{
    (void)state;
    struct kept *kept = kept_new();
    struct column *a = column(1), *b = column(2), *both[] = {a, b};
    int of_a, of_b, of_both;
    const struct kept_key key_a = key_of(&a, 1, "x"), key_b = key_of(&b, 1, "x"), key_both = key_of(both, 2, "x");
    released = 0;
    kept_set_limit(kept, 100);
    kept_add(kept, &key_a, &of_a, release, 1);
    kept_add(kept, &key_both, &of_both, release, 1);
    kept_add(kept, &key_b, &of_b, release, 1);
    kept_sweep(kept);
    assert_int_equal(released, 0);
    column_unref(a);
    kept_sweep(kept);
    assert_int_equal(released, 2);
    assert_ptr_equal(kept_find(kept, &key_b), &of_b);
    assert_int_equal(b->refs, 2);
    assert_int_equal(b->copies, 1);
    kept_free(kept);
    assert_int_equal(b->refs, 1);
    assert_int_equal(b->copies, 0);
    column_unref(b);
}

static void test_dictionary(void **state)
{
    (void)state;
    struct kept *kept = kept_new();
    const char **places;
    char *bytes;
    struct dictionary *dictionary = dictionary_unsorted(NULL, 1, 8, &places, &bytes);
    int first, second;
    const struct kept_key key = {.dictionary = dictionary, .how = "x", .how_size = 1},
                          other = {.dictionary = dictionary, .how = "xy", .how_size = 2};
    released = 0;
    kept_set_limit(kept, 100);
    kept_add(kept, &key, &first, release, 1);
    kept_add(kept, &other, &second, release, 1);
    kept_sweep(kept);
    assert_ptr_equal(kept_find(kept, &key), &first);
    assert_ptr_equal(kept_find(kept, &other), &second);
    dictionary_unref(dictionary);
    kept_sweep(kept);
    assert_int_equal(released, 2);
    kept_free(kept);
}

/* What was used least recently makes room. */
static void test_limit(void **state)
{
    (void)state;
    struct kept *kept = kept_new();
    struct column *a = column(1);
    int values[4];
    const struct kept_key keys[] = {key_of(&a, 1, "0"), key_of(&a, 1, "1"), key_of(&a, 1, "2"), key_of(&a, 1, "3")};
    released = 0;
    kept_set_limit(kept, 10);
    for (int k = 0; k < 3; k++)
        kept_add(kept, &keys[k], &values[k], release, 3);
    assert_ptr_equal(kept_find(kept, &keys[0]), &values[0]);
    kept_add(kept, &keys[3], &values[3], release, 4);
    assert_int_equal(released, 1);
    assert_null(kept_find(kept, &keys[1]));
    assert_ptr_equal(kept_find(kept, &keys[2]), &values[2]);
    kept_add(kept, &keys[1], &values[1], release, 11); /* more than all */
    assert_int_equal(released, 2);
    assert_ptr_equal(kept_find(kept, &keys[0]), &values[0]);
    kept_set_limit(kept, 4);
    assert_int_equal(released, 4);
    assert_ptr_equal(kept_find(kept, &keys[0]), &values[0]);
    kept_shrink(kept, 0);
    assert_int_equal(released, 5);
    kept_free(kept);
    column_unref(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_sweep),
        cmocka_unit_test(test_dictionary),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
