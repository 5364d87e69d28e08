/* Which bytes of a text are of a password or a signature. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/secret.h"

#include <stdlib.h>
#include <string.h>

static void masks(const char *text, const char *wanted)
{
    char *copy = strdup(text);
    const bool found = secrets_mask(copy, strlen(copy), false);
    assert_string_equal(copy, wanted);
    assert_int_equal(found, strcmp(text, wanted) != 0);
    free(copy);
}

static void a_password_may_have_any_character(void **state)
{
    (void)state;
    masks("load http://a:pw@h/x | sum b@c", "load http://a:**@h/x | sum b@c");
    masks("load http://a:p@w@h/x", "load http://a:***@h/x");
    masks("load http://a:p/?#w@h/x", "load http://a:*****@h/x");
    masks("load http://a:123456/w@h/x", "load http://a:********@h/x");
    masks("load http://a:12@h/x", "load http://a:**@h/x");
    masks("load http://a:p w@h/x", "load http://a:***@h/x");
    masks("load 'http://a:1 w@h/x'", "load 'http://a:***@h/x'");
    masks("load \"http://a:it's@h/x\"", "load \"http://a:****@h/x\"");
    masks("load 'http://a:it's@h/x'|sum y", "load 'http://a:****@h/x'|sum y");
    masks("load http://a@b:pw@h", "load http://a@b:**@h");
    masks("http://a:p\xc3\xa4@h", "http://a:***@h");
    masks("`s3://a:pw@h`: no `ftp://b:q@h`", "`s3://a:**@h`: no `ftp://b:*@h`");
    masks("`http://a:pw…x.csv`", "`http://a:**…x.csv`");
}

static void values_of_parameters_are_signatures(void **state)
{
    (void)state;
    masks("'http://h/x?a=1&sig=ab&b=2' | sum c", "'http://h/x?a=1&sig=**&b=2' | sum c");
    masks("http://h/x?Token=ab", "http://h/x?Token=**");
}

static void other_addresses_stay(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "://",
                                        "a:b@c",
                                        "http://h:80/x.csv",
                                        "http://h:80/a@b.csv",
                                        "load http://h:80/x | select a == \"b@c\"",
                                        "`http://h`: me@h",
                                        "clickhouse://me@h:8123/a/b?by=c",
                                        "clickhouse://h:port/t",
                                        "http://h/x?signed=1",
                                        "http://h:"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        masks(texts[i], texts[i]);
}

static void a_word_of_a_message_may_lack_the_host(void **state)
{
    (void)state;
    char text[] = "no file `http://a:pw`, `http://h:80/x` or `https://HOST:PORT/PATH`";
    assert_true(secrets_mask(text, strlen(text), true));
    assert_string_equal(text, "no file `http://a:**`, `http://h:80/x` or `https://HOST:PORT/PATH`");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_password_may_have_any_character), cmocka_unit_test(values_of_parameters_are_signatures),
        cmocka_unit_test(a_word_of_a_message_may_lack_the_host), cmocka_unit_test(other_addresses_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
