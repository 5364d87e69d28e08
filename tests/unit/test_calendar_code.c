/* Calendar functions as typed code, on the evaluator and on a device, against base/time/calendar.h. */
#include "cl_rig.h"

#include "base/time/calendar.h"
#include "engine/plan/calendar_code.h"

#include <time.h>

static int64_t floor_of(int64_t v, int64_t unit)
{
    return v - ((v % unit) + unit) % unit;
}

static int64_t first_of_month(int64_t months) /* since January of the year 0 */
{
    int64_t year = floor_of(months, 12) / 12;
    return days_of_civil((struct civil){year, (int)(months - year * 12) + 1, 1});
}

static int64_t months_of_days(int64_t days)
{
    struct civil civil = civil_of_days(days);
    return civil.year * 12 + civil.month - 1;
}

static int64_t year_of(int64_t days)
{
    return civil_of_days(days).year;
}

static int64_t quarter_of(int64_t days)
{
    return (civil_of_days(days).month - 1) / 3 + 1;
}

static int64_t month_of(int64_t days)
{
    return civil_of_days(days).month;
}

static int64_t day_of(int64_t days)
{
    return civil_of_days(days).day;
}

static int64_t weekday_of(int64_t days)
{
    return ((days % 7) + 7 + 3) % 7 + 1;
}

static int64_t week_of(int64_t days)
{
    int64_t thursday = days - weekday_of(days) + 4;
    return (thursday - first_of_month(year_of(thursday) * 12)) / 7 + 1;
}

static int64_t trunc_days(int64_t days, enum calendar_unit unit)
{
    switch (unit) {
    case CALENDAR_WEEK:
        return days - weekday_of(days) + 1;
    case CALENDAR_MONTH:
        return first_of_month(months_of_days(days));
    case CALENDAR_QUARTER:
        return first_of_month(floor_of(months_of_days(days), 3));
    case CALENDAR_YEAR:
        return first_of_month(floor_of(months_of_days(days), 12));
    default:
        return days;
    }
}

static int64_t add_months(int64_t days, int64_t months)
{
    int64_t sum = months_of_days(days) + months, first = first_of_month(sum);
    int64_t length = first_of_month(sum + 1) - first, day = civil_of_days(days).day;
    return first + (day < length ? day : length) - 1;
}

static int64_t bucket_months(int64_t days, int64_t months)
{
    return first_of_month(floor_of(months_of_days(days) - 1970 * 12, months) + 1970 * 12);
}

/* One function of a date: as code, and as it should be. */
struct date_case {
    const char *part;        /* or: */
    enum calendar_unit unit; /* or, if CALENDAR_UNITS: */
    int64_t bucket, bucket_months, add_months;
    int64_t (*expected)(int64_t days);
};

static const struct date_case date_cases[] = {
    {"year", CALENDAR_UNITS, 0, 0, 0, year_of},   {"quarter", CALENDAR_UNITS, 0, 0, 0, quarter_of},
    {"month", CALENDAR_UNITS, 0, 0, 0, month_of}, {"week", CALENDAR_UNITS, 0, 0, 0, week_of},
    {"day", CALENDAR_UNITS, 0, 0, 0, day_of},     {"weekday", CALENDAR_UNITS, 0, 0, 0, weekday_of},
    {NULL, CALENDAR_DAY, 0, 0, 0, NULL},          {NULL, CALENDAR_WEEK, 0, 0, 0, NULL},
    {NULL, CALENDAR_MONTH, 0, 0, 0, NULL},        {NULL, CALENDAR_QUARTER, 0, 0, 0, NULL},
    {NULL, CALENDAR_YEAR, 0, 0, 0, NULL},         {NULL, CALENDAR_UNITS, 1, 0, 0, NULL},
    {NULL, CALENDAR_UNITS, 10, 0, 0, NULL},       {NULL, CALENDAR_UNITS, 14, 0, 0, NULL},
    {NULL, CALENDAR_UNITS, 0, 1, 0, NULL},        {NULL, CALENDAR_UNITS, 0, 5, 0, NULL},
    {NULL, CALENDAR_UNITS, 0, 12, 0, NULL},       {NULL, CALENDAR_UNITS, 0, 0, 1, NULL},
    {NULL, CALENDAR_UNITS, 0, 0, -1, NULL},       {NULL, CALENDAR_UNITS, 0, 0, 12, NULL},
    {NULL, CALENDAR_UNITS, 0, 0, -4799, NULL},    {NULL, CALENDAR_UNITS, 0, 0, 100, NULL},
};

