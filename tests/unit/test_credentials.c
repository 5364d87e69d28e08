/* Which servers get the user and the password of the environment, and of ~/.netrc. */
#include "scratch.h"

#include "sql/wire/credentials.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *host;
    bool tls;
    const char *list; /* CLICKHOUSE_HOST */
    bool sent, netrc;
};

static void hosts(void **state)
{
    static const struct row rows[] = {
        {"localhost", false, "", true, true},      {"127.0.0.1", false, "", true, true},
        {"127.1.2.3", true, "", true, true},       {"[::1]", false, "", true, true},
        {"127.evil.com", false, "", false, false}, {"localhost.evil.com", false, "", false, false},
        {"db1", false, "", false, false},          {"db1", true, "", false, true},
        {"db1", true, "db1", true, true},          {"DB1", true, "db0, db1", true, true},
        {"db1", true, "db10", false, true},        {"db10", true, "db1", false, true},
        {"db1", false, "db1", false, false},       {"db1", false, "http://db1", true, true},
        {"db1", true, "http://db1", true, true},   {"db1", false, "db0 http://db1", true, true},
        {"db1", false, "http://", false, false},   {"[2001:db8::1]", false, "http://[2001:db8::1]", true, true},
    };
    (void)state;
    setenv("CLICKHOUSE_USER", "reader", 1);
    setenv("CLICKHOUSE_PASSWORD", "secret", 1);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const struct table_url url = {.tls = rows[k].tls, .host = rows[k].host};
        setenv("CLICKHOUSE_HOST", rows[k].list, 1);
        const struct credentials got = credentials_for(&url);
        const bool right = !got.user == !rows[k].sent && !got.password == !rows[k].sent && got.netrc == rows[k].netrc &&
                           got.withheld == !rows[k].sent;
        if (!right)
            fail_msg("%s %d in \"%s\"", rows[k].host, rows[k].tls, rows[k].list);
    }
}

static void users(void **state)
{
    const struct table_url url = {.tls = true, .host = "db1", .user = "me"};
    (void)state;
    setenv("CLICKHOUSE_HOST", "", 1);
    unsetenv("CLICKHOUSE_USER");
    unsetenv("CLICKHOUSE_PASSWORD");
    const struct credentials got = credentials_for(&url);
    assert_string_equal(got.user, "me");
    assert_null(got.password);
    assert_false(got.withheld);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(hosts), cmocka_unit_test(users)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
