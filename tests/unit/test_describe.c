/* describe against a naive computation, and human-readable numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/operators/describe.h"
#include "engine/values/hyperloglog.h"
#include "repl/print/number_format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* xorshift64*: the same numbers in every run */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static void sketches_are_near(void **state)
{
    (void)state;
    static const int64_t counts[] = {0, 1, 2, 10, 100, 1000, 20000, 100000, 1000000, 10000000};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct hyperloglog *sketch = calloc(2, sizeof *sketch);
        uint64_t random = 42 + i;
        for (int64_t k = 0; k < counts[i]; k++) {
            uint64_t bits = i % 2 ? (uint64_t)k : next(&random);
            hyperloglog_add(&sketch[k % 2], bits);
            hyperloglog_add(&sketch[0], bits); /* a duplicate */
        }
        hyperloglog_merge(&sketch[0], &sketch[1]);
        double estimate = hyperloglog_estimate(&sketch[0]);
        double wrong = fabs(estimate - (double)counts[i]);
        assert_true(wrong <= 0.5 + 0.03 * (double)counts[i]); /* nearly four standard errors */
        free(sketch);
    }
}

static struct column *floats(const double *values, int64_t rows)
{
    struct column *column = column_of_floats(values, rows);
    assert_non_null(column);
    return column;
}

/* Results must not depend on threads. */
static struct description *described(struct column *column, struct arena *arena)
{
    static const int threads[] = {1, 2, 5};
    const char *name = "c";
    struct relation *relation = relation_new(column->rows, 1, &column, &name);
    struct description *first = NULL;
    for (size_t i = 0; i < 3; i++) {
        const struct workers workers = {.threads = threads[i]};
        struct description *description;
        assert_int_equal(describe(relation, &workers, arena, &description), STATUS_OK);
        first = first ? first : description;
        const struct column_summary *a = first->columns, *b = description->columns;
        assert_int_equal(description->rows, column->rows);
        assert_memory_equal(a->counts, b->counts, sizeof a->counts);
        assert_true(a->empty == b->empty && a->bins == b->bins && a->nans == b->nans && a->exact == b->exact &&
                    a->distinct == b->distinct);
        assert_true(a->least.integer == b->least.integer && a->greatest.integer == b->greatest.integer);
        assert_memory_equal(&a->least.number, &b->least.number, sizeof a->least.number);
        assert_memory_equal(&a->mean.number, &b->mean.number, sizeof a->mean.number);
    }
    relation_unref(relation);
    column_unref(column);
    return first;
}

static void integers_are_summed_whole(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    enum { ROWS = 300000 };
    int64_t *values = calloc(ROWS, sizeof *values);
    for (int i = 0; i < ROWS; i++)
        values[i] = i % 3 ? INT64_MAX : INT64_MIN;
    const struct column_summary *summary = described(column_of_ints(values, ROWS), arena)->columns;
    assert_true(summary->least.integer == INT64_MIN && summary->greatest.integer == INT64_MAX);
    assert_true(summary->mean.number == (double)(INT64_MAX / 3));
    assert_int_equal(summary->counts[0], ROWS / 3);
    assert_int_equal(summary->counts[DESCRIBE_BINS - 1], ROWS / 3 * 2);
    assert_false(summary->exact);
    assert_int_equal(summary->distinct, 2);

    for (int i = 0; i < ROWS; i++)
        values[i] = 1000000000000 + i % 77777;
    summary = described(column_of_ints(values, ROWS), arena)->columns;
    assert_true(summary->exact);
    assert_int_equal(summary->distinct, 77777);
    int64_t counted = 0;
    for (int bin = 0; bin < summary->bins; bin++)
        counted += summary->counts[bin];
    assert_int_equal(counted, ROWS);
    free(values);
    arena_free(arena);
}

static void floats_have_their_oddities(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    static const double odd[] = {-0.0, NAN, 0.0, 2.5, -NAN, 2.5};
    const struct column_summary *summary = described(floats(odd, 6), arena)->columns;
    assert_int_equal(summary->nans, 2);
    assert_int_equal(summary->distinct, 2);
    assert_true(summary->least.number == 0 && !signbit(summary->least.number));
    assert_true(summary->greatest.number == 2.5 && summary->mean.number == 1.25);

    static const double nothing[] = {NAN, NAN};
    summary = described(floats(nothing, 2), arena)->columns;
    assert_true(summary->empty && summary->nans == 2);

    static const double endless[] = {INFINITY, 1, -INFINITY};
    summary = described(floats(endless, 3), arena)->columns;
    assert_int_equal(summary->bins, 0);
    assert_int_equal(summary->distinct, 3);
    assert_true(isnan(summary->mean.number));

    assert_true(described(floats(NULL, 0), arena)->columns->empty);
    arena_free(arena);
}

static void describing_can_be_stopped(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    atomic_int cancel = 1;
    const struct workers workers = {.threads = 2, .cancel = &cancel};
    const int64_t one = 1;
    struct column *column = column_of_ints(&one, 1);
    const char *name = "c";
    struct relation *relation = relation_new(1, 1, &column, &name);
    struct description *description;
    assert_int_equal(describe(relation, &workers, arena, &description), STATUS_CANCELLED);
    relation_unref(relation);
    column_unref(column);
    arena_free(arena);
}

static void grouped(const char *number, const char *wanted)
{
    struct strbuf out = {0};
    strbuf_puts(&out, "");
    number_format_group(&out, number, strlen(number));
    assert_string_equal(out.text ? out.text : "", wanted);
    strbuf_free(&out);
}

static void digits_come_in_threes(void **state)
{
    (void)state;
    grouped("", "");
    grouped("0", "0");
    grouped("-123", "-123");
    grouped("1234", "1,234");
    grouped("-123456", "-123,456");
    grouped("9223372036854775807", "9,223,372,036,854,775,807");
    grouped("1234567.125", "1,234,567.125");
    grouped("1.5e300", "1.5e300");
    grouped("inf", "inf");
    assert_false(number_format_are_many("-9999", 5));
    assert_true(number_format_are_many("-10000", 6));
    assert_false(number_format_are_many("10000e5", 7));
}

static void in_words(double number, const char *wanted)
{
    struct strbuf out = {0};
    number_format_in_words(&out, number);
    assert_string_equal(out.length ? out.text : "", wanted);
    strbuf_free(&out);
}

static void large_numbers_have_words(void **state)
{
    (void)state;
    in_words(999999, "");
    in_words(1e6, "1.00 million");
    in_words(233768123456, "233.77 billion");
    in_words(-999994999999, "-999.99 billion");
    in_words(999999999999, "1.00 trillion");
    in_words(9223372036854775807.0, "9.22 quintillion");
    in_words(1e21, "");
    in_words(INFINITY, "");
    in_words(NAN, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sketches_are_near),          cmocka_unit_test(integers_are_summed_whole),
        cmocka_unit_test(floats_have_their_oddities), cmocka_unit_test(describing_can_be_stopped),
        cmocka_unit_test(digits_come_in_threes),      cmocka_unit_test(large_numbers_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