enum { DATE_CASES = sizeof date_cases / sizeof *date_cases };

static value code_of_date(struct code *code, const struct date_case *c, value days)
{
    if (c->part)
        return code_calendar_part(code, calendar_part_find(c->part), days, false, nowhere);
    if (c->unit != CALENDAR_UNITS)
        return code_date_trunc(code, days, c->unit, nowhere);
    if (c->bucket)
        return code_date_bucket(code, days, c->bucket, nowhere);
    if (c->bucket_months)
        return code_date_bucket_months(code, days, c->bucket_months, nowhere);
    return code_date_add_months(code, days, code_int(code, c->add_months, nowhere), nowhere);
}

static int64_t expected_of_date(const struct date_case *c, int64_t days)
{
    if (c->part)
        return c->expected(days);
    if (c->unit != CALENDAR_UNITS)
        return trunc_days(days, c->unit);
    if (c->bucket)
        return c->bucket % 7 == 0 ? floor_of(days - 4, c->bucket) + 4 : floor_of(days, c->bucket);
    return c->bucket_months ? bucket_months(days, c->bucket_months) : add_months(days, c->add_months);
}

/* A day that a timestamp is of, and its time in microseconds. */
static int64_t day_of_us(int64_t us)
{
    return floor_of(us, DAY_US) / DAY_US;
}

static value code_of_timestamp(struct code *code, const struct date_case *c, value us)
{
    if (c->part)
        return code_calendar_part(code, calendar_part_find(c->part), us, true, nowhere);
    if (c->unit != CALENDAR_UNITS)
        return code_timestamp_trunc(code, us, c->unit, nowhere);
    if (c->bucket)
        return code_timestamp_bucket(code, us, c->bucket * 900000000, nowhere);
    if (c->bucket_months)
        return code_timestamp_bucket_months(code, us, c->bucket_months, nowhere);
    return code_timestamp_add_months(code, us, code_int(code, c->add_months, nowhere), nowhere);
}

static int64_t hour_of(int64_t us)
{
    return (us - floor_of(us, DAY_US)) / 3600000000;
}

static int64_t minute_of(int64_t us)
{
    return (us - floor_of(us, DAY_US)) / 60000000 % 60;
}

static int64_t second_of(int64_t us)
{
    return (us - floor_of(us, DAY_US)) / 1000000 % 60;
}

static const struct date_case time_cases[] = {
    {"hour", CALENDAR_UNITS, 0, 0, 0, hour_of},
    {"minute", CALENDAR_UNITS, 0, 0, 0, minute_of},
    {"second", CALENDAR_UNITS, 0, 0, 0, second_of},
    {"year", CALENDAR_UNITS, 0, 0, 0, year_of},
    {"weekday", CALENDAR_UNITS, 0, 0, 0, weekday_of},
    {NULL, CALENDAR_SECOND, 0, 0, 0, NULL},
    {NULL, CALENDAR_MINUTE, 0, 0, 0, NULL},
    {NULL, CALENDAR_HOUR, 0, 0, 0, NULL},
    {NULL, CALENDAR_DAY, 0, 0, 0, NULL},
    {NULL, CALENDAR_WEEK, 0, 0, 0, NULL},
    {NULL, CALENDAR_QUARTER, 0, 0, 0, NULL},
    {NULL, CALENDAR_YEAR, 0, 0, 0, NULL},
    {NULL, CALENDAR_UNITS, 1, 0, 0, NULL}, /* buckets in quarters of an hour */
    {NULL, CALENDAR_UNITS, 7 * 96, 0, 0, NULL},
    {NULL, CALENDAR_UNITS, 0, 6, 0, NULL},
    {NULL, CALENDAR_UNITS, 0, 0, 13, NULL},
    {NULL, CALENDAR_UNITS, 0, 0, -1, NULL},
};

enum { TIME_CASES = sizeof time_cases / sizeof *time_cases };

