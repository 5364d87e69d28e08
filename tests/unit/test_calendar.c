/* Dates, timestamps and durations as text against gmtime and timegm. */
#include "base/time/calendar.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* A copy that ends where its memory ends, so that the address sanitizer sees reads beyond it. */
static bool read_copy_of_date(const char *text, int64_t *days)
{
    size_t length = strlen(text);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    bool ok = date_read(copy, copy + length, days);
    free(copy);
    return ok;
}

static bool read_copy_of_timestamp(const char *text, int64_t *microseconds, bool *zoned, bool *cut)
{
    size_t length = strlen(text);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    bool ok = timestamp_read(copy, copy + length, microseconds, zoned, cut);
    free(copy);
    return ok;
}

static bool read_copy_of_duration(const char *text, int64_t *microseconds)
{
    size_t length = strlen(text);
    char *copy = malloc(length ? length : 1);
    memcpy(copy, text, length);
    bool ok = duration_read(copy, copy + length, microseconds);
    free(copy);
    return ok;
}

static void test_all_days(void **context)
{
    (void)context;
    int64_t expected = -719162, seen = 0; /* 0001-01-01 */
    for (int year = 1; year <= 9999; year++) {
        for (int month = 1; month <= 12; month++) {
            int last = days_of_month(year, month);
            for (int day = 0; day <= 32; day++) {
                char text[48], written[CALENDAR_TEXT];
                int64_t days = -1;
                (void)snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
                assert_int_equal(date_read(text, text + strlen(text), &days), day >= 1 && day <= last);
                if (day < 1 || day > last)
                    continue;
                assert_int_equal(days, expected);
                assert_int_equal(days_of_civil((struct civil){year, month, day}), expected);
                time_t seconds = (time_t)(days * 86400);
                struct tm tm;
                assert_non_null(gmtime_r(&seconds, &tm));
                assert_int_equal(tm.tm_year + 1900, year);
                assert_int_equal(tm.tm_mon + 1, month);
                assert_int_equal(tm.tm_mday, day);
                struct civil civil = civil_of_days(days);
                assert_true(civil.year == year && civil.month == month && civil.day == day);
                assert_int_equal(date_text(written, days) - written, 10);
                assert_memory_equal(written, text, 10);
                expected++;
                seen++;
            }
        }
    }
    assert_int_equal(expected, 2932897);
    assert_int_equal(seen, 3652059);
}

/* Beyond the years that are read: all eras that gmtime knows, and the ends of 64 bits. */
static void test_far_days(void **context)
{
    (void)context;
    uint64_t state = 1;
    for (int k = 0; k < 1000000; k++) {
        int64_t days = (int64_t)next_random(&state) % INT64_C(700000000000);
        time_t seconds = (time_t)(days * 86400);
        struct tm tm;
        struct civil civil = civil_of_days(days);
        if (gmtime_r(&seconds, &tm))
            assert_true(civil.year == tm.tm_year + INT64_C(1900) && civil.month == tm.tm_mon + 1 &&
                        civil.day == tm.tm_mday);
        assert_int_equal(days_of_civil(civil), days);
    }
    char text[CALENDAR_TEXT + 1];
    *date_text(text, INT64_MAX) = 0;
    assert_string_equal(text, "+25252734927768524-07-27");
    *date_text(text, INT64_MIN) = 0;
    assert_string_equal(text, "-25252734927764585-06-07");
    *date_text(text, -719163) = 0;
    assert_string_equal(text, "+0000-12-31");
    *date_text(text, -719163 - 366) = 0;
    assert_string_equal(text, "-0001-12-31");
    *date_text(text, 2932897) = 0;
    assert_string_equal(text, "+10000-01-01");
}

