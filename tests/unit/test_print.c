/* Printing results, to a terminal or not, and handling write errors. */
#include "scratch.h"

#include "engine/storage/mapped_file.h"
#include "repl/print/print.h"
#include "repl/print/text_table.h"
#include "repl/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Prints into memory: output stays below the printer's flush size. */
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
    return print_style_for(&settings, terminal, false, 40);
}

/* A relation of two columns: 10 * i, and i / 2 as a float. */
static struct result relation_of(int64_t rows)
{
    int64_t *ints = calloc((size_t)rows + 1, sizeof *ints);
    double *floats = calloc((size_t)rows + 1, sizeof *floats);
    for (int64_t i = 0; i < rows; i++) {
        ints[i] = 10 * i;
        floats[i] = (double)i / 2;
    }
    struct column *columns[] = {column_of_ints(ints, rows), column_of_floats(floats, rows)};
    const char *const names[] = {"id", "half, \"b\""};
    struct result result = {
        .kind = RESULT_RELATION, .relation = relation_new(rows, 2, columns, names), .show_rows = -1};
    column_unref(columns[0]);
    column_unref(columns[1]);
    free(ints);
    free(floats);
    return result;
}

static void scalars_are_bare(void **state)
{
    (void)state;
    struct print_style tsv = style_of(PRINT_AUTO, false);
    struct print_style table = style_of(PRINT_AUTO, true);
    struct print_style json = style_of(PRINT_JSONL, false);
    struct result result = {.kind = RESULT_SCALAR, .scalar = scalar_int(INT64_MIN), .show_rows = -1};
    expect(&result, &tsv, "-9223372036854775808\n");
    expect(&result, &table, "-9,223,372,036,854,775,808  (-9.22 quintillion)\n");
    result.scalar = scalar_int(9999);
    expect(&result, &table, "9999\n");
    result.scalar = scalar_float(-65536.5);
    expect(&result, &table, "-65,536.5\n");
    result.scalar = scalar_int((int128)INT64_MAX * 2);
    expect(&result, &tsv, "18446744073709551614\n");
    result.scalar = scalar_float(3);
    expect(&result, &tsv, "3.0\n");
    result.scalar = scalar_float(INFINITY);
    expect(&result, &tsv, "inf\n");
    expect(&result, &json, "null\n");
    result.scalar = scalar_bool(true);
    expect(&result, &tsv, "true\n");
    expect(&result, &json, "true\n");
    result.quiet = true;
    expect(&result, &tsv, "");
}

static void lines_by_format(void **state)
{
    (void)state;
    struct result result = relation_of(2);
    struct print_style style = style_of(PRINT_AUTO, false);
    expect(&result, &style, "0\t0.0\n10\t0.5\n");
    style.header = true;
    expect(&result, &style, "id\thalf, \"b\"\n0\t0.0\n10\t0.5\n");
    style = style_of(PRINT_CSV, false);
    expect(&result, &style, "id,\"half, \"\"b\"\"\"\n0,0.0\n10,0.5\n");
    style = style_of(PRINT_JSONL, false);
    expect(&result, &style, "{\"id\":0,\"half, \\\"b\\\"\":0.0}\n{\"id\":10,\"half, \\\"b\\\"\":0.5}\n");
    result.show_rows = 1;
    style = style_of(PRINT_TSV, false);
    expect(&result, &style, "0\t0.0\n");
    result.show_rows = 5;
    expect(&result, &style, "0\t0.0\n10\t0.5\n");
    result_release(&result);
}

static void json_arrays(void **state)
{
    (void)state;
    struct print_style style = style_of(PRINT_JSON, false);
    struct result result = relation_of(2);
    expect(&result, &style, "[\n{\"id\":0,\"half, \\\"b\\\"\":0.0},\n{\"id\":10,\"half, \\\"b\\\"\":0.5}\n]\n");
    result.show_rows = 1;
    expect(&result, &style, "[\n{\"id\":0,\"half, \\\"b\\\"\":0.0}\n]\n");
    result.show_rows = 0;
    expect(&result, &style, "[\n]\n");
    result_release(&result);
    result = relation_of(0);
    expect(&result, &style, "[\n]\n");
    result_release(&result);
    result = (struct result){.kind = RESULT_SCALAR, .scalar = scalar_float(NAN)};
    expect(&result, &style, "null\n");
}