static int64_t expected_of_timestamp(const struct date_case *c, int64_t us)
{
    static const int64_t units[] = {1000000, 60000000, 3600000000, DAY_US};
    int64_t days = day_of_us(us), time = us - days * DAY_US, length = c->bucket * 900000000;
    if (c->part)
        return calendar_part_find(c->part)->of_time ? c->expected(us) : c->expected(days);
    if (c->unit != CALENDAR_UNITS)
        return c->unit <= CALENDAR_DAY ? floor_of(us, units[c->unit]) : trunc_days(days, c->unit) * DAY_US;
    if (c->bucket)
        return length % (7 * DAY_US) == 0 ? floor_of(us - 4 * DAY_US, length) + 4 * DAY_US : floor_of(us, length);
    if (c->bucket_months)
        return bucket_months(days, c->bucket_months) * DAY_US;
    return add_months(days, c->add_months) * DAY_US + time;
}

/* Sets up a task of cases begin..end - 1 over the column, which stays the caller's. */
static struct setup *setup_cases(struct rig *rig, struct column *column, bool timestamps, size_t begin, size_t end)
{
    struct setup *setup = setup_new(rig, SINK_ROWS);
    value input = setup_input(setup, column_ref(column));
    for (size_t k = begin; k < end; k++) {
        value v = timestamps ? code_of_timestamp(&setup->task.code, &time_cases[k], input)
                             : code_of_date(&setup->task.code, &date_cases[k], input);
        setup_output(setup, v, TYPE_I64);
    }
    setup_analyse(setup, column->rows);
    return setup;
}

/* No operation may fail; those of dates are in 32-bit lanes. */
static void check_lanes(const struct setup *setup, bool narrow)
{
    const struct code *code = &setup->task.code;
    for (value v = 0; v < code->count; v++) {
        if (code->at[v].checked || (narrow && code->at[v].lane == LANE_I64))
            fail_msg("instruction %d (%s) is %s", (int)v, op_table[code->at[v].op].name,
                     code->at[v].checked ? "checked" : "in a 64-bit lane");
    }
}

static void check_column(struct rig *rig, struct column *column, bool timestamps, bool narrow, bool device)
{
    enum { AT_ONCE = 4 };
    size_t count = timestamps ? TIME_CASES : DATE_CASES;
    for (size_t begin = 0; begin < count; begin += AT_ONCE) {
        size_t end = begin + AT_ONCE < count ? begin + AT_ONCE : count;
        struct setup *setup = setup_cases(rig, column, timestamps, begin, end);
        bool flagged = false;
        check_lanes(setup, narrow);
        if (device) {
            assert_int_equal(compare(rig, setup, 0, column->rows, &flagged), STATUS_OK);
            assert_false(flagged);
            setup_free(setup);
            continue;
        }
        struct job job = setup_job(rig, setup, 0, column->rows);
        struct row_sink sink = new_sink(rig, setup, 0, column->rows);
        assert_int_equal(rig->host->ops->rows(rig->host, &job, &sink, &flagged), STATUS_OK);
        assert_false(flagged);
        for (size_t k = begin; k < end; k++) {
            for (int64_t row = 0; row < column->rows; row++) {
                int64_t v = column_get_int(column, row), got = column_get_int(sink.columns[k - begin], row);
                int64_t expected =
                    timestamps ? expected_of_timestamp(&time_cases[k], v) : expected_of_date(&date_cases[k], v);
                if (got != expected)
                    fail_msg("case %zu of %lld is %lld, not %lld", k, (long long)v, (long long)got,
                             (long long)expected);
            }
        }
        sink_free(&sink, &setup->task);
        setup_free(setup);
    }
}

static struct column *column_of(enum type type, int64_t rows, int64_t lo, int64_t hi, struct random *random)
{
    struct column *column = column_reserve(type, type, rows);
    assert_non_null(column);
    for (int64_t row = 0; row < rows; row++) {
        int64_t v = random ? random_within(random, lo, hi) : lo + row;
        memcpy(column_at(column, row), &v, type_table[type].size);
    }
    column_finish(column, rows);
    column->range_known = true;
    column->lo = lo;
    column->hi = hi;
    return column;
}

static void test_all_days(void **state)
{
    struct rig *rig = *state;
    rig_start(rig);
    struct column *days = column_of(TYPE_I32, LAST_DAY - FIRST_DAY + 1, FIRST_DAY, LAST_DAY, NULL);
    check_column(rig, days, false, true, false);
    column_unref(days);
}

