/* Printing text, dates, decimals and missing values, in tables and in the row formats. */
#include "scratch.h"
#include "typed_columns.h"

#include "base/time/time_zone.h"
#include "repl/plot/plot.h"
#include "repl/plot/time_label.h"
#include "repl/session/session.h"

#include <string.h>

static void expect(const struct result *result, const struct print_style *style, const char *text)
{
    struct printer out = {.fd = -1};
    print_result(&out, result, style);
    assert_string_equal(out.text.text ? out.text.text : "", text);
    printer_free(&out);
}

static struct print_style style_of(enum print_format format, bool terminal)
{
    struct settings settings = settings_default();
    settings.format = (int)format;
    struct print_style style = print_style_for(&settings, terminal, false, 60);
    style.header = true;
    return style;
}

/* Takes over the columns. */
static struct result result_of(struct column *const *columns, const char *const *names, size_t count)
{
    struct result result = {
        .kind = RESULT_RELATION, .relation = relation_new(columns[0]->rows, count, columns, names), .show_rows = -1};
    for (size_t k = 0; k < count; k++)
        column_unref(columns[k]);
    return result;
}

static struct column *decimals_of(const int64_t *values, const unsigned char *present, int64_t rows)
{
    return logical_column(TYPE_I64, (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = 2}, values, present, rows);
}

static struct column *dates_of(const int64_t *values, const unsigned char *present, int64_t rows)
{
    return logical_column(TYPE_I32, (struct logical_type){.kind = LOGICAL_DATE}, values, present, rows);
}

static struct column *timestamps_of(const int64_t *values, const unsigned char *present, int64_t rows)
{
    return logical_column(TYPE_I64, (struct logical_type){.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc}, values,
                          present, rows);
}

/* A column of each type with three rows; the last has missing values. */
static struct result typed(void)
{
    static const unsigned char present[] = {1, 1, 0};
    const struct logical_type number = {.kind = LOGICAL_NUMBER}, duration = {.kind = LOGICAL_DURATION};
    struct column *floats = column_of_floats((const double[]){0.5, -1, 0}, 3);
    set_present(floats, present);
    struct column *const columns[] = {
        text_column((const char *const[]){"AAPL", "a,\"b\"\t|", NULL}, 3),
        dates_of((const int64_t[]){19782, -1, 0}, present, 3),
        timestamps_of((const int64_t[]){0, 1500000, 0}, present, 3),
        logical_column(TYPE_I64, duration, (const int64_t[]){90000000, 0, 0}, present, 3),
        decimals_of((const int64_t[]){-5, 1200, 0}, present, 3),
        logical_column(TYPE_BOOL, number, (const int64_t[]){1, 0, 0}, present, 3),
        logical_column(TYPE_I16, number, (const int64_t[]){-7, 7, 0}, present, 3),
        floats,
    };
    static const char *const names[] = {"s", "d", "t", "u", "m", "b", "i", "f"};
    return result_of(columns, names, 8);
}

