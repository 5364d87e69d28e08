/* Long text tables, read in chunks on several threads. */
#include "text_tables.h"

#include <stdatomic.h>

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
    static const char *const texts[] = {"plain", "a,b", "two\nlines", "", "\"\n\"", NULL};
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
        assert_int_equal(relation->count, 3);
        assert_int_equal(relation->rows, ROWS);
        for (int64_t i = 0; i < ROWS; i++) {
            const char *expected = texts[i * 7919 % 6];
            struct scalar found = column_get(relation->columns[1], i);
            if (column_get_int(relation->columns[0], i) != i ||
                column_get_float(relation->columns[2], i) != (double)i / 4 ||
                column_is_missing(relation->columns[1], i) != !expected ||
                (expected &&
                 (found.text.length != strlen(expected) || memcmp(found.text.at, expected, found.text.length) != 0)))
                fail_msg("row %lld", (long long)i);
        }
        assert_true(relation->columns[0]->range_known);
        assert_true(relation->columns[0]->lo == 0 && relation->columns[0]->hi == ROWS - 1);
        assert_int_equal(relation->columns[1]->type, TYPE_U8);
        for (int k = 0; k < 3; k++)
            check_column(relation->columns[k], ROWS);
    }
    strbuf_free(&text);
}

/* A column's last value decides its type, and more strings than fit 8 and 16 bits. */
static void late_values(void **state)
{
    enum { ROWS = 100000 };
    static const struct {
        const char *last;
        enum type type;
        enum logical logical;
    } cases[] = {{"1", TYPE_I64, LOGICAL_NUMBER},  {"1.5", TYPE_F64, LOGICAL_NUMBER}, {"NA", TYPE_I64, LOGICAL_NUMBER},
                 {"x", TYPE_U32, LOGICAL_TEXT},    {"01", TYPE_U32, LOGICAL_TEXT},    {"true", TYPE_U32, LOGICAL_TEXT},
                 {"1e400", TYPE_U32, LOGICAL_TEXT}};
    struct fixture *fixture = *state;
    const struct workers workers = {.threads = 3};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf text = {0};
        strbuf_puts(&text, "a,b\n");
        for (int row = 0; row < ROWS; row++)
            strbuf_printf(&text, "%d,\n", row);
        strbuf_printf(&text, "%s,%s\n", cases[i].last, cases[i].last);
        assert_int_equal(read_with(fixture, "a.csv", text.text, text.length, &workers), STATUS_OK);
        const struct column *a = fixture->relation->columns[0];
        assert_int_equal(a->type, cases[i].type);
        assert_int_equal(a->logical.kind, cases[i].logical);
        for (int k = 0; k < 2; k++)
            check_column(fixture->relation->columns[k], ROWS + 1);
        assert_int_equal(fixture->relation->columns[1]->validity != NULL, true);
        for (int row = 0; row < ROWS && cases[i].logical == LOGICAL_TEXT; row++) {
            char number[16];
            int length = snprintf(number, sizeof number, "%d", row);
            struct scalar found = column_get(a, row);
            if (found.text.length != (size_t)length || memcmp(found.text.at, number, found.text.length) != 0)
                fail_msg("row %d", row);
        }
        strbuf_free(&text);
    }
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
        if (i == 49999) {
            line = 1;
            for (size_t k = 0; k < text.length; k++)
                line += text.text[k] == '\n';
        }
        add_row(&text, i, i % 50000 == 49999 ? "1,2" : NULL);
    }
    const struct workers workers = {.threads = 3};
    assert_int_equal(read_with(fixture, "a.csv", text.text, text.length, &workers), STATUS_FAILED);
    char told[40];
    snprintf(told, sizeof told, "line %lld has 4 values", (long long)line);
    assert_only_told(fixture->scratch, told);
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
        cmocka_unit_test_setup_teardown(many_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(late_values, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_line_that_is_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(an_interrupt_stops_it, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