static void test_any_days(void **state)
{
    struct rig *rig = *state;
    rig_start(rig);
    struct random random = {1};
    struct column *days = column_of(TYPE_I32, 100000, INT32_MIN, INT32_MAX, &random);
    check_column(rig, days, false, false, false);
    column_unref(days);
    days = column_of(TYPE_I32, 100000, -(1 << 30), (1 << 30) - 1, &random);
    check_column(rig, days, false, true, false);
    column_unref(days);
}

static void test_timestamps(void **state)
{
    struct rig *rig = *state;
    rig_start(rig);
    struct random random = {2};
    struct column *times = column_of(TYPE_I64, 100000, FIRST_DAY * DAY_US, (LAST_DAY + 1) * DAY_US - 1, &random);
    check_column(rig, times, true, false, false);
    column_unref(times);
    times = column_of(TYPE_I64, 100000, -3 * DAY_US, 3 * DAY_US, &random);
    check_column(rig, times, true, false, false);
    column_unref(times);
}

static void test_device(void **state)
{
    struct rig *rig = rig_of(state);
    struct random random = {3};
    struct column *days = column_of(TYPE_I32, 200000, FIRST_DAY, LAST_DAY, &random);
    check_column(rig, days, false, true, true);
    column_unref(days);
    days = column_of(TYPE_I32, 20000, INT32_MIN, INT32_MAX, &random);
    check_column(rig, days, false, false, true);
    column_unref(days);
    struct column *times = column_of(TYPE_I64, 50000, FIRST_DAY * DAY_US, (LAST_DAY + 1) * DAY_US - 1, &random);
    check_column(rig, times, true, false, true);
    column_unref(times);
}

/* Of any 64 bits, a function is right or fails. */
static void test_extremes(void **state)
{
    struct rig *rig = *state;
    rig_start(rig);
    struct random random = {4};
    for (size_t k = 0; k < TIME_CASES; k++) {
        struct code code;
        code_init(&code, rig->arena);
        value v = code_of_timestamp(&code, &time_cases[k], code_input(&code, 0, KIND_INT, nowhere));
        struct cell *cells = calloc((size_t)code.count, sizeof *cells);
        int failed = 0;
        for (int n = 0; n < 2000; n++) {
            struct cell input = {.integer = random_int(&random)};
            memset(cells, 0, (size_t)code.count * sizeof *cells);
            struct cell got = lazy_value(&code, v, &input, 0, cells);
            failed += got.failed;
            /* Far from the ends, so that the expectation itself fits. */
            if (!got.failed && input.integer > INT64_MIN / 2 && input.integer < INT64_MAX / 2)
                assert_int_equal(got.integer, expected_of_timestamp(&time_cases[k], input.integer));
            if (got.failed)
                assert_true(input.integer < INT64_MIN / 2 || input.integer > INT64_MAX / 2);
        }
        assert_true(failed < 1000);
        free(cells);
    }
}

/* The C library's ISO weeks. */
static void test_weeks(void **state)
{
    (void)state;
    for (int64_t days = FIRST_DAY; days <= LAST_DAY; days += 3) {
        char text[8];
        struct tm tm;
        time_t seconds = (time_t)(days * 86400);
        assert_non_null(gmtime_r(&seconds, &tm));
        assert_true(strftime(text, sizeof text, "%V", &tm) > 0);
        assert_int_equal(week_of(days), atoi(text));
        assert_int_equal(weekday_of(days), tm.tm_wday == 0 ? 7 : tm.tm_wday);
    }
}

static void test_names(void **state)
{
    (void)state;
    assert_null(calendar_part_find("years"));
    for (size_t k = 0; k < calendar_part_count; k++)
        assert_ptr_equal(calendar_part_find(calendar_parts[k].name), &calendar_parts[k]);
    for (enum calendar_unit unit = 0; unit < CALENDAR_UNITS; unit++)
        assert_int_equal(calendar_unit_find(calendar_unit_names[unit]), unit);
    assert_int_equal(calendar_unit_find("decade"), CALENDAR_UNITS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_days), cmocka_unit_test(test_any_days), cmocka_unit_test(test_timestamps),
        cmocka_unit_test(test_device),   cmocka_unit_test(test_extremes), cmocka_unit_test(test_weeks),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, rig_open, rig_close);
}
