/* Zones of fixed offsets, the forms of rules, and damaged files. tests/zones.py compares zones of the system. */
#include "base/time/calendar.h"
#include "base/time/time_zone_file.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

static const int64_t SECOND = 1000000;

static void fixed_offsets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t seconds;
    } rows[] = {{"+05:30", 19800}, {"-0330", -12600}, {"+01", 3600}, {"-00:00", 0}, {"UTC", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct time_zone *zone, *again;
        assert_int_equal(time_zone_find(rows[i].name, &zone), TIME_ZONE_FOUND);
        assert_int_equal(time_zone_find(rows[i].name, &again), TIME_ZONE_FOUND);
        assert_ptr_equal(zone, again);
        int64_t instant;
        assert_int_equal(time_zone_offset(zone, INT64_MIN), rows[i].seconds * SECOND);
        assert_int_equal(time_zone_offset(zone, INT64_MAX), rows[i].seconds * SECOND);
        assert_true(time_zone_instant(zone, 0, &instant));
        assert_int_equal(instant, -rows[i].seconds * SECOND);
    }
    static const char *const unknown[] = {"",          "+25",         "+05:60", "+5",
                                          "../passwd", "/etc/passwd", "a/../b", "Nowhere/At_All"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        const struct time_zone *zone;
        assert_int_not_equal(time_zone_find(unknown[i], &zone), TIME_ZONE_FOUND);
        assert_null(zone);
    }
}

/* When the clocks of a rule change in 2024, of which February has 29 days. */
static void rules(void **state)
{
    (void)state;
    static const struct {
        const char *rule, *begin, *end; /* NULL: it is no rule, or has no changes */
        bool good;
    } rows[] = {
        {"CET-1CEST,M3.5.0,M10.5.0/3", "2024-03-31T01:00:00", "2024-10-27T01:00:00", true},
        {"EST5EDT,M3.2.0,M11.1.0", "2024-03-10T07:00:00", "2024-11-03T06:00:00", true},
        {"<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2024-03-31T01:00:00", "2024-10-27T01:00:00", true},
        {"AAA0BBB,J60/0,J300", "2024-03-01T00:00:00", "2024-10-27T01:00:00", true},
        {"AAA0BBB,60/0,300", "2024-03-01T00:00:00", "2024-10-27T01:00:00", true},
        {"<+03>-3", NULL, NULL, true},
        {"CET-1CEST", NULL, NULL, false},
        {"CET-1CEST,M13.5.0,M10.5.0", NULL, NULL, false},
        {"CET-1CEST,M3.5.0,M10.5.0/168", NULL, NULL, false},
        {"CET", NULL, NULL, false},
        {"", NULL, NULL, false},
    };
    int64_t year;
    assert_true(date_read("2024-01-01", &"2024-01-01"[10], &year));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct time_zone_changes changes = {.arena = arena_new()};
        time_zone_add_change(&changes, (struct time_zone_change){year * 86400, 1, "LMT"});
        assert_int_equal(time_zone_rule_read(rows[i].rule, &changes), rows[i].good);
        const char *const texts[] = {rows[i].begin, rows[i].end};
        assert_true(rows[i].begin ? changes.count > 15000 : changes.count == 1);
        for (size_t k = 0; k < 2 && texts[k]; k++) {
            int64_t time;
            bool zoned, cut;
            assert_true(timestamp_read(texts[k], texts[k] + strlen(texts[k]), &time, &zoned, &cut));
            assert_int_equal(changes.at[k + 1].begin, time / SECOND);
        }
        arena_free(changes.arena);
    }
}

/* A file of one change in 1970, without the end from each byte on: never more than what it says. */
static void cut_files(void **state)
{
    (void)state;
    static const unsigned char file[] = "TZif\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
                                        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\10"
                                        "\0\0\0\x64\1"
                                        "\0\0\0\0\0\0\0\0\x0e\x10\0\4"
                                        "UTC\0BST";
    for (size_t length = 0; length <= sizeof file; length++) {
        struct time_zone_changes changes = {.arena = arena_new()};
        const bool read = time_zone_file_read(file, length, &changes);
        assert_int_equal(read, length == sizeof file);
        if (read) {
            assert_int_equal(changes.count, 2);
            assert_int_equal(changes.at[1].begin, 100);
            assert_int_equal(changes.at[1].offset, 3600);
            assert_string_equal(changes.at[1].abbreviation, "BST");
        }
        arena_free(changes.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_offsets),
        cmocka_unit_test(rules),
        cmocka_unit_test(cut_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