static void markdown_tables(void **state)
{
    (void)state;
    struct print_style style = style_of(PRINT_MARKDOWN, false);
    struct result result = relation_of(2);
    expect(&result, &style, "| id | half, \"b\" |\n| ---: | ---: |\n| 0 | 0.0 |\n| 10 | 0.5 |\n");
    free(result.relation->names[0]);
    result.relation->names[0] = strdup("a|b\n*\x1b");
    result.show_rows = 0;
    expect(&result, &style, "| a\\|b^J\\*^\\[ | half, \"b\" |\n| ---: | ---: |\n");
    result_release(&result);
}

static void expect_bytes(const struct result *result, const struct print_style *style, const void *bytes, size_t size)
{
    struct printer out = {.fd = -1};
    print_result(&out, result, style);
    assert_int_equal(out.text.length, size);
    assert_memory_equal(out.text.text, bytes, size);
    printer_free(&out);
}

static void bytes_of_a_column(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_new();
    struct print_style style = style_of(PRINT_RAW, false);
    struct result result = relation_of(3);
    assert_int_equal(print_check(&result, &style, scratch->span, &scratch->diags), STATUS_FAILED);
    assert_only_told(scratch, "there are 2");
    result_release(&result);

    struct column *column = column_of_ints((const int64_t[]){1, -1, 0}, 3);
    const char *const name = "n";
    result = (struct result){.kind = RESULT_RELATION, .relation = relation_new(3, 1, &column, &name), .show_rows = 2};
    column_unref(column);
    assert_int_equal(print_check(&result, &style, scratch->span, &scratch->diags), STATUS_OK);
    expect_bytes(&result, &style, (const int64_t[]){1, -1}, 16);
    style.terminal = true;
    assert_int_equal(print_check(&result, &style, scratch->span, &scratch->diags), STATUS_FAILED);
    assert_only_told(scratch, "cannot be shown on a terminal");
    result_release(&result);

    style.terminal = false;
    result = (struct result){.kind = RESULT_SCALAR, .scalar = scalar_float(0.5)};
    expect_bytes(&result, &style, (const double[]){0.5}, 8);
    result.scalar = scalar_bool(true);
    expect_bytes(&result, &style, "\1", 1);
    result.scalar = scalar_int((int128)INT64_MAX + 1);
    assert_int_equal(print_check(&result, &style, scratch->span, &scratch->diags), STATUS_FAILED);
    assert_only_told(scratch, "exceeds 64 bits");
    scratch_free(scratch);
}

static void arrays_of_numpy(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_new();
    struct print_style style = style_of(PRINT_NPY, false);
    struct result result = relation_of(2);
    struct printer out = {.fd = -1};
    print_result(&out, &result, &style);
    assert_int_equal(out.text.length, 128 + 2 * 16);
    static const char begin[] = "\x93NUMPY\1\0\x76\0{'descr': [('id', '<i8'), ('half, \"b\"', '<f8')], ";
    assert_memory_equal(out.text.text, begin, sizeof begin - 1);
    assert_non_null(strstr(out.text.text + 10, "'fortran_order': False, 'shape': (2,), }"));
    assert_int_equal(out.text.text[127], '\n');
    const double second[] = {0.5};
    assert_memory_equal(out.text.text + 128 + 24, second, 8);
    strbuf_clear(&out.text);
    free(result.relation->names[1]);
    result.relation->names[1] = strdup("id");
    assert_int_equal(print_check(&result, &style, scratch->span, &scratch->diags), STATUS_FAILED);
    assert_only_told(scratch, "two columns are named `id`");
    result_release(&result);

    result = (struct result){.kind = RESULT_SCALAR, .scalar = scalar_int(7)};
    print_result(&out, &result, &style);
    assert_int_equal(out.text.length, 128 + 8);
    assert_non_null(strstr(out.text.text + 10, "'shape': ()"));
    printer_free(&out);
    scratch_free(scratch);
}