static void formats_of_all_types(void **state)
{
    (void)state;
    struct result result = typed();
    const struct print_style csv = style_of(PRINT_CSV, false), tsv = style_of(PRINT_TSV, false);
    const struct print_style jsonl = style_of(PRINT_JSONL, false), json = style_of(PRINT_JSON, false);
    const struct print_style markdown = style_of(PRINT_MARKDOWN, false);
    expect(&result, &csv,
           "s,d,t,u,m,b,i,f\n"
           "AAPL,2024-02-29,1970-01-01T00:00:00Z,00:01:30,-0.05,true,-7,0.5\n"
           "\"a,\"\"b\"\"\t|\",1969-12-31,1970-01-01T00:00:01.500Z,00:00:00,12.00,false,7,-1.0\n"
           ",,,,,,,\n");
    expect(&result, &tsv,
           "s\td\tt\tu\tm\tb\ti\tf\n"
           "AAPL\t2024-02-29\t1970-01-01T00:00:00Z\t00:01:30\t-0.05\ttrue\t-7\t0.5\n"
           "a,\"b\"\\t|\t1969-12-31\t1970-01-01T00:00:01.500Z\t00:00:00\t12.00\tfalse\t7\t-1.0\n"
           "\t\t\t\t\t\t\t\n");
    expect(
        &result, &jsonl,
        "{\"s\":\"AAPL\",\"d\":\"2024-02-29\",\"t\":\"1970-01-01T00:00:00Z\",\"u\":\"00:01:30\",\"m\":-0.05,\"b\":true,"
        "\"i\":-7,\"f\":0.5}\n"
        "{\"s\":\"a,\\\"b\\\"\\u0009|\",\"d\":\"1969-12-31\",\"t\":\"1970-01-01T00:00:01.500Z\",\"u\":\"00:00:00\","
        "\"m\":12.00,\"b\":false,\"i\":7,\"f\":-1.0}\n"
        "{\"s\":null,\"d\":null,\"t\":null,\"u\":null,\"m\":null,\"b\":null,\"i\":null,\"f\":null}\n");
    expect(&result, &markdown,
           "| s | d | t | u | m | b | i | f |\n"
           "| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
           "| AAPL | 2024-02-29 | 1970-01-01T00:00:00Z | 00:01:30 | -0.05 | true | -7 | 0.5 |\n"
           "| a,\"b\"    \\| | 1969-12-31 | 1970-01-01T00:00:01.500Z | 00:00:00 | 12.00 | false | 7 | -1.0 |\n"
           "|  |  |  |  |  |  |  |  |\n");
    result.show_rows = 0;
    expect(&result, &json, "[\n]\n");
    result_release(&result);
}

/* What text is in each format; the same string in many rows is escaped in each of them. */
static void text_of_all_sorts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *csv, *tsv, *json, *markdown;
    } cases[] = {
        {"plain", "plain", "plain", "\"plain\"", "plain"},
        {"", "\"\"", "\"\"", "\"\"", ""},
        {" ", "\" \"", "\" \"", "\" \"", " "},
        {" a", "\" a\"", "\" a\"", "\" a\"", " a"},
        {"a\t", "\"a\t\"", "\"a\\t\"", "\"a\\u0009\"", "a    "},
        {"a b", "a b", "a b", "\"a b\"", "a b"},
        {"a\nb", "\"a\nb\"", "a\\nb", "\"a\\u000ab\"", "a^Jb"},
        {"\r", "\"\r\"", "\"\\r\"", "\"\\u000d\"", "^M"},
        {"\"\"", "\"\"\"\"\"\"", "\"\"\"\"\"\"", "\"\\\"\\\"\"", "\"\""},
        {"\"x\"", "\"\"\"x\"\"\"", "\"\"\"x\"\"\"", "\"\\\"x\\\"\"", "\"x\""},
        {"x\"", "\"x\"\"\"", "x\"", "\"x\\\"\"", "x\""},
        {"C:\\new", "C:\\new", "C:\\\\new", "\"C:\\\\new\"", "C:\\\\new"},
        {"\\N", "\\N", "\\\\N", "\"\\\\N\"", "\\\\N"},
        {"1,5", "\"1,5\"", "1,5", "\"1,5\"", "1,5"},
        {"2024-01-31", "2024-01-31", "2024-01-31", "\"2024-01-31\"", "2024-01-31"},
        {"日本", "日本", "日本", "\"日本\"", "日本"},
        {"a|*b*", "a|*b*", "a|*b*", "\"a|*b*\"", "a\\|\\*b\\*"},
    };
    enum { CASES = sizeof cases / sizeof *cases, REPEATS = 3 };
    const char *strings[CASES * REPEATS];
    for (size_t i = 0; i < CASES * REPEATS; i++)
        strings[i] = cases[i % CASES].text;
    struct column *const columns[] = {text_column(strings, CASES * REPEATS)};
    struct result result = result_of(columns, (const char *const[]){"s"}, 1);
    const enum print_format formats[] = {PRINT_CSV, PRINT_TSV, PRINT_JSONL, PRINT_MARKDOWN};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        struct strbuf expected = {0};
        strbuf_puts(&expected, formats[f] == PRINT_JSONL      ? ""
                               : formats[f] == PRINT_MARKDOWN ? "| s |\n| :--- |\n"
                                                              : "s\n");
        for (size_t i = 0; i < CASES * REPEATS; i++) {
            const char *const cells[] = {cases[i % CASES].csv, cases[i % CASES].tsv, cases[i % CASES].json,
                                         cases[i % CASES].markdown};
            strbuf_printf(&expected,
                          formats[f] == PRINT_JSONL      ? "{\"s\":%s}\n"
                          : formats[f] == PRINT_MARKDOWN ? "| %s |\n"
                                                         : "%s\n",
                          cells[f]);
        }
        const struct print_style style = style_of(formats[f], false);
        expect(&result, &style, expected.text);
        strbuf_free(&expected);
    }
    result_release(&result);
}

