/* Float sums on a grid against exact sums: each kind of values, of mixed magnitudes and at the ends of the range, and
 * rows around the numbers after which sums are emptied and a ceiling is chosen. */
#include "float_values.h"
#include "scratch.h"

#include "engine/grouping/float_grid.h"
#include "engine/values/exact_sum.h"
#include "engine/vector/elements.h"

enum { MOST_GROUPS = 40, CASES = 700, EMPTIED = 1 << 18 };

/* Adds the values by both ways; the number of sums whose rounding the grid's are uncertain of. */
static int64_t check(uint64_t *seed, enum content content, int64_t groups, int64_t rows)
{
    struct compensated_sum states[MOST_GROUPS] = {0};
    static struct exact_sum sums[MOST_GROUPS];
    for (int64_t group = 0; group < groups; group++)
        exact_sum_init(&sums[group]);
    struct float_grid *grid = float_grid_new(groups);
    assert_non_null(grid);
    const bool full = next(seed) % 2;
    for (int64_t row = 0; row < rows;) {
        double values[OPERATOR_BLOCK];
        uint32_t places[OPERATOR_BLOCK];
        int64_t count = full ? OPERATOR_BLOCK : 1 + (int64_t)(next(seed) % OPERATOR_BLOCK);
        count = count < rows - row ? count : rows - row;
        for (int64_t i = 0; i < count; i++) {
            values[i] = value_of(seed, content, row + i, rows);
            places[i] = (uint32_t)(next(seed) % (uint64_t)groups);
            exact_sum_add(&sums[places[i]], values[i]);
        }
        float_grid_add(grid, states, places, values, (int)count);
        row += count;
    }
    float_grid_empty(grid, states);
    int64_t doubtful = 0;
    for (int64_t group = 0; group < groups; group++) {
        bool certain, uncertain = false;
        const double want = exact_sum_result(&sums[group], &certain) + 0.0;
        const double got = compensated_sum_result(&states[group], &uncertain);
        doubtful += uncertain;
        if (!uncertain && !same(got, want))
            fail_msg("values %d, group %lld of %lld, %lld rows: %a for %a", (int)content, (long long)group,
                     (long long)groups, (long long)rows, got, want);
    }
    float_grid_free(grid);
    return doubtful;
}

static void random_sums(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int64_t doubtful[CONTENTS] = {0};
    for (int i = 0; i < CASES; i++) {
        const enum content content = (enum content)(i % CONTENTS);
        const int64_t groups = next(&seed) % 3 == 0 ? 1 : 1 + (int64_t)(next(&seed) % MOST_GROUPS);
        const int64_t rows = i < 3 * CONTENTS ? i / CONTENTS : (int64_t)(next(&seed) % 12000);
        doubtful[content] += check(&seed, content, groups, rows);
    }
    /* Of the usual values, all are certain. */
    assert_int_equal(doubtful[UNIFORM] + doubtful[NORMAL] + doubtful[INTEGERS] + doubtful[ZEROS] + doubtful[HALFWAY],
                     0);
}

static void many_rows(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < CONTENTS; i++) {
        (void)check(&seed, (enum content)i, 1, EMPTIED + (int64_t)(next(&seed) % 3) * OPERATOR_BLOCK - 1);
        (void)check(&seed, (enum content)i, i % 2 ? 1 : 3, 2 * EMPTIED + 100000);
    }
    assert_int_equal(check(&seed, UNIFORM, 1, 3000000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sums),
        cmocka_unit_test(many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
