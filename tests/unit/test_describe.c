/* describe against a naive computation, and human-readable numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "typed_columns.h"

#include "base/time/time_zone.h"
#include "engine/operators/describe.h"
#include "engine/values/hyperloglog.h"
#include "repl/print/number_format.h"
#include "repl/print/print.h"

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

/* Counts against a naive computation, with few strings and with more than each thread counts on its own. */
static void frequencies_of_text(void **state)
{
    (void)state;
    static const int strings[] = {1, 7, 500, 40000};
    enum { ROWS = 200000, MOST = 10 };
    const char **texts = calloc(ROWS, sizeof *texts);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        struct arena *arena = arena_new();
        uint64_t random = 7 + i;
        const char **names = calloc((size_t)strings[i], sizeof *names);
        int64_t *counts = calloc((size_t)strings[i], sizeof *counts), missing = 0, distinct = 0;
        for (int k = 0; k < strings[i]; k++)
            names[k] = arena_printf(arena, "%08d", k);
        for (int row = 0; row < ROWS; row++) {
            uint64_t k = next(&random) % (uint64_t)strings[i];
            k = next(&random) % (k + 1); /* the first ones more often */
            bool present = next(&random) % 5 > 0;
            texts[row] = present ? names[k] : NULL;
            counts[k] += present;
            missing += !present;
        }
        for (int k = 0; k < strings[i]; k++)
            distinct += counts[k] > 0;
        struct column *column = text_column(texts, ROWS);
        for (int threads = 1; threads <= 5; threads += 4) {
            const struct workers workers = {.threads = threads};
            struct frequencies frequencies;
            int64_t top[MOST], before = INT64_MAX, code = -1;
            assert_true(frequencies_count(&frequencies, column, &workers));
            assert_int_equal(frequencies.missing, missing);
            assert_int_equal(frequencies.distinct, distinct);
            size_t count = frequencies_top(&frequencies, top, MOST);
            assert_int_equal(count, distinct < MOST ? distinct : MOST);
            for (size_t t = 0; t < count; t++) {
                char digits[9] = {0};
                memcpy(digits, dictionary_text(column->logical.dictionary, top[t]).at, 8);
                int64_t name = strtol(digits, NULL, 10);
                assert_int_equal(frequencies.counts[top[t]], counts[name]);
                assert_true(counts[name] < before || (counts[name] == before && top[t] > code));
                int64_t more = 0; /* none that is more frequent is left out */
                for (int k = 0; k < strings[i]; k++)
                    more += counts[k] > counts[name];
                assert_true(more <= (int64_t)t);
                before = counts[name];
                code = top[t];
            }
            frequencies_free(&frequencies);
        }
        column_unref(column);
        free(names);
        free(counts);
        arena_free(arena);
    }
    free(texts);
}

static void text_has_frequent_strings(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    static const char *const texts[] = {"b", NULL, "a", "b", "", NULL, "c", "a", "b"};
    const struct column_summary *summary = described(text_column(texts, 9), arena)->columns;
    assert_string_equal(summary->type_name, "text");
    assert_int_equal(summary->missing, 2);
    assert_int_equal(summary->distinct, 4);
    assert_int_equal(summary->top_count, 3);
    assert_string_equal(summary->top[0].at, "b");
    assert_string_equal(summary->top[1].at, "a");
    assert_string_equal(summary->top[2].at, "");
    assert_int_equal(summary->top_counts[0], 3);
    assert_int_equal(summary->top_counts[1], 2);
    assert_int_equal(summary->top_counts[2], 1);
    static const char *const nothing[] = {NULL, NULL};
    summary = described(text_column(nothing, 2), arena)->columns;
    assert_true(summary->empty && summary->missing == 2);
    summary = described(text_column(NULL, 0), arena)->columns;
    assert_true(summary->empty && summary->missing == 0);
    arena_free(arena);
}

static void expect_scalar(const struct scalar *scalar, const char *text)
{
    struct strbuf out = {0};
    scalar_print(&out, scalar);
    assert_string_equal(out.text, text);
    strbuf_free(&out);
}