/* A name that reads as a value is quoted, so that its line is known to be a header. */
static void names_that_look_like_values(void **state)
{
    (void)state;
    static const char *const names[] = {"2023", "true", "2024-01-31", "NA", "nan", "a;b", "x", "", "-1.5"};
    enum { COUNT = sizeof names / sizeof *names };
    struct column *columns[COUNT];
    for (size_t k = 0; k < COUNT; k++)
        columns[k] = column_of_ints(NULL, 0);
    struct result result = result_of(columns, names, COUNT);
    const struct print_style csv = style_of(PRINT_CSV, false), tsv = style_of(PRINT_TSV, false);
    expect(&result, &csv, "\"2023\",\"true\",\"2024-01-31\",\"NA\",\"nan\",\"a;b\",x,\"\",\"-1.5\"\n");
    expect(&result, &tsv, "\"2023\"\t\"true\"\t\"2024-01-31\"\t\"NA\"\t\"nan\"\ta;b\tx\t\"\"\t\"-1.5\"\n");
    result_release(&result);
}

static void tables_of_all_types(void **state)
{
    (void)state;
    struct result result = typed();
    struct print_style style = style_of(PRINT_TABLE, true);
    style.width = 200;
    expect(&result, &style,
           "s                    d                         t         u           m        b        i        f\n"
           "text              date          timestamp in UTC  duration  decimal(2)     bool      i16      f64\n"
           "AAPL        2024-02-29      1970-01-01T00:00:00Z  00:01:30       -0.05     true       -7      0.5\n"
           "a,\"b\"    |  1969-12-31  1970-01-01T00:00:01.500Z  00:00:00       12.00    false        7     -1.0\n"
           "missing        missing                   missing   missing     missing  missing  missing  missing\n"
           "3 rows\n");
    style.colour = true;
    style.width = 12;
    expect(&result, &style,
           "s\n\033[2mtext\033[0m\nAAPL\na,\"b\"    |\n\033[2mmissing\033[0m\n"
           "\033[2m3 rows, 1 of 8 columns\033[0m\n");
    result_release(&result);
}

static void thousands_in_tables(void **state)
{
    (void)state;
    const unsigned char present[] = {1, 0, 1};
    struct column *const columns[] = {decimals_of((const int64_t[]){123456789, 0, -1}, present, 3),
                                      dates_of((const int64_t[]){-6000000, 0, 8000000}, present, 3)};
    struct result result = result_of(columns, (const char *const[]){"m", "d"}, 2);
    struct print_style style = style_of(PRINT_TABLE, true);
    style.separators = true;
    expect(&result, &style,
           "           m             d\n"
           "  decimal(2)          date\n"
           "1,234,567.89  -14458-07-24\n"
           "     missing       missing\n"
           "       -0.01  +23873-04-04\n"
           "3 rows\n");
    result_release(&result);
}

