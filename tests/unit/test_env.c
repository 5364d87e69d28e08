/* Bindings: lookup, replacement, removal and copying. Sanitizers find leaks and double frees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/env/env.h"

static struct relation *relation_of_one(int64_t n)
{
    struct column *column = column_of_ints(&n, 1);
    struct relation *relation = relation_new(1, 1, &column, &(const char *){"n"});
    column_unref(column);
    return relation;
}

static int64_t first_of(const struct relation *relation)
{
    return column_get_int(relation->columns[0], 0);
}

static void names(void **unused)
{
    (void)unused;
    struct env *env = env_new(NULL);
    struct relation *relation = relation_of_one(7);
    assert_null(env_find(env, "a"));
    assert_false(env_drop(env, "a"));

    env_set_scalar(env, "a", scalar_int(1));
    env_set_relation(env, "r", relation);
    relation_unref(relation);
    struct stmt def = {.kind = STMT_DEF, .name = {.text = "f"}};
    env_set_definition(env, &def);
    assert_int_equal(env_find(env, "a")->kind, BINDING_SCALAR);
    assert_true(env_find(env, "a")->scalar.integer == 1);
    assert_int_equal(env_find(env, "r")->kind, BINDING_RELATION);
    assert_int_equal(first_of(env_find(env, "r")->relation), 7);
    assert_ptr_equal(env_find(env, "f")->function, &def);
    assert_null(env_find(env, "A"));

    env_set_relation(env, "r", env_find(env, "r")->relation); /* with itself */
    assert_int_equal(first_of(env_find(env, "r")->relation), 7);
    env_set_scalar(env, "r", scalar_float(0.5)); /* another kind */
    assert_int_equal(env_find(env, "r")->kind, BINDING_SCALAR);
    assert_null(env_find(env, "r")->relation);
    assert_int_equal(env->count, 3);

    assert_true(env_drop(env, "a"));
    assert_null(env_find(env, "a"));
    assert_ptr_equal(env_find(env, "f")->function, &def);
    assert_int_equal(env->count, 2);
    env_free(env);
}

static void copies_are_apart(void **unused)
{
    (void)unused;
    struct env *env = env_new(NULL);
    struct relation *relation = relation_of_one(7);
    env_set_relation(env, "r", relation);
    env_set_last(env, relation);
    relation_unref(relation);
    struct env *copy = env_copy(env);
    env_set_scalar(copy, "r", scalar_int(1));
    env_set_scalar(copy, "only here", scalar_int(1));
    env_set_last(copy, NULL);
    assert_int_equal(first_of(env_find(env, "r")->relation), 7);
    assert_int_equal(first_of(env->last), 7);
    assert_null(env_find(env, "only here"));
    env_free(env);
    assert_true(env_find(copy, "only here")->scalar.integer == 1);
    env_free(copy);
    env_free(NULL);
}

static void many_names(void **unused)
{
    (void)unused;
    struct env *env = env_new(NULL);
    for (int i = 0; i < 300; i++) {
        char name[8] = {(char)('a' + i % 26), (char)('a' + i / 26), 0};
        env_set_scalar(env, name, scalar_int(i));
    }
    assert_int_equal(env->count, 300);
    assert_true(env_find(env, "bb")->scalar.integer == 27);
    env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(copies_are_apart),
        cmocka_unit_test(many_names),
    };
    return cmocka_run_group_tests_name("env", tests, NULL, NULL);
}