/* Several chunks: threads encode them, and order is kept. */
static void many_rows_in_order(void **state)
{
    (void)state;
    enum { ROWS = 200000 };
    FILE *file = tmpfile();
    assert_non_null(file);
    struct result result = relation_of(ROWS);
    struct print_style style = style_of(PRINT_TSV, false);
    struct printer out = {.fd = fileno(file)};
    print_result(&out, &result, &style);
    assert_true(printer_flush(&out));
    rewind(file);
    for (long i = 0; i < ROWS; i++) {
        long id;
        double half;
        assert_int_equal(fscanf(file, "%ld\t%lf\n", &id, &half), 2);
        assert_true(id == 10 * i && half == (double)i / 2);
    }
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    printer_free(&out);
    result_release(&result);
}

/* The setting's choices match the formats, in order. */
static void settings_name_the_formats(void **state)
{
    (void)state;
    struct settings settings = settings_default();
    const struct setting *format = setting_find("format");
    assert_true(setting_set(&settings, format, "csv"));
    assert_int_equal(settings.format, PRINT_CSV);
    assert_true(setting_set(&settings, format, "markdown"));
    assert_int_equal(settings.format, PRINT_MARKDOWN);
    assert_true(setting_set(&settings, format, "raw"));
    assert_int_equal(settings.format, PRINT_RAW);
    assert_null(format->choices[PRINT_RAW + 1]);
}

static void header_setting_overrides(void **state)
{
    (void)state;
    struct settings settings = settings_default();
    settings.format = PRINT_CSV;
    assert_true(print_style_for(&settings, false, false, 80).header);
    settings.header = HEADER_OFF;
    assert_false(print_style_for(&settings, false, false, 80).header);
    settings.format = PRINT_TSV;
    settings.header = HEADER_ON;
    assert_true(print_style_for(&settings, false, false, 80).header);
}

