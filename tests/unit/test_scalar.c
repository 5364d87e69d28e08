#include "scratch.h"
#include "typed_columns.h"

#include "base/time/time_zone.h"
#include "engine/values/scalar.h"

#include <float.h>
#include <locale.h>
#include <math.h>

static void assert_prints(struct scalar value, const char *expected)
{
    struct strbuf out = {0};
    scalar_print(&out, &value);
    assert_string_equal(out.text, expected);
    strbuf_free(&out);
}

static int128 int128_of(int64_t high, uint64_t low)
{
    return (int128)high * ((int128)1 << 64) + (int128)low;
}

static void integers(void **unused)
{
    (void)unused;
    assert_prints(scalar_int(0), "0");
    assert_prints(scalar_int(7), "7");
    assert_prints(scalar_int(-10), "-10");
    assert_prints(scalar_int(99), "99");
    assert_prints(scalar_int(100), "100");
    assert_prints(scalar_int(-12345), "-12345");
    assert_prints(scalar_int(INT64_MAX), "9223372036854775807");
    assert_prints(scalar_int(INT64_MIN), "-9223372036854775808");
    assert_prints(scalar_bool(true), "true");
    assert_prints(scalar_bool(false), "false");
}

static void wide_integers(void **unused)
{
    (void)unused;
    assert_prints(scalar_int((int128)INT64_MAX + 1), "9223372036854775808");
    assert_prints(scalar_int((int128)INT64_MIN - 1), "-9223372036854775809");
    assert_prints(scalar_int((int128)UINT64_MAX), "18446744073709551615");
    assert_prints(scalar_int((int128)10000000000000000000u), "10000000000000000000");
    assert_prints(scalar_int((int128)9999999999999999999u), "9999999999999999999");
    assert_prints(scalar_int((int128)10000000000000000000u * 5), "50000000000000000000");
    assert_prints(scalar_int(-((int128)10000000000000000000u * 5 + 3)), "-50000000000000000003");
    assert_prints(scalar_int(int128_of(INT64_MAX, UINT64_MAX)), "170141183460469231731687303715884105727");
    assert_prints(scalar_int(int128_of(INT64_MIN, 0)), "-170141183460469231731687303715884105728");
}

static void fits(void **unused)
{
    (void)unused;
    struct scalar inside[] = {scalar_int(INT64_MAX), scalar_int(INT64_MIN), scalar_bool(true)};
    struct scalar outside[] = {scalar_int((int128)INT64_MAX + 1), scalar_int((int128)INT64_MIN - 1)};
    for (size_t i = 0; i < 3; i++)
        assert_true(scalar_fits(&inside[i]));
    for (size_t i = 0; i < 2; i++)
        assert_false(scalar_fits(&outside[i]));
}

