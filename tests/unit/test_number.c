/* Parsing numbers: random ones against strtod, and invalid ones. */
#include "base/number_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A number as programs print it, short or long. */
static void write_random(char *text, size_t size, uint64_t *state)
{
    uint64_t r = next_random(state), digits = next_random(state) >> (r % 60);
    double number;
    switch (r >> 32 & 3) {
    case 0:
        (void)snprintf(text, size, "%s%llue%d", r & 1 << 20 ? "-" : "", (unsigned long long)digits,
                       (int)(r >> 40 & 63) - 31);
        break;
    case 1:
        (void)snprintf(text, size, "%llu.%0*llu", (unsigned long long)(digits % 1000000), (int)(r >> 40 & 15),
                       (unsigned long long)(next_random(state) >> 40));
        break;
    case 2:
        r = next_random(state);
        memcpy(&number, &r, sizeof number);
        (void)snprintf(text, size, "%.17g", isfinite(number) ? number : 0.5);
        break;
    default:
        (void)snprintf(text, size, "%.*f", (int)(r >> 40 & 15), (double)digits / 7e6);
    }
}

static void floats_are_the_nearest_doubles(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    int scanned = 0;
    for (int i = 0; i < 200000; i++) {
        char text[400];
        double value, slow, expected;
        write_random(text, sizeof text, &seed);
        const char *end = text + strlen(text);
        expected = strtod(text, NULL);
        if (read_float(text, end, &slow) != READ_FLOAT || memcmp(&slow, &expected, sizeof slow) != 0)
            fail_msg("read_float(%s)", text);
        if (!scan_float(text, end, &value))
            continue;
        scanned++;
        if (memcmp(&value, &expected, sizeof value) != 0)
            fail_msg("%s is %.17g, not %.17g", text, expected, value);
    }
    assert_true(scanned > 100000);
}

static enum reading as_int(const char *text, int64_t *value)
{
    return read_int(text, text + strlen(text), value);
}

static void integers(void **state)
{
    (void)state;
    int64_t value;
    assert_int_equal(as_int("9223372036854775807", &value), READ_INT);
    assert_true(value == INT64_MAX);
    assert_int_equal(as_int("-9223372036854775808", &value), READ_INT);
    assert_true(value == INT64_MIN);
    assert_int_equal(as_int("9223372036854775808", &value), READ_OVERFLOW);
    assert_int_equal(as_int("-9223372036854775809", &value), READ_OVERFLOW);
    assert_int_equal(as_int("+0", &value), READ_INT);
    static const char *const none[] = {"", "-", "1.", "1e3", "0x1", " 1", "1 ", "--1", "1-"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(as_int(none[i], &value), READ_INVALID);
}

/* Digits that overflow 64 bits. */
static void many_digits(void **state)
{
    (void)state;
    static const char *const many[] = {"18446744073709551616",    "-18446744073709551616.0", "184467440737095516160",
                                       "1.8446744073709551616e5", "36893488147419103232",    "0.18446744073709551616"};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        const char *end = many[i] + strlen(many[i]);
        const double expected = strtod(many[i], NULL);
        double value;
        if (scan_float(many[i], end, &value))
            assert_true(value == expected);
        assert_int_equal(read_float(many[i], end, &value), READ_FLOAT);
        assert_true(value == expected);
    }
}

static void what_is_no_float(void **state)
{
    (void)state;
    double value;
    static const char *const none[] = {"", ".", "-", "e5", "1e", "1e+", "0x1p3", "1,5", "in", "nan(1)", "1.2.3", "1_0"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        const char *end = none[i] + strlen(none[i]);
        assert_false(looks_like_number(none[i], end));
        assert_int_equal(read_float(none[i], end, &value), READ_INVALID);
        assert_true(scan_float(none[i], end, &value) != end || end == none[i]);
    }
    static const char *const some[] = {"1", "-1.", ".5", "1e5", "1E-5", "inf", "-Infinity", "NaN", "+1.5e+3"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) {
        assert_true(looks_like_number(some[i], some[i] + strlen(some[i])));
        assert_int_equal(read_float(some[i], some[i] + strlen(some[i]), &value), READ_FLOAT);
    }
    const char *big = "-1e999";
    assert_int_equal(read_float(big, big + strlen(big), &value), READ_OVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_are_the_nearest_doubles),
        cmocka_unit_test(many_digits),
        cmocka_unit_test(integers),
        cmocka_unit_test(what_is_no_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