static void small_tables_are_whole(void **state)
{
    (void)state;
    struct result result = relation_of(3);
    struct print_style style = style_of(PRINT_AUTO, true);
    expect(&result, &style,
           " id  half, \"b\"\n"
           "i64        f64\n"
           "  0        0.0\n"
           " 10        0.5\n"
           " 20        1.0\n"
           "3 rows\n");
    style.width = 8;
    expect(&result, &style,
           " id\n"
           "i64\n"
           "  0\n"
           " 10\n"
           " 20\n"
           "3 rows, 1 of 2 columns\n");
    result_release(&result);
    result = relation_of(0);
    style.width = 80;
    expect(&result, &style, " id  half, \"b\"\ni64        f64\n0 rows\n");
    result_release(&result);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void long_tables_show_both_ends_on_a_terminal_only(void **state)
{
    (void)state;
    struct result result = relation_of(12345);
    struct print_style style = style_of(PRINT_TABLE, true);
    struct printer out = {.fd = -1};
    print_result(&out, &result, &style);
    assert_int_equal(count_lines(out.text.text), 2 + 20 + 1 + 5 + 1);
    assert_non_null(strstr(out.text.text, "\n123,440     6172.0\n25 of 12,345 rows (| show N for more)\n"));
    assert_non_null(strstr(out.text.text, "\n    190        9.5\n      …          …\n"));
    strbuf_clear(&out.text);
    result.show_rows = 30;
    print_result(&out, &result, &style);
    assert_int_equal(count_lines(out.text.text), 2 + 30 + 1);
    assert_non_null(strstr(out.text.text, "30 of 12,345 rows\n"));
    printer_free(&out);
    result_release(&result);

    result = relation_of(100);
    style = style_of(PRINT_TABLE, false);
    print_result(&out, &result, &style);
    assert_int_equal(count_lines(out.text.text), 2 + 100);
    printer_free(&out);
    result_release(&result);
}

static void tables_are_shortened_to_the_lines_there_are(void **state)
{
    (void)state;
    struct result result = relation_of(20);
    struct print_style style = style_of(PRINT_TABLE, true);
    struct printer out = {.fd = -1};
    static const struct {
        size_t height, lines;
    } cases[] = {{0, 23}, {25, 23}, {24, 2 + 18 + 2}, {23, 2 + 17 + 2}, {12, 2 + 6 + 2}, {1, 2 + 5 + 2}, {500, 23}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        style.height = cases[i].height;
        print_result(&out, &result, &style);
        assert_int_equal(count_lines(out.text.text), cases[i].lines);
        assert_non_null(strstr(out.text.text, "\n190        9.5\n"));
        printer_discard(&out);
    }
    style.height = 24;
    style.terminal = false;
    print_result(&out, &result, &style);
    assert_int_equal(count_lines(out.text.text), 22);
    printer_free(&out);
    result_release(&result);
}

/* A histogram of `rows` bins; takes over the columns. */
static struct result histogram_of(struct column *const *columns, int64_t rows)
{
    static const char *const names[] = {"lo", "hi", "count"};
    struct result result = {.kind = RESULT_RELATION,
                            .relation = relation_new(rows, 3, columns, names),
                            .show_rows = -1,
                            .view = VIEW_HISTOGRAM};
    for (size_t k = 0; k < 3; k++) {
        column_unref(columns[k]);
    }
    return result;
}

static void histograms_have_bars_on_a_terminal_only(void **state)
{
    (void)state;
    static const int64_t counts[] = {80, 0, 1, 40, 30};
    static const double edges[] = {0, 1, 2, 3, 4, 5};
    struct column *columns[] = {column_of_floats(edges, 5), column_of_floats(edges + 1, 5), column_of_ints(counts, 5)};
    struct result result = histogram_of(columns, 5);
    struct print_style style = style_of(PRINT_TABLE, true);
    style.width = 3 + 2 + 3 + 2 + 5 + 2 + 10;
    expect(&result, &style,
           " lo   hi  count\n"
           "f64  f64    i64\n"
           "0.0  1.0     80  ██████████\n"
           "1.0  2.0      0\n"
           "2.0  3.0      1  ▏\n"
           "3.0  4.0     40  █████\n"
           "4.0  5.0     30  ███▊\n");
    result.show_rows = 1; /* bars scale to the maximum of all rows */
    style.width -= 6;
    expect(&result, &style, " lo   hi  count\nf64  f64    i64\n0.0  1.0     80  ████\n1 of 5 rows\n");
    style.width--; /* too narrow for bars */
    expect(&result, &style, " lo   hi  count\nf64  f64    i64\n0.0  1.0     80\n1 of 5 rows\n");
    style.width = 8; /* counts hidden */
    expect(&result, &style, " lo   hi\nf64  f64\n0.0  1.0\n1 of 5 rows, 2 of 3 columns\n");
    style = style_of(PRINT_TABLE, false);
    expect(&result, &style, " lo   hi  count\nf64  f64    i64\n0.0  1.0     80\n1 of 5 rows\n");
    style = style_of(PRINT_TSV, true);
    expect(&result, &style, "0.0\t1.0\t80\n");
    style = style_of(PRINT_TABLE, true);
    result.view = VIEW_ROWS;
    expect(&result, &style, " lo   hi  count\nf64  f64    i64\n0.0  1.0     80\n1 of 5 rows\n");
    result_release(&result);
}

static void both_edges_of_intervals_have_commas(void **state)
{
    (void)state;
    static const int64_t counts[] = {2, 1};
    static const double lower[] = {0, 5000}, upper[] = {5000, 10000};
    struct column *columns[] = {column_of_floats(lower, 2), column_of_floats(upper, 2), column_of_ints(counts, 2)};
    struct result result = histogram_of(columns, 2);
    struct print_style style = style_of(PRINT_TABLE, true);
    style.separators = true;
    style.width = 26; /* no room for bars */
    expect(&result, &style,
           "     lo        hi  count\n"
           "    f64       f64    i64\n"
           "    0.0   5,000.0      2\n"
           "5,000.0  10,000.0      1\n");
    result_release(&result);
}

static void a_histogram_of_nothing_has_no_bars(void **state)
{
    (void)state;
    static const int64_t zeroes[3] = {0};
    struct column *columns[] = {column_of_ints(zeroes, 2), column_of_ints(zeroes, 2), column_of_ints(zeroes, 2)};
    struct result result = histogram_of(columns, 2);
    struct print_style style = style_of(PRINT_TABLE, true);
    expect(&result, &style, " lo   hi  count\ni64  i64    i64\n  0    0      0\n  0    0      0\n");
    result_release(&result);
}

static void hostile_names_reach_no_terminal(void **state)
{
    (void)state;
    int64_t one = 1;
    struct column *column = column_of_ints(&one, 1);
    const char *const names[] = {"a\033[31m\tb"};
    struct result result = {.kind = RESULT_RELATION, .relation = relation_new(1, 1, &column, names), .show_rows = -1};
    column_unref(column);
    const enum print_format formats[] = {PRINT_TABLE, PRINT_TSV, PRINT_CSV, PRINT_JSONL};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        struct print_style style = style_of(formats[i], true);
        style.header = true;
        struct printer out = {.fd = -1};
        print_result(&out, &result, &style);
        assert_null(strchr(out.text.text, '\033'));
        printer_free(&out);
    }
    result_release(&result);
}

