/* How an operator's results are stored: in the narrowest type certain before it runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/evaluator/evaluator.h"
#include "engine/run/run.h"
#include "queries.h"

static struct relation *run(struct queries *queries, struct backend *evaluator, const char *text)
{
    struct arena *arena = arena_new();
    struct diags diags;
    diags_init(&diags, arena);
    struct runner runner = {.env = queries->env, .evaluator = evaluator, .fusion = true};
    struct result result = {0};
    enum status status = run_statement(&runner, query_parse(queries, text), arena, &result, &diags);
    if (status != STATUS_OK)
        fail_msg("%s: %s", text, diags.count > 0 ? diags.at[0].message : "");
    assert_int_equal(result.kind, RESULT_RELATION);
    arena_free(arena);
    return result.relation;
}

static void scans_are_as_narrow_as_is_certain(void **state)
{
    static const struct {
        const char *text;
        enum type store;
        int64_t last;
    } trials[] = {
        {"[3, 1, 4] | scan +", TYPE_I32, 8},
        {"[3, 1, 4] | scan + exclusive", TYPE_I32, 4},
        {"[3, 1, 4] | scan + exclusive from -2147483648", TYPE_I32, -2147483644},
        {"[3, 1, 4] | scan + from 2147483635", TYPE_I32, 2147483643},
        {"[3, 1, 4] | scan + from 2147483636", TYPE_I64, 2147483644}, /* 3 * 4 would not fit */
        {"[1, 2147483647] | scan +", TYPE_I64, 2147483648},
        {"[-1, -2147483648] | scan +", TYPE_I64, -2147483649},
        {"[3, 2147483647] | scan max", TYPE_I32, 2147483647},
        {"[3, 2147483648] | scan max", TYPE_I64, 2147483648},
        {"[3, 2147483648] | scan min", TYPE_I64, 3},
        {"[3, 1, 4] | scan min exclusive from 5", TYPE_I32, 1},
        {"[3, 1, 4] | scan min from -2147483649", TYPE_I64, -2147483649},
        {"[3, 1, 4] | scan *", TYPE_I64, 12},
    };
    struct backend *evaluator = evaluator_open();
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        struct relation *relation = run(*state, evaluator, trials[i].text);
        const struct column *column = relation->columns[0];
        int64_t last = column_get_int(column, relation->rows - 1);
        if (column->store != trials[i].store || last != trials[i].last)
            fail_msg("%s: stored as %s, ends with %lld", trials[i].text, type_table[column->store].name,
                     (long long)last);
        assert_int_equal(column->type, TYPE_I64);
        for (int64_t row = 0; row < relation->rows && column->range_known; row++)
            assert_in_range(column_get_int(column, row) - column->lo, 0, column->hi - column->lo);
        relation_unref(relation);
    }
    evaluator->ops->close(evaluator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(scans_are_as_narrow_as_is_certain, queries_setup, queries_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