static void floats(void **unused)
{
    (void)unused;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {3, "3.0"},
        {-1, "-1.0"},
        {0.1, "0.1"},
        {0.1 + 0.2, "0.30000000000000004"},
        {-2.5, "-2.5"},
        {12.34, "12.34"},
        {1e15, "1000000000000000.0"},
        {123456789012345680, "1.2345678901234568e17"},
        {0x1p53, "9007199254740992.0"},
        {1e16, "1e16"},
        {1e22, "1e22"},
        {1e300, "1e300"},
        {1.5e-300, "1.5e-300"},
        {0.001, "0.001"},
        {0.0001, "0.0001"},
        {0.00012, "0.00012"},
        {0.00001, "1e-5"},
        {1.0 / 3, "0.3333333333333333"},
        {2.0 / 3, "0.6666666666666666"},
        {DBL_MAX, "1.7976931348623157e308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {4.9406564584124654e-324, "5e-324"},
        {-9.8813129168249309e-324, "-1e-323"},
        {5e-320, "5e-320"},
        {0x1p-44, "5.684341886080802e-14"},
        {9.5367431640625e-7, "9.5367431640625e-7"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {-NAN, "nan"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_prints(scalar_float(cases[i].value), cases[i].text);
}

/* Printed floats read back exactly, with the fewest digits. */
static void floats_read_back(void **unused)
{
    (void)unused;
    uint64_t state = 88172645463325252u;
    struct strbuf out = {0};
    for (int i = 0; i < 200000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        double value;
        if (i % 3 == 0)
            value = (double)(int64_t)(state >> 40) / 1000.0;
        else if (i % 3 == 1)
            value = ldexp((double)(state >> 11), (int)(state % 110) - 93); /* typical magnitudes, many digits */
        else
            memcpy(&value, &state, sizeof value);
        if (!isfinite(value))
            continue;
        strbuf_clear(&out);
        print_float(&out, value);
        assert_true(strtod(out.text, NULL) == value);
        assert_non_null(strpbrk(out.text, ".e"));

        int digits = 0;
        const char *first = out.text + strcspn(out.text, "123456789");
        for (const char *at = first; *at && *at != 'e'; at++)
            digits += *at != '.';
        for (const char *at = first + strcspn(first, "e"); at > first && (at[-1] == '0' || at[-1] == '.'); at--)
            digits -= at[-1] == '0';
        if (digits > 1) {
            char shorter[40];
            snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
            if (strtod(shorter, NULL) == value)
                fail_msg("%s is longer than %s", out.text, shorter);
        }
    }
    strbuf_free(&out);
}

/* The locale's decimal comma has no effect. */
static void floats_in_other_locales(void **unused)
{
    (void)unused;
    const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (setlocale(LC_NUMERIC, names[i]))
            break;
    }
    assert_prints(scalar_float(1.0 / 3), "0.3333333333333333");
    assert_prints(scalar_float(1.25e-7), "1.25e-7");
    setlocale(LC_NUMERIC, "C");
}

static struct scalar of_type(struct logical_type logical, int128 integer)
{
    struct scalar value = scalar_int(integer);
    value.logical = logical;
    return value;
}

static void decimals(void **unused)
{
    (void)unused;
    const struct logical_type cents = {.kind = LOGICAL_DECIMAL, .scale = 2}, whole = {.kind = LOGICAL_DECIMAL};
    const struct logical_type finest = {.kind = LOGICAL_DECIMAL, .scale = DECIMAL_MAX_SCALE};
    assert_prints(of_type(cents, 0), "0.00");
    assert_prints(of_type(cents, -5), "-0.05");
    assert_prints(of_type(cents, 50), "0.50");
    assert_prints(of_type(cents, 1200), "12.00");
    assert_prints(of_type(cents, -12345), "-123.45");
    assert_prints(of_type(cents, INT64_MIN), "-92233720368547758.08");
    assert_prints(of_type(cents, (int128)INT64_MAX * 100), "9223372036854775807.00");
    assert_prints(of_type(cents, int128_of(INT64_MIN, 0)), "-1701411834604692317316873037158841057.28");
    assert_prints(of_type(whole, -7), "-7");
    assert_prints(of_type(finest, 1), "0.000000000000000001");
    assert_prints(of_type(finest, INT64_MIN), "-9.223372036854775808");
    assert_prints(of_type(finest, int128_of(INT64_MIN, 0)), "-170141183460469231731.687303715884105728");
}

static void other_types(void **unused)
{
    (void)unused;
    const int64_t second = 1000000;
    assert_prints(of_type((struct logical_type){.kind = LOGICAL_DATE}, 19782), "2024-02-29");
    assert_prints(of_type((struct logical_type){.kind = LOGICAL_DATE}, -1), "1969-12-31");
    assert_prints(of_type((struct logical_type){.kind = LOGICAL_TIMESTAMP}, -second), "1969-12-31T23:59:59");
    assert_prints(of_type((struct logical_type){.kind = LOGICAL_TIMESTAMP, .zone = &time_zone_utc}, second / 4),
                  "1970-01-01T00:00:00.250Z");
    assert_prints(of_type((struct logical_type){.kind = LOGICAL_DURATION}, -90 * second), "-00:01:30");
    struct scalar value = of_type((struct logical_type){.kind = LOGICAL_TEXT}, 3);
    value.text = (struct text){"a\tb|", 3};
    assert_prints(value, "a\tb");
    value.missing = true;
    assert_prints(value, "missing");
    value = scalar_float(0);
    value.missing = true;
    assert_prints(value, "missing");
}

static void type_names(void **unused)
{
    (void)unused;
    const struct logical_type number = {.kind = LOGICAL_NUMBER};
    assert_string_equal(logical_type_name(number, TYPE_U16), "u16");
    assert_string_equal(logical_type_name((struct logical_type){.kind = LOGICAL_TEXT}, TYPE_U16), "text");
    assert_string_equal(logical_type_name((struct logical_type){.kind = LOGICAL_DATE}, TYPE_I32), "date");
    assert_string_equal(logical_type_name((struct logical_type){.kind = LOGICAL_TIMESTAMP}, TYPE_I64), "timestamp");
    assert_string_equal(logical_type_name((struct logical_type){.kind = LOGICAL_DURATION}, TYPE_I64), "duration");
    for (int scale = 0; scale <= DECIMAL_MAX_SCALE; scale++) {
        const struct logical_type decimal = {.kind = LOGICAL_DECIMAL, .scale = (unsigned char)(scale & 0xff)};
        char name[24];
        snprintf(name, sizeof name, "decimal(%d)", scale);
        assert_string_equal(logical_type_name(decimal, TYPE_I64), name);
    }
}

/* What other facts of a row rest on. */
static void rows_of_logical_types(void **unused)
{
    (void)unused;
    for (int k = LOGICAL_NUMBER + 1; k < LOGICAL_KINDS; k++) {
        const struct logical_info *info = &logical_table[k];
        const struct logical_type logical = {.kind = (enum logical)k};
        assert_non_null(info->name);
        assert_non_null(info->noun);
        assert_int_equal(type_table[info->stored].kind, KIND_INT);
        assert_true(info->adds || !info->means);
        assert_int_equal(logical_is_number(logical) + logical_is_time(logical), k != LOGICAL_TEXT && k != LOGICAL_LIST);
        if (logical_is_time(logical)) /* formats of plain numbers hold its integers */
            assert_non_null(info->unit);
    }
    assert_true(logical_is_number((struct logical_type){0}));
}

static void elements_of_columns(void **unused)
{
    (void)unused;
    const char *const strings[] = {"pear", NULL, "", "apple"};
    struct column *column = text_column(strings, 4);
    const char *const printed[] = {"pear", "missing", "", "apple"};
    for (int64_t row = 0; row < 4; row++) {
        struct strbuf out = {0};
        struct scalar value = column_get(column, row);
        scalar_print(&out, &value);
        assert_int_equal(out.length, strlen(printed[row]));
        assert_memory_equal(out.text, printed[row], out.length);
        strbuf_free(&out);
    }
    column_unref(column);
    column = text_column((const char *const[]){NULL}, 1);
    assert_prints(column_get(column, 0), "missing");
    column_unref(column);
    const struct logical_type cents = {.kind = LOGICAL_DECIMAL, .scale = 2};
    const unsigned char present[] = {1, 0};
    column = logical_column(TYPE_I64, cents, (const int64_t[]){-1, 7}, present, 2);
    assert_prints(column_get(column, 0), "-0.01");
    assert_prints(column_get(column, 1), "missing");
    column_unref(column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers),
        cmocka_unit_test(wide_integers),
        cmocka_unit_test(fits),
        cmocka_unit_test(floats),
        cmocka_unit_test(floats_read_back),
        cmocka_unit_test(floats_in_other_locales),
        cmocka_unit_test(decimals),
        cmocka_unit_test(other_types),
        cmocka_unit_test(type_names),
        cmocka_unit_test(rows_of_logical_types),
        cmocka_unit_test(elements_of_columns),
    };
    return cmocka_run_group_tests_name("scalar", tests, NULL, NULL);
}
