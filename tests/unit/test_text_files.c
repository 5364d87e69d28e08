/* Text tables: .csv, .tsv, .txt and .jsonl files, on any number of threads, and errors for malformed files. */
#include "scratch.h"

#include "base/strbuf.h"
#include "engine/formats/file_cache.h"
#include "engine/formats/text_read.h"

#include <math.h>
#include <stdatomic.h>

struct fixture {
    struct scratch *scratch;
    struct mappings *mappings;
    struct relation *relation; /* last read */
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->scratch = scratch_new();
    fixture->mappings = mappings_new();
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    relation_unref(fixture->relation);
    mappings_free(fixture->mappings);
    scratch_free(fixture->scratch);
    free(fixture);
    return 0;
}

static enum status read_with(struct fixture *fixture, const char *name, const void *bytes, size_t size,
                             const struct workers *workers)
{
    struct scratch *scratch = fixture->scratch;
    const char *path = scratch_write(scratch, name, bytes, size);
    struct mapping *mapping;
    scratch->diags.count = 0;
    relation_unref(fixture->relation);
    fixture->relation = NULL;
    assert_int_equal(mapping_open(fixture->mappings, path, scratch->span, &mapping, &scratch->diags), STATUS_OK);
    const struct format_job job = {format_of_path(path), workers, scratch->span, &scratch->diags};
    enum status status = job.format->read(&job, mapping, &fixture->relation);
    mapping_unref(mapping);
    return status;
}

static enum status read_text_as(struct fixture *fixture, const char *name, const char *text)
{
    const struct workers workers = {.threads = 2};
    return read_with(fixture, name, text, strlen(text), &workers);
}

/* Expects the relation as CSV with types in the header: "a:i64,b:f64\n1,0.5\n". */
static void expect(struct fixture *fixture, const char *expected)
{
    const struct relation *relation = fixture->relation;
    assert_non_null(relation);
    struct strbuf text = {0};
    for (size_t k = 0; k < relation->count; k++)
        strbuf_printf(&text, "%s%s:%s", k > 0 ? "," : "", relation->names[k],
                      type_table[relation->columns[k]->type].name);
    strbuf_putc(&text, '\n');
    for (int64_t row = 0; row < relation->rows; row++) {
        for (size_t k = 0; k < relation->count; k++) {
            struct scalar value = column_get(relation->columns[k], row);
            strbuf_puts(&text, k > 0 ? "," : "");
            scalar_print(&text, &value);
        }
        strbuf_putc(&text, '\n');
    }
    assert_string_equal(text.text, expected);
    strbuf_free(&text);
}

static void expect_read(struct fixture *fixture, const char *name, const char *text, const char *expected)
{
    if (read_text_as(fixture, name, text) != STATUS_OK)
        fail_msg("%s", fixture->scratch->diags.at[0].message);
    expect(fixture, expected);
}

static void names_and_types(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.csv", "id,amt\n1,2\n-3,4\n", "id:i64,amt:i64\n1,2\n-3,4\n");
    expect_read(fixture, "A.CSV", "id,amt\n1,2\n-3,4\n", "id:i64,amt:i64\n1,2\n-3,4\n");
    expect_read(fixture, "a.csv", "id,amt\r\n1,2.5\r\n-3,4\r\n", "id:i64,amt:f64\n1,2.5\n-3,4.0\n");
    expect_read(fixture, "a.csv", "\xef\xbb\xbfid\n1", "id:i64\n1\n");
    expect_read(fixture, "a.csv", "\"a,b\",\"say \"\"x\"\"\", c \n\"1\" , 2 ,+3\n\n \n",
                "a,b:i64,say \"x\":i64,c:i64\n1,2,3\n");
    expect_read(fixture, "a.csv", "\"two\nlines\",b\n1,2", "two\nlines:i64,b:i64\n1,2\n");
    expect_read(fixture, "a.csv", "ok,x\ntrue,1\nFalse,2\n", "ok:bool,x:i64\n1,1\n0,2\n");
    expect_read(fixture, "a.csv", ",b\n0,1\n", "c1:i64,b:i64\n0,1\n");
    expect_read(fixture, "a.csv", "a,b\n", "a:i64,b:i64\n");
    expect_read(fixture, "a.tsv", "a\\tb\tc\\\\d\\n\n1\t2\n", "a\tb:i64,c\\d\n:i64\n1,2\n");
    expect_read(fixture, "a.tsv", "\"a\"\tb\n1.5\t2\n", "\"a\":f64,b:i64\n1.5,2\n");
}