/* Text is cut so that more columns fit; wide and combining characters count as what they take. */
static void long_text_is_cut_to_the_terminal(void **state)
{
    (void)state;
    static const char *const strings[] = {"a text that is much longer than the terminal is wide, by far",
                                          "日本語日本語日本語日本語日本語", "e\xcc\x81t\xc3\xa9", "b\033[31m"};
    struct column *const columns[] = {text_column(strings, 4), column_of_ints((const int64_t[]){1, 2, 3, 4}, 4),
                                      text_column(strings, 4)};
    struct result result = result_of(columns, (const char *const[]){"first", "n", "second"}, 3);
    struct print_style style = style_of(PRINT_TABLE, true);
    style.width = 44;
    expect(&result, &style,
           "first                 n  second\n"
           "text                i64  text\n"
           "a text that is mu…    1  a text that is mu…\n"
           "日本語日本語日本…     2  日本語日本語日本…\n"
           "e\xcc\x81t\xc3\xa9                   3  e\xcc\x81t\xc3\xa9\n"
           "b^[[31m               4  b^[[31m\n"
           "4 rows\n");
    style.width = 38; /* too narrow for two texts of 16 cells */
    expect(&result, &style,
           "first                                n\n"
           "text                               i64\n"
           "a text that is much longer than …    1\n"
           "日本語日本語日本語日本語日本語       2\n"
           "e\xcc\x81t\xc3\xa9                                  3\n"
           "b^[[31m                              4\n"
           "4 rows, 2 of 3 columns\n");
    result_release(&result);
}

static void scalars(void **state)
{
    (void)state;
    struct result result = {.kind = RESULT_SCALAR, .show_rows = -1};
    struct print_style table = style_of(PRINT_TABLE, true), tsv = style_of(PRINT_TSV, false);
    struct print_style json = style_of(PRINT_JSON, false);
    table.separators = true;
    result.scalar =
        (struct scalar){.kind = KIND_INT, .logical.kind = LOGICAL_TEXT, .text = {"12345\033", 6}, .integer = 1};
    expect(&result, &table, "12345^[\n");
    expect(&result, &tsv, "12345\033\n");
    expect(&result, &json, "\"12345\\u001b\"\n");
    result.scalar = scalar_int(-1234567);
    result.scalar.logical = (struct logical_type){.kind = LOGICAL_DECIMAL, .scale = 2};
    expect(&result, &table, "-12,345.67\n");
    expect(&result, &json, "-12345.67\n");
    result.scalar.integer = 123456789012;
    expect(&result, &table, "1,234,567,890.12  (1.23 billion)\n");
    result.scalar = scalar_int(-6000000);
    result.scalar.logical.kind = LOGICAL_DATE;
    expect(&result, &table, "-14458-07-24\n");
    expect(&result, &json, "\"-14458-07-24\"\n");
    result.scalar = scalar_float(0);
    result.scalar.missing = true;
    expect(&result, &table, "missing\n");
    expect(&result, &tsv, "missing\n");
    expect(&result, &json, "null\n");
}

/* Writes the plot to a file and returns its text. */
static const char *drawing_of(const struct result *result, struct scratch *scratch)
{
    size_t size;
    const struct name path = {.text = scratch_path(scratch, "plot.svg"), .span = scratch->span};
    assert_int_equal(plot_save(result->relation, &path, NULL, &scratch->diags), STATUS_OK);
    return scratch_read(scratch, "plot.svg", &size);
}

static void plots_of_dates(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_new();
    const unsigned char present[] = {1, 1, 0, 1};
    struct column *const columns[] = {
        dates_of((const int64_t[]){19723, 19754, 0, 19844}, present, 4),
        decimals_of((const int64_t[]){150, 250, 350, 50}, (const unsigned char[]){1, 1, 1, 1}, 4)};
    struct result result = result_of(columns, (const char *const[]){"day", "price"}, 2);
    result.view = VIEW_PLOT;
    const struct print_style style = style_of(PRINT_TABLE, true);
    struct strbuf out = {0};
    assert_int_equal(plot_check(result.relation, scratch->span, &scratch->diags), STATUS_OK);
    plot_print(&out, result.relation, &style, NULL);
    assert_non_null(strstr(out.text, "2.5 ┤"));
    assert_non_null(strstr(out.text, "0.5 ┤"));
    assert_non_null(strstr(out.text, "2024-01-01 "));
    assert_non_null(strstr(out.text, " 2024-05-01\n"));
    strbuf_free(&out);
    const char *drawing = drawing_of(&result, scratch);
    static const char *const labels[] = {">2024-01-01<", ">2024-02-01<", ">2024-04-01<", ">2024-05-01<", ">2.5<"};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        assert_non_null(strstr(drawing, labels[i]));
    assert_null(strstr(drawing, "1970"));
    result_release(&result);

    struct column *const times[] = {timestamps_of((const int64_t[]){0, 90000000, 0, 600000000}, present, 4),
                                    text_column((const char *const[]){"a", "b", "a", "b"}, 4)};
    result = result_of(times, (const char *const[]){"time", "s"}, 1);
    result.view = VIEW_PLOT;
    drawing = drawing_of(&result, scratch);
    assert_non_null(strstr(drawing, ">1970-01-01T00:02<"));
    result_release(&result);
    column_unref(times[1]);
    scratch_free(scratch);
}