/* On a narrow terminal, columns that do not fit wrap below, repeating the first column. */
static void tables_of_texts_are_folded_between_columns(void **state)
{
    (void)state;
    static const struct text_column columns[] = {{"column", true}, {"min", false}, {"max", false}, {"spread", true}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    static const char *const texts[][COLUMNS] = {{"id", "1", "1,700,000,120", "▁▂█"}, {"price", "-12.5", "7", ""}};
    static const struct {
        bool terminal;
        size_t width;
        const char *text;
    } cases[] = {
        {true, 36,
         "column    min            max  spread\n"
         "id          1  1,700,000,120  ▁▂█\n"
         "price   -12.5              7\n"},
        {true, 35,
         "column    min            max\n"
         "id          1  1,700,000,120\n"
         "price   -12.5              7\n"
         "column  spread\n"
         "id      ▁▂█\n"
         "price \n"},
        {true, 3,
         "column    min\nid          1\nprice   -12.5\n"
         "column            max\nid      1,700,000,120\nprice               7\n"
         "column  spread\nid      ▁▂█\nprice \n"},
        {false, 3,
         "column    min            max  spread\n"
         "id          1  1,700,000,120  ▁▂█\n"
         "price   -12.5              7\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena *arena = arena_new();
        struct text_table table;
        struct strbuf cells[COLUMNS] = {{0}}, out = {0};
        text_table_init(&table, arena, columns, COLUMNS);
        for (size_t row = 0; row < sizeof texts / sizeof *texts; row++) {
            for (size_t k = 0; k < COLUMNS; k++) {
                strbuf_puts(&cells[k], texts[row][k]);
            }
            text_table_add(&table, cells);
        }
        struct print_style style = style_of(PRINT_TABLE, cases[i].terminal);
        style.header = true;
        style.width = cases[i].width;
        text_table_print(&out, &table, &style);
        assert_string_equal(out.text, cases[i].text);
        for (size_t k = 0; k < COLUMNS; k++) {
            strbuf_free(&cells[k]);
        }
        strbuf_free(&out);
        arena_free(arena);
    }
}

static void a_failed_write_stops_the_print(void **state)
{
    (void)state;
    struct result result = relation_of(100000);
    struct print_style style = style_of(PRINT_TSV, false);
    struct printer out = {.fd = open("/dev/full", O_WRONLY)};
    print_result(&out, &result, &style);
    assert_int_equal(out.error, ENOSPC);
    assert_false(printer_flush(&out));
    (void)close(out.fd);
    printer_free(&out);
    result_release(&result);
}

static void an_interrupt_stops_the_print(void **state)
{
    (void)state;
    atomic_int cancel = 1;
    struct result result = relation_of(100000);
    struct print_style style = style_of(PRINT_TSV, false);
    struct printer out = {.fd = -1, .cancel = &cancel};
    print_result(&out, &result, &style);
    assert_int_equal(out.error, 0);
    strbuf_puts(&out.text, "x");
    assert_false(printer_flush(&out));
    assert_int_equal(out.text.length, 0);
    printer_free(&out);
    result_release(&result);
}

/* A mapped file truncated after opening: the zeroes it reads as are not printed. */
static void rows_of_a_file_cut_short_are_not_written(void **state)
{
    (void)state;
    enum { ROWS = 100000 };
    struct scratch *scratch = scratch_new();
    int32_t *data = malloc(ROWS * sizeof *data);
    for (int32_t i = 0; i < ROWS; i++) {
        data[i] = i + 100000;
    }
    const char *path = scratch_write(scratch, "cut.i32", data, ROWS * sizeof *data);
    free(data);
    struct mappings *mappings = mappings_new();
    struct mapping *mapping;
    assert_int_equal(mapping_open(mappings, path, scratch->span, &mapping, &scratch->diags), STATUS_OK);
    struct column *column = column_of_mapping(TYPE_I32, mapping);
    const char *const names[] = {"cut"};
    struct result result = {
        .kind = RESULT_RELATION, .relation = relation_new(ROWS, 1, &column, names), .show_rows = -1};
    column_unref(column);
    mapping_unref(mapping);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct printer out = {.fd = ends[1]};
    struct print_style style = style_of(PRINT_TSV, false);
    assert_int_equal(truncate(path, ROWS * sizeof *data - 1), 0); /* within the last page: no SIGBUS */
    print_result(&out, &result, &style);
    assert_false(out.wrote);
    assert_int_equal(out.error, 0);
    assert_true(printer_is_full(&out)); /* it stopped before the first write */
    assert_true(out.text.length < 256 * 1024);

    assert_int_equal(close(ends[0]), 0);
    assert_int_equal(close(ends[1]), 0);
    printer_free(&out);
    result_release(&result);
    mappings_free(mappings);
    scratch_free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_bare),
        cmocka_unit_test(lines_by_format),
        cmocka_unit_test(json_arrays),
        cmocka_unit_test(markdown_tables),
        cmocka_unit_test(bytes_of_a_column),
        cmocka_unit_test(arrays_of_numpy),
        cmocka_unit_test(many_rows_in_order),
        cmocka_unit_test(settings_name_the_formats),
        cmocka_unit_test(header_setting_overrides),
        cmocka_unit_test(small_tables_are_whole),
        cmocka_unit_test(long_tables_show_both_ends_on_a_terminal_only),
        cmocka_unit_test(tables_are_shortened_to_the_lines_there_are),
        cmocka_unit_test(histograms_have_bars_on_a_terminal_only),
        cmocka_unit_test(both_edges_of_intervals_have_commas),
        cmocka_unit_test(a_histogram_of_nothing_has_no_bars),
        cmocka_unit_test(hostile_names_reach_no_terminal),
        cmocka_unit_test(tables_of_texts_are_folded_between_columns),
        cmocka_unit_test(a_failed_write_stops_the_print),
        cmocka_unit_test(an_interrupt_stops_the_print),
        cmocka_unit_test(rows_of_a_file_cut_short_are_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
