/* Templates: holes, conditions and comments. */
#include "cl/codegen/template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct hole holes[] = {
    {"name", "f"}, {"body", "    x = $value;\n    y = 2;\n"}, {"value", "1"}, {"empty", ""}, {"short", "    z;"},
    {NULL, NULL},
};

static void expect(const char *template, const char *expected)
{
    struct arena *arena = arena_new();
    struct strbuf text = {0};

    template_expand(&text, template, holes);
    assert_string_equal(text_in_arena(arena, &text), expected);
    arena_free(arena);
}

static void test_holes(void **state)
{
    (void)state;
    expect("void $name(int v$value)", "void f(int v1)");
    expect("$value$value $unknown $1 $", "11 $unknown $1 $");
    expect("$names", "$names");
    expect("{\n    $body\n}\n", "{\n    x = 1;\n    y = 2;\n}\n");
    expect("{\n$empty\n}\n", "{\n}\n");
    expect("{\n$short\n}\n", "{\n    z;\n}\n");
    expect("a$empty\n", "a\n");
    expect("$name", "f");
    expect("", "");
}

static void test_conditions(void **state)
{
    (void)state;
    expect("$if name\na\n$else\nb\n$end\nc\n", "a\nc\n");
    expect("$if empty\na\n$else\nb\n$end\nc\n", "b\nc\n");
    expect("$if unknown\na\n$end\nc\n", "c\n");
    expect("$if empty\n$if name\na\n$else\nb\n$end\n$else\n$if empty\nc\n$else\n    $name\n$end\n$end\n", "f\n");
    expect("$if name\n$if empty\na\n$end\nb\n$else\n$if name\nc\n$end\n$end\n", "b\n");
    expect("    $if name\n    a\n    $end\n", "    a\n");
}

static void test_comments(void **state)
{
    (void)state;
    expect("/// $name\na\n    /// b\n// c\n", "a\n// c\n");
    expect("$if name\n/// a\n$end\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_holes),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_comments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