/* Bars of two series, one of them below zero: heights are to each other as the values are. */
static void bars_of_texts(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_new();
    const unsigned char present[] = {1, 1, 1};
    struct column *const columns[] = {text_column((const char *const[]){"north", "a<b", "east"}, 3),
                                      decimals_of((const int64_t[]){400, 100, 0}, present, 3),
                                      decimals_of((const int64_t[]){-100, 200, 50}, present, 3)};
    struct result result = result_of(columns, (const char *const[]){"region", "up", "down"}, 3);
    result.view = VIEW_PLOT;
    assert_int_equal(plot_check(result.relation, scratch->span, &scratch->diags), STATUS_OK);
    const char *drawing = drawing_of(&result, scratch);
    static const char *const parts[] = {"height=\"400.0\" fill=\"#1f6fb4\"",
                                        "height=\"100.0\" fill=\"#d55e00\"",
                                        "height=\"100.0\" fill=\"#1f6fb4\"",
                                        "height=\"200.0\" fill=\"#d55e00\"",
                                        "height=\"50.0\" fill=\"#d55e00\"",
                                        ">a&lt;b<",
                                        ">region<",
                                        ">up<"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr(drawing, parts[i]));
    const struct print_style style = style_of(PRINT_TABLE, true);
    struct strbuf out = {0};
    plot_print(&out, result.relation, &style, NULL);
    assert_non_null(strstr(out.text, "north  up      4  "));
    assert_non_null(strstr(out.text, "       down   -1  █"));
    strbuf_free(&out);
    result_release(&result);
    scratch_free(scratch);
}

static void labels_of_times(void **state)
{
    (void)state;
    static const struct {
        enum logical kind;
        double number, step;
        const char *text;
    } cases[] = {
        {LOGICAL_DATE, 19723.75, 1, "2024-01-01"},
        {LOGICAL_TIMESTAMP, 1.5 * 86400e6, 86400e6, "1970-01-02"},
        {LOGICAL_TIMESTAMP, -1, 86400e6, "1969-12-31"},
        {LOGICAL_TIMESTAMP, 5400e6, 3600e6, "1970-01-01T01:30"},
        {LOGICAL_TIMESTAMP, 5401.5e6, 1e6, "1970-01-01T01:30:01"},
        {LOGICAL_TIMESTAMP, 1500000, 1e5, "1970-01-01T00:00:01.500"},
        {LOGICAL_TIMESTAMP, 1e300, 1e300, "+294247-01-10"},
        {LOGICAL_DURATION, -1.5e6, 1e6, "-00:00:02"},
        {LOGICAL_DURATION, 90061e6, 3600e6, "1d 01:01:00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct strbuf out = {0};
        add_time_label(&out, (struct logical_type){.kind = cases[i].kind}, cases[i].number, cases[i].step);
        assert_string_equal(out.text, cases[i].text);
        strbuf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_of_all_types),
        cmocka_unit_test(text_of_all_sorts),
        cmocka_unit_test(names_that_look_like_values),
        cmocka_unit_test(tables_of_all_types),
        cmocka_unit_test(scalars),
        cmocka_unit_test(plots_of_dates),
        cmocka_unit_test(bars_of_texts),
        cmocka_unit_test(labels_of_times),
        cmocka_unit_test(thousands_in_tables),
        cmocka_unit_test(long_text_is_cut_to_the_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
