/* Answers of a ClickHouse server in format Native: whole, in pieces, cut, changed at random; its types and addresses.
 */
#include "scratch.h"

#include "base/time/time_zone.h"
#include "engine/values/dictionary.h"
#include "sql/wire/native.h"
#include "sql/wire/server_error.h"
#include "sql/wire/table_url.h"

#include <string.h>

static const char *const type_names[] = {"Int32",  "Nullable(String)", "Nullable(Float64)", "DateTime('UTC')",
                                         "UInt64", "FixedString(3)",   "Decimal(9, 2)",     "Date"};
static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
enum { COLUMNS = sizeof names / sizeof *names, BLOCK_ROWS = 2 };

static void put(struct strbuf *out, const void *bytes, size_t length)
{
    strbuf_add(out, bytes, length);
}

static void put_text(struct strbuf *out, const char *text)
{
    strbuf_putc(out, (char)strlen(text));
    strbuf_puts(out, text);
}

/* A block of two rows: (1, "x", missing, 2024-01-01T00:00:00, 7, "ab", 1.25, 1970-01-11) and (-1, missing, 0.5, ...).
 */
static void put_rows(struct strbuf *out, uint64_t big, int rows)
{
    const int32_t a[] = {1, -1}, g[] = {125, -1};
    const double c[] = {99, 0.5};
    const uint32_t d[] = {1704067200, 0};
    const uint64_t e[] = {7, big};
    const uint16_t h[] = {10, 0};
    strbuf_putc(out, COLUMNS);
    strbuf_putc(out, (char)rows);
    for (size_t k = 0; k < COLUMNS; k++) {
        put_text(out, (const char[]){'r', 'q', 'l', '_', (char)('0' + k), '\0'});
        put_text(out, type_names[k]);
        switch (rows > 0 ? k : COLUMNS) {
        case 0:
            put(out, a, sizeof a);
            break;
        case 1:
            put(out, "\0\1\1x", 4);
            strbuf_putc(out, '\0');
            break;
        case 2:
            put(out, "\1\0", 2);
            put(out, c, sizeof c);
            break;
        case 3:
            put(out, d, sizeof d);
            break;
        case 4:
            put(out, e, sizeof e);
            break;
        case 5:
            put(out, "ab\0abc", 6);
            break;
        case 6:
            put(out, g, sizeof g);
            break;
        case COLUMNS - 1:
            put(out, h, sizeof h);
            break;
        default: /* no rows */
            break;
        }
    }
}

static void put_block(struct strbuf *out, uint64_t big)
{
    put_rows(out, big, BLOCK_ROWS);
}

/* What reading gives: the error's message, or NULL and the columns. */
struct reading {
    struct arena *arena;
    struct column *columns[COLUMNS];
    int64_t rows;
    const char *error;
};

static struct reading read_in_pieces(const char *bytes, size_t length, size_t piece)
{
    struct reading reading = {.arena = arena_new()};
    struct wire_type types[COLUMNS];
    struct diags diags;
    const struct workers workers = {.threads = 1};
    diags_init(&diags, reading.arena);
    for (size_t k = 0; k < COLUMNS; k++)
        assert_true(wire_type_parse(type_names[k], reading.arena, &types[k]));
    struct native *native = native_new(&(struct native_columns){.names = names, .types = types, .count = COLUMNS});
    bool on = true;
    for (size_t at = 0; at < length && on; at += piece) {
        /* A copy of its own, so that a sanitizer sees what is read beyond it. */
        const size_t size = length - at < piece ? length - at : piece;
        char *copy = malloc(size);
        memcpy(copy, bytes + at, size);
        on = native_receive(native, copy, size);
        free(copy);
    }
    const enum status status = native_finish(native, "db1", &workers, reading.columns, (struct span){0}, &diags);
    reading.rows = native_rows(native);
    if (status != STATUS_OK) {
        assert_int_equal(diags.count, 1);
        reading.error = diags.at[0].message;
    }
    native_free(native);
    return reading;
}

static void reading_release(struct reading *reading)
{
    for (size_t k = 0; k < COLUMNS && !reading->error; k++)
        column_unref(reading->columns[k]);
    arena_free(reading->arena);
}

