/* Running sums in lanes, on every level of the processor, against exact sums of each prefix. */
#include "scratch.h"

#include "engine/values/compensated_scan.h"
#include "engine/values/exact_sum.h"

#include <stdlib.h>
#include <string.h>

static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

enum content { EVEN, WIDE, CANCELLING, HALVES, TINY, HUGE_ONES, SPECIAL, CONTENTS };

static double value_of(enum content content, uint64_t *state, double before)
{
    const double fraction = (double)(int64_t)next(state) * 0x1p-63;
    const int shift = (int)(next(state) % 256);
    switch (content) {
    case EVEN:
        return fraction * 1000;
    case WIDE:
        return ldexp(fraction, 4 * shift - 512);
    case CANCELLING: /* nearly the negative of the value before */
        return shift % 2 ? ldexp(fraction, shift) : -before + ldexp(fraction, shift - 200);
    case HALVES: /* ties, and what decides them */
        return shift == 0 ? 0x1p53 : shift == 1 ? -0x1p53 : ldexp(shift % 2 ? 1 : -1, -(shift % 5) * 53);
    case TINY:
        return ldexp(fraction, -1074 + shift % 60);
    case HUGE_ONES:
        return shift < 128 ? -before : ldexp(fraction, 1023);
    default:
        return shift == 0                             ? -0.0
               : shift == 1 && next(state) % 64 == 0  ? INFINITY
               : shift == 2 && next(state) % 256 == 0 ? -INFINITY
                                                      : fraction;
    }
}

static double *values_of(enum content content, int64_t count, uint64_t seed)
{
    double *values = malloc(((size_t)count + 1) * sizeof *values), before = 0;
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++)
        before = values[i] = value_of(content, &seed, before);
    return values;
}

/* Results of one chain against those by definition. */
static void assert_chain(const double *values, const double *results, int64_t count, double start, bool exclusive)
{
    struct exact_sum sum;
    exact_sum_init(&sum);
    exact_sum_add(&sum, start);
    for (int64_t i = 0; i < count; i++) {
        bool certain;
        if (!exclusive)
            exact_sum_add(&sum, values[i]);
        const double expected = exact_sum_result(&sum, &certain) + 0.0;
        assert_memory_equal(&results[i], &expected, sizeof expected);
        if (exclusive)
            exact_sum_add(&sum, values[i]);
    }
}

/* What is lost may decide a tie. */
static bool may_be_uncertain(enum content content)
{
    return content == WIDE || content == HALVES || content == HUGE_ONES || content == CANCELLING;
}

/* As one chain, in pieces as an operator has them. */
static bool scan_chain(const struct compensated_scan *scan, const double *values, int64_t count, int64_t piece,
                       double start, double *results)
{
    struct compensated_sum sum = {0}, total = {0};
    bool certain = true, uncertain = false;
    compensated_sum_add(&sum, start);
    compensated_sum_add(&total, start);
    for (int64_t i = 0; i < count; i += piece) {
        const int64_t rows = count - i < piece ? count - i : piece;
        compensated_scan_total(scan, values + i, rows, &total);
        certain &= compensated_scan_chain(scan, values + i, rows, &sum, results + i);
    }
    const double all = compensated_sum_result(&total, &uncertain), last = compensated_sum_result(&sum, &uncertain);
    assert_true(uncertain || all == last || (isnan(all) && isnan(last)));
    return certain;
}

static const int64_t lengths[] = {0,    1,    7,     8,     9,     63,    64,    511,   512,   513,   519,
                                  575,  576,  1023,  1024,  1025,  1087,  1088,  4095,  4096,  8191,  8193,
                                  9000, 9216, 16383, 16384, 16385, 16895, 16896, 16897, 32768, 33000, 40000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void scans_chains(void **unused)
{
    (void)unused;
    const struct compensated_level *level;
    double *results = malloc(40008 * sizeof *results);
    assert_non_null(results);
    int certain_ones[CONTENTS] = {0};
    for (int l = 0; (level = compensated_level_at(l)) != NULL; l++) {
        for (int k = 0; k < LENGTHS; k++) {
            for (int content = 0; content < CONTENTS; content++) {
                const int64_t count = lengths[k];
                const bool exclusive = (k + content) % 3 == 0;
                const struct compensated_scan scan = {.level = level, .exclusive = exclusive};
                double *values = values_of((enum content)content, count, (uint64_t)k * CONTENTS + (uint64_t)content);
                const double start = content % 2 ? 2.5 : -0.0;
                const bool certain = scan_chain(&scan, values, count, 1 << 15, start, results + k % 8);
                if (certain)
                    assert_chain(values, results + k % 8, count, start, exclusive);
                else
                    assert_true(may_be_uncertain((enum content)content));
                certain_ones[content] += certain && count > 0;
                free(values);
            }
        }
    }
    for (int content = 0; content < CONTENTS; content++)
        assert_true(certain_ones[content] > 0);
    free(results);
}

static void scans_segments(void **unused)
{
    (void)unused;
    static const int64_t rows[] = {1, 2, 7, 8, 9, 16, 100, 511, 512, 600, 3000};
    const struct compensated_level *level;
    double *results = malloc(40008 * sizeof *results);
    assert_non_null(results);
    for (int l = 0; (level = compensated_level_at(l)) != NULL; l++) {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            for (int content = 0; content < CONTENTS; content++) {
                const bool exclusive = (k + (size_t)content) % 2 == 0;
                const int64_t segments = content == 0 ? 1 : content == 1 ? 8 : 13;
                const struct compensated_scan scan = {.level = level, .exclusive = exclusive};
                double *values = values_of((enum content)content, rows[k] * segments, k);
                struct compensated_sum start = {0};
                compensated_sum_add(&start, 0.5);
                if (compensated_scan_segments(&scan, values, rows[k], segments, &start, results)) {
                    for (int64_t i = 0; i < segments; i++)
                        assert_chain(values + i * rows[k], results + i * rows[k], rows[k], 0.5, exclusive);
                } else {
                    assert_true(may_be_uncertain((enum content)content));
                }
                free(values);
            }
        }
    }
    free(results);
}

static void scans_columns(void **unused)
{
    (void)unused;
    enum { COLUMNS = 19, ROWS = 50 };
    const struct compensated_level *level;
    double results[COLUMNS * ROWS], chain[ROWS], of_chain[ROWS];
    for (int l = 0; (level = compensated_level_at(l)) != NULL; l++) {
        for (int columns = 1; columns <= COLUMNS; columns += 3) {
            for (int content = 0; content < CONTENTS; content++) {
                const struct compensated_scan scan = {.level = level, .exclusive = content % 2};
                double *values = values_of((enum content)content, COLUMNS * ROWS, (uint64_t)columns);
                struct compensated_sum sums[COLUMNS] = {0};
                bool certain = true;
                for (int row = 0; row < ROWS; row += 10)
                    certain &= compensated_scan_columns(&scan, values + (ptrdiff_t)row * columns, columns, 10, sums,
                                                        results + (ptrdiff_t)row * columns);
                assert_true(certain || may_be_uncertain((enum content)content));
                for (int i = 0; i < columns && certain; i++) {
                    for (int row = 0; row < ROWS; row++) {
                        chain[row] = values[row * columns + i];
                        of_chain[row] = results[row * columns + i];
                    }
                    assert_chain(chain, of_chain, ROWS, 0, scan.exclusive);
                }
                free(values);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scans_chains), cmocka_unit_test(scans_segments),
                                       cmocka_unit_test(scans_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