static void a_first_line_of_numbers_is_no_header(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.csv", "1,2\n3,4\n", "c1:i64,c2:i64\n1,2\n3,4\n");
    expect_read(fixture, "a.csv", "nan,-1e5\n", "c1:f64,c2:f64\nnan,-100000.0\n");
    expect_read(fixture, "a.csv", "\"1\",2\n3,4\n", "1:i64,2:i64\n3,4\n");
    expect_read(fixture, "a.csv", "2019,x\n3,4\n", "2019:i64,x:i64\n3,4\n");
}

static void numbers_are_exact(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.csv", "a\n9223372036854775807\n-9223372036854775808\n-0\n000000000000000000000012\n",
                "a:i64\n9223372036854775807\n-9223372036854775808\n0\n12\n");
    assert_true(fixture->relation->columns[0]->range_known);
    assert_true(fixture->relation->columns[0]->lo == INT64_MIN && fixture->relation->columns[0]->hi == INT64_MAX);
    expect_read(
        fixture, "a.csv",
        "a\n0.1\n-.5\n5.\n1e-400\n123456789012345678901234567890\n9007199254740993\n17976931348623157e292\nInf\n",
        "a:f64\n0.1\n-0.5\n5.0\n0.0\n1.2345678901234568e29\n9007199254740992.0\n1.7976931348623157e308\ninf\n");
    /* Also if the float follows integers too large for i64. */
    expect_read(fixture, "a.csv", "a,b\n99999999999999999999,1\n1.5,2\n", "a:f64,b:i64\n1e20,1\n1.5,2\n");
}

static void columns_of_text_are_left_out(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.csv", "id,name,amt,\n1,\"x, \"\"y\"\"\nz\",2,\n3,,4,\n", "id:i64,amt:i64\n1,2\n3,4\n");
    assert_int_equal(fixture->scratch->diags.count, 1);
    assert_int_equal(fixture->scratch->diags.at[0].severity, SEVERITY_NOTE);
    assert_told(fixture->scratch, "without numbers: `name`, `c4`");
    /* A missing value does not decide the type. */
    expect_read(fixture, "a.csv", "id,name\n1,\n2,x\n", "id:i64\n1\n2\n");
    assert_int_equal(read_text_as(fixture, "a.csv", "name\nx\n"), STATUS_FAILED);
    assert_only_told(fixture->scratch, "has no column of numbers");
}

static void lines_of_json(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.jsonl", "{\"a\":1,\"b\":0.5}\n{ \"a\" : -2 , \"b\" : 3 }\r\n\n",
                "a:i64,b:f64\n1,0.5\n-2,3.0\n");
    expect_read(fixture, "a.jsonl", "{\"x\\u00e9\\ud834\\udd1e\\n\":true,\"\":7}",
                "x\u00e9\U0001d11e\n:bool,c2:i64\n1,7\n");
    expect_read(fixture, "a.jsonl",
                "{\"t\":\"a\\\",}\",\"n\":[1,{\"a\":\"]\"}],\"b\":5}\n{\"t\":null,\"n\":{},\"b\":6}\n",
                "b:i64\n5\n6\n");
    assert_told(fixture->scratch, "without numbers: `t`, `n`");
}

static void lines_of_text(void **state)
{
    struct fixture *fixture = *state;
    expect_read(fixture, "a.txt", "", ":i64\n");
    expect_read(fixture, "a.txt", " \n\t\n", ":i64\n");
    expect_read(fixture, "a.txt", " 1\t\r\n2\n\n \n", ":i64\n1\n2\n");
    expect_read(fixture, "a.txt", "1\n2.5", ":f64\n1.0\n2.5\n");
}

struct bad {
    const char *name, *text, *told;
};