static void check_rows(const struct reading *reading, int64_t rows)
{
    assert_null(reading->error);
    assert_int_equal(reading->rows, rows);
    for (int64_t row = 0; row < rows; row += BLOCK_ROWS) {
        struct column *const *columns = reading->columns;
        assert_int_equal(column_get_int(columns[0], row), 1);
        assert_int_equal(column_get_int(columns[0], row + 1), -1);
        const struct scalar text = column_get(columns[1], row);
        assert_int_equal(text.text.length, 1);
        assert_memory_equal(text.text.at, "x", 1);
        assert_true(column_is_missing(columns[1], row + 1));
        assert_true(column_is_missing(columns[2], row));
        assert_true(column_get_float(columns[2], row) == 0); /* not what was sent in its place */
        assert_true(column_get_float(columns[2], row + 1) == 0.5);
        assert_true(column_get_int(columns[3], row) == 1704067200000000);
        assert_int_equal(column_get_int(columns[4], row), 7);
        assert_int_equal(column_get(columns[5], row).text.length, 2);
        assert_int_equal(column_get(columns[5], row + 1).text.length, 3);
        assert_int_equal(column_get_int(columns[6], row), 125);
        assert_int_equal(columns[6]->logical.scale, 2);
        assert_int_equal(column_get_int(columns[7], row), 10);
        assert_int_equal(columns[7]->logical.kind, LOGICAL_DATE);
    }
}

static void reads_blocks_in_any_pieces(void **state)
{
    (void)state;
    struct strbuf bytes = {0};
    put_block(&bytes, 5);
    put_block(&bytes, INT64_MAX);
    strbuf_add(&bytes, "\0\0", 2); /* an empty block */
    put_rows(&bytes, 5, 0);        /* and one of no rows */
    for (size_t piece = 1; piece <= bytes.length; piece++) {
        struct reading reading = read_in_pieces(bytes.text, bytes.length, piece);
        check_rows(&reading, 2 * BLOCK_ROWS);
        reading_release(&reading);
    }
    struct reading none = read_in_pieces(bytes.text, 0, 1);
    check_rows(&none, 0);
    reading_release(&none);
    strbuf_free(&bytes);
}

static void cut_answers_are_errors(void **state)
{
    (void)state;
    struct strbuf bytes = {0};
    put_block(&bytes, 5);
    const size_t block = bytes.length;
    put_block(&bytes, 5);
    for (size_t length = 1; length < bytes.length; length++) {
        struct reading reading = read_in_pieces(bytes.text, length, 7);
        if (length == block)
            check_rows(&reading, BLOCK_ROWS);
        else
            assert_string_equal(reading.error, "the answer of `db1` ends within a block of rows");
        reading_release(&reading);
    }
    strbuf_free(&bytes);
}

static void exceptions_in_mid_stream_are_errors(void **state)
{
    (void)state;
    static const char *const exceptions[] = {
        "Code: 395, e.displayText() = DB::Exception: too much, e.what() = DB::Exception\n",
        "Code: 395. DB::Exception: too much. (FUNCTION_THROW_IF_VALUE_IS_NON_ZERO) (version 23.8.1)\n",
        "\r\n__exception__\r\nabcdefgh\r\nCode: 395. DB::Exception: too much: (version 25.1)\n6\r\n__exception__\r\n",
    };
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        struct strbuf bytes = {0};
        put_block(&bytes, 5);
        strbuf_puts(&bytes, exceptions[i]);
        for (size_t piece = 1; piece <= bytes.length; piece += 5) {
            struct reading reading = read_in_pieces(bytes.text, bytes.length, piece);
            assert_non_null(reading.error);
            assert_ptr_equal(strstr(reading.error, "`db1`: too much"), reading.error);
            reading_release(&reading);
        }
        strbuf_free(&bytes);
    }
}

static void what_does_not_fit_is_an_error(void **state)
{
    (void)state;
    struct strbuf bytes = {0};
    put_block(&bytes, 5);
    put_block(&bytes, (uint64_t)INT64_MAX + 1);
    struct reading reading = read_in_pieces(bytes.text, bytes.length, 100);
    assert_string_equal(reading.error, "a value of `e` does not fit in 64 bits here, row 3");
    reading_release(&reading);
    strbuf_free(&bytes);
}

/* Changed bytes give rows or an error. */
static void changed_bytes_do_no_harm(void **state)
{
    (void)state;
    enum { TRIES = 20000 };
    struct strbuf bytes = {0};
    uint64_t random = 88172645463325252U;
    put_block(&bytes, 5);
    put_block(&bytes, 5);
    char *copy = malloc(bytes.length);
    for (int i = 0; i < TRIES; i++) {
        memcpy(copy, bytes.text, bytes.length);
        for (int changes = 1 + i % 3; changes > 0; changes--) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            copy[random % bytes.length] = (char)(random >> 32);
        }
        struct reading reading = read_in_pieces(copy, bytes.length, 1 + (size_t)(i % 97));
        reading_release(&reading);
    }
    free(copy);
    strbuf_free(&bytes);
}