static void test_invalid_dates(void **context)
{
    (void)context;
    static const char *const invalid[] = {
        "",           "2024",       "2024-1-01",        "2024-01-1",   "2024-01-001",   "20240101",
        "2024/01/01", "0000-01-01", "2024-00-01",       "2024-13-01",  "2024-01-00",    "2024-01-32",
        "2023-02-29", "1900-02-29", "2024-02-30",       "2024-04-31",  "-001-01-01",    "+2024-01-01",
        "2024-01-0a", "2o24-01-01", " 2024-01-01",      "2024-01-01 ", "202\xb4-01-01", "2024-01-01T",
        "2024:01-01", "2024-01:01", "2024-01-\xb1\xb2", "99999-01-01", "2024-0/-01",    "2024-0:-01"};
    for (size_t k = 0; k < sizeof invalid / sizeof *invalid; k++) {
        int64_t days;
        if (read_copy_of_date(invalid[k], &days))
            fail_msg("'%s' was read", invalid[k]);
    }
    /* One wrong byte anywhere is found. */
    for (int place = 0; place < 10; place++) {
        for (int byte = 0; byte < 256; byte++) {
            char text[] = "2024-11-11";
            text[place] = (char)byte;
            bool digit = byte >= '0' && byte <= '9', dash = place == 4 || place == 7;
            bool valid = dash ? byte == '-' : digit;
            valid = valid && (place != 5 || byte <= '1') && (place != 6 || byte <= '2') && (place != 8 || byte <= '2');
            int64_t days;
            assert_int_equal(date_read(text, text + 10, &days), valid);
        }
    }
}

static void test_random_timestamps(void **context)
{
    (void)context;
    uint64_t state = 2;
    for (int k = 0; k < 1000000; k++) {
        int64_t seconds = (int64_t)(next_random(&state) % UINT64_C(315537897600)) - INT64_C(62135596800), us;
        int32_t fraction = (int32_t)(next_random(&state) % 1000000);
        if (k % 3 == 0)
            fraction = k % 2 == 0 ? 0 : fraction / 1000 * 1000;
        struct tm tm;
        time_t time = (time_t)seconds;
        assert_non_null(gmtime_r(&time, &tm));
        char text[64], written[CALENDAR_TEXT + 1];
        bool zoned, cut, utc = k % 5 == 0;
        size_t length = strftime(text, sizeof text, "%m-%dT%H:%M:%S", &tm);
        char expected[96];
        (void)snprintf(expected, sizeof expected, "%04d-%.*s", tm.tm_year + 1900, (int)length, text);
        if (fraction != 0)
            (void)snprintf(expected + strlen(expected), 16, fraction % 1000 == 0 ? ".%03d" : ".%06d",
                           fraction % 1000 == 0 ? fraction / 1000 : fraction);
        if (utc)
            strcat(expected, "Z");
        *timestamp_text(written, seconds * 1000000 + fraction, utc ? &time_zone_utc : NULL) = 0;
        assert_string_equal(written, expected);
        if (k % 7 == 0)
            expected[10] = ' ';
        assert_true(read_copy_of_timestamp(expected, &us, &zoned, &cut));
        assert_int_equal(us, seconds * 1000000 + fraction);
        assert_true(zoned == utc && !cut);
    }
}

static void test_timestamp_forms(void **context)
{
    (void)context;
    static const struct {
        const char *text;
        int64_t microseconds;
        bool zoned, cut;
    } valid[] = {{"1970-01-01T00:00", 0, false, false},
                 {"1970-01-01 00:01", 60000000, false, false},
                 {"1970-01-01T00:00:01.5", 1500000, false, false},
                 {"1970-01-01T00:00:01.123456", 1123456, false, false},
                 {"1970-01-01T00:00:01.123456000", 1123456, false, false},
                 {"1970-01-01T00:00:01.123456001", 1123456, false, true},
                 {"1969-12-31T23:59:59.999999999", -1, false, true},
                 {"1970-01-01T00:00Z", 0, true, false},
                 {"1970-01-01T01:00+01", 0, true, false},
                 {"1970-01-01T01:30:00+0130", 0, true, false},
                 {"1970-01-01T01:30:00.25+01:30", 250000, true, false},
                 {"1969-12-31T19:00:00-05:00", 0, true, false},
                 {"2024-02-29T23:59:59.999999Z", INT64_C(1709251199999999), true, false}};
    for (size_t k = 0; k < sizeof valid / sizeof *valid; k++) {
        int64_t us = -99;
        bool zoned, cut;
        if (!read_copy_of_timestamp(valid[k].text, &us, &zoned, &cut))
            fail_msg("'%s' was not read", valid[k].text);
        assert_int_equal(us, valid[k].microseconds);
        assert_true(zoned == valid[k].zoned && cut == valid[k].cut);
    }
    static const char *const invalid[] = {"",
                                          "2024-01-01",
                                          "2024-01-01T",
                                          "2024-01-01T1",
                                          "2024-01-01T10",
                                          "2024-01-01T10:",
                                          "2024-01-01T10:0",
                                          "2024-01-01T10:00:",
                                          "2024-01-01T10:00:0",
                                          "2024-01-01T10:00:00.",
                                          "2024-01-01T10:00.5",
                                          "2024-01-01T24:00:00",
                                          "2024-01-01T10:60:00",
                                          "2024-01-01T10:00:60",
                                          "2024-01-01  10:00",
                                          "2024-01-01t10:00",
                                          "2024-01-01T10:00z",
                                          "2024-01-01T10:00:00ZZ",
                                          "2024-01-01T10:00:00+",
                                          "2024-01-01T10:00:00+1",
                                          "2024-01-01T10:00:00+1:00",
                                          "2024-01-01T10:00:00+01:0",
                                          "2024-01-01T10:00:00+24:00",
                                          "2024-01-01T10:00:00+01:60",
                                          "2024-01-01T10:00:00 Z",
                                          "2024-01-01T10:00:00.5x",
                                          "2024-01-01T1a:00",
                                          "2024-01-01T10-00-00",
                                          "2024-02-30T10:00",
                                          "2024-01-01T10:00:00+01-0",
                                          "2024-01-01T10:0a:00",
                                          "2024-01-01T10:00,5",
                                          "2024-01-01T+1:00"};
    for (size_t k = 0; k < sizeof invalid / sizeof *invalid; k++) {
        int64_t us;
        bool zoned, cut;
        if (read_copy_of_timestamp(invalid[k], &us, &zoned, &cut))
            fail_msg("'%s' was read", invalid[k]);
    }
    char text[CALENDAR_TEXT + 1];
    *timestamp_text(text, INT64_MAX, &time_zone_utc) = 0;
    assert_string_equal(text, "+294247-01-10T04:00:54.775807Z");
    *timestamp_text(text, INT64_MIN, NULL) = 0;
    assert_string_equal(text, "-290308-12-21T19:59:05.224192");
}

