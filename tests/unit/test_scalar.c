#include "scratch.h"

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
    assert_prints(scalar_bool(true), "1");
    assert_prints(scalar_bool(false), "0");
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
        {-0.0, "0.0"},
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers), cmocka_unit_test(wide_integers),    cmocka_unit_test(fits),
        cmocka_unit_test(floats),   cmocka_unit_test(floats_read_back), cmocka_unit_test(floats_in_other_locales),
    };
    return cmocka_run_group_tests_name("scalar", tests, NULL, NULL);
}