static void whatever_is_wrong_is_told_with_its_line(void **state)
{
    struct fixture *fixture = *state;
    static const struct bad bad[] = {
        {"a.csv", "", "is empty"},
        {"a.csv", "\n\n", "is empty"},
        {"a.csv", "a,b\r1,2\r3,4\r", "has carriage returns instead of newlines"},
        {"a.csv", "a,b\n1,2\n3\n", "line 3 has 1 value, but the first line has 2"},
        {"a.csv", "a,b\n1,2\n3,4,5\n6,7\n", "line 3 has 3 values, but the first line has 2"},
        {"a.csv", "a,b\n1,2\n\n3,4\n", "line 3 is blank"},
        {"a.csv", "a,b\n1,2\n3,\n", "line 3, column `b`: missing value"},
        {"a.csv", "a,b\n1,2\nNULL,3\n", "line 3, column `a`: missing value"},
        {"a.csv", "a,b\n1,2\n3,x\n", "line 3, column `b`: `x` is not a number"},
        {"a.csv", "a,b\n1,2\n3,\"x\"\n", "line 3, column `b`: `x` is not a number"},
        {"a.csv", "a,b\n1,2\n3,0x10\n", "`0x10` is not a number"},
        {"a.csv", "a,b\n1,2\n3,1_000\n", "`1_000` is not a number"},
        {"a.csv", "a,b\n1,true\n3,1\n", "line 3, column `b`: `1` is neither true nor false"},
        {"a.csv", "a\n1\n9223372036854775808\n", "line 3, column `a`: 9223372036854775808 is too large"},
        {"a.csv", "a\n1.5\n-1e400\n", "line 3, column `a`: -1e400 is too large"},
        {"a.csv", "a,b\n1,2\n3,\"4\n5,6\n", "line 3: malformed quotes"},
        {"a.csv", "a,b\n1,2\n3,\"4\"5\n", "line 3: malformed quotes"},
        {"a.csv", "a,b\nx,2\ny\"z,4\n5\"6,7\n", "line 3: malformed quotes"},
        {"a.csv", "a\"b,c\n1,2\n", "line 1: malformed quotes"},
        {"a.csv", "a,b\"c\n1,2\n", "line 1: malformed quotes"},
        {"a.csv", "a,\"b\nc\"\n1,2\n3,x\n", "line 4, column `b\nc`"},
        {"a.tsv", "a\tb\n1\t2\n3\t\n", "line 3"},
        {"a.jsonl", "", "is empty"},
        {"a.jsonl", "[1,2]\n", "line 1 is not a JSON object"},
        {"a.jsonl", "{}\n", "line 1 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"b\":2}\n", "line 2 is not a JSON object with the keys of the first line"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2,\"b\":3}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1,\"b\":2}\n{\"a\":2}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2} x\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":2\n}\n", "line 2 is not a JSON object"},
        {"a.jsonl", "{\"a\":1}\n\n{\"a\":2}\n", "line 2 is blank"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":null}\n", "line 2, column `a`: missing value"},
        {"a.jsonl", "{\"a\":1}\n{\"a\":\"x\"}\n", "line 2, column `a`: `x` is not a number"},
        {"a.txt", "1\n\n2\n", "line 2 is blank"},
        {"a.txt", "1\n2 3\n", "line 2: `2 3` is not a number"},
        {"a.txt", "1\nx\n2.5\n", "line 2: `x` is not a number"},
        {"a.txt", "99999999999999999999\n1\n", "line 1: 99999999999999999999 is too large"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (read_text_as(fixture, bad[i].name, bad[i].text) != STATUS_FAILED)
            fail_msg("was read: %s", bad[i].text);
        struct diags *diags = &fixture->scratch->diags;
        diags->at[0] = diags->at[diags->count - 1]; /* a note may precede it */
        diags->count = 1;
        assert_only_told(fixture->scratch, bad[i].told);
    }
    static const struct bad advised[] = {
        {"a.csv", "a\n1e400\n", "floats go up to 1.8e308"},
        {"a.csv", "a;b\n1;2\n", "seem to be separated by `;`"},
        {"a.csv", "a;b\n1,5;2,5\n", "seem to be separated by `;`"},
        {"a.csv", "a\tb\n1\t2\n", "name it .tsv"},
        {"a.csv", "a|b\n1|2\n", "seem to be separated by `|`"},
        {"a.tsv", "a,b\n1,2\n", "name it .csv"},
        {"a.csv", "a\nx\n", "text columns are not supported"},
        {"a.csv", "a,b;c\n1,2\n3\n", "all lines need the same number"},
        {"a.jsonl", "{\"a;b\":\"x\"}\n", "text columns are not supported"},
    };
    for (size_t i = 0; i < sizeof advised / sizeof *advised; i++) {
        assert_int_equal(read_text_as(fixture, advised[i].name, advised[i].text), STATUS_FAILED);
        assert_told(fixture->scratch, advised[i].told);
    }
    const struct workers workers = {.threads = 1};
    assert_int_equal(read_with(fixture, "a.csv", "a\0b\n1", 5, &workers), STATUS_FAILED);
    assert_only_told(fixture->scratch, "is not UTF-8 text");
    assert_int_equal(read_with(fixture, "a.csv", "a\n1\n2\0\n", 7, &workers), STATUS_FAILED);
    assert_only_told(fixture->scratch, "line 3");
}

/* Row i: i, text with quotes, commas and newlines, then `third` or, if NULL, i / 4. */
static void add_row(struct strbuf *text, int64_t i, const char *third)
{
    static const char *const texts[] = {"plain", "\"a,b\"", "\"two\nlines\"", "\"\"", "\"\"\"\n\"\"\"", ""};
    strbuf_printf(text, "%lld,%s,", (long long)i, texts[i * 7919 % 6]);
    if (third)
        strbuf_puts(text, third);
    else if (i % 4 == 0)
        strbuf_printf(text, "%lld", (long long)(i / 4));
    else
        strbuf_printf(text, "%.2f", (double)i / 4);
    strbuf_putc(text, '\n');
}

/* Several chunks, whose boundaries may fall inside quotes. */
static void many_rows(void **state)
{
    enum { ROWS = 300000 };
    struct fixture *fixture = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "id,text,quarter\n");
    for (int64_t i = 0; i < ROWS; i++)
        add_row(&text, i, NULL);
    assert_true(text.length > (size_t)3 << 20);
    for (int threads = 1; threads <= 3; threads++) {
        const struct workers workers = {.threads = threads};
        assert_int_equal(read_with(fixture, "a.csv", text.text, text.length, &workers), STATUS_OK);
        const struct relation *relation = fixture->relation;
        assert_int_equal(relation->count, 2);
        assert_int_equal(relation->rows, ROWS);
        for (int64_t i = 0; i < ROWS; i++) {
            if (column_get_int(relation->columns[0], i) != i ||
                column_get_float(relation->columns[1], i) != (double)i / 4)
                fail_msg("row %lld", (long long)i);
        }
        assert_true(relation->columns[0]->range_known);
        assert_true(relation->columns[0]->lo == 0 && relation->columns[0]->hi == ROWS - 1);
    }
    strbuf_free(&text);
}