static void types_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum wire_form form;
        size_t width;
        bool nullable;
        const char *cast;
    } cases[] = {
        {"UInt8", WIRE_AS_IS, 1, false, NULL},
        {"Nullable(Int64)", WIRE_AS_IS, 8, true, NULL},
        {"DateTime64(9, 'Europe/Berlin')", WIRE_TICKS, 8, false, NULL},
        {"Decimal(38, 10)", WIRE_DECIMAL, 16, false, NULL},
        {"LowCardinality(String)", WIRE_TEXT, 0, false, "String"},
        {"LowCardinality(Nullable(String))", WIRE_TEXT, 0, true, "Nullable(String)"},
        {"Enum8('a' = 1, 'b' = 2)", WIRE_TEXT, 0, false, "String"},
        {"Nullable(UUID)", WIRE_TEXT, 0, true, "Nullable(String)"},
    };
    static const char *const unknown[] = {"Array(Int32)",   "Decimal(76, 2)",    "Decimal(20, 19)", "Decimal()",
                                          "FixedString(0)", "DateTime64(x)",     "Nullable(",       "",
                                          "Int128",         "Map(String, UInt8)"};
    struct arena *arena = arena_new();
    struct wire_type type;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(wire_type_parse(cases[i].name, arena, &type));
        assert_int_equal(type.form, cases[i].form);
        assert_int_equal(type.width, cases[i].width);
        assert_int_equal(type.nullable, cases[i].nullable);
        assert_true((type.cast == NULL) == (cases[i].cast == NULL));
        if (type.cast)
            assert_string_equal(type.cast, cases[i].cast);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        assert_false(wire_type_parse(unknown[i], arena, &type));
    static const char *const zones[][2] = {{"DateTime", "UTC"},
                                           {"Nullable(DateTime('+05:30'))", "+05:30"},
                                           {"DateTime64(3, '-02:00')", "-02:00"},
                                           {"DateTime64(3)", "UTC"},
                                           {"DateTime('Nowhere/Here')", "UTC"}};
    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++) {
        assert_true(wire_type_parse(zones[i][0], arena, &type));
        assert_string_equal(type.logical.zone->name, zones[i][1]);
    }
    arena_free(arena);
}

static void addresses_are_parsed(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "clickhouse://",        "clickhouse://h",         "clickhouse://h/",        "clickhouse://h/d/",
        "clickhouse:///d/t",    "clickhouse://h:0/d/t",   "clickhouse://h:x/d/t",   "clickhouse://h:99999/d/t",
        "clickhouse://h/d/t/u", "clickhouse://h/d/t?by=", "clickhouse://h/d/t?x=1", "clickhouse://h/d/t?by=a,",
        "clickhouse://u:p@h/t", "clickhouse://h/d/t%zz",  "clickhouse://h/d/t%00",  "clickhouse://h/d/t?by=a&x=2",
        "clickhouse://u@v@h/t", "clickhouse://h#x/t",
    };
    struct arena *arena = arena_new();
    struct diags diags;
    struct table_url url;
    diags_init(&diags, arena);
    assert_int_equal(table_url_parse("clickhouses://me@[::1]/a%20b/t?by=x,y%2Cz", &url, (struct span){0}, &diags),
                     STATUS_OK);
    assert_true(url.tls);
    assert_string_equal(url.user, "me");
    assert_string_equal(url.host, "[::1]");
    assert_int_equal(url.port, 8443);
    assert_string_equal(url.database, "a b");
    assert_string_equal(url.table, "t");
    assert_int_equal(url.order_count, 2);
    assert_string_equal(url.order[1], "y,z");
    assert_string_equal(table_url_server(&url, arena), "me@[::1]:8443");
    assert_int_equal(table_url_parse("clickhouse://db1:1234/t", &url, (struct span){0}, &diags), STATUS_OK);
    assert_null(url.database);
    assert_int_equal(url.port, 1234);
    assert_false(is_table_url("clickhouse:/x"));
    assert_int_equal(diags.count, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_true(is_table_url(wrong[i]));
        assert_int_equal(table_url_parse(wrong[i], &url, (struct span){0}, &diags), STATUS_FAILED);
        assert_int_equal(diags.count, i + 1);
        assert_non_null(diags.at[i].hint);
    }
    arena_free(arena);
}

enum { WRITTEN = 5, WRITTEN_ROWS = 300 };

