/* Sums of runs of floats against exact sums: each kind of values, runs of one term and of a whole block, rows without
 * any, and several blocks one after another. */
#include "float_values.h"
#include "scratch.h"

#include "engine/values/compensated_sum.h"
#include "engine/values/exact_sum.h"
#include "engine/vector/run_sum.h"

enum { ROWS = RUN_SUM_TERMS, CASES = 900, MOST_BLOCKS = 4 };

struct sums {
    double high[ROWS], low[ROWS], rest[ROWS], weight[ROWS];
    struct exact_sum exact[ROWS];
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Adds a block of runs of at most `longest` terms, of rows that are `gap` apart on average. */
static void add_block(struct sums *sums, uint64_t *seed, enum content content, int longest, int gap)
{
    double terms[RUN_SUM_TERMS];
    uint16_t rows[ROWS], ends[ROWS];
    double *const states[4] = {sums->high, sums->low, sums->rest, sums->weight};
    const int most = 1 + (int)(next(seed) % RUN_SUM_TERMS);
    int runs = 0, count = 0;
    for (int row = (int)(next(seed) % (uint64_t)gap); row < ROWS && count < most;
         row += 1 + (int)(next(seed) % (uint64_t)(2 * gap - 1))) {
        const int length = least(1 + (int)(next(seed) % (uint64_t)longest), most - count);
        for (int i = 0; i < length; i++) {
            terms[count] = value_of(seed, content, count, RUN_SUM_TERMS);
            exact_sum_add(&sums->exact[row], terms[count++]);
        }
        rows[runs] = (uint16_t)row;
        ends[runs++] = (uint16_t)count;
    }
    if (runs > 0)
        run_sums_add(states, terms, rows, ends, runs);
}

/* The number of sums that are not certain. */
static int64_t check(const struct sums *sums, enum content content)
{
    int64_t doubtful = 0;
    for (int row = 0; row < ROWS; row++) {
        bool certain, uncertain = false;
        const struct compensated_sum sum = {.high = sums->high[row],
                                            .low = sums->low[row],
                                            .rest = sums->rest[row],
                                            .weight = sums->weight[row],
                                            .count = (int64_t)MOST_BLOCKS * RUN_SUM_TERMS};
        const double want = exact_sum_result(&sums->exact[row], &certain) + 0.0;
        const double got = compensated_sum_result(&sum, &uncertain);
        const bool finite = fabs(got) <= DBL_MAX; /* else loops add anew */
        doubtful += uncertain || !finite;
        if (!uncertain && finite && !same(got, want))
            fail_msg("values %d, row %d: %a for %a", (int)content, row, got, want);
    }
    return doubtful;
}

static void random_runs(void **state)
{
    (void)state;
    static struct sums sums;
    uint64_t seed = 3;
    int64_t doubtful[CONTENTS] = {0};
    for (int i = 0; i < CASES; i++) {
        const enum content content = (enum content)(i % CONTENTS);
        const int longest = i % 3 == 0 ? 1 + (int)(next(&seed) % RUN_SUM_TERMS) : 1 + (int)(next(&seed) % 16);
        const int gap = i % 2 ? 1 : 1 + (int)(next(&seed) % 40);
        memset(&sums, 0, sizeof sums);
        for (int row = 0; row < ROWS; row++)
            exact_sum_init(&sums.exact[row]);
        for (uint64_t block = 0, blocks = 1 + next(&seed) % MOST_BLOCKS; block < blocks; block++)
            add_block(&sums, &seed, content, longest, gap);
        doubtful[content] += check(&sums, content);
    }
    /* Of the usual values, all are certain. */
    assert_int_equal(doubtful[UNIFORM] + doubtful[NORMAL] + doubtful[INTEGERS] + doubtful[ZEROS] + doubtful[HALFWAY],
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