/* The first of several errors is reported, whichever thread finds one first. */
static void the_first_line_that_is_wrong(void **state)
{
    enum { ROWS = 200000 };
    struct fixture *fixture = *state;
    struct strbuf text = {0};
    strbuf_puts(&text, "id,text,quarter\n");
    int64_t line = 1;
    for (int64_t i = 0; i < ROWS; i++) {
        bool wrong = i % 50000 == 49999;
        size_t before = text.length;
        if (i == 49999) {
            line = 1;
            for (size_t k = 0; k < before; k++)
                line += text.text[k] == '\n';
        }
        add_row(&text, i, wrong ? "x" : NULL);
    }
    const struct workers workers = {.threads = 3};
    assert_int_equal(read_with(fixture, "a.csv", text.text, text.length, &workers), STATUS_FAILED);
    /* Row 49999's text may have a newline before its third value. */
    const char *message = fixture->scratch->diags.at[fixture->scratch->diags.count - 1].message;
    const char *told = strstr(message, "line ");
    assert_non_null(told);
    int64_t found = strtoll(told + 5, NULL, 10);
    assert_true(found == line || found == line + 1);
    strbuf_free(&text);
}

static void an_interrupt_stops_it(void **state)
{
    struct fixture *fixture = *state;
    const atomic_int cancel = 1;
    const struct workers workers = {.threads = 2, .cancel = &cancel};
    assert_int_equal(read_with(fixture, "a.csv", "a\n1\n", 4, &workers), STATUS_CANCELLED);
    assert_int_equal(fixture->scratch->diags.count, 0);
    assert_null(fixture->relation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_and_types, setup, teardown),
        cmocka_unit_test_setup_teardown(a_first_line_of_numbers_is_no_header, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_are_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_of_text_are_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_of_json, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_of_text, setup, teardown),
        cmocka_unit_test_setup_teardown(whatever_is_wrong_is_told_with_its_line, setup, teardown),
        cmocka_unit_test_setup_teardown(many_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_line_that_is_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_stops_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