static void missing_values_are_left_out(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    const unsigned char present[] = {0, 1, 1, 0, 1};
    const int64_t values[] = {0, 19782, 19785, 0, 19782};
    const struct logical_type date = {.kind = LOGICAL_DATE}, cents = {.kind = LOGICAL_DECIMAL, .scale = 2};
    const struct column_summary *summary =
        described(logical_column(TYPE_I32, date, values, present, 5), arena)->columns;
    assert_int_equal(summary->missing, 2);
    assert_int_equal(summary->distinct, 2);
    assert_string_equal(summary->type_name, "date");
    expect_scalar(&summary->least, "2024-02-29");
    expect_scalar(&summary->greatest, "2024-03-03");
    expect_scalar(&summary->mean, "2024-03-01");
    assert_int_equal(summary->counts[0], 2);
    assert_int_equal(summary->bins, 4);

    summary = described(logical_column(TYPE_I64, cents, values, present, 5), arena)->columns;
    expect_scalar(&summary->least, "197.82");
    expect_scalar(&summary->mean, "197.83");

    const int64_t times[] = {0, -3, -4, 0, -4};
    const struct logical_type timestamp = {.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc};
    summary = described(logical_column(TYPE_I64, timestamp, times, present, 5), arena)->columns;
    expect_scalar(&summary->mean, "1969-12-31T23:59:59.999996Z");
    assert_int_equal(summary->greatest.integer, -3);

    struct column *column = floats((const double[]){0, 2, NAN, 0, 4}, 5);
    set_present(column, present);
    summary = described(column, arena)->columns;
    assert_int_equal(summary->missing, 2);
    assert_int_equal(summary->nans, 1);
    assert_true(summary->least.number == 2 && summary->mean.number == 3 && summary->distinct == 2);

    const unsigned char nothing[] = {0, 0, 0, 0, 0};
    summary = described(logical_column(TYPE_I64, (struct logical_type){0}, values, nothing, 5), arena)->columns;
    assert_true(summary->empty && summary->missing == 5);

    enum { ROWS = 500000 }; /* by map and by sketch, not by sorting */
    int64_t *many = calloc(ROWS, sizeof *many);
    unsigned char *some = calloc(ROWS, 1);
    int64_t sum = 0, count = 0;
    for (int64_t row = 0; row < ROWS; row++) {
        some[row] = row % 3 > 0;
        many[row] = 1000000 + row % 1000;
        sum += some[row] ? many[row] : 0;
        count += some[row];
    }
    summary = described(logical_column(TYPE_I64, (struct logical_type){0}, many, some, ROWS), arena)->columns;
    assert_int_equal(summary->missing, ROWS - count);
    assert_int_equal(summary->distinct, 1000);
    assert_true(summary->least.integer == 1000000);
    assert_true(summary->mean.number == (double)sum / (double)count);
    int64_t counted = 0;
    for (int bin = 0; bin < summary->bins; bin++)
        counted += summary->counts[bin];
    assert_int_equal(counted, count);
    free(many);
    free(some);
    arena_free(arena);
}

static void descriptions_of_all_types(void **state)
{
    (void)state;
    struct arena *arena = arena_new();
    const unsigned char present[] = {1, 1, 0};
    static const char *const texts[] = {"a string that is too long", "x", "x"};
    struct column *columns[] = {
        text_column(texts, 3),
        logical_column(TYPE_I32, (struct logical_type){.kind = LOGICAL_DATE}, (const int64_t[]){0, 1, 0}, present, 3),
        column_of_ints((const int64_t[]){1, 2, 3}, 3)};
    struct relation *relation = relation_new(3, 3, columns, (const char *const[]){"s", "d", "n"});
    struct description *description;
    const struct workers workers = {.threads = 2};
    assert_int_equal(describe(relation, &workers, arena, &description), STATUS_OK);
    static const struct {
        enum print_format format;
        const char *text;
    } cases[] = {
        {PRINT_TABLE, "column  type  rows  missing         min         max        mean  distinct  "
                      "top                      spread\n"
                      "s       text     3                                                      2  "
                      "x 2, a string that i… 1\n"
                      "d       date     3        1  1970-01-01  1970-01-02  1970-01-02         2  "
                      "                         ██\n"
                      "n       i64      3                    1           3         2.0         3  "
                      "                         ███\n"},
        {PRINT_JSONL,
         "{\"column\": \"s\", \"type\": \"text\", \"rows\": 3, \"missing\": 0, \"min\": null, \"max\": null, "
         "\"mean\": null, \"distinct\": 2, \"nan\": null, \"top\": \"x 2, a string that is too long 1\", "
         "\"spread\": null}\n"
         "{\"column\": \"d\", \"type\": \"date\", \"rows\": 3, \"missing\": 1, \"min\": \"1970-01-01\", "
         "\"max\": \"1970-01-02\", \"mean\": \"1970-01-02\", \"distinct\": 2, \"nan\": null, \"top\": null, "
         "\"spread\": \"██\"}\n"
         "{\"column\": \"n\", \"type\": \"i64\", \"rows\": 3, \"missing\": 0, \"min\": 1, \"max\": 3, \"mean\": 2.0, "
         "\"distinct\": 3, \"nan\": null, \"top\": null, \"spread\": \"███\"}\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct print_style style = {.format = cases[i].format, .header = true};
        struct strbuf out = {0};
        print_description(&out, description, &style);
        assert_string_equal(out.text, cases[i].text);
        strbuf_free(&out);
    }
    relation_unref(relation);
    for (size_t k = 0; k < 3; k++)
        column_unref(columns[k]);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sketches_are_near),           cmocka_unit_test(integers_are_summed_whole),
        cmocka_unit_test(floats_have_their_oddities),  cmocka_unit_test(describing_can_be_stopped),
        cmocka_unit_test(frequencies_of_text),         cmocka_unit_test(text_has_frequent_strings),
        cmocka_unit_test(missing_values_are_left_out), cmocka_unit_test(descriptions_of_all_types),
        cmocka_unit_test(digits_come_in_threes),       cmocka_unit_test(large_numbers_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
