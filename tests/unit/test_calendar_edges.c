/* Intervals of calendar units: known choices, and properties of random ones. */
#include "scratch.h"

#include "engine/values/calendar_edges.h"
#include "engine/values/scalar.h"

#include "base/time/calendar.h"

static const char *text_of(struct scratch *scratch, struct logical_type logical, int64_t value)
{
    char text[LOGICAL_TEXT_BYTES];
    return arena_text(scratch->arena, text, (size_t)(logical_text(text, logical, value) - text));
}

static void known_choices(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_new();
    const struct logical_type date = {.kind = LOGICAL_DATE}, time = {.kind = LOGICAL_TIMESTAMP};
    const struct logical_type duration = {.kind = LOGICAL_DURATION};
    const int64_t second = 1000000, hour = 3600 * second, start = 19723; /* 2024-01-01 */
    const struct {
        struct logical_type logical;
        int64_t lo, hi, about, intervals;
        const char *first, *second, *end;
    } cases[] = {
        {date, start, start, 10, 1, "2024-01-01", "2024-01-02", "2024-01-02"},
        {date, start, start + 9, 10, 10, "2024-01-01", "2024-01-02", "2024-01-11"},
        {date, start + 2, start + 69, 10, 10, "2024-01-01", "2024-01-08", "2024-03-11"},
        {date, start + 2, start + 364, 10, 12, "2024-01-01", "2024-02-01", "2025-01-01"},
        {date, start + 40, start + 1000, 10, 11, "2024-01-01", "2024-04-01", "2026-10-01"},
        {date, start, start + 3000, 10, 9, "2024-01-01", "2025-01-01", "2033-01-01"},
        {date, start, start + 36500, 10, 11, "2020-01-01", "2030-01-01", "2130-01-01"},
        {date, -1, 0, 10, 2, "1969-12-31", "1970-01-01", "1970-01-02"},
        {date, INT32_MIN, INT32_MAX, 10, 12, "-5877641-06-23", "-5000000-01-01", "+5881580-07-11"},
        {time, start * DAY_US, start * DAY_US + 11 * hour, 10, 12, "2024-01-01T00:00:00", "2024-01-01T01:00:00",
         "2024-01-01T12:00:00"},
        {time, start * DAY_US + 7 * second, start * DAY_US + 99 * second, 10, 10, "2024-01-01T00:00:00",
         "2024-01-01T00:00:10", "2024-01-01T00:01:40"},
        {time, -3, 4, 10, 8, "1969-12-31T23:59:59.999997", "1969-12-31T23:59:59.999998", "1970-01-01T00:00:00.000005"},
        {duration, -hour, hour, 10, 9, "-01:00:00", "-00:45:00", "01:15:00"},
        {duration, 0, 1000 * DAY_US, 10, 11, "00:00:00", "100d 00:00:00", "1100d 00:00:00"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t *edges;
        int64_t intervals = calendar_edges(cases[i].logical.kind, cases[i].lo, cases[i].hi, cases[i].about, &edges);
        assert_string_equal(text_of(scratch, cases[i].logical, edges[0]), cases[i].first);
        assert_string_equal(text_of(scratch, cases[i].logical, edges[1]), cases[i].second);
        assert_string_equal(text_of(scratch, cases[i].logical, edges[intervals]), cases[i].end);
        assert_int_equal(intervals, cases[i].intervals);
        free(edges);
    }
    scratch_free(scratch);
}

static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1d;
}

static void random_ranges(void **state)
{
    (void)state;
    uint64_t random = 99;
    static const enum logical kinds[] = {LOGICAL_DATE, LOGICAL_TIMESTAMP, LOGICAL_DURATION};
    for (int i = 0; i < 30000; i++) {
        enum logical kind = kinds[i % 3];
        int64_t values[3], about = 1 + (int64_t)(next(&random) % (i % 5 ? 100 : 2000));
        for (int k = 0; k < 3; k++) {
            int shift = (int)(next(&random) % 64);
            int64_t value = (int64_t)next(&random) >> shift;
            values[k] = kind == LOGICAL_DATE ? (int32_t)(value >> 32 ? value >> 32 : value) : value;
        }
        int64_t lo = values[0] < values[1] ? values[0] : values[1], hi = values[0] < values[1] ? values[1] : values[0];
        int64_t *edges;
        int64_t intervals = calendar_edges(kind, lo, hi, about, &edges);
        assert_true(intervals >= 1 && intervals <= 4 * about + 2);
        bool wide = (uint64_t)hi - (uint64_t)lo >= (uint64_t)about; /* else there are no more units */
        assert_true(!wide || intervals * 4 + 4 >= about);
        for (int64_t k = 0; k < intervals; k++)
            assert_true(edges[k] < edges[k + 1]);
        bool cut = edges[intervals] == INT64_MAX || (kind == LOGICAL_DATE && edges[intervals] == INT32_MAX);
        assert_true(edges[0] <= lo && lo < edges[1]);
        assert_true(edges[intervals - 1] <= hi && (hi < edges[intervals] || cut));
        const int64_t inside[] = {lo, hi, values[2] < lo ? lo : values[2] > hi ? hi : values[2]};
        for (int k = 0; k < 3; k++) {
            int64_t at = calendar_interval(edges, intervals, inside[k]), expected = intervals - 1;
            while (edges[expected] > inside[k])
                expected--;
            assert_int_equal(at, expected);
        }
        free(edges);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_choices), cmocka_unit_test(random_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