static void test_durations(void **context)
{
    (void)context;
    static const struct {
        int64_t microseconds;
        const char *text;
    } cases[] = {{0, "00:00:00"},
                 {1, "00:00:00.000001"},
                 {-1500000, "-00:00:01.5"},
                 {2 * DAY_US + 11700000000, "2d 03:15:00"},
                 {-DAY_US, "-1d 00:00:00"},
                 {DAY_US - 1, "23:59:59.999999"},
                 {INT64_MAX, "106751991d 04:00:54.775807"},
                 {INT64_MIN, "-106751991d 04:00:54.775808"}};
    char text[CALENDAR_TEXT + 1];
    int64_t us;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        *duration_text(text, cases[k].microseconds) = 0;
        assert_string_equal(text, cases[k].text);
        assert_true(read_copy_of_duration(text, &us));
        assert_int_equal(us, cases[k].microseconds);
    }
    uint64_t state = 3;
    for (int k = 0; k < 1000000; k++) {
        int64_t any = (int64_t)next_random(&state) >> (next_random(&state) % 64);
        *duration_text(text, any) = 0;
        assert_true(read_copy_of_duration(text, &us));
        assert_int_equal(us, any);
    }
    assert_true(read_copy_of_duration("09:30:00.250", &us));
    assert_int_equal(us, INT64_C(34200250000));
    static const char *const invalid[] = {"",
                                          "-",
                                          "00:00",
                                          "0:00:00",
                                          "24:00:00",
                                          "00:60:00",
                                          "00:00:60",
                                          "-00:00:00",
                                          "--00:00:01",
                                          "+00:00:01",
                                          "0d 00:00:01",
                                          "01d 00:00:01",
                                          "1d00:00:01",
                                          "1d  00:00:01",
                                          "d 00:00:01",
                                          "1d 00:00",
                                          "00:00:00.",
                                          "00:00:00.1234567",
                                          "00:00:01 ",
                                          " 00:00:01",
                                          "1d",
                                          "1d ",
                                          "1d 00:00:00Z",
                                          "106751991d 04:00:54.775808",
                                          "-106751991d 04:00:54.775809",
                                          "106751992d 00:00:00",
                                          "999999999d 00:00:00",
                                          "9999999999d 00:00:00",
                                          "99999999999999999999d 00:00:00"};
    for (size_t k = 0; k < sizeof invalid / sizeof *invalid; k++) {
        if (read_copy_of_duration(invalid[k], &us))
            fail_msg("'%s' was read", invalid[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_days),        cmocka_unit_test(test_far_days),
        cmocka_unit_test(test_invalid_dates),   cmocka_unit_test(test_random_timestamps),
        cmocka_unit_test(test_timestamp_forms), cmocka_unit_test(test_durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