/* Columns of integers in a narrower store, floats, dates, decimals, and time stamps some of which are missing. */
static void make_columns(struct column **columns)
{
    static const enum type types[WRITTEN] = {TYPE_I64, TYPE_F32, TYPE_I64, TYPE_I64, TYPE_I64};
    static const enum type stores[WRITTEN] = {TYPE_I16, TYPE_F32, TYPE_I32, TYPE_I64, TYPE_I64};
    static const struct logical_type logical[WRITTEN] = {[2] = {.kind = LOGICAL_DATE},
                                                         [3] = {.kind = LOGICAL_DECIMAL, .scale = 2},
                                                         [4] = {.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc}};
    struct column *validity = column_reserve(TYPE_BOOL, TYPE_BOOL, WRITTEN_ROWS);
    for (int64_t row = 0; row < WRITTEN_ROWS; row++)
        column_set_int(validity, row, row % 7 != 0);
    column_finish(validity, WRITTEN_ROWS);
    for (int k = 0; k < WRITTEN; k++) {
        columns[k] = column_reserve(types[k], stores[k], WRITTEN_ROWS);
        for (int64_t row = 0; row < WRITTEN_ROWS; row++) {
            const float number = (float)row / 4;
            if (types[k] == TYPE_F32)
                memcpy(column_at(columns[k], row), &number, sizeof number);
            else if (k == WRITTEN - 1)
                column_set_int(columns[k], row, row % 7 != 0 ? row * 1000000 : 0);
            else
                column_set_int(columns[k], row, k == 2 ? row * 100 : row - 150);
        }
        column_finish(columns[k], WRITTEN_ROWS);
        column_set_logical(columns[k], logical[k]);
    }
    column_set_validity(columns[WRITTEN - 1], validity);
}

/* What is written is read again, in blocks of any size, as every server has it. */
static void blocks_written_are_read(void **state)
{
    static const char *const written_names[WRITTEN] = {"rql_0", "rql_1", "rql_2", "rql_3", "rql_4"};
    static const char *const expected[2][WRITTEN] = {
        {"Int64", "Float32", "Date", "Decimal(18, 2)", "Nullable(DateTime('UTC'))"},
        {"Int64", "Float32", "Date32", "Decimal(18, 2)", "Nullable(DateTime64(6, 'UTC'))"}};
    (void)state;
    struct column *columns[WRITTEN];
    make_columns(columns);
    for (int modern = 0; modern < 2; modern++) {
        struct arena *arena = arena_new();
        struct diags diags;
        diags_init(&diags, arena);
        const struct server_types has = {modern, modern, modern};
        struct stored_column stored[WRITTEN];
        struct wire_type types[WRITTEN];
        for (int k = 0; k < WRITTEN; k++) {
            assert_int_equal(stored_column_of(columns[k], written_names[k], &has, &stored[k], (struct span){0}, &diags),
                             STATUS_OK);
            assert_string_equal(stored[k].type, expected[modern][k]);
            assert_true(wire_type_parse(stored[k].type, arena, &types[k]));
        }
        for (int64_t block = 1; block <= WRITTEN_ROWS; block += 1 + block / 2) {
            struct strbuf out = {0};
            for (int64_t row = 0; row < WRITTEN_ROWS; row += block)
                native_write_block(&out, stored, WRITTEN, row, row + block < WRITTEN_ROWS ? row + block : WRITTEN_ROWS);
            struct native *native =
                native_new(&(struct native_columns){.names = written_names, .types = types, .count = WRITTEN});
            struct column *read[WRITTEN];
            assert_true(native_receive(native, out.text, out.length));
            assert_int_equal(native_finish(native, "s", NULL, read, (struct span){0}, &diags), STATUS_OK);
            for (int k = 0; k < WRITTEN; k++) {
                assert_int_equal(read[k]->rows, WRITTEN_ROWS);
                for (int64_t row = 0; row < WRITTEN_ROWS; row++) {
                    assert_int_equal(column_is_missing(read[k], row), column_is_missing(columns[k], row));
                    if (k == 1)
                        assert_true(column_get_float(read[k], row) == column_get_float(columns[k], row));
                    else
                        assert_int_equal(column_get_int(read[k], row), column_get_int(columns[k], row));
                }
                column_unref(read[k]);
            }
            native_free(native);
            strbuf_free(&out);
        }
        assert_int_equal(diags.count, 0);
        arena_free(arena);
    }
    for (int k = 0; k < WRITTEN; k++)
        column_unref(columns[k]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_blocks_in_any_pieces),
        cmocka_unit_test(cut_answers_are_errors),
        cmocka_unit_test(exceptions_in_mid_stream_are_errors),
        cmocka_unit_test(what_does_not_fit_is_an_error),
        cmocka_unit_test(changed_bytes_do_no_harm),
        cmocka_unit_test(blocks_written_are_read),
        cmocka_unit_test(types_are_parsed),
        cmocka_unit_test(addresses_are_parsed),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
